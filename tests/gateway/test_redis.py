"""Limits and cache in a real redis-server, shared by gateway processes: exact, and closed when it is lost."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import signal
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from redis.asyncio import Redis

from tests.gateway.support import (
    BEARER,
    IN_TIME,
    SEARCH,
    Scripted,
    bearer,
    client_table,
    found,
    opened,
    process,
    scripts,
    text,
)
from tests.gateway.test_process import client_of, echoing
from tests.support.vendors import FakeVendor

SERVER = shutil.which("redis-server")

pytestmark = [pytest.mark.slow, pytest.mark.skipif(SERVER is None, reason="redis-server is not installed")]

CALLS, AMOUNT = 400, 100
MICROSECONDS = 1_000_000


@dataclass
class Server:
    """A redis-server of the test's own."""

    process: asyncio.subprocess.Process
    port: int

    @property
    def address(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def stores(self) -> str:
        return f'limits.store = "{self.address}"\ncache.store = "{self.address}"\n'


@contextlib.asynccontextmanager
async def redis(port: int = 0) -> AsyncIterator[Server]:
    """One that keeps nothing on disk."""
    assert SERVER is not None
    port = port or await free_port()
    started = await asyncio.create_subprocess_exec(
        *(SERVER, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert started.stdout is not None
        async with asyncio.timeout(IN_TIME):
            while b"Ready to accept connections" not in await started.stdout.readline():
                assert started.returncode is None
        yield Server(started, port)
    finally:
        with contextlib.suppress(ProcessLookupError):
            started.send_signal(signal.SIGCONT)
            started.kill()
        async with asyncio.timeout(IN_TIME):
            await started.communicate()


async def free_port() -> int:
    server = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return port


class Record:
    """The times, by the server's clock and in microseconds, at which a place in a rate's window was taken."""

    def __init__(self, client: Redis) -> None:
        self._client = client
        self._news = asyncio.Event()
        self.times: list[int] = []

    async def listen(self, ready: asyncio.Event) -> None:
        async with self._client.monitor() as monitor:
            ready.set()
            async for command in monitor.listen():
                words = command["command"].split()
                if words[0].lower() == "lpush" and words[1].endswith(":rate"):
                    self.times.append(int(words[2]))
                    self._news.set()

    async def reaches(self, count: int) -> None:
        async with asyncio.timeout(IN_TIME):
            while len(self.times) < count:
                self._news.clear()
                await self._news.wait()


@contextlib.asynccontextmanager
async def recorded(server: Server) -> AsyncIterator[Record]:
    async with Redis(port=server.port) as client:
        record, ready = Record(client), asyncio.Event()
        listening = asyncio.ensure_future(record.listen(ready))
        async with asyncio.timeout(IN_TIME):
            await ready.wait()
        try:
            yield record
        finally:
            listening.cancel()
            await asyncio.gather(listening, return_exceptions=True)


def fullest(times: list[int], seconds: int) -> int:
    """The most admissions in any window of this length."""
    times = sorted(times)
    return max(sum(start <= time < start + seconds * MICROSECONDS for time in times) for start in times)


async def calls(clients: list[httpx2.AsyncClient], count: int) -> Counter[int]:
    async with asyncio.timeout(IN_TIME):
        answers = await asyncio.gather(
            *(clients[at % len(clients)].post(SEARCH, json={"query": "same"}) for at in range(count))
        )
    return Counter(answer.status_code for answer in answers)


@contextlib.asynccontextmanager
async def two_gateways(path: Path, key: str, toml: str) -> AsyncIterator[list[httpx2.AsyncClient]]:
    path.write_text(toml)  # noqa: ASYNC240
    async with (
        process(path) as one,
        process(path) as other,
        client_of(one, key) as first,
        client_of(other, key) as second,
    ):
        yield [first, second]


async def test_two_processes_let_exactly_a_hundred_of_four_hundred_pass(tmp_path: Path) -> None:
    key, table = client_table("agents", rate=f"{AMOUNT}/minute")
    async with redis() as server, FakeVendor(echoing) as vendor:
        toml = text(vendor.root, server=server.stores + table)
        async with two_gateways(tmp_path / "g.toml", key, toml) as clients:
            assert await calls(clients, CALLS) == {200: AMOUNT, 429: CALLS - AMOUNT}


async def test_no_window_holds_more_than_a_hundred_also_across_its_edge(tmp_path: Path) -> None:
    """Two processes are asked without pause over three windows; the server's own record says who passed when."""
    seconds = 3
    key, table = client_table("agents", rate=f"{AMOUNT}/{seconds} seconds")
    async with redis() as server, FakeVendor(echoing) as vendor, recorded(server) as record:
        toml = text(vendor.root, server=server.stores + table)
        async with two_gateways(tmp_path / "g.toml", key, toml) as clients:
            answered: Counter[int] = Counter()
            async with asyncio.timeout(IN_TIME):
                while not record.times or record.times[-1] < record.times[0] + 2.1 * seconds * MICROSECONDS:
                    answered += await calls(clients, 40)
            await record.reaches(answered[200])
    times = record.times
    assert set(answered) == {200, 429}
    assert len(times) == answered[200]
    assert fullest(times, seconds) == AMOUNT
    second = [time for time in times if 0 <= time - times[0] - seconds * MICROSECONDS < seconds * MICROSECONDS]
    assert len(second) == AMOUNT  # and the limit is given to the full, window after window


async def test_the_rate_and_the_quota_are_taken_together(tmp_path: Path) -> None:
    key, table = client_table("agents", rate="5/minute", quota="7/day")
    async with redis() as server, opened(text(server=server.stores + table), scripts(brave=Scripted())) as gateway:
        statuses = [(await gateway.search(headers=bearer(key))).status_code for _ in range(8)]
        assert statuses == [200] * 5 + [429] * 3
        async with Redis(port=server.port) as asking:
            assert await asking.llen("runvil:{agents}:quota") == 5
            assert await asking.llen("runvil:{agents}:rate") == 5
            assert 0 < await asking.ttl("runvil:{agents}:rate") <= 61


async def test_what_one_found_the_other_need_not_ask_for(tmp_path: Path) -> None:
    key, table = client_table("agents")
    async with redis() as server, FakeVendor(echoing) as vendor:
        toml = text(vendor.root, server=server.stores + table)
        async with two_gateways(tmp_path / "g.toml", key, toml) as clients:
            bodies = [(await one.post(SEARCH, json={"query": "same"})).content for one in clients]
            async with Redis(port=server.port) as asking:
                names = [name async for name in asking.scan_iter("*")]
    assert bodies[0] == bodies[1]
    assert len(vendor.asked) == 1
    assert b"same" not in b"".join(names)


async def refused_without_limits(gateway: Any) -> tuple[int, str]:
    answer = await gateway.search()
    return answer.status_code, answer.json()["error"]["code"] if answer.status_code != 200 else "ok"


async def test_nothing_passes_while_the_limits_are_lost_and_all_is_well_when_they_are_back() -> None:
    vendor = Scripted(found("https://e.com/"))
    async with contextlib.AsyncExitStack() as servers:
        server = await servers.enter_async_context(redis())
        limits = f'limits.store = "{server.address}"\nlimits.rate = "100/minute"\n'
        async with opened(text(server=limits), scripts(brave=vendor)) as gateway:
            assert await refused_without_limits(gateway) == (200, "ok")
            server.process.kill()
            await server.process.wait()
            asked = len(vendor.asked)
            assert await refused_without_limits(gateway) == (503, "limits_unavailable")
            assert len(vendor.asked) == asked
            await servers.enter_async_context(redis(server.port))
            assert await refused_without_limits(gateway) == (200, "ok")


async def test_limits_that_do_not_answer_are_lost_within_seconds() -> None:
    async with redis() as server:
        limits = f'limits.store = "{server.address}"\nlimits.rate = "100/minute"\n'
        async with opened(text(server=limits), scripts(brave=Scripted())) as gateway:
            assert await refused_without_limits(gateway) == (200, "ok")
            server.process.send_signal(signal.SIGSTOP)
            assert await refused_without_limits(gateway) == (503, "limits_unavailable")


async def test_a_lost_cache_is_an_empty_one() -> None:
    port = await free_port()
    toml = text(server=f'cache.store = "redis://:planted-password@127.0.0.1:{port}/0"\n')
    async with opened(toml, scripts(brave=Scripted(found("https://e.com/")))) as gateway:
        for _ in range(2):
            assert (await gateway.http.post(SEARCH, json={"query": "q"}, headers=BEARER)).status_code == 200
        assert "planted-password" not in repr(gateway.gateway.state)
        assert "planted-password" in gateway.gateway.state.config.hidden[-1]
