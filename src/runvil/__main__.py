"""`python -m runvil` is the `runvil` command."""

from runvil.doors.cli import main

main()
