"""The gateway as a process: revocation, shutdown and kill -9 under load, and the clients that ship with the package."""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
from collections import Counter
from pathlib import Path
from typing import Self

import httpx2
import pytest

from runvil import ToolError, WebSearch
from runvil.doors.cli import run
from runvil.gateway.keys import digest
from runvil.providers import GatewayProvider
from tests.gateway.support import (
    IN_TIME,
    SEARCH,
    TOKEN,
    VENDOR_KEY,
    Process,
    bearer,
    client_table,
    process,
    text,
)
from tests.support.vendors import Asked, FakeVendor, Told

pytestmark = pytest.mark.slow

CLIENTS = 16
ENOUGH = 200
"""Answers of a load before something happens to it, and after."""


def echoing(asked: Asked) -> Told:
    """Rows that name the query they belong to."""
    query = asked.json["q"] if asked.method == "POST" else asked.params["q"]
    words = f"what {query} is, " * 50
    rows = [{"title": query, "url": f"https://s{at}.com/{query}", "description": words} for at in range(10)]
    return Told({"web": {"results": rows}})


class HeldVendor(FakeVendor):
    """Answers nothing until `go` is set. came: a connection for each request under way."""

    def __init__(self) -> None:
        super().__init__(echoing)
        self.go = asyncio.Event()
        self.came: asyncio.Queue[None] = asyncio.Queue()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        self.came.put_nowait(None)
        await self.go.wait()
        return await super()._exchange(reader, writer)


class Load:
    """Clients that ask without end and check each answer to the last byte."""

    def __init__(self, root: str) -> None:
        self._root = root
        self.seen: Counter[str] = Counter()
        self._moved = asyncio.Event()
        self._over = False
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.ensure_future(self._client(at)) for at in range(CLIENTS)]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._over = True
        async with asyncio.timeout(IN_TIME):
            await asyncio.gather(*self._tasks)

    async def more(self, what: str, count: int) -> None:
        """Wait for so many more of these, or for a client that found something wrong."""
        wanted = self.seen[what] + count
        async with asyncio.timeout(IN_TIME):
            while self.seen[what] < wanted:
                assert not any(task.done() for task in self._tasks), self._tasks
                self._moved.clear()
                await self._moved.wait()

    async def _client(self, number: int) -> None:
        asked = 0
        async with httpx2.AsyncClient(base_url=self._root, trust_env=False, timeout=IN_TIME) as http:
            while not self._over:
                asked += 1
                outcome = await self._ask(http, f"q{number}x{asked}")
                self.seen[outcome] += 1
                self._moved.set()

    async def _ask(self, http: httpx2.AsyncClient, query: str) -> str:
        try:
            answer = await http.post(SEARCH, json={"query": query}, headers=bearer(TOKEN))
        except httpx2.TransportError:
            await asyncio.sleep(0)
            return "broken off"
        assert answer.status_code == 200, answer.text
        found = answer.json()
        assert found["query"] == query
        assert [row["title"] for row in found["results"]] == [query] * 10
        return "answered"


def port_of(root: str) -> str:
    return f"127.0.0.1:{root.rpartition(':')[2]}"


