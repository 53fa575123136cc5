"""Ctrl-C in the middle of a fetch, and a machine without IPv6."""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runvil import WebFetch
from tests.lab.harness.answers import Endless, head
from tests.lab.harness.lab import Dial
from tests.lab.harness.marks import in_lab
from tests.lab.support import ARTICLE, EXAMPLE, plain

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

pytestmark = pytest.mark.lab

IN_TIME = 30.0  # seconds; a guard against a hang
NO_IPV6 = Path("/proc/sys/net/ipv6/conf/all/disable_ipv6")


@pytest.mark.parametrize("urls", [["https://stuck.example/"], ["https://stuck.example/", "https://example.com/"]])
@in_lab
async def test_ctrl_c_ends_a_fetch_under_way_with_one_line_and_nothing_left(lab: Lab, urls: list[str]) -> None:
    lab.name("stuck.example", EXAMPLE)
    lab.serve("https://stuck.example/", Endless(head(200, ("Content-Type", "text/html")), b"<p>on and on", 0.2))
    lab.site("example.com", EXAMPLE, ARTICLE)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "runvil", "fetch", *urls, stdout=-1, stderr=-1, start_new_session=True
    )
    await lab.until("request", len(urls))
    process.send_signal(signal.SIGINT)
    out, err = await asyncio.wait_for(process.communicate(), IN_TIME)
    assert (process.returncode, err.decode().strip()) == (130, "runvil: interrupted")
    assert out == b""
    await lab.until("gone", len(urls))  # its connections
    assert _session(process.pid) == []


def _session(leader: int) -> list[int]:
    """The processes that are left of a session: its workers, had they outlived it."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # gone meanwhile
        if int(fields[3]) == leader and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def _switch_ipv6_off() -> None:
    """In the test's own network."""
    try:
        NO_IPV6.write_text("1")
    except OSError as error:
        pytest.skip(f"IPv6 cannot be switched off here: {error}")


@in_lab
async def test_without_ipv6_a_host_of_both_kinds_is_reached_over_ipv4(lab: Lab) -> None:
    _switch_ipv6_off()
    lab.site("example.com", ("2606:4700:4700::1111", EXAMPLE), plain("hello"))
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://example.com/")
    assert page.text == "hello"
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
async def test_without_ipv6_a_host_of_ipv6_alone_is_a_network_error(lab: Lab) -> None:
    _switch_ipv6_off()
    lab.site("example.com", "2606:4700:4700::1111", plain("hello"))
    async with WebFetch() as fetch:
        output = await fetch.call({"url": "https://example.com/"})
    assert output.text == "fetch failed for https://example.com/: network error; try a different URL"
