"""The only URL parser in the house. Text goes in once; from then on only `Url` values travel.

WHATWG parsing by ada-url, because the browsers' reading is the one an attacker aims at: it sees through octal, integer
and short IPv4 forms, full-width digits, percent-encoded hosts and backslashes (spec 1.4, 1.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address
from typing import NewType

import ada_url

from runvil.core.failures import InvalidUrl

MAX_URL_BYTES = 8 * 1024
"""Longer input is no address anybody types or links to, and the parser itself has no bound (architecture 6)."""

DEFAULT_PORTS = {"https": 443, "http": 80, "wss": 443, "ws": 80, "ftp": 21}
"""The special schemes' ports (WHATWG URL 4.2)."""

NO_PORT = 0
"""The port of any other scheme; no policy can allow it."""

_HOSTLESS = frozenset({"file"})
"""The scheme whose authority may be empty and is written all the same."""

Name = NewType("Name", str)
"""A host name as the parser left it: lower case, punycode, a trailing dot kept."""

Host = Name | IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Url:
    """A parsed absolute URL without its fragment.

    port: the effective one. query: with its "?", or "". shown: scheme, host, written port and path alone, for messages
    and logs (spec 1.17). full: the serialised form with the query (spec C-27); credentials are never part of either.
    """

    scheme: str
    host: Host
    port: int
    path: str
    query: str
    has_userinfo: bool

    @property
    def host_text(self) -> str:
        """The host as a URL writes it: brackets around IPv6, an IPv4-mapped tail in hex (WHATWG URL 3.5)."""
        return f"[{ipv6_hex(self.host)}]" if isinstance(self.host, IPv6Address) else str(self.host)

    @property
    def authority(self) -> str:
        """Host and, when it is not the scheme's own, port: what a Host header holds."""
        own = DEFAULT_PORTS.get(self.scheme, NO_PORT)
        return self.host_text if self.port == own else f"{self.host_text}:{self.port}"

    @property
    def target(self) -> str:
        """The request target: path and query as the server gets them."""
        return f"{self.path}{self.query}"

    @property
    def shown(self) -> str:
        opaque = self._bare and "@" in self.path  # whatever it means there, it is not ours to repeat
        return self._origin if opaque else f"{self._origin}{self.path}"

    @property
    def full(self) -> str:
        return f"{self._origin}{self.target}"

    @property
    def _origin(self) -> str:
        return f"{self.scheme}:" if self._bare else f"{self.scheme}://{self.authority}"

    @property
    def _bare(self) -> bool:
        """Whether it has no authority, as mailto:, javascript: and data: have none."""
        return self.host == "" and self.scheme not in _HOSTLESS


def ipv6_hex(address: IPv6Address) -> str:
    """RFC 5952 with an IPv4-mapped tail in hex, as URLs write it. CPython 3.13 and later would print it dotted."""
    mapped = address.ipv4_mapped
    if mapped is None:
        return address.compressed
    return f"::ffff:{int(mapped) >> 16:x}:{int(mapped) & 0xFFFF:x}"


def parse(text: str, base: Url | None = None) -> Url:
    """Parse `text` as an absolute URL, or as a reference against `base`. The fragment is dropped (spec 1.4, C-9).

    Raises InvalidUrl when it does not parse, is longer than MAX_URL_BYTES, or cannot be written as UTF-8.
    """
    if len(text) > MAX_URL_BYTES:
        raise InvalidUrl
    try:
        parsed = ada_url.URL(text) if base is None else ada_url.URL(text, base.full)
    except ValueError as error:  # UnicodeEncodeError, for lone surrogates, is one
        raise InvalidUrl from error
    full = parsed.href.partition("#")[0]
    if len(full) > MAX_URL_BYTES:
        raise InvalidUrl
    scheme = parsed.protocol[:-1]
    return Url(
        scheme=scheme,
        host=_host(parsed),
        port=int(parsed.port) if parsed.port else DEFAULT_PORTS.get(scheme, NO_PORT),
        path=parsed.pathname,
        query=full[full.find("?") :] if "?" in full else "",
        has_userinfo=bool(parsed.username or parsed.password),
    )


def _host(parsed: ada_url.URL) -> Host:
    match parsed.host_type:
        case ada_url.HostType.IPV4:
            return IPv4Address(parsed.hostname)
        case ada_url.HostType.IPV6:
            return IPv6Address(parsed.hostname[1:-1])
        case _:
            return Name(parsed.hostname)
