"""Which addresses a fetch may never connect to: the 30 rows, the supplement, a deployment's own ranges (spec 1.6).

The rows are THE table. `ipaddress.is_global` is never asked: it passes NAT64, multicast, site-local and IPv4-compatible
addresses. The supplement follows spec 1.6's sentence that no address that is not globally reachable may be reached.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network


@dataclass(frozen=True, slots=True)
class Range:
    """A blocked range. text: how the debug log names it. label: what lives there. source: who says so."""

    network: Network
    text: str
    label: str
    source: str


@dataclass(frozen=True, slots=True)
class Allowed:
    address: Address


@dataclass(frozen=True, slots=True)
class Blocked:
    address: Address
    range: Range


def _row(cidr: str, label: str, source: str) -> Range:
    return Range(ip_network(cidr), cidr, label, source)


def _extra(cidr: str, label: str, source: str) -> Range:
    return Range(ip_network(cidr), f"supplement {cidr}", label, source)


TABLE: tuple[Range, ...] = (
    _row("0.0.0.0/8", "this network", "RFC 791"),
    _row("10.0.0.0/8", "private", "RFC 1918"),
    _row("100.64.0.0/10", "shared (CGNAT)", "RFC 6598"),
    _row("127.0.0.0/8", "loopback", "RFC 1122"),
    _row("169.254.0.0/16", "link-local, cloud metadata", "RFC 3927"),
    _row("172.16.0.0/12", "private", "RFC 1918"),
    _row("192.0.0.0/24", "protocol assignments", "RFC 6890"),
    _row("192.0.2.0/24", "documentation 1", "RFC 5737"),
    _row("192.88.99.0/24", "6to4 relay", "RFC 7526"),
    _row("192.168.0.0/16", "private", "RFC 1918"),
    _row("198.18.0.0/15", "benchmarking", "RFC 2544"),
    _row("198.51.100.0/24", "documentation 2", "RFC 5737"),
    _row("203.0.113.0/24", "documentation 3", "RFC 5737"),
    _row("224.0.0.0/4", "multicast", "RFC 1112"),
    _row("240.0.0.0/4", "reserved", "RFC 1112"),
    _row("255.255.255.255/32", "broadcast", "RFC 919"),
    _row("::/128", "unspecified", "RFC 4291"),
    _row("::1/128", "loopback", "RFC 4291"),
    _row("::/96", "IPv4-compatible", "RFC 4291"),
    _row("::ffff:0:0/96", "IPv4-mapped", "RFC 4291"),
    _row("64:ff9b::/96", "NAT64", "RFC 6052"),
    _row("64:ff9b:1::/48", "NAT64 local use", "RFC 8215"),
    _row("100::/64", "discard-only", "RFC 6666"),
    _row("2001:db8::/32", "documentation", "RFC 3849"),
    _row("2002::/16", "6to4", "RFC 3056"),
    _row("3fff::/20", "documentation", "RFC 9637"),
    _row("fc00::/7", "unique local", "RFC 4193"),
    _row("fe80::/10", "link-local", "RFC 4291"),
    _row("fec0::/10", "site-local", "RFC 3879"),
    _row("ff00::/8", "multicast", "RFC 4291"),
)
"""Spec 1.6: 16 IPv4 and 14 IPv6 rows, in the order in which the first match is named."""

SUPPLEMENT: tuple[Range, ...] = (
    _extra("168.63.129.16/32", "Azure host agent", "Azure virtual network documentation"),
    _extra("2001::/23", "Teredo, benchmarking, ORCHID and other protocol assignments", "RFC 2928"),
    _extra("5f00::/16", "SRv6 segment identifiers", "RFC 9602"),
    _extra("::ffff:0:0:0/96", "IPv4-translated (SIIT)", "RFC 2765"),
)
"""Our one addition to the table, on by default and switched by `FetchConfig.supplement`. ISATAP is decoded apart."""

_ISATAP_IDENTIFIERS = frozenset({0x0000_5EFE, 0x0200_5EFE})  # RFC 5214 6.1, local and universal
_COMPATIBLE, _MAPPED, _TRANSLATED = 0x0, 0xFFFF, 0xFFFF_0000  # the upper 96 bits before an embedded IPv4 value
_NAT64 = 0x0064_FF9B << 64  # 64:ff9b::/96
_TEREDO = 0x2001_0000  # 2001::/32; the client's address is stored inverted (RFC 4380 4)
_SIX_TO_FOUR = 0x2002


@dataclass(frozen=True, slots=True)
class _Bounds:
    first: int
    last: int
    range: Range


def _bounds(ranges: Iterable[Range], version: int) -> tuple[_Bounds, ...]:
    return tuple(
        _Bounds(int(r.network.network_address), int(r.network.broadcast_address), r)
        for r in ranges
        if r.network.version == version
    )


_TABLE = {version: _bounds(TABLE, version) for version in (4, 6)}
_SUPPLEMENT = {version: _bounds(SUPPLEMENT, version) for version in (4, 6)}


def judge(address: Address, *, supplement: bool = True, deny: tuple[Range, ...] = ()) -> Allowed | Blocked:
    """Judge one address: table, then supplement, then `deny`; the first matching range is the one named (spec 1.6).

    deny: a deployment's own ranges. They are tested against the IPv4 values embedded in an IPv6 address too.
    """
    found = _first(_TABLE, address)
    if found is None and supplement:
        found = _first(_SUPPLEMENT, address) or _isatap(address)
    if found is None and deny:
        found = next((r for r in deny if _covers(r, address)), None)
    return Allowed(address) if found is None else Blocked(address, found)


def _first(table: dict[int, tuple[_Bounds, ...]], address: Address) -> Range | None:
    value = int(address)
    for bounds in table[address.version]:
        if bounds.first <= value <= bounds.last:
            return bounds.range
    return None


def _covers(denied: Range, address: Address) -> bool:
    return address in denied.network or any(value in denied.network for value in embedded(address))


def _isatap(address: Address) -> Range | None:
    if isinstance(address, IPv4Address) or (int(address) >> 32) & 0xFFFF_FFFF not in _ISATAP_IDENTIFIERS:
        return None
    inner = IPv4Address(int(address) & 0xFFFF_FFFF)
    row = _first(_TABLE, inner)
    return row and Range(row.network, f"supplement isatap {row.text}", f"ISATAP, {row.label}", "RFC 5214")


def embedded(address: Address) -> Iterator[IPv4Address]:
    """The IPv4 values that an IPv6 address carries in a well-known way, for a deployment's own ranges (spec 1.21)."""
    if isinstance(address, IPv4Address):
        return
    value = int(address)
    low, upper = value & 0xFFFF_FFFF, value >> 32
    if upper in (_COMPATIBLE, _MAPPED, _TRANSLATED, _NAT64) or upper & 0xFFFF_FFFF in _ISATAP_IDENTIFIERS:
        yield IPv4Address(low)
    if value >> 112 == _SIX_TO_FOUR:
        yield IPv4Address((value >> 80) & 0xFFFF_FFFF)
    if value >> 96 == _TEREDO:
        yield IPv4Address((value >> 64) & 0xFFFF_FFFF)
        yield IPv4Address(low ^ 0xFFFF_FFFF)


def address_text(address: Address) -> str:
    """The canonical form for messages: RFC 5952, with the dotted tail for IPv4-mapped addresses alone (spec 1.5).

    CPython before 3.13 prints mapped addresses in hex, so that form is written here.
    """
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        return f"::ffff:{address.ipv4_mapped}"
    return str(address)
