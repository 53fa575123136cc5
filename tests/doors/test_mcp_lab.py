"""`runvil mcp` as a process in a network of its own, asked by the SDK's own client: both transports, both eras."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from runvil import WebFetch
from tests.lab.conftest import nursery
from tests.lab.harness.answers import Raw, Then
from tests.lab.harness.lab import is_inward
from tests.lab.harness.marks import in_lab
from tests.lab.support import ARTICLE, EXAMPLE, SENTENCE, plain

pytest.importorskip("mcp", reason="the extra runvil[mcp] is not installed")

from mcp import Client

from tests.doors.mcp_support import DOORS, client_at, serving, text_of

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

__all__ = ["nursery"]

pytestmark = pytest.mark.lab

at_every_door = pytest.mark.parametrize("door", DOORS)

where_calls_are_cancelled = pytest.mark.parametrize("door", [door for door in DOORS if door != "http legacy"])
"""A client of 2025 sends a cancellation as another request, which a server without sessions cannot match."""

MANY = 64
ROUNDS = 10
SETTLED = 3
"""Rounds after which a process has what it needs to live."""

HANGING = Raw(b"", Then.HANG)

GROWTH = 1.1
"""What memory may be of what it was once settled: allocators are not exact."""


def _open(lab: Lab, door: str) -> None:
    if door.startswith("http"):
        lab.expect_inward_connections()  # the client's own, to the server on loopback


def _outward(lab: Lab) -> int:
    return sum(not is_inward(dial.address) for dial in lab.dialled())


@at_every_door
@in_lab
async def test_a_page_of_the_internet_comes_through_as_the_library_gives_it_and_nothing_inward_does(
    lab: Lab, door: str
) -> None:
    _open(lab, door)
    lab.site("example.com", EXAMPLE, ARTICLE)
    lab.name("inward.example", "10.0.0.5")
    async with WebFetch() as fetch:
        expected = (await fetch.call({"url": "https://example.com/"})).text
    assert SENTENCE in expected
    async with client_at(door) as client:
        result = await client.call_tool("web_fetch", {"url": "https://example.com/"})
        refused = await client.call_tool("web_fetch", {"url": "https://inward.example/"})
    assert (text_of(refused), refused.is_error) == ("host inward.example has no allowed address", True)
    assert _outward(lab) == 2
    assert text_of(result) == expected
    assert result.structured_content["title"] == "The harbour"


@in_lab
async def test_a_client_of_2025_over_http_gives_a_call_up_by_going_away(lab: Lab) -> None:
    _open(lab, "http legacy")
    lab.site("stuck.example", EXAMPLE, HANGING)
    async with serving("--timeout", "300") as (url, _):

        async def ask() -> None:
            async with Client(url, mode="legacy") as client:
                await client.call_tool("web_fetch", {"url": "https://stuck.example/"})

        asking = [asyncio.create_task(ask()) for _ in range(4)]
        await lab.until("request", 4)
        for one in asking:
            one.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        await lab.until("gone", 4)


@where_calls_are_cancelled
@in_lab
async def test_of_64_calls_at_once_half_are_cancelled_and_the_rest_are_right(lab: Lab, door: str) -> None:
    _open(lab, door)
    _many(lab)
    async with client_at(door, "--timeout", "300") as client:
        await _round(lab, client, 0)


@pytest.mark.slow
@pytest.mark.parametrize("door", ["stdio auto", "http auto"])
@in_lab
async def test_ten_rounds_of_that_leave_memory_and_sockets_as_they_were(lab: Lab, door: str) -> None:
    if door.startswith("stdio"):
        _many(lab)
        async with client_at(door, "--timeout", "300") as client:
            await _rounds(lab, client, _server())
        return
    _open(lab, door)
    _many(lab)
    async with serving("--timeout", "300") as (url, process), Client(url, mode=door.split()[1]) as client:
        await _rounds(lab, client, process)


def _many(lab: Lab) -> None:
    lab.name("many.example", EXAMPLE)
    for number in range(MANY):
        lab.serve(
            f"https://many.example/{number}", plain(f"page {number}", Connection="close") if number % 2 else HANGING
        )


async def _round(lab: Lab, client: Any, before: int) -> None:
    """`before` rounds have been. Every page asked for comes, every connection ends."""
    urls = [f"https://many.example/{number}" for number in range(MANY)]
    calls = [asyncio.create_task(client.call_tool("web_fetch", {"url": url})) for url in urls]
    await lab.until("request", MANY * (before + 1))
    for call in calls[::2]:
        call.cancel()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert all(isinstance(result, asyncio.CancelledError) for result in results[::2])
    for number, result in list(enumerate(results))[1::2]:
        assert text_of(result).endswith(f"\n\npage {number}"), result
    await lab.until("gone", MANY * (before + 1))


async def _rounds(lab: Lab, client: Any, process: int) -> None:
    memory, sockets = [], []
    for number in range(ROUNDS):
        await _round(lab, client, number)
        memory.append(_resident(process))
        sockets.append(_sockets(process))
    assert max(memory[SETTLED:]) <= GROWTH * memory[SETTLED - 1], memory
    assert sockets[-1] <= sockets[SETTLED - 1], sockets


def _server() -> int:
    """The one child of this process that is ours: the internet is the other."""
    children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    (found,) = [int(child) for child in children if b"runvil" in Path(f"/proc/{child}/cmdline").read_bytes()]
    return found


def _resident(process: int) -> int:
    """Pages."""
    return int(Path(f"/proc/{process}/statm").read_text().split()[1])


def _sockets(process: int) -> int:
    return sum("socket" in os.readlink(one) for one in Path(f"/proc/{process}/fd").iterdir())
