"""What `runvil doctor` can find out about this machine without sending anything."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from dataclasses import dataclass

import pycares

from runvil.core.config import ConfigError, FetchConfig
from runvil.trust import Trust, context

PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


@dataclass(frozen=True, slots=True)
class Findings:
    """trust: where roots come from. roots: how many were loaded. trust_error: why they are unusable, or "".

    name_servers: addresses from the system's configuration. proxies: variables that are set, and ignored.
    """

    trust: str
    roots: int
    trust_error: str
    tls: str
    name_servers: tuple[str, ...]
    proxies: tuple[str, ...]


def findings(config: FetchConfig, env: Mapping[str, str] = os.environ) -> Findings:
    source, roots, error = _trust(env)
    return Findings(
        trust=source,
        roots=roots,
        trust_error=error,
        tls=ssl.OPENSSL_VERSION,
        name_servers=_name_servers() if config.resolver == "dns" else (),
        proxies=tuple(name for name in PROXY_VARIABLES if env.get(name) or env.get(name.lower())),
    )


def _trust(env: Mapping[str, str]) -> tuple[str, int, str]:
    try:
        trust = Trust.from_environment(env)
        made = context(trust)
    except ConfigError as error:
        return "unusable", 0, "; ".join((str(error), *getattr(error, "__notes__", ())))
    roots = made.cert_store_stats()["x509_ca"]
    empty = roots == 0 and trust.cadir is None  # a folder is read when it is needed
    return trust.described, roots, "there is no trust root: no https page can be fetched" if empty else ""


def _name_servers() -> tuple[str, ...]:
    try:
        channel = pycares.Channel(sock_state_cb=lambda *_: None)
    except pycares.AresError:
        return ()
    servers = tuple(channel.servers)
    channel.close()
    return servers
