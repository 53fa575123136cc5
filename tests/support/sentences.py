"""Every sentence that a model can be told of a fetch, as patterns: an oracle that is not built from the failures."""

from __future__ import annotations

import re

_URL = r"[a-z][a-z0-9+.-]*://[^\s?#]*"
_TARGET = r"[a-z][a-z0-9+.-]*:[^?#\r\n]*"  # of any scheme; the path of one without a host may hold spaces
_FULL = r"[a-z][a-z0-9+.-]*://[^\s#]*"
_HOST = r"[^\s/?#]+"
_RETRY = "try again or use a different URL"
_ELSEWHERE = "try a different URL"

_ADMISSION = "|".join([
    r"scheme not allowed: [a-z][a-z0-9+.-]*",
    "url must not contain userinfo",
    r"port not allowed: \d{1,5}",
    r"ip literal host not allowed: [0-9a-f.:]+",
])  # fmt: skip
_REASON = rf"exceeded max redirects \(\d+\)|refusing https to http downgrade|{_ADMISSION}"

HARD = re.compile("|".join([
    "web_fetch: missing url argument",
    "web_fetch: max_chars must be a positive integer",
    "web_fetch: raw must be a boolean",
    "invalid url",
    "url must not contain userinfo",
    r"port not allowed: \d{1,5}",
    r"ip literal host not allowed: [0-9a-f.:]+",
    rf"host {_HOST} has no allowed address",
    rf"host {_HOST} is not fetchable",
]))  # fmt: skip

SOFT = re.compile("|".join([
    r"scheme not allowed: [a-z][a-z0-9+.-]*",
    rf"dns resolution failed for {_HOST}",
    rf"request to {_URL} timed out; {_RETRY}",
    rf"{_URL} answered HTTP \d{{3}}; {_ELSEWHERE}",
    rf"redirect from {_URL} to {_TARGET} refused: (?:{_REASON})",
    rf"response from {_URL} declared no content type; refusing to guess its format; {_ELSEWHERE}",
    rf"content type (?s:.*) from {_URL} cannot be returned as text; try an HTML version of the page or a different URL",
    rf"response from {_URL} declared unknown charset (?s:.*); cannot decode its text",
    rf"response from {_URL} exceeds the \d+-byte size cap",
    rf"the response body from {_URL} could not be read; {_RETRY}",
    rf"fetch failed for {_FULL}: network error; {_ELSEWHERE}",
]))  # fmt: skip

UNFINISHED = "web_fetch: the fetch task did not finish"

PAGE = re.compile(rf"url: {_FULL}\ntruncated: (?:true|false)\nextraction: (?:readability|raw-html|plain)\n\n(?s:.*)")
