"""A fetch that is no longer wanted ends at once and leaves nothing; many that hang hold nobody else up."""

from __future__ import annotations

import asyncio
import threading
import time
from typing import TYPE_CHECKING

import pytest

from runvil import FetchConfig, FetchFailure, WebFetch
from tests.lab.harness.answers import HTML, Endless, Raw, Then, head
from tests.lab.harness.dns import Silence
from tests.lab.harness.footprint import Footprint, footprint
from tests.lab.harness.marks import in_lab
from tests.lab.support import ARTICLE, EXAMPLE, OTHER, code, plain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from runvil import Page as Fetched
    from tests.lab.harness.lab import Lab

pytestmark = pytest.mark.lab

MANY = 256
ROUNDS = 5
END_LIMIT = 5.0
DEADLINE = 1.0
LOOKS = 500
BETWEEN_LOOKS = 0.01
DELAY_BAR = 0.100
NOISE = 0.050  # what two shared cores add to a best of five; the bar is for the client

# The moments a fetch can be in, each with the event that shows it is reached.
MOMENTS = {
    "lookup": "query",
    "connect": "dial",
    "handshake": "connection",
    "head": "request",
    "body": "request",
}


@pytest.mark.parametrize("moment", list(MOMENTS))
@in_lab
async def test_cancelling_closes_the_socket_at_once(lab: Lab, moment: str) -> None:
    _stuck_at(lab, moment)
    async with WebFetch() as fetch:
        await _warm(lab, fetch)
        before = footprint()
        task = asyncio.create_task(fetch.fetch("https://stuck.example/"))
        await _reached(lab, moment)
        connections = lab.count("connection")
        await _cancel([task])
        assert footprint().sockets <= before.sockets
        if connections > 1:
            await lab.until("gone", 1)


@pytest.mark.slow
@pytest.mark.parametrize("moment", ["lookup", "handshake", "body"])
@in_lab
async def test_256_cancelled_fetches_leave_nothing(lab: Lab, moment: str) -> None:
    _stuck_at(lab, moment)
    before = await _after_one_fetch(lab)
    async with WebFetch() as fetch:
        tasks = [asyncio.create_task(fetch.fetch("https://stuck.example/")) for _ in range(MANY)]
        await lab.until(MOMENTS[moment], lab.count(MOMENTS[moment]) + 1)
        await _all_reached(lab, moment)
        await _cancel(tasks)
        during = footprint()
    after = await _settled(before)
    assert during.sockets <= before.sockets
    assert after.within(before), (after, before)
    assert [thread for thread in threading.enumerate() if not thread.daemon] == [threading.main_thread()]


