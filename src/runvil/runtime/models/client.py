"""One HTTP exchange with a model's server: JSON out, bounded JSON back, one deadline over all of it.

What may not happen here: a redirect that is followed, a proxy or a credential from the environment, a key sent in the
clear or shown, a body without a bound. The transport is used bare, below httpx2's client, so that there is nothing of
these to switch off.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any, Final

from runvil.core.codings import BadCoding, decoder
from runvil.core.config import ConfigError
from runvil.core.conversation import ModelError
from runvil.core.failures import InvalidUrl
from runvil.core.url import Url, parse
from runvil.trust import Trust, context

if TYPE_CHECKING:
    import httpx2

DEADLINE: Final = 120.0
"""Seconds for a round, retries and body included (spec 3.15)."""

MAX_REPLY: Final = 16 * 1024 * 1024
"""Decompressed bytes of an answer (spec 3.15)."""

RETRIES: Final = 2
"""Tries after a 429, 503 or 529 that says when to come back, or a connection that broke before an answer."""

COME_BACK: Final = (429, 503, 529)

CONNECTIONS: Final = 1000
"""Rounds that one model may have in flight: as many runs as share a loop. Servers say 429 long before."""

SHOWN_DETAIL: Final = 300
"""Characters of a server's own message that are shown."""

_OK: Final = range(200, 300)
_KEY: Final = re.compile(r"[\x21-\x7e]{1,4096}")
_CONTROLS: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_TOO_SHORT_TO_HIDE: Final = 8


class Client:
    """A client for one root. headers: sent with every request; the key among them, by its own name, is never shown.

    Raises ConfigError for a root or a key that cannot be used. It may serve several loops, one after the other.
    """

    def __init__(self, root: str, key: str | None, headers: Mapping[str, str], *, deadline: float, trust: Any) -> None:
        if key is not None and not _KEY.fullmatch(key):
            raise ConfigError("the model's key is empty, or holds what no header can carry")
        self._root = _root_of(root, keyed=key is not None)
        self._key = key
        self._headers = dict(headers)
        self._deadline = deadline
        self._trust = trust
        self._transport: httpx2.AsyncHTTPTransport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The answer's JSON. Raises ModelError; cancelled, it closes its connection."""
        try:
            async with asyncio.timeout(self._deadline):
                return await self._patiently(path, json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"))
        except TimeoutError as error:
            raise ModelError(f"the model did not answer within {self._deadline:g} seconds") from error

    async def _patiently(self, path: str, content: bytes) -> Any:
        for left in reversed(range(RETRIES + 1)):
            try:
                status, wait, data = await self._exchange(path, content)
            except _Unreached as error:
                if not left:
                    raise ModelError(f"the model could not be reached at {self._root.shown}") from error.__cause__
                continue
            if not left or status not in COME_BACK or wait is None or wait >= self._deadline:
                break
            await asyncio.sleep(wait)
        return self._read(status, data)

    async def _exchange(self, path: str, content: bytes) -> tuple[int, float | None, bytes]:
        """Status, seconds to come back after, body. Raises _Unreached, ModelError."""
        import httpx2  # noqa: PLC0415  55 ms that only a round pays

        request = httpx2.Request("POST", self._root.full.rstrip("/") + path, headers=self._sent(), content=content)
        try:
            response = await self._here().handle_async_request(request)
        except (httpx2.TransportError, OSError) as error:
            raise _Unreached from error
        try:
            return response.status_code, _wait(response.headers.get("retry-after")), await _body(response)
        except (httpx2.HTTPError, httpx2.StreamError, OSError, BadCoding) as error:
            raise ModelError("the model's answer broke off") from error
        finally:
            await response.aclose()

    def _sent(self) -> dict[str, str]:
        fixed = {
            "Accept": "application/json",
            "Accept-Encoding": "gzip",
            "Content-Type": "application/json",
            "User-Agent": "runvil",
        }
        return {**fixed, **self._headers}

    def _read(self, status: int, data: bytes) -> Any:
        try:
            value = json.loads(data)
        except (ValueError, RecursionError) as error:
            if status in _OK:
                raise ModelError("the model's answer is not JSON") from error
            value = None
        if status not in _OK:
            self._raise(status, value)
        return value

    def _raise(self, status: int, value: Any) -> None:
        error = value.get("error") if isinstance(value, dict) else None
        detail = error.get("message") if isinstance(error, dict) else error
        text = self._shown(detail) if isinstance(detail, str) else ""
        code = error.get("code") if isinstance(error, dict) else None
        too_long = status in (400, 413) and (code == "context_length_exceeded" or _is_too_long(text))
        message = f"the model's server answered HTTP {status}" + (f": {text}" if text else "")
        raise ModelError(message, too_long=too_long)

    def _shown(self, text: str) -> str:
        """A stranger's words on one line, without the key: a server may repeat what it was sent."""
        if self._key is not None and len(self._key) >= _TOO_SHORT_TO_HIDE:
            text = text.replace(self._key, "[key]")
        return _CONTROLS.sub(" ", text)[:SHOWN_DETAIL]

    def _here(self) -> httpx2.AsyncHTTPTransport:
        """The transport for the running loop."""
        import httpx2  # noqa: PLC0415

        loop = asyncio.get_running_loop()
        if self._transport is None or self._loop is not loop:
            if self._trust is None:
                self._trust = context(Trust.from_environment(os.environ))
            limits = httpx2.Limits(max_connections=CONNECTIONS)
            self._transport = httpx2.AsyncHTTPTransport(verify=self._trust, trust_env=False, limits=limits)
            self._loop = loop
        return self._transport

    async def aclose(self) -> None:
        """Close the idle connections; a later round opens new ones."""
        if self._transport is not None and self._loop is asyncio.get_running_loop():
            await self._transport.aclose()
        self._transport = None


class _Unreached(Exception):
    """No answer came; the cause is `__cause__`."""


async def _body(response: httpx2.Response) -> bytes:
    names = response.headers.get("content-encoding", "").split(",")
    undo = decoder([name.strip().lower().encode() for name in names if name.strip()])
    body = bytearray()
    async for data in response.aiter_raw():
        for piece in undo.feed(data):
            body += piece
            if len(body) > MAX_REPLY:
                raise ModelError(f"the model's answer is larger than {MAX_REPLY} bytes")
    undo.finish()
    return bytes(body)


def _wait(value: str | None) -> float | None:
    """Seconds of a Retry-After header; model servers send no dates."""
    with suppress(ValueError):
        return max(0.0, float(value)) if value is not None else None
    return None


def _is_too_long(text: str) -> bool:
    """The vendors' own words for a conversation that does not fit."""
    return any(words in text.lower() for words in ("context length", "context window", "prompt is too long"))


def _root_of(text: str, *, keyed: bool) -> Url:
    """A root address. Raises ConfigError, which does not quote it: it may hold a credential."""
    try:
        url = parse(text)
    except InvalidUrl:
        url = None
    if url is None or url.scheme not in ("http", "https"):
        raise ConfigError("the model's address is not an http or https URL")
    if url.has_userinfo or url.query or "#" in text:
        raise ConfigError("the model's address must hold no credentials, query or fragment")
    if keyed and url.scheme == "http" and not _is_loopback(url):
        raise ConfigError("a model's key is sent over https or to this machine alone")
    return url


def _is_loopback(url: Url) -> bool:
    if isinstance(url.host, IPv4Address | IPv6Address):
        return url.host.is_loopback
    return url.host.removesuffix(".") == "localhost"
