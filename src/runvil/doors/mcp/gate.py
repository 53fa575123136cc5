"""What stands before the MCP server on HTTP: who may ask, from where, how much and how many at once.

It is ASGI and nothing more. The order matters: a wrong name is told before a wrong key, and no body is read for either.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
from collections.abc import Iterable, Iterator

from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PATH, HEALTH = "/mcp", "/health"

MAX_BODY = 256 * 1024
"""Bytes of a request: a URL has at most 8 KiB, a search 6 KiB; the rest is what clients say of themselves."""

BODY_TIME = 10.0
"""Seconds for a body to arrive: no slot is held by one that drips."""

MAX_AT_ONCE = 256
"""Calls under way, as many as a WebFetch runs at once; others are told to come back."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")

MIN_KEY = 16
"""Characters of a key that other machines may try."""

_HOST = re.compile(r"(?:\[([0-9a-fA-F:.]+)\]|([^\[\]:/@\s]+))(?::\d+)?")
_ORIGIN = re.compile(rf"https?://(?:{_HOST.pattern})")


class Gate:
    """app: the MCP server. key: what clients must present, or None. hosts: names under which this server is known."""

    def __init__(self, app: ASGIApp, *, key: str | None, hosts: Iterable[str], at_once: int = MAX_AT_ONCE) -> None:
        self._app = app
        self._key = None if key is None else _digest(key)
        self._hosts = frozenset(name.lower() for name in (*LOOPBACK, *hosts))
        self._free = at_once

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = self._answer(scope)
        if answer is None:
            await self._let_in(scope, receive, send)
        else:
            await answer(scope, receive, send)

    def _answer(self, scope: Scope) -> Response | None:
        """What is said to a request that goes no further."""
        return next((answer for holds, answer in self._answers(scope) if holds), None)

    def _answers(self, scope: Scope) -> Iterator[tuple[bool, Response]]:
        """(holds, answer): the first that holds is given. GET and DELETE have no session to listen to or to end."""
        foreign = bool(_all(scope, b"origin")) and not self._known(_ORIGIN, _only(scope, b"origin"))
        yield not self._known(_HOST, _only(scope, b"host")), _said(421, "this server is not known by that Host")
        yield foreign, _said(403, "requests from pages of that Origin are not served")
        yield scope["path"] == HEALTH, JSONResponse({"status": "serving"})
        yield scope["path"] != PATH, _said(404, "not found")
        yield not self._has_key(scope), _said(401, "unauthorized", WWW_Authenticate="Bearer")
        yield scope["method"] != "POST", _said(405, "method not allowed", Allow="POST")
        yield self._free <= 0, _said(503, "too many calls at once", Retry_After="1")

    def _known(self, pattern: re.Pattern[str], text: str) -> bool:
        found = pattern.fullmatch(text)
        return found is not None and (found[1] or found[2]).lower() in self._hosts

    def _has_key(self, scope: Scope) -> bool:
        if self._key is None:
            return True
        scheme, _, presented = _only(scope, b"authorization").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(_digest(presented.strip()), self._key)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._free -= 1
        try:
            body = await _body(receive)
            if isinstance(body, Response):
                await body(scope, receive, send)
            else:
                await self._app(scope, _replayed(body, receive), send)
        finally:
            self._free += 1


async def _body(receive: Receive) -> bytes | Response:
    """The request's body, in time and in bounds, or what is said instead."""
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIME):
            more = True
            while more:
                message = await receive()
                body += message.get("body", b"")
                more = message["type"] == "http.request" and message.get("more_body", False)
                if len(body) > MAX_BODY:
                    return _said(413, f"the body is larger than {MAX_BODY} bytes")
    except TimeoutError:
        return _said(408, "the body did not arrive in time")
    return bytes(body)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Gives the body once; then only the client's going away is left to hear of."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _said(status: int, text: str, **headers: str) -> Response:
    return PlainTextResponse(text, status, {name.replace("_", "-"): value for name, value in headers.items()})


def _digest(key: str) -> bytes:
    """Of one length, so that a comparison tells nothing."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def _all(scope: Scope, name: bytes) -> list[bytes]:
    return [value for key, value in scope["headers"] if key == name]


def _only(scope: Scope, name: bytes) -> str:
    """The header's value; "" when there is none, or more than one, which is nobody's reading."""
    values = _all(scope, name)
    return values[0].decode("latin-1") if len(values) == 1 else ""