async def test_no_client_gets_a_wrong_or_partial_answer_when_it_is_killed_and_started_again(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    async with FakeVendor(echoing) as vendor:
        path.write_text(text(vendor.root))
        async with contextlib.AsyncExitStack() as first:
            killed = await first.enter_async_context(process(path))
            path.write_text(text(vendor.root, bind=port_of(killed.root)))
            async with Load(killed.root) as load:
                for _ in range(2):
                    await load.more("answered", ENOUGH)
                    killed.tell(signal.SIGKILL)
                    assert await killed.ended() == -signal.SIGKILL
                    await load.more("broken off", CLIENTS)
                    killed = await first.enter_async_context(process(path))
                await load.more("answered", ENOUGH)


async def test_it_finishes_what_is_under_way_before_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    vendor = HeldVendor()
    async with vendor:
        path.write_text(text(vendor.root))
        async with process(path) as gateway, client_of(gateway) as http:
            asking = [asyncio.ensure_future(http.post(SEARCH, json={"query": f"q{at}"})) for at in range(CLIENTS)]
            async with asyncio.timeout(IN_TIME):
                for _ in asking:
                    await vendor.came.get()
            gateway.tell(signal.SIGTERM)
            await gateway.said("ending")
            with pytest.raises(httpx2.TransportError):
                async with client_of(gateway) as late:
                    await late.post(SEARCH, json={"query": "late"})
            vendor.go.set()
            answers = await asyncio.gather(*asking)
            assert await gateway.ended() == 0
    assert [(one.status_code, one.json()["query"]) for one in answers] == [(200, f"q{at}") for at in range(CLIENTS)]
    assert gateway.events[-1]["event"] == "ended"


async def test_a_search_whose_vendor_hangs_fails_clearly_also_while_it_ends(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    vendor = HeldVendor()
    async with vendor:
        path.write_text(text(vendor.root))
        async with process(path, "tests.gateway.hasty") as gateway, client_of(gateway) as http:
            outage = await http.post(SEARCH, json={"query": "outage"})
            asking = [asyncio.ensure_future(http.post(SEARCH, json={"query": f"q{at}"})) for at in range(CLIENTS)]
            async with asyncio.timeout(IN_TIME):
                for _ in range(1 + CLIENTS):
                    await vendor.came.get()
            gateway.tell(signal.SIGTERM)
            answers = [outage, *await asyncio.gather(*asking)]
            assert await gateway.ended() == 0
    assert {(one.status_code, one.json()["error"]["code"]) for one in answers} == {(502, "upstream_transport")}


async def test_under_load_it_ends_with_whole_answers_alone(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    async with FakeVendor(echoing) as vendor:
        path.write_text(text(vendor.root))
        async with process(path) as gateway, Load(gateway.root) as load:
            await load.more("answered", ENOUGH)
            gateway.tell(signal.SIGTERM)
            assert await gateway.ended() == 0
    codes = {line["code"] for line in gateway.events if line["event"] == "request"}
    assert codes == {"ok"}


def client_of(gateway: Process, key: str = TOKEN) -> httpx2.AsyncClient:
    limits = httpx2.Limits(max_connections=100)
    return httpx2.AsyncClient(
        base_url=gateway.root, headers=bearer(key), trust_env=False, timeout=IN_TIME, limits=limits
    )


async def test_a_key_is_revoked_without_a_restart_and_a_broken_file_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    key, table = client_table("agents")
    async with FakeVendor(echoing) as vendor:
        path.write_text(text(vendor.root, server=table))
        async with process(path) as gateway, client_of(gateway, key) as http:
            assert (await http.post(SEARCH, json={"query": "a"})).status_code == 200
            path.write_text("[server")
            await gateway.said("configuration refused, the old one stays")
            assert (await http.post(SEARCH, json={"query": "b"})).status_code == 200
            path.write_text(text(vendor.root))
            gateway.tell(signal.SIGHUP)
            await gateway.said("configuration read")
            assert (await http.post(SEARCH, json={"query": "c"})).status_code == 401
            path.write_text(text(vendor.root, server=table))
            await gateway.said("configuration read", 2)
            assert (await http.post(SEARCH, json={"query": "d"})).status_code == 200


async def test_the_packages_own_client_searches_through_it(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    key, table = client_table("agents", quota="2/day")
    async with FakeVendor(echoing) as vendor:
        path.write_text(text(vendor.root, server=table))
        async with process(path) as gateway:
            providers = [GatewayProvider(f"{gateway.root}/v1", one) for one in (key, "rv_agents_" + "0" * 64)]
            tool, wrong = map(WebSearch, providers)
            output = await tool.call({"query": " hi ", "count": 2, "include_domains": ["s0.com", "s3.com"]})
            assert output.text.startswith('{"query":"hi","results":[{"title":"hi","url":"https://s0.com/hi"')
            assert output.text.count('"url"') == 2
            with pytest.raises(ToolError, match=r"^web_search: backend returned 400: .*invalid country"):
                await tool.call({"query": "hi", "country": "Atlantis"})
            await tool.call({"query": "hi"})
            with pytest.raises(ToolError, match=r"^web_search: backend returned 429: .*quota_exceeded"):
                await tool.call({"query": "more"})
            with pytest.raises(ToolError, match=r"^web_search: backend returned 401: "):
                await wrong.call({"query": "hi"})
            for provider in providers:
                await provider.aclose()
    lines = "".join(gateway.lines)
    assert re.findall(f"{VENDOR_KEY}|{key}|Atlantis", lines) == []


async def test_it_does_not_start_on_what_it_cannot_serve(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gateway.toml"
    path.write_text('[server]\nbind = "127.0.0.1:0"\n')
    assert run(["gateway", "--config", str(path)]) == 2
    assert "no client key" in capfd.readouterr().err
    assert run(["gateway", "--config", str(tmp_path / "absent.toml")]) == 2
    assert "cannot read the configuration" in capfd.readouterr().err


def test_check_shows_what_would_be_in_force_and_no_secret(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "gateway.toml"
    monkeypatch.setenv("VENDOR_KEY", VENDOR_KEY)
    key, table = client_table("agents", rate="100/minute")
    path.write_text(text("https://search.example", server=table))
    assert run(["gateway", "--config", str(path), "--check"]) == 0
    out, err = capfd.readouterr()
    assert out.splitlines() == [
        "listens on 127.0.0.1:0",
        "client agents: rate 100 in 60 s, quota unlimited",
        "client default: rate unlimited, quota unlimited",
        "web_search: brave",
        "limits in memory, cache in memory for 600 s",
    ]
    assert err == "warning: the key of default is short enough to be guessed\n"
    assert [secret for secret in (VENDOR_KEY, TOKEN, key, digest(key).hex()) if secret in out + err] == []
    path.write_text(text("nowhere", server=table))
    assert run(["gateway", "--config", str(path), "--check"]) == 2


def test_a_new_key_is_shown_once_with_the_lines_that_let_it_in(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["gateway", "key", "new", "agents"]) == 0
    out, err = capfd.readouterr()
    assert re.fullmatch(r"rv_agents_[0-9a-f]{64}\n", out)
    assert f'[[server.keys]]\nname = "agents"\nhash = "{digest(out.strip()).hex()}"' in err
    assert out.strip() not in err
    assert run(["gateway", "key", "new", "a b"]) == 2
