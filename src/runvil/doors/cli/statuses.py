"""The exit statuses of contract 2."""

OK, FAILED, USAGE, REFUSED, INTERRUPTED = 0, 1, 2, 3, 130
