"""`python -m bench.memory`: the memory that pages and bombs take at their peak, in the caller and in its worker.

Every case runs in a fresh process that has fetched one small page before, so that imports, the worker's start and the
TLS context are not in the growth. Peaks are the kernel's (VmHWM); the byte budget that bounds them stands beside them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import click
from tests.lab.harness import answers
from tests.lab.harness.lab import Lab
from tests.lab.harness.namespace import HOSTS

from bench.network import lab, own_network, spawn
from bench.report import heading, table
from bench.servers import LINE
from runvil import FetchConfig, FetchFailure, Page, WebFetch
from runvil.core.config import MIB
from runvil.fetch import LARGEST_WINDOW

ADDRESS = "93.184.216.34"
TEXT = "text/plain; charset=utf-8"
KIB = 1024
MANY = 256
LOOK_EVERY = 0.01  # seconds between looks at the worker's peak, which goes with the worker
HELD_SECONDS = 4.0  # how long a fetch that gets no body is held before its deadline; longer shows nothing more
POLICY = FetchConfig()
PIECE = LINE * (64 * KIB // len(LINE))
PARAGRAPH = b"<p>" + LINE * 5 + b"<a href='/more'>more</a></p>"


@dataclass(frozen=True)
class Case:
    """So many fetches of one host's front page at once. budget: the bytes that the policy lets them hold."""

    name: str
    host: str
    budget: int
    many: int = 1
    timeout: float = POLICY.timeout


@dataclass(frozen=True)
class Growth:
    """Bytes above what was held before. worker: of the one that grew most. ended: how the fetches did."""

    parent: int
    worker: int | None
    ended: str


ONE, ALL = POLICY.max_bytes, POLICY.max_inflight_bytes
SITES: Mapping[str, answers.Page | answers.Bomb | answers.Endless] = {
    "small-text": answers.Page(LINE, TEXT),
    "small-html": answers.Page(PARAGRAPH),
    "text": answers.Page((LINE * (ONE // len(LINE) + 1))[:ONE], TEXT),
    "html": answers.Page(b"<article>" + PARAGRAPH * (ONE // len(PARAGRAPH) - 1)),
    "gzip": answers.Bomb("gzip"),
    "brotli": answers.Bomb("br"),
    "endless": answers.Endless(answers.head(200, ("Content-Type", TEXT)), PIECE),
    "held": answers.Endless(answers.head(200, ("Content-Type", TEXT)) + LINE, b"", HELD_SECONDS),
}

CASES = (
    Case("8 MiB of text", "text", ONE),
    Case("8 MiB of HTML", "html", ONE),
    Case("gzip bomb, 1 GiB of HTML", "gzip", ONE),
    Case("brotli bomb, 1 GiB of HTML", "brotli", ONE + LARGEST_WINDOW),
    Case("held after the first bytes", "held", ALL, MANY, HELD_SECONDS),
    Case("endless text, cut at 8 MiB", "endless", ALL, MANY),
    Case("gzip bombs", "gzip", ALL, MANY),
    Case("brotli bombs", "brotli", ALL, MANY),
)


@click.command()
@click.option("--quick", is_flag=True, help="A few fetches at once instead of many.")
def main(quick: bool) -> None:
    """Peak memory of pages and bombs, and of many at once."""
    cases = [replace(case, many=min(case.many, 4)) for case in CASES] if quick else CASES
    heading(
        "Peak memory above rest, in MiB",
        "One fresh process a case; over TLS, default policy (the held ones have a short deadline, which ends them).",
        f"Budget: max_bytes ({ONE // MIB} MiB) for one page, and a window of {LARGEST_WINDOW // MIB} MiB for brotli;",
        f"max_inflight_bytes ({ALL // MIB} MiB) for all together.",
        "The budget counts body bytes and windows. Beside them stand asyncio's TLS buffers (256 KiB a connection), the",
        "copy of a body as text, and in the worker the page's tree.",
        packages=("brotli", "turbohtml", "h11"),
    )
    with own_network() as place, lab(place) as web:
        _script(web)
        rows = [_row(case, _in_fresh_process(case)) for case in cases]
    columns = ["case", "fetches", "budget", "caller", "caller, a fetch", "worker", "ended in"]
    table(columns, rows)


def _script(web: Lab) -> None:
    """Names come from the hosts file: the lab's name server shares a loop with its web, which is busy."""
    for name, said in SITES.items():
        web.serve(f"https://{name}.example/", said)
    web.system_file("hosts", HOSTS + "".join(f"{ADDRESS} {name}.example\n" for name in SITES))


def _in_fresh_process(case: Case) -> Growth:
    with ProcessPoolExecutor(1, spawn) as pool:
        return pool.submit(grown, case).result()


def grown(case: Case) -> Growth:
    """Runs in a process of its own."""
    return asyncio.run(_grown(case))


async def _grown(case: Case) -> Growth:
    async with WebFetch(replace(POLICY, timeout=case.timeout)) as fetch:
        await fetch.fetch("https://small-text.example/")
        await fetch.fetch("https://small-html.example/")
        rest, workers = status("self", "VmRSS"), {pid: status(pid, "VmRSS") for pid in children()}
        peaks: Counter[str] = Counter()
        watch = asyncio.create_task(_watch(peaks))
        ended = await asyncio.gather(*(_ended(fetch, case.host) for _ in range(case.many)))
        peak = status("self", "VmHWM")
        watch.cancel()
        _look(peaks)
    growths = [peaks[pid] - before for pid, before in workers.items() if peaks[pid]]
    return Growth(peak - rest, max(growths, default=None), ", ".join(f"{n} {how}" for how, n in Counter(ended).items()))


async def _ended(fetch: WebFetch, host: str) -> str:
    try:
        page: Page = await fetch.fetch(f"https://{host}.example/")
    except FetchFailure as failure:
        return failure.code
    return page.extraction


async def _watch(peaks: Counter[str]) -> None:
    while True:
        _look(peaks)
        await asyncio.sleep(LOOK_EVERY)


def _look(peaks: Counter[str]) -> None:
    for pid in children():
        peaks[pid] = max(peaks[pid], status(pid, "VmHWM"))


def children() -> Iterable[str]:
    """The processes that this one's threads started."""
    lists = [file.read_text().split() for file in Path("/proc/self/task").glob("*/children")]
    return [pid for pids in lists for pid in pids]


def status(pid: str, field: str) -> int:
    """A size in bytes from /proc; 0 for a process that has gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * KIB for line in lines if line.startswith(f"{field}:")), 0)


def _row(case: Case, growth: Growth) -> list[str]:
    worker = "" if growth.worker is None else _mib(growth.worker)
    each = _mib(growth.parent / case.many)
    return [case.name, str(case.many), _mib(case.budget), _mib(growth.parent), each, worker, growth.ended]


def _mib(size: float) -> str:
    return f"{size / MIB:.1f}"


if __name__ == "__main__":
    main()
