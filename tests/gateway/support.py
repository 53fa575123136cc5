"""A gateway to test: in this process behind real routes, or as a process of its own on a loopback port."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from runvil.core.failures import SearchError, ToolErrorKind
from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.gateway.app import Gateway, application
from runvil.gateway.config import Config, VendorConfig, read_config
from runvil.gateway.keys import digest, mint
from runvil.gateway.vendors import Vendor, make_vendor

IN_TIME = 30.0  # seconds; a guard against a hang
TOKEN = "test-token"
VENDOR_KEY = "planted-marker-key-7f3a9"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
SEARCH = "/v1/tools/web_search"

VENDOR = """
[tools.web_search]
provider = "brave"
api_key = "${VENDOR_KEY}"
base_url = "%s/res/v1"
"""


def text(root: str = "http://127.0.0.1:9", *, server: str = "", tool: str = "", bind: str = "127.0.0.1:0") -> str:
    """A configuration with one client and one vendor at `root`. server, tool: further lines of each table."""
    return f'[server]\nbind = "{bind}"\napi_key = "{TOKEN}"\n{server}\n{VENDOR % root}{tool}\n'


def config(toml: str, **environment: str) -> Config:
    return read_config(toml.encode(), {"VENDOR_KEY": VENDOR_KEY, **environment})


def client_table(name: str, **limits: str) -> tuple[str, str]:
    """A new key, and the table that lets it in."""
    key = mint(name)
    lines = [f'name = "{name}"', f'hash = "{digest(key).hex()}"', *(f'{n} = "{v}"' for n, v in limits.items())]
    return key, "\n[[server.keys]]\n" + "\n".join(lines) + "\n"


def bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


NOTHING = SearchResults("", ())


@dataclass
class Scripted:
    """A vendor that is a script. answer: what it gives, raises, or does. hold: answers wait for this."""

    answer: SearchResults | Exception | Callable[[SearchQuery], SearchResults] = NOTHING
    hold: asyncio.Event | None = None
    asked: list[SearchQuery] = field(default_factory=list)
    began: asyncio.Queue[SearchQuery] = field(default_factory=asyncio.Queue)
    closed: int = 0

    async def search(self, query: SearchQuery) -> SearchResults:
        self.asked.append(query)
        self.began.put_nowait(query)
        if self.hold is not None:
            await self.hold.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(query) if callable(self.answer) else self.answer

    async def aclose(self) -> None:
        self.closed += 1


def found(*urls: str, title: str = "t") -> SearchResults:
    return SearchResults("q", tuple(SearchResult(title, url, "d") for url in urls))


LOST = SearchError(ToolErrorKind.TRANSPORT, "brave could not be reached")


def scripts(**vendors: Scripted) -> Callable[[VendorConfig], Vendor]:
    """Makes the vendors of these names; all know a freshness of two dates but "tavily"."""
    return lambda one: Vendor(one.name, vendors[one.name], ranges=one.name != "tavily")


@dataclass
class Opened:
    """A gateway in this process and a client of it, which sends the simple key."""

    gateway: Gateway
    http: httpx2.AsyncClient

    async def search(self, body: Any = None, headers: Mapping[str, str] = BEARER) -> httpx2.Response:
        return await self.http.post(SEARCH, json={"query": "hi"} if body is None else body, headers=dict(headers))


@contextlib.asynccontextmanager
async def opened(
    toml: str, make: Callable[[VendorConfig], Vendor] = make_vendor, peer: str = "192.0.2.1", **environment: str
) -> AsyncIterator[Opened]:
    gateway = Gateway(config(toml, **environment), make)
    transport = httpx2.ASGITransport(application(gateway), client=(peer, 1))
    async with asyncio.timeout(IN_TIME):
        try:
            async with httpx2.AsyncClient(transport=transport, base_url="http://gateway") as http:
                yield Opened(gateway, http)
        finally:
            await gateway.aclose()


@dataclass
class Process:
    """`runvil gateway` as a process. lines: its log so far."""

    process: asyncio.subprocess.Process
    port: int
    lines: list[str]
    news: asyncio.Event
    reading: asyncio.Task[None]

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.lines]

    async def said(self, event: str, count: int = 1) -> None:
        """Wait until the log has the event so many times."""
        async with asyncio.timeout(IN_TIME):
            while sum(line["event"] == event for line in self.events) < count:
                self.news.clear()
                await self.news.wait()

    def tell(self, number: int) -> None:
        self.process.send_signal(number)

    async def ended(self) -> int:
        async with asyncio.timeout(IN_TIME):
            status = await self.process.wait()
            await self.reading
        return status


@contextlib.asynccontextmanager
async def process(path: Path, module: str = "runvil", **environment: str) -> AsyncIterator[Process]:
    """Start it on a configuration's file and wait until it serves; end it whatever happens. module: what is run."""
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", module, "gateway", "--config", str(path)),
        env={**os.environ, "VENDOR_KEY": VENDOR_KEY, **environment},
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    lines: list[str] = []
    news = asyncio.Event()
    running = Process(started, 0, lines, news, asyncio.ensure_future(_read(started, lines, news)))
    try:
        await running.said("serving")
        running.port = next(each["port"] for each in running.events if each["event"] == "serving")
        yield running
    finally:
        with contextlib.suppress(ProcessLookupError):
            started.send_signal(signal.SIGKILL)
        await running.ended()


async def _read(started: asyncio.subprocess.Process, lines: list[str], news: asyncio.Event) -> None:
    """The log, line by line."""
    assert started.stderr is not None
    while line := await started.stderr.readline():
        lines.append(line.decode())
        news.set()
