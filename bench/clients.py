"""The clients side by side: `WebFetch` as it is, and peers that do no more than fetch.

Peers are imported by name when they are used: they are no dependencies, and a run goes on without the absent ones. All
three get the same TLS context, so that none saves a check.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from ssl import SSLContext
from typing import Any

from runvil import WebFetch
from runvil.trust import Trust, context

TIMEOUT = 20.0  # the default policy's, for all
OK = 200

Get = Callable[[str], Awaitable[int]]
"""Fetch one page to its end; how long it was, in whatever the client counts."""

Client = Callable[[bool], AbstractAsyncContextManager[Get]]
"""Opens a client; the argument says whether every request gets a connection of its own."""


@asynccontextmanager
async def runvil(fresh: bool) -> AsyncIterator[Get]:
    """The default policy and the default everything; a `fresh` connection is the server's doing, it closes them."""
    async with WebFetch() as fetch:

        async def get(url: str) -> int:
            page = await fetch.fetch(url)
            return len(page.text)

        yield get


@asynccontextmanager
async def aiohttp(fresh: bool) -> AsyncIterator[Get]:
    """Bare aiohttp with c-ares: no DNS cache of its own, no cookies."""
    lib: Any = import_module("aiohttp")
    connector = lib.TCPConnector(
        resolver=lib.AsyncResolver(), use_dns_cache=False, force_close=fresh, limit=0, ssl=_trust()
    )
    timeout = lib.ClientTimeout(total=TIMEOUT)
    async with lib.ClientSession(connector=connector, cookie_jar=lib.DummyCookieJar(), timeout=timeout) as session:

        async def get(url: str) -> int:
            async with session.get(url, allow_redirects=False) as response:
                assert response.status == OK
                return len(await response.read())

        yield get


@asynccontextmanager
async def httpx2(fresh: bool) -> AsyncIterator[Get]:
    """Bare httpx2; it looks names up with getaddrinfo in a thread, which counts as its CPU."""
    lib: Any = import_module("httpx2")
    limits = lib.Limits(max_connections=None, max_keepalive_connections=0 if fresh else None)
    async with lib.AsyncClient(verify=_trust(), trust_env=False, limits=limits, timeout=TIMEOUT) as client:

        async def get(url: str) -> int:
            response = await client.get(url)
            assert response.status_code == OK
            return len(response.content)

        yield get


def _trust() -> SSLContext:
    return context(Trust.from_environment(os.environ))


CLIENTS: Mapping[str, Client] = {"runvil": runvil, "aiohttp": aiohttp, "httpx2": httpx2}

NEEDED: Mapping[str, tuple[str, ...]] = {"runvil": (), "aiohttp": ("aiohttp", "aiodns"), "httpx2": ("httpx2",)}
"""client -> what `pip install` must have brought."""
