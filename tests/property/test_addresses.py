"""Judging an address agrees, everywhere, with the table of the spec read by `ipaddress`, row by row."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from hypothesis import example, given
from hypothesis import strategies as st

from runvil.core.addresses import Allowed, Blocked, Range, address_text, judge
from tests.contract.test_blocked_addresses import ROWS
from tests.support.steady import steady

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

TABLE: list[Network] = [ip_network(row) for row in ROWS]
SUPPLEMENT: list[Network] = [
    ip_network(row) for row in ("168.63.129.16/32", "2001::/23", "5f00::/16", "::ffff:0:0:0/96")
]
EDGES = [int(edge) for net in TABLE + SUPPLEMENT for edge in (net.network_address, net.broadcast_address)]

_near = st.builds(lambda edge, step: edge + step, st.sampled_from(EDGES), st.integers(-2, 2))
_v4 = st.one_of(st.integers(0, 2**32 - 1), _near.filter(lambda value: 0 <= value < 2**32)).map(IPv4Address)
_v6_plain = st.one_of(st.integers(0, 2**128 - 1), _near.filter(lambda value: 0 <= value < 2**128)).map(IPv6Address)
_holding = st.builds(
    lambda prefix, inner: IPv6Address(int(IPv6Address(prefix)) | int(inner)),
    st.sampled_from(["2a00::5efe:0:0", "2a00::200:5efe:0:0", "2a00::1:5efe:0:0", "::", "::ffff:0:0", "64:ff9b::"]),
    _v4,
)
_teredo = st.builds(
    lambda server, client: IPv6Address(0x20010000 << 96 | int(server) << 64 | (int(client) ^ 0xFFFFFFFF)), _v4, _v4
)
_six_to_four = st.builds(lambda inner: IPv6Address(0x2002 << 112 | int(inner) << 80), _v4)
addresses: st.SearchStrategy[Address] = st.one_of(_v4, _v6_plain, _holding, _teredo, _six_to_four)


def row_of(address: Address) -> str | None:
    return next((row for row, net in zip(ROWS, TABLE, strict=True) if address in net), None)


def inner_of_isatap(address: Address) -> IPv4Address | None:
    """The last four bytes, where the four before them say ISATAP."""
    if address.version == 6 and address.packed[8:12] in (b"\x00\x00\x5e\xfe", b"\x02\x00\x5e\xfe"):
        return IPv4Address(address.packed[12:])
    return None


def supplement_of(address: Address) -> str | None:
    found = next((f"supplement {net}" for net in SUPPLEMENT if address in net), None)
    if found is None and (inner := inner_of_isatap(address)) is not None and (row := row_of(inner)) is not None:
        return f"supplement isatap {row}"
    return found


def name_of(verdict: Allowed | Blocked) -> str | None:
    return verdict.range.text if isinstance(verdict, Blocked) else None


@steady(400)
@given(addresses)
def test_the_table_alone_agrees_with_its_second_reading(address: Address) -> None:
    verdict = judge(address, supplement=False)
    assert verdict.address == address
    assert name_of(verdict) == row_of(address)


@steady(400)
@given(addresses)
@example(ip_address("168.63.129.16"))
@example(ip_address("168.63.129.17"))
@example(ip_address("2001:200::"))
@example(ip_address("2a00::5efe:a00:1"))
def test_the_supplement_comes_after_the_table_and_adds_what_it_says(address: Address) -> None:
    assert name_of(judge(address)) == (row_of(address) or supplement_of(address))


@st.composite
def denied(draw: st.DrawFn) -> tuple[Range, ...]:
    nets = []
    for _ in range(draw(st.integers(1, 3))):
        address = draw(addresses)
        prefix = draw(st.integers(0, address.max_prefixlen))
        nets.append(
            ip_network((int(address), prefix) if address.version == 6 else (str(address), prefix), strict=False)
        )
    return tuple(Range(net, f"deny_extra {net}", "", "") for net in nets)


def carried_by(address: Address) -> list[IPv4Address]:
    """The IPv4 addresses that an address the table leaves open may carry."""
    if isinstance(address, IPv4Address):
        return []
    found = [inner_of_isatap(address)]
    if address in SUPPLEMENT[3]:
        found.append(IPv4Address(address.packed[12:]))
    if address.teredo:
        found.extend(address.teredo)
    return [inner for inner in found if inner is not None]


@steady(400)
@given(addresses, denied())
def test_a_deployments_own_ranges_come_last_and_see_what_an_address_carries(
    address: Address, ranges: tuple[Range, ...]
) -> None:
    own = next((r.text for r in ranges if any(one in r.network for one in (address, *carried_by(address)))), None)
    expected = row_of(address) or own
    assert name_of(judge(address, supplement=False, deny=ranges)) == expected


@steady(400)
@given(addresses)
def test_the_text_of_an_address_reads_back_and_shows_a_mapped_one_dotted(address: Address) -> None:
    text = address_text(address)
    assert ip_address(text) == address
    assert text == text.lower()
    dotted = isinstance(address, IPv4Address) or address.ipv4_mapped is not None
    assert ("." in text) == dotted
