"""The one file that knows the ports and their implementations."""

from __future__ import annotations

import os
import ssl

from runvil.core.config import FetchConfig
from runvil.net.resolver import DnsResolver, SystemResolver
from runvil.net.transport import Dial, SocketNet, dial
from runvil.net.trust import Trust, context
from runvil.net.workers import Workers
from runvil.ports import Net, Renderer, Resolver


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
