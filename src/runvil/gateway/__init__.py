"""The search gateway: it holds the search vendor's key, and clients reach it with a key of the gateway's own.

One request walks one way: door.py (who is it, how did it end) -> request.py (the body, checked) -> limiter.py ->
search.py (cache, vendors, rows). config.py is read once and again when the file changes. What may not happen here: a
vendor's key in an answer, a log line, a metric or a repr; an error in words that are not ours.
"""
