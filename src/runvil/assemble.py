"""The one file that knows the ports and their implementations."""

from __future__ import annotations

import asyncio
import os
import ssl

from runvil.core.config import FetchConfig
from runvil.net.findings import Findings, findings
from runvil.net.resolver import DnsResolver, SystemResolver
from runvil.net.transport import Dial, SocketNet, dial
from runvil.net.workers import Workers
from runvil.ports import Net, Renderer, Resolver
from runvil.trust import Trust, context

WORKER_SECONDS = 20.0
"""How long a worker may take to start and greet before `doctor` takes it for absent."""


def network(config: FetchConfig) -> Net:
    """The real one: system DNS, sockets, TLS with the roots of contract 3. Raises ConfigError for unusable roots."""
    return seamed(config, resolver_of(config), context(Trust.from_environment(os.environ)))


def seamed(config: FetchConfig, resolver: Resolver, trust: ssl.SSLContext, dial: Dial = dial) -> Net:
    """The real transport over a given resolver, dialler and trust; the filter stays in front of all (spec 1.22)."""
    return SocketNet(config, resolver, trust, dial)


def resolver_of(config: FetchConfig) -> Resolver:
    return SystemResolver() if config.resolver == "system" else DnsResolver()


def renderer() -> Renderer:
    return Workers()


def examine(config: FetchConfig) -> Findings:
    """What there is to know about this machine without sending anything, for `runvil doctor`."""
    return findings(config)


async def worker_locks() -> tuple[str, ...]:
    """Start a worker, have it render something, and tell which locks it wears; none when it could not be started."""
    workers = Workers()
    try:
        until = asyncio.get_running_loop().time() + WORKER_SECONDS
        await workers.render(b"<p>x</p>", "https://example.com/", raw=True, limit=1, until=until)
        return workers.locks
    finally:
        await workers.aclose()
