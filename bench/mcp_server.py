"""`python -m bench.mcp_server`: MCP over stdio, beside the library alone, a bare SDK server and mcp-server-fetch.

Start: from a process's start to its answer to the first `tools/list`. Pages: articles of 60 KB through a session, in a
network of the benchmark's own. The client writes and reads lines of JSON and no more, so that servers are what differs.

Pages a second are what a user waits for, and hold the client's and the web server's share of the machine too. CPU is
user and system time of the process that fetches and of those that it started.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import shutil
import statistics
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from tests.lab.harness.answers import Page

from bench.network import lab, own_network
from bench.report import bar, cpu_seconds, heading, table
from runvil import WebFetch

ROUNDS = 5
PAGES, PEER_PAGES = 240, 8
"""A round's pages; fewer of a peer that takes seconds for one."""

AT_ONCE = 16
SIZE = 60 * 1024
ADDRESS = "93.184.216.34"
ANSWER = 64 * 1024 * 1024
"""Bytes of the longest line that is read."""

LIMIT = 60.0
MILLI = 1000
TICKS = os.sysconf("SC_CLK_TCK")

START_BAR, PEER_START_BAR, LIBRARY_BAR, PEER_BAR = 1.1, 1.0, 0.8, 10.0

BARE = """
import asyncio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

async def tools(context, params):
    schema = {"type": "object", "properties": {"url": {"type": "string"}}}
    return types.ListToolsResult(tools=[types.Tool(name="fetch", description="Fetch.", input_schema=schema)])

async def main():
    server = Server("bare", version="1", on_list_tools=tools)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())

asyncio.run(main())
"""
"""The least that the SDK's low-level server can be."""

OURS, SDK, PEER, LIBRARY = "runvil mcp", "bare low-level SDK server", "mcp-server-fetch", "the library alone"

PARAGRAPH = (
    "<p>The tide turns twice a day, and the harbour turns with it. In this chapter the boats come <em>home</em>, the "
    "<a href='/nets'>nets</a> are hung out to dry, and the keeper of the light writes down the weather, the hour and "
    "the names of all who passed the mole that day, large or small, and what they carried.</p>\n"
)


