"""An idle connection is used again only where nothing can have been put into it and its peer has been vetted anew."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runvil import FetchConfig, WebFetch
from tests.lab.harness.answers import Late, Page, Raw, Then
from tests.lab.harness.lab import Dial
from tests.lab.harness.marks import in_lab
from tests.lab.support import EXAMPLE, EXAMPLE_V6, OTHER, code, failure, plain

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

pytestmark = pytest.mark.lab

POISON = plain("poison")
FETCHES = 4


def _page(text: str, then: Then) -> Page:
    return Page(text.encode(), "text/plain", then=then)


@in_lab
async def test_fetches_of_one_host_share_a_connection(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("text"))
    async with WebFetch() as fetch:
        for _ in range(FETCHES):
            await fetch.fetch("https://example.com/")
    assert lab.dialled() == [Dial(EXAMPLE, 443)]
    assert [request.connection for request in lab.requests()] == [0] * FETCHES


@in_lab
async def test_two_hosts_at_one_address_never_share_a_connection(lab: Lab) -> None:
    lab.site("one.example", EXAMPLE, plain("one"))
    lab.site("two.example", EXAMPLE, plain("two"))
    async with WebFetch() as fetch:
        for _ in range(2):
            assert (await fetch.fetch("https://one.example/")).text == "one"
            assert (await fetch.fetch("https://two.example/")).text == "two"
    assert [(one.sni, one.requests) for one in lab.connections()] == [("one.example", 2), ("two.example", 2)]


@in_lab
async def test_a_host_that_moved_is_dialled_at_its_new_address(lab: Lab) -> None:
    lab.name("moving.example", EXAMPLE, OTHER)
    lab.serve("https://moving.example/", plain("text"))
    async with WebFetch() as fetch:
        await fetch.fetch("https://moving.example/")
        await fetch.fetch("https://moving.example/")
    assert [(request.address, request.connection) for request in lab.requests()] == [(EXAMPLE, 0), (OTHER, 1)]


@in_lab
async def test_a_peer_among_more_vetted_addresses_is_used_again(lab: Lab) -> None:
    lab.name("growing.example", EXAMPLE, (OTHER, EXAMPLE_V6, EXAMPLE))
    lab.serve("https://growing.example/", plain("text"))
    async with WebFetch() as fetch:
        await fetch.fetch("https://growing.example/")
        await fetch.fetch("https://growing.example/")
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
async def test_unsolicited_bytes_end_the_idle_connection(lab: Lab) -> None:
    answer = plain("first")
    lab.name("example.com", EXAMPLE)
    lab.serve("https://example.com/", Raw(answer.head() + answer.body + POISON.head() + POISON.body, Then.KEEP))
    lab.serve("https://example.com/next", plain("second"))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://example.com/")).text == "first"
        assert (await fetch.fetch("https://example.com/next")).text == "second"
    assert [request.connection for request in lab.requests()] == [0, 1]


@in_lab
async def test_bytes_that_arrive_on_an_idle_connection_end_it_at_once(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, Late(plain("first"), POISON.head() + POISON.body, 0.1), plain("second"))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://example.com/")).text == "first"
        await lab.until("gone", 1)
        assert (await fetch.fetch("https://example.com/")).text == "second"
    assert [request.connection for request in lab.requests()] == [0, 1]


@in_lab
async def test_an_idle_connection_the_server_closed_is_not_used_again(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, _page("first", Then.CLOSE), plain("second"))
    async with WebFetch() as fetch:
        await fetch.fetch("https://example.com/")
        await lab.until("gone", 1)
        assert (await fetch.fetch("https://example.com/")).text == "second"
    assert len(lab.dialled()) == 2


@pytest.mark.parametrize("end", ["CLOSE_LATER", "RESET_LATER"])
@in_lab
async def test_a_reused_connection_that_dies_under_the_request_is_tried_once_on_a_fresh_one(lab: Lab, end: str) -> None:
    lab.site("example.com", EXAMPLE, _page("first", Then[end]), plain("second"))
    async with WebFetch() as fetch:
        await fetch.fetch("https://example.com/")
        assert (await fetch.fetch("https://example.com/")).text == "second"
    assert len(lab.dialled()) == 2


@in_lab
async def test_the_second_attempt_is_the_last(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, _page("first", Then.CLOSE_LATER), Raw(b""))
    async with WebFetch() as fetch:
        await fetch.fetch("https://example.com/")
        assert await code(fetch, "https://example.com/") == "network-error"
    assert len(lab.dialled()) == 2


@in_lab
async def test_a_fresh_connection_that_dies_is_not_tried_again(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, Raw(b""), plain("not asked for"))
    async with WebFetch() as fetch:
        refused = await failure(fetch, "https://example.com/")
    assert refused.code == "network-error"
    assert len(lab.dialled()) == 1


@in_lab
async def test_connection_close_is_obeyed(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("text", Connection="close"))
    async with WebFetch() as fetch:
        await fetch.fetch("https://example.com/")
        await lab.until("gone", 1)


@in_lab
async def test_a_connection_whose_body_was_not_read_to_its_end_is_closed(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    lab.serve("https://example.com/pdf", Page(b"%PDF", "application/pdf"))
    lab.serve("https://example.com/gone", Page(b"not here", "text/plain", 404))
    async with WebFetch() as fetch:
        for path in ("pdf", "gone"):
            await failure(fetch, f"https://example.com/{path}")
        await lab.until("gone", 2)
    assert [one.requests for one in lab.connections()] == [1, 1]


@in_lab
async def test_an_idle_connection_is_closed_after_its_time(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("text"))
    async with WebFetch(FetchConfig(pool_idle_timeout=0.3)) as fetch:
        await fetch.fetch("https://example.com/")
        await lab.until("gone", 1)
        await fetch.fetch("https://example.com/")
    assert len(lab.dialled()) == 2


@in_lab
async def test_closing_the_client_closes_its_idle_connections(lab: Lab) -> None:
    hosts = [f"h{number}.example" for number in range(3)]
    async with WebFetch() as fetch:
        for host in hosts:
            lab.site(host, EXAMPLE, plain("text"))
            await fetch.fetch(f"https://{host}/")
    await lab.until("gone", len(hosts))


@in_lab
async def test_closing_the_client_in_the_very_tick_a_fetch_ends_closes_its_connection(lab: Lab) -> None:
    """An empty text needs no further turn of the loop, so nothing the client left to a task has begun."""
    lab.site("example.com", EXAMPLE, plain(""))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://example.com/")).text == ""
    await lab.until("gone", 1)


@in_lab
async def test_many_fetches_at_once_of_one_host_do_not_mix_their_answers(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    numbers = range(40)
    for number in numbers:
        lab.serve(f"https://example.com/{number}", plain(f"page {number}"))
    async with WebFetch() as fetch:
        for _ in range(2):
            pages = await asyncio.gather(*(fetch.fetch(f"https://example.com/{number}") for number in numbers))
            assert [page.text for page in pages] == [f"page {number}" for number in numbers]
