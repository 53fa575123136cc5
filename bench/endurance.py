"""`python -m bench.endurance`: a million small pages and 200,000 broken ones through one pool of workers.

What counts: no worker is lost, no text is over its bound, and neither this process nor a worker grows.
"""

from __future__ import annotations

import asyncio
import os
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import click
from tests.fuzz.test_mutated_pages import SEEDS, mutated
from tests.support.workers import children
from tests.unit.extract.pages import ADDRESS, page, paragraphs

from bench.report import bar, heading
from runvil.net.workers import Workers

SMALL, MUTATED = 1_000_000, 200_000
AT_ONCE = 16
BOUND = 100
"""Characters of markdown for each of a page, and ten thousand more: no input asks for more."""

GROWTH_BAR = 16.0
MIB = 1024 * 1024
_SMALL = page(f"<nav>Menu</nav><article><h1>Ferries</h1>{paragraphs(3)}</article>")


@click.command()
@click.option("--small", default=SMALL, show_default=True, help="Small pages.")
@click.option("--mutated", "broken", default=MUTATED, show_default=True, help="Mutated pages.")
@click.option("--seed", default=1, show_default=True)
@click.option("--quick", is_flag=True, help="A hundred of each: shows that it runs.")
def main(small: int, broken: int, seed: int, quick: bool) -> None:
    """Many pages through one pool."""
    if quick:
        small = broken = 100
    heading(
        "Many pages through one pool of workers", f"{small} small pages, then {broken} mutated ones, {AT_ONCE} at once."
    )
    asyncio.run(_all(small, broken, seed))


async def _all(small: int, broken: int, seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311  repeatable, not secret
    pool = Workers()
    try:
        await _run("small", pool, small, lambda _: _SMALL)
        await _run("mutated", pool, broken, lambda number: mutated(SEEDS[number % len(SEEDS)], chance))
    finally:
        await pool.aclose()


async def _run(name: str, pool: Workers, count: int, make: Callable[[int], str]) -> None:
    """Render `count` pages; say how long it took, what grew, and what was lost or too long."""
    started = time.monotonic()
    grown: list[tuple[float, float]] = []
    lost = too_long = 0
    for first in range(0, count, AT_ONCE):
        pages = [make(number) for number in range(first, min(count, first + AT_ONCE))]
        texts = await asyncio.gather(*(_rendered(pool, html) for html in pages))
        lost += sum(text is None for text in texts)
        too_long += sum(len(text or "") > BOUND * len(html) + 10_000 for text, html in zip(texts, pages, strict=True))
        if first // AT_ONCE % max(1, count // AT_ONCE // 50) == 0:
            grown.append((resident("self") / MIB, max((resident(str(each)) for each in children()), default=0) / MIB))
    spent = time.monotonic() - started
    click.echo(f"{name}: {count} pages in {spent:.0f} s, {spent / count * 1000:.2f} ms each on the clock")
    for who, at in (("this process", 0), ("the largest worker", 1)):
        sizes = [row[at] for row in grown]
        early, late = statistics.median(sizes[2:10] or sizes), statistics.median(sizes[-8:])
        bar(f"{name}: growth of {who}, MB ({early:.0f} to {late:.0f})", late - early, GROWTH_BAR, least=False)
    bar(f"{name}: pages whose worker was lost", lost, 0, least=False)
    bar(f"{name}: texts over their bound", too_long, 0, least=False)


async def _rendered(pool: Workers, html: str) -> str | None:
    """The page's markdown; None when a worker was lost meanwhile, which the pool hides well."""
    until = asyncio.get_running_loop().time() + 60
    before = pool.lost
    rendered = await pool.render(html.encode("utf-8", "replace"), ADDRESS, raw=False, limit=10_000_000, until=until)
    return None if pool.lost != before else rendered.text


def resident(process: str) -> int:
    try:
        fields = Path(f"/proc/{process}/statm").read_text().split()
    except OSError:  # it has ended meanwhile
        return 0
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    main()