@pytest.mark.slow
@in_lab
async def test_256_fetches_cancelled_at_once_leave_nothing(lab: Lab) -> None:
    """Cancelled in the tick they start, and one tick later: the moments no event shows."""
    lab.site("stuck.example", EXAMPLE, ARTICLE)
    before = await _after_one_fetch(lab)
    async with WebFetch() as fetch:
        for ticks in range(8):
            tasks = [asyncio.create_task(fetch.fetch("https://stuck.example/")) for _ in range(MANY // 8)]
            for _ in range(ticks):
                await asyncio.sleep(0)
            await _cancel(tasks)
    after = await _settled(before)
    assert after.within(before), (after, before)


@pytest.mark.slow
@in_lab
async def test_256_hanging_lookups_do_not_delay_another_fetch(lab: Lab) -> None:
    """With the default policy: a name that hangs has a place of its own and keeps no slot."""
    async with WebFetch() as fetch:
        await _beside_hanging_lookups(lab, MANY, fetch, fetch)


@pytest.mark.slow
@in_lab
async def test_100_hanging_lookups_of_the_system_resolver_do_not_delay_another_fetch(lab: Lab) -> None:
    """Fewer than its threads; more would have to wait, which is why it is not the default."""
    async with WebFetch(FetchConfig(resolver="system")) as fetch:
        await _beside_hanging_lookups(lab, 100, fetch, fetch)


@in_lab
async def test_waiting_for_a_slot_counts_against_the_deadline(lab: Lab) -> None:
    """One after the other they would need three times the deadline."""
    _stuck_at(lab, "body")
    async with WebFetch(FetchConfig(max_concurrent=1, timeout=DEADLINE)) as fetch:
        async with asyncio.timeout(2.5 * DEADLINE):
            codes = await asyncio.gather(*(code(fetch, "https://stuck.example/") for _ in range(3)))
    assert codes[0] == "body-unreadable"
    assert set(codes[1:]) <= {"timed-out", "body-unreadable"}  # the slot may come free a moment before the end


@in_lab
async def test_an_answer_nobody_reads_holds_the_sender_back(lab: Lab) -> None:
    """A cancelled fetch stops the flood; the next one over the same client is served."""
    lab.name("stuck.example", EXAMPLE)
    lab.serve("https://stuck.example/", Endless(head(200, ("Content-Type", "text/plain")), b"x" * 100_000))
    lab.serve("https://stuck.example/next", plain("next"))
    async with WebFetch(FetchConfig(max_bytes=64 * 1024 * 1024)) as fetch:
        task = asyncio.create_task(fetch.fetch("https://stuck.example/"))
        await lab.until("request", 1)
        await _cancel([task])
        await lab.until("gone", 1)
        assert (await fetch.fetch("https://stuck.example/next")).text == "next"


def _stuck_at(lab: Lab, moment: str) -> None:
    """`stuck.example` lets a fetch get as far as `moment`."""
    lab.name("stuck.example", Silence() if moment == "lookup" else OTHER)
    if moment == "connect":
        lab.blackhole(OTHER)
    if moment == "handshake":
        lab.deafen(OTHER)
    started = head(200, ("Content-Type", HTML)) + b"<p>and then" if moment == "body" else b""
    lab.serve("https://stuck.example/", Raw(started, Then.HANG))


async def _warm(lab: Lab, fetch: WebFetch) -> None:
    """A first fetch, with rendering, starts what lives as long as the client or the process."""
    lab.site("warm.example", EXAMPLE, ARTICLE)
    await fetch.fetch("https://warm.example/")


async def _after_one_fetch(lab: Lab) -> Footprint:
    """What the process holds once a client has lived and been closed."""
    async with WebFetch() as fetch:
        await _warm(lab, fetch)
    return footprint()


async def _reached(lab: Lab, moment: str) -> None:
    event = MOMENTS[moment]
    await lab.until(event, {"query": 3, "dial": 2, "connection": 2, "request": 2}[event])


async def _all_reached(lab: Lab, moment: str) -> None:
    """The warm-up asked twice and made one connection and one request."""
    first = {"query": 2, "connection": 1, "request": 1}[MOMENTS[moment]]
    await lab.until(MOMENTS[moment], first + MANY)


async def _cancel(tasks: Iterable[asyncio.Task[Fetched]]) -> None:
    tasks = list(tasks)
    for task in tasks:
        task.cancel()
    done, late = await asyncio.wait(tasks, timeout=END_LIMIT)
    assert not late
    assert all(task.cancelled() or isinstance(task.exception(), FetchFailure) for task in done)


async def _settled(before: Footprint) -> Footprint:
    """Processes and threads that were told to end may take a moment to be gone; bounded, not awaited blindly."""
    for _ in range(LOOKS):
        if footprint().within(before):
            break
        await asyncio.sleep(BETWEEN_LOOKS)  # nothing tells when a killed process has been reaped
    return footprint()


async def _beside_hanging_lookups(lab: Lab, many: int, hanging: WebFetch, fetch: WebFetch) -> None:
    """The same fetch alone and beside them, best of five each."""
    lab.site("example.com", EXAMPLE, plain("text", Connection="close"))
    lab.name("stuck.example", Silence())
    await fetch.fetch("https://example.com/")
    alone = await _best(fetch)
    asked = lab.count("query")
    tasks = [asyncio.create_task(hanging.fetch("https://stuck.example/")) for _ in range(many)]
    await lab.until("query", asked + many)
    beside = await _best(fetch)
    await _cancel(tasks)
    assert beside - alone <= DELAY_BAR + NOISE, f"alone {alone * 1000:.0f} ms, beside {beside * 1000:.0f} ms"


async def _best(fetch: WebFetch) -> float:
    best = END_LIMIT
    for _ in range(ROUNDS):
        started = time.perf_counter()
        await fetch.fetch("https://example.com/")
        best = min(best, time.perf_counter() - started)
    return best
