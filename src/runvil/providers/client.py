"""The one HTTP client of the providers: a request to a fixed root, a bounded answer, one deadline over both.

What may not happen here: a redirect that is followed, a cookie that is kept, a proxy or a credential from the
environment, a key sent in the clear or to another origin than its own, a body without a bound. The transport is used
bare, below httpx2's client, so that there is nothing of these to switch off.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from runvil.core.codings import BadCoding
from runvil.core.config import ConfigError
from runvil.core.failures import SearchError, ToolErrorKind
from runvil.providers.key import Credential
from runvil.providers.reply import LIMITS, Limits, Reply, body_of, retry_after
from runvil.providers.root import check_proxy, root_of
from runvil.trust import Trust, context

if TYPE_CHECKING:
    import httpx2

log = logging.getLogger("runvil.providers")

DEADLINE = 30.0
"""Seconds for a whole search, retries and body included (spec 2.7); no prompt and no argument changes it."""

FAULT_RETRIES = 1
"""A second try when the connection broke before an answer: a search changes nothing, a kept connection may be stale."""

POLITE_RETRIES = 2
"""Tries after a 429 or 503 that says when to come back."""

COME_BACK = (429, 503)


class Unreached(Exception):
    """No answer came: refused, broken, or the deadline passed. The cause is `__cause__`."""


class Unread(Exception):
    """An answer came, and its body could not be read to the end. status: the answer's."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Options(TypedDict, total=False):
    """How a provider is reached. proxy: a proxy's URL, none by default. deadline: seconds for a whole search.

    trust: an `ssl.SSLContext` in place of the roots that a fetch believes too (contract 3).
    """

    proxy: str | None
    deadline: float
    trust: Any


@dataclass(frozen=True, slots=True)
class Request:
    """path: below the client's root. body: sent as JSON."""

    method: str
    path: str
    params: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


class Client:
    """A client for one root. Raises ConfigError for a root or a key that cannot be used.

    It may serve several event loops, one after the other; a connection belongs to the loop it was opened in.
    """

    def __init__(self, root: str, credential: Credential | None = None, **options: Unpack[Options]) -> None:
        if proxy := options.get("proxy"):
            check_proxy(proxy)
        self._options = options
        self._credential = credential
        self._root = root_of(root, keyed=credential is not None, proxied=bool(proxy)).full.rstrip("/")
        self._transport: httpx2.AsyncHTTPTransport | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def send(self, request: Request, limits: Limits = LIMITS, *, patient: bool = True) -> Reply:
        """The answer, whatever its status. patient: come back after a 429 or 503 that says when, if time allows.

        Raises Unreached, Unread, Oversized.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + self._options.get("deadline", DEADLINE)
        for left in reversed(range(POLITE_RETRIES + 1 if patient else 1)):
            reply = await self._exchange(request, limits, until)
            if not left or reply.status not in COME_BACK or reply.retry_after is None:
                break
            if loop.time() + reply.retry_after >= until:
                break
            await asyncio.sleep(reply.retry_after)
        return reply

    async def _exchange(self, request: Request, limits: Limits, until: float) -> Reply:
        import httpx2  # noqa: PLC0415  55 ms that only a search pays

        response = await self._head(request, until)
        try:
            async with asyncio.timeout_at(until):
                body = await body_of(response, limits)
        except (httpx2.HTTPError, httpx2.StreamError, OSError, BadCoding) as error:  # TimeoutError is an OSError
            raise Unread(response.status_code) from error
        finally:
            await response.aclose()
        if self._credential is not None:
            body = self._credential.scrubbed(body)
        kind = response.headers.get("content-type", "")
        return Reply(response.status_code, kind, body, retry_after(response.headers.get("retry-after")))

    async def _head(self, request: Request, until: float) -> httpx2.Response:
        import httpx2  # noqa: PLC0415

        for left in reversed(range(FAULT_RETRIES + 1)):
            try:
                async with asyncio.timeout_at(until):
                    return await self._here().handle_async_request(self._built(request))
            except httpx2.TransportError as error:
                if not left:
                    raise Unreached from error
            except (httpx2.InvalidURL, OSError) as error:
                raise Unreached from error
        raise Unreached

    def _built(self, request: Request) -> httpx2.Request:
        import httpx2  # noqa: PLC0415

        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": "runvil", **request.headers}
        if self._credential is not None:
            headers |= self._credential.header()
        content = None if request.body is None else json.dumps(request.body).encode()
        if content is not None:
            headers["Content-Type"] = "application/json"
        params = {name: _encodable(value) for name, value in request.params.items()} or None
        return httpx2.Request(
            request.method, self._root + request.path, params=params, headers=headers, content=content
        )

    def _here(self) -> httpx2.AsyncHTTPTransport:
        """The transport for the running loop."""
        import httpx2  # noqa: PLC0415

        loop = asyncio.get_running_loop()
        if self._transport is None or self._loop is not loop:
            trust = self._options.get("trust") or _trust()
            self._transport = httpx2.AsyncHTTPTransport(verify=trust, trust_env=False, proxy=self._options.get("proxy"))
            self._loop = loop
        return self._transport

    async def aclose(self) -> None:
        """Close the idle connections; a later search opens new ones."""
        if self._transport is not None and self._loop is asyncio.get_running_loop():
            await self._transport.aclose()
        self._transport = None


@cache
def _trust() -> Any:
    """The roots that a fetch believes too (contract 3), read once: a context costs 25 ms.

    Raises SearchError where they cannot be used; `runvil doctor` says why.
    """
    try:
        return context(Trust.from_environment(os.environ))
    except ConfigError as error:
        log.error("no search can be sent: %s", "; ".join((str(error), *getattr(error, "__notes__", ()))))
        raise SearchError(ToolErrorKind.TRANSPORT, "request failed") from error


def _encodable(text: str) -> str:
    """A lone surrogate is text to Python and to nobody else."""
    return text.encode("utf-8", "replace").decode()
