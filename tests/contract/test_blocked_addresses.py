"""Claims: which of a host's addresses may be dialled, judged at each lookup."""

from __future__ import annotations

import logging
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import pytest

from runvil import FetchConfig, WebFetch
from runvil.core.addresses import TABLE, address_text
from runvil.testing import Rebinding
from tests.contract.asking import ADDRESS, HOST, OTHER, URL, ask, call, claim, hard, moved, ok, reply, site
from tests.support.loopback import Answer, Loopback
from tests.support.rendering import InProcess

NO_ADDRESS = hard("host example.com has no allowed address")

ROWS = [
    *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"),
    *("192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("224.0.0.0/4", "240.0.0.0/4", "255.255.255.255/32"),
    *("::/128", "::1/128", "::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001:db8::/32"),
    *("2002::/16", "3fff::/20", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8"),
]
"""The table of the chapter, written down a second time."""

NETWORKS = [ip_network(row) for row in ROWS]


def edges() -> list[str]:
    return [address_text(edge) for net in NETWORKS for edge in (net.network_address, net.broadcast_address)]


def neighbours() -> list[str]:
    """One step outside each row, where no other row begins."""
    found: list[IPv4Address | IPv6Address] = []
    for net in NETWORKS:
        kind, top = type(net.network_address), 2**net.max_prefixlen - 1
        for value in (int(net.network_address) - 1, int(net.broadcast_address) + 1):
            if 0 <= value <= top and not any(kind(value) in other for other in NETWORKS):
                found.append(kind(value))
    return [address_text(address) for address in found]


@claim("pack.addresses.mixed")
@claim("fetch.boundary.mixed")
@pytest.mark.parametrize("answers", [[ADDRESS, "127.0.0.1"], ["127.0.0.1", ADDRESS], ["::1", "10.0.0.1", ADDRESS]])
async def test_of_mixed_answers_the_public_one_alone_is_dialled(answers: list[str]) -> None:
    net = site(dns={HOST: answers})
    assert await ask(net) == ok("hello")
    assert net.dialled == [ADDRESS]


@claim("pack.addresses.none-allowed")
@claim("fetch.boundary.all-blocked")
async def test_a_host_with_blocked_addresses_alone_is_refused_undialled() -> None:
    net = site(dns={HOST: ["10.0.0.5", "127.0.0.1"]})
    assert await ask(net) == NO_ADDRESS
    assert net.dialled == []


@claim("pack.addresses.empty-answer")
async def test_a_lookup_without_any_address_is_the_same_refusal() -> None:
    net = site(dns={HOST: []})
    assert await ask(net) == NO_ADDRESS
    assert net.dialled == []


@claim("pack.addresses.localhost")
@pytest.mark.parametrize("answers", [["127.0.0.1"], ["::1"], ["127.0.0.1", "::1"], ["127.255.255.254"]])
async def test_localhost_is_refused_by_its_addresses(answers: list[str]) -> None:
    net = site(dns={"localhost": answers})
    assert await ask(net, "https://localhost/") == hard("host localhost has no allowed address")


@claim("pack.addresses.not-by-text")
async def test_a_name_is_judged_by_its_addresses_and_not_by_its_looks() -> None:
    url = "https://10.0.0.1.nip.example/"
    assert await ask(site({url: reply()}), url) == ok("hello", url)
    assert (await ask(site(dns={"www.bank.example": ["10.0.0.1"]}), "https://www.bank.example/")).kind == "hard"


@claim("pack.addresses.host-only")
@claim("fetch.errors.host-only")
async def test_the_refusal_names_neither_address_nor_range() -> None:
    told = await ask(site(dns={HOST: ["10.1.2.3", "fd00::7"]}), "https://example.com/a?token=1")
    assert told == NO_ADDRESS


@claim("pack.addresses.debug-log")
async def test_each_dropped_address_is_written_to_the_debug_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "runvil.fetch")
    await ask(site(dns={HOST: ["127.0.0.1", ADDRESS, "fe80::1", "::ffff:1.1.1.1"]}))
    assert caplog.messages == [
        "host example.com resolved to blocked address 127.0.0.1 in range 127.0.0.0/8",
        "host example.com resolved to blocked address fe80::1 in range fe80::/10",
        "host example.com resolved to blocked address ::ffff:1.1.1.1 in range ::ffff:0:0/96",
    ]
    assert {record.levelno for record in caplog.records} == {logging.DEBUG}


@claim("pack.addresses.debug-log")
async def test_nothing_is_logged_louder_than_that(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await ask(site(dns={HOST: ["127.0.0.1"]}))
    assert caplog.messages == []


@claim("pack.addresses.rebinding")
@claim("fetch.boundary.no-verdict-cached")
async def test_a_name_that_turns_inward_is_refused_the_second_time() -> None:
    net = site(dns={HOST: Rebinding(([ADDRESS], ["127.0.0.1"]))})
    assert await ask(net) == ok("hello")
    assert await ask(net) == NO_ADDRESS
    assert net.dialled == [ADDRESS]


@claim("pack.addresses.rebinding")
@claim("fetch.boundary.no-verdict-cached")
@pytest.mark.parametrize(
    ("second", "dialled", "kind"),
    [(ADDRESS, [ADDRESS], "ok"), (OTHER, [ADDRESS, OTHER], "ok"), ("127.0.0.1", [ADDRESS], "hard")],
)
async def test_an_open_connection_is_used_again_only_for_an_address_the_name_still_has(
    second: str, dialled: list[str], kind: str
) -> None:
    page = Answer(headers=[("Content-Type", b"text/plain")], body=b"hello")
    server = Loopback({URL: page}, {HOST: Rebinding(([ADDRESS], [second]))})
    async with server, WebFetch(net=server.net(FetchConfig()), renderer=InProcess()) as fetch:
        assert await call(fetch, {"url": URL}) == ok("hello")
        assert (await call(fetch, {"url": URL})).kind == kind
    assert server.lookups == [HOST, HOST]
    assert server.dialled == dialled


@claim("pack.addresses.every-lookup")
@claim("fetch.boundary.every-hop")
async def test_every_hop_of_every_call_looks_its_host_up_anew() -> None:
    pages = {URL: moved("/next"), "https://example.com/next": reply()}
    net = site(pages, dns={HOST: Rebinding(([ADDRESS], ["10.0.0.1"]))})
    assert await ask(net) == NO_ADDRESS
    assert net.lookups == [HOST, HOST]
    assert net.requests == [URL]


@claim("pack.addresses.thirty-rows")
@claim("fetch.boundary.table")
def test_the_table_holds_the_thirty_rows_and_no_other() -> None:
    assert [str(row.text) for row in TABLE] == ROWS
    assert [row.network for row in TABLE] == NETWORKS
    assert (sum(net.version == 4 for net in NETWORKS), sum(net.version == 6 for net in NETWORKS)) == (16, 14)


@claim("pack.addresses.first-to-last")
@pytest.mark.parametrize("address", edges())
async def test_a_row_is_refused_from_its_first_address_to_its_last(address: str) -> None:
    net = site(dns={HOST: [address]})
    assert await ask(net) == NO_ADDRESS
    assert net.dialled == []


@claim("pack.addresses.neighbours")
@pytest.mark.parametrize("address", neighbours())
async def test_one_step_outside_a_row_is_allowed(address: str) -> None:
    net = site(dns={HOST: [address]})
    without_supplement = FetchConfig(supplement=False)  # our one addition to the table
    assert await ask(net, config=without_supplement) == ok("hello")
    assert net.dialled == [address]


@claim("pack.addresses.neighbours")
@pytest.mark.parametrize("address", ["11.0.0.0", "172.32.0.0", "223.255.255.255", "2001:db9::1", "3fff:1000::1"])
async def test_the_neighbours_that_the_chapter_names_are_reached(address: str) -> None:
    net = site(dns={HOST: [address]})
    assert await ask(net) == ok("hello")
    assert net.dialled == [address]


@claim("pack.addresses.embedded")
@claim("fetch.boundary.embedded")
@pytest.mark.parametrize("inner", ["127.0.0.1", "10.0.0.1", "1.1.1.1", "93.184.216.34", "0.0.0.0", "255.255.255.255"])
@pytest.mark.parametrize("form", ["::{}", "::ffff:{}", "64:ff9b::{}"])
async def test_an_ipv4_address_inside_ipv6_is_refused_whatever_it_is(form: str, inner: str) -> None:
    net = site(dns={HOST: [form.format(inner)]})
    assert await ask(net) == NO_ADDRESS
    assert net.dialled == []


@claim("pack.addresses.metadata")
@pytest.mark.parametrize("address", ["169.254.169.254", "::ffff:169.254.169.254", "::169.254.169.254"])
async def test_the_metadata_service_is_refused_in_its_three_forms(address: str) -> None:
    net = site(dns={HOST: [address]})
    assert await ask(net) == NO_ADDRESS
    assert net.dialled == []


@claim("pack.addresses.reachable")
@pytest.mark.parametrize("address", ["1.1.1.1", "8.8.8.8", ADDRESS, "2606:4700:4700::1111", "2001:4860:4860::8888"])
async def test_a_public_address_is_reached(address: str) -> None:
    net = site(dns={HOST: [address]})
    assert await ask(net) == ok("hello")
    assert net.dialled == [address]


@claim("pack.addresses.no-exceptions")
def test_the_default_policy_has_no_further_range_and_no_exception() -> None:
    config = FetchConfig()
    assert (config.denied, config.pairs) == ((), ())


def test_the_second_table_is_the_oracle_it_claims_to_be() -> None:
    assert len(ROWS) == 30
    assert len(neighbours()) > 30
    assert all(not any(ip_address(one) in net for net in NETWORKS) for one in neighbours())