def article(number: int) -> bytes:
    """About SIZE bytes of a page with an article in it."""
    head = (
        f"<!doctype html><html><head><title>Chapter {number}</title></head><body><nav><a href=/>Home</a></nav><article>"
    )
    return (
        head + f"<h1>Chapter {number}</h1>" + PARAGRAPH * (SIZE // len(PARAGRAPH)) + "</article></body></html>"
    ).encode()


class Session:
    """A client of one server process: many requests at once, lines of JSON."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.pid = process.pid
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}

    async def read(self) -> None:
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            if not line.startswith(b"{"):
                continue  # mcp-server-fetch says on stdout that it found no Node
            message = json.loads(line)
            waiting = self._waiting.pop(message.get("id"), None)
            if waiting is not None:
                waiting.set_result(message["result"])

    def _write(self, **message: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    async def ask(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self._write(id=number, method=method, params=params)
        return await asyncio.wait_for(self._waiting[number], LIMIT)

    async def begin(self) -> None:
        info = {"name": "bench", "version": "1"}
        await self.ask("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=info)
        self._write(method="notifications/initialized")


@asynccontextmanager
async def session(command: Sequence[str]) -> AsyncIterator[Session]:
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=ANSWER, env=_environment()
    )
    made = Session(process)
    reading = asyncio.create_task(made.read())
    try:
        await made.begin()
        yield made
    finally:
        process.kill()
        await process.wait()
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


def _environment() -> Mapping[str, str]:
    """Without Node on the path: mcp-server-fetch would start one for every page, which takes it longer still."""
    path = os.environ.get("PATH", "").split(os.pathsep)
    return {**os.environ, "PATH": os.pathsep.join(one for one in path if shutil.which("node", path=one) is None)}


async def started(command: Sequence[str]) -> float:
    """Seconds from the start to the first tools/list."""
    began = time.perf_counter()
    async with session(command) as client:
        await client.ask("tools/list")
        return time.perf_counter() - began


@dataclass(frozen=True)
class Measured:
    """rate: pages a second. cpu, client: milliseconds of CPU a page, of who fetches and of who asks."""

    rate: float
    cpu: float
    client: float


async def through(command: Sequence[str], tool: str, pages: int, **more: Any) -> Measured:
    """Pages through a session, once it is warm."""
    async with session(command) as client:

        async def one(url: str) -> None:
            result = await client.ask("tools/call", name=tool, arguments={"url": url, **more})
            _check(result["content"][0]["text"])

        return await measured(one, pages, lambda: family_cpu(client.pid))


async def alone(pages: int) -> Measured:
    others = children(os.getpid())
    async with WebFetch() as fetch:

        async def one(url: str) -> None:
            _check((await fetch.call({"url": url})).text)

        return await measured(one, pages, lambda: family_cpu(os.getpid(), others))


def family_cpu(pid: int, others: Collection[int] = ()) -> float:
    """Seconds of CPU that a process and its children, but for `others`, have used so far."""
    return sum(_cpu(one) for one in (pid, *(child for child in children(pid) if child not in others)))


def children(pid: int) -> list[int]:
    """Of all its threads."""
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in _text(task / "children").split()]


def _cpu(pid: int) -> float:
    """User and system time (proc(5): fields 14 and 15, the second a name in brackets); 0 for a process that is gone."""
    fields = _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / TICKS


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _check(text: str) -> None:
    if text.count("names of all who passed") < 100:  # noqa: PLR2004  most of the page, whatever form it has
        raise click.ClickException(f"not the article: {text[:200]}")


async def measured(one: Callable[[str], Awaitable[None]], pages: int, cpu: Callable[[], float]) -> Measured:
    """AT_ONCE on their way, after as many to warm up. cpu: seconds so far of who fetches."""
    urls = [f"https://articles.example/{number % AT_ONCE}" for number in range(pages)]
    await asyncio.gather(*(one(url) for url in urls[:AT_ONCE]))
    rest = iter(urls)

    async def lane() -> None:
        for url in rest:
            await one(url)

    began, used, mine = time.perf_counter(), cpu(), cpu_seconds()
    await asyncio.gather(*(lane() for _ in range(AT_ONCE)))
    took, used, mine = time.perf_counter() - began, cpu() - used, cpu_seconds() - mine
    return Measured(pages / took, used / pages * MILLI, mine / pages * MILLI)


@click.command()
@click.option("--quick", is_flag=True, help="One round of few pages: shows that it runs, measures nothing.")
@click.option("--peer", metavar="PYTHON", help="An interpreter that has mcp-server-fetch.")
def main(quick: bool, peer: str | None) -> None:
    """Start-up and pages a second of the MCP server."""
    rounds, pages = (1, AT_ONCE) if quick else (ROUNDS, PAGES)
    heading(
        "The MCP server over stdio",
        f"Medians of {rounds} rounds; in a round the servers take turns. {AT_ONCE} calls at once, {pages} pages of "
        f"{SIZE // 1024} KB.",
        packages=("mcp", "turbohtml"),
    )
    if peer is None:
        click.echo("mcp-server-fetch is left out; to have it: --peer an interpreter that has it\n")
    starts = _starts(peer, rounds)
    with own_network() as place, lab(place) as web:
        web.name("articles.example", ADDRESS)
        for number in range(AT_ONCE):
            web.serve(f"https://articles.example/{number}", Page(article(number)))
        rates = _rates(peer, rounds, pages)
    _show(starts, rates)


def _servers(peer: str | None) -> dict[str, list[str]]:
    servers = {
        OURS: [sys.executable, "-c", "from runvil.doors.cli import main; main()", "mcp"],
        SDK: [sys.executable, "-c", BARE],
    }
    return servers | ({PEER: [peer, "-m", "mcp_server_fetch", "--ignore-robots-txt"]} if peer else {})


def _starts(peer: str | None, rounds: int) -> dict[str, list[float]]:
    servers = _servers(peer)
    turns = [{name: asyncio.run(started(command)) for name, command in servers.items()} for _ in range(rounds + 1)][1:]
    return {name: [turn[name] for turn in turns] for name in servers}


def _rates(peer: str | None, rounds: int, pages: int) -> dict[str, list[Measured]]:
    servers = _servers(peer)
    found: dict[str, list[Measured]] = {LIBRARY: [], OURS: [], **({PEER: []} if peer else {})}
    for _ in range(rounds):
        found[LIBRARY].append(asyncio.run(alone(pages)))
        found[OURS].append(asyncio.run(through(servers[OURS], "web_fetch", pages)))
        if peer:
            few = min(pages, PEER_PAGES)
            found[PEER].append(asyncio.run(through(servers[PEER], "fetch", few, max_length=999_999)))
    return found


def _ratio(one: Sequence[float], other: Sequence[float]) -> float:
    """The median of the rounds' ratios."""
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


def _show(starts: Mapping[str, Sequence[float]], pages: Mapping[str, Sequence[Measured]]) -> None:
    rates = {name: [one.rate for one in found] for name, found in pages.items()}
    cpus = {name: [one.cpu for one in found] for name, found in pages.items()}
    clients = {name: [one.client for one in found] for name, found in pages.items() if name != LIBRARY}
    table(
        ["server", "start, ms", "of the bare one", "pages/s", "of the library", "CPU ms a page", "of it", "client's"],
        [
            [
                name,
                *_with_ratio(starts, name, SDK, MILLI),
                *_with_ratio(rates, name, LIBRARY),
                *_with_ratio(cpus, name, LIBRARY),
                f"{statistics.median(clients[name]):.2f}" if name in clients else "",
            ]
            for name in dict.fromkeys((*starts, *rates))
        ],
    )
    bar("start, of the bare server's", _ratio(starts[OURS], starts[SDK]), START_BAR, least=False)
    bar("pages a second, of the library's", _ratio(rates[OURS], rates[LIBRARY]), LIBRARY_BAR, least=True)
    if PEER in starts:
        bar("start, of mcp-server-fetch's", _ratio(starts[OURS], starts[PEER]), PEER_START_BAR, least=False)
        bar("pages a second, of mcp-server-fetch's", _ratio(rates[OURS], rates[PEER]), PEER_BAR, least=True)


def _with_ratio(found: Mapping[str, Sequence[float]], name: str, other: str, unit: float = 1.0) -> tuple[str, str]:
    """The median, and the ratio to another's."""
    if name not in found:
        return "", ""
    return f"{statistics.median(found[name]) * unit:.4g}", f"{_ratio(found[name], found[other]):.2f}"


if __name__ == "__main__":
    main()
