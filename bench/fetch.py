"""`python -m bench.fetch`: requests per CPU-second of `WebFetch`, without extraction, beside bare HTTP clients.

Each client runs in a process of its own, and so do the web server and the name server; only the client's CPU counts,
its threads included. The clients take turns within a round, and a ratio compares runs of one round.
"""

from __future__ import annotations

import asyncio
import gc
import statistics
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import product

import click

from bench import servers
from bench.clients import CLIENTS, NEEDED, Get
from bench.network import own_network, spawn
from bench.report import bar, cpu_seconds, heading, installed, table

ROUNDS = 5
REQUESTS = 320
CONCURRENCIES = (1, 32, 256)
WAVES = 2
"""At the least, so that a run at concurrency 256 is not one burst."""

AIOHTTP_BAR, HTTPX2_BAR = 0.9, 1.2


@dataclass(frozen=True)
class Cell:
    """One row of the table."""

    size: str
    fresh: bool
    concurrency: int

    @property
    def text(self) -> str:
        return f"{'fresh TLS' if self.fresh else 'reused'}, {self.size}, {self.concurrency} at once"

    def requests(self, least: int) -> int:
        return max(least, WAVES * self.concurrency)

    def url(self, number: int) -> str:
        return servers.url(self.size, number if self.fresh else None)


@dataclass(frozen=True)
class Sample:
    """One client's turn. rate: requests per CPU-second. connections, questions: per request, as the servers saw it."""

    rate: float
    connections: float
    questions: float


CELLS = tuple(Cell(size, fresh, many) for fresh, size, many in product((True, False), servers.SIZES, CONCURRENCIES))
BAR = Cell("60 KB", True, 32)
Samples = dict[str, list[Sample]]


@click.command()
@click.option("--quick", is_flag=True, help="One round of few requests: shows that it runs, measures nothing.")
@click.option("--rounds", default=ROUNDS, show_default=True)
@click.option("--only-bar", is_flag=True, help="The row that has a bar, alone.")
def main(quick: bool, rounds: int, only_bar: bool) -> None:
    """Requests per CPU-second beside aiohttp and httpx2."""
    rounds, requests = (1, 8) if quick else (rounds, REQUESTS)
    cells = (BAR,) if only_bar else CELLS
    clients = present()
    heading(
        "Fetching text/plain without extraction, per CPU-second of the client alone",
        f"Medians of {rounds} rounds, {requests} requests or {WAVES} x concurrency each, after as many to warm up.",
        "A ratio above 1: runvil does more for the same CPU. Fresh: each request looks up a host of its own.",
        "runvil asks for the name and judges its addresses every time, on a reused connection too; the peers do not.",
        "A response is text of at most 40,000 characters for runvil, and unread bytes for the peers.",
        packages=("aiohttp", "aiodns", "pycares", "httpx2", "h11"),
    )
    with own_network() as place, servers.internet(place) as counts, ExitStack() as stack:
        pools = {name: stack.enter_context(ProcessPoolExecutor(1, spawn)) for name in clients}
        results = [(cell, _measured(cell, rounds, requests, pools, counts)) for cell in cells]
    table(*_report(results, clients))
    _bars(dict(results))


def present() -> list[str]:
    """The clients that can run here; says what the others lack."""
    clients = []
    for name in CLIENTS:
        absent = [package for package in NEEDED[name] if installed(package) is None]
        if absent:
            click.echo(f"{name} is left out; to have it: pip install {' '.join(absent)}")
        else:
            clients.append(name)
    return clients


def _measured(
    cell: Cell, rounds: int, requests: int, pools: dict[str, ProcessPoolExecutor], counts: servers.Counts
) -> Samples:
    samples: Samples = {name: [] for name in pools}
    for turn in range(rounds):
        for name in _shifted(list(pools), turn):
            samples[name].append(_sample(name, cell, cell.requests(requests), pools[name], counts))
    return samples


def _shifted(names: list[str], turn: int) -> list[str]:
    """Another one begins each round."""
    turn %= len(names)
    return names[turn:] + names[:turn]


def _sample(name: str, cell: Cell, requests: int, pool: ProcessPoolExecutor, counts: servers.Counts) -> Sample:
    before = counts.now()
    cpu = pool.submit(spent, name, cell, requests).result()
    connections, questions = (now - then for now, then in zip(counts.now(), before, strict=True))
    sent = 2 * requests  # the warm-up's too
    return Sample(requests / cpu, connections / sent, questions / sent)


def spent(name: str, cell: Cell, requests: int) -> float:
    """CPU seconds of this process for that many requests. Runs in the client's own process."""
    return asyncio.run(_spent(name, cell, requests))


async def _spent(name: str, cell: Cell, requests: int) -> float:
    async with CLIENTS[name](cell.fresh) as get:
        await fetch_all(get, cell, 0, requests)
        gc.collect()
        before = cpu_seconds()
        await fetch_all(get, cell, requests, requests)
        return cpu_seconds() - before


async def fetch_all(get: Get, cell: Cell, first: int, requests: int) -> None:
    """So many requests, the cell's number of them at a time; `first` numbers the first one's host."""
    left = iter(range(first, first + requests))
    await asyncio.gather(*(_one_after_another(get, cell, left) for _ in range(cell.concurrency)))


async def _one_after_another(get: Get, cell: Cell, left: Iterator[int]) -> None:
    for number in left:
        await get(cell.url(number))


def ratio(samples: Samples, peer: str) -> float:
    return statistics.median(a.rate / b.rate for a, b in zip(samples["runvil"], samples[peer], strict=True))


def _report(results: Sequence[tuple[Cell, Samples]], clients: Sequence[str]) -> tuple[list[str], list[list[str]]]:
    peers = clients[1:]
    columns = [
        "requests per CPU-second",
        *clients,
        *(f"runvil / {peer}" for peer in peers),
        "connections a request",
        "DNS questions a request",
    ]
    rows = []
    for cell, samples in results:
        rates = [f"{statistics.median(s.rate for s in samples[name]):.0f}" for name in clients]
        ratios = [f"{ratio(samples, peer):.2f}" for peer in peers]
        seen = [
            " / ".join(f"{statistics.median(getattr(s, what) for s in samples[name]):.2g}" for name in clients)
            for what in ("connections", "questions")
        ]
        rows.append([cell.text, *rates, *ratios, *seen])
    return columns, rows


def _bars(results: dict[Cell, Samples]) -> None:
    for peer, limit in (("aiohttp", AIOHTTP_BAR), ("httpx2", HTTPX2_BAR)):
        if peer in results[BAR]:
            bar(f"runvil / {peer}, {BAR.text}", ratio(results[BAR], peer), limit, least=True)


if __name__ == "__main__":
    main()
