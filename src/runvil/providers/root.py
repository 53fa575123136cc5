"""Where a provider's requests go: a root address that nothing in a query can leave."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address

from runvil.core.config import ConfigError
from runvil.core.failures import InvalidUrl
from runvil.core.url import Url, parse


def root_of(text: str, *, keyed: bool, proxied: bool = False) -> Url:
    """A root address: http or https, without credentials, query or fragment. keyed: a secret will be sent to it.

    Raises ConfigError, which does not quote the address: it may hold a credential.
    """
    try:
        url = parse(text) if isinstance(text, str) else None
    except InvalidUrl:
        url = None
    if url is None or url.scheme not in ("http", "https"):
        raise ConfigError("the address is not an http or https URL")
    if url.has_userinfo or "?" in text or "#" in text:
        raise ConfigError("the address must hold no credentials, query or fragment")
    if keyed and url.scheme == "http" and (proxied or not _is_loopback(url)):
        raise ConfigError("a key is sent over https or to this machine alone")
    return url


def check_proxy(text: str) -> None:
    """Raises ConfigError, without the address, when it is no proxy's."""
    try:
        usable = parse(text).scheme in ("http", "https")
    except InvalidUrl:
        usable = False
    if not usable:
        raise ConfigError("the proxy's address is not an http or https URL")


def _is_loopback(url: Url) -> bool:
    if isinstance(url.host, IPv4Address | IPv6Address):
        return url.host.is_loopback
    return url.host.removesuffix(".") == "localhost"
