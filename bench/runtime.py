"""`python -m bench.runtime`: what the prompt runtime costs: many runs on one loop, a host call, a start, the wall.

The tool waits 50 ms without work; what is above five waits is the runtime's own. A hostile pattern is what only the
process' end stops: its row says how much later than its budget a run of it ends.
"""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import click

from bench.report import bar, heading, table
from runvil import ToolOutput
from runvil.runtime import Host, Limits, Pack, RunError

RUNS, CALLS, WAIT = 1000, 5, 0.05
WALL_BAR, CALL_BAR, START_BAR, LATE_BAR = 1.5, 20e-6, 0.5e-3, 0.5
REPEATS = 5
MANY_CALLS, MANY_STARTS, ISOLATED_STARTS = 20_000, 500, 10
HOSTILE_BUDGET = 0.5

PROMPT = "---\nname: b\ndescription: d\nrunvil: 0\nuses: [bench/wait]\n---\n\n# B\n\n## A\n\n```lua\n{}\n```\n"
FIVE = PROMPT.format(f"for i = 1, {CALLS} do tools.call('wait/nap', {{ n = i }}) end return 'x'")
MANY = PROMPT.format("for i = 1, {} do tools.call('wait/none', {{ url = 'https://example.com/' }}) end")
NOTHING = PROMPT.format("return 'x'")
HOSTILE = PROMPT.format("return ('a'):rep(50000):find('.-.-.-.-.-b')")


class Wait:
    """A tool that waits, and gives a page's worth of untrusted text."""

    description = "Wait."

    def __init__(self, name: str, seconds: float) -> None:
        self.id, self.wire_name = f"wait/{name}", f"wait_{name}"
        self.parameters: dict[str, Any] = {"type": "object"}
        self._seconds = seconds

    async def call(self, arguments: Mapping[str, object]) -> ToolOutput:
        if self._seconds:
            await asyncio.sleep(self._seconds)
        return ToolOutput("A short text of somebody's.")


class WaitPlugin:
    def packs(self, config: Mapping[str, Any], services: Mapping[str, Any]) -> Sequence[Pack]:
        return [Pack("bench/wait", [Wait("nap", WAIT), Wait("none", 0)])]


def host(**options: Any) -> Host:
    made = Host(**options)
    made.call(WaitPlugin())
    return made


async def timed(work: Callable[[], Awaitable[object]]) -> float:
    begun = perf_counter()
    await work()
    return perf_counter() - begun


async def many_runs(count: int) -> float:
    runner = host()
    return await timed(lambda: asyncio.gather(*(runner.run(FIVE) for _ in range(count))))


async def one_call(count: int) -> float:
    """Seconds a call, a run without any taken off."""
    runner = host(limits=Limits(seconds=60, steps=10**12))
    await runner.run(NOTHING)
    bare = await timed(lambda: runner.run(NOTHING))
    text = MANY.format(count)
    await runner.run(MANY.format(1))
    return (await timed(lambda: runner.run(text)) - bare) / count


async def one_start(count: int, **options: Any) -> float:
    runner = host(**options)
    await runner.run(NOTHING)
    return statistics.median([await timed(lambda: runner.run(NOTHING)) for _ in range(count)])


async def hostile() -> float:
    """Seconds beyond the budget and a start."""
    runner = host(isolate=True, limits=Limits(seconds=HOSTILE_BUDGET))
    start = await one_start(3, isolate=True)
    begun = perf_counter()
    try:
        await runner.run(HOSTILE)
    except RunError:
        return perf_counter() - begun - start - HOSTILE_BUDGET
    raise AssertionError("the pattern ended")


@dataclass(frozen=True)
class Measured:
    """In seconds."""

    wall: float
    call: float
    start: float
    isolated: float
    late: float


async def measured(repeats: int, share: int) -> Measured:
    """share: by how much the counts are divided."""
    return Measured(
        wall=statistics.median([await many_runs(RUNS // share) for _ in range(repeats)]),
        call=statistics.median([await one_call(MANY_CALLS // share) for _ in range(repeats)]),
        start=statistics.median([await one_start(MANY_STARTS // share) for _ in range(repeats)]),
        isolated=await one_start(max(ISOLATED_STARTS // share, 2), isolate=True),
        late=await hostile(),
    )


@click.command()
@click.option("--quick", is_flag=True, help="One small round: that it works, not what it is worth.")
def main(quick: bool) -> None:
    heading("the prompt runtime", "medians; prompts are parsed and compiled once, as a host does", packages=("lupa",))
    share = 10 if quick else 1
    found = asyncio.run(measured(1 if quick else REPEATS, share))
    rows = [
        [f"{RUNS // share} runs of {CALLS} calls of 50 ms on one loop", f"{found.wall:.2f} s"],
        ["a host call", f"{found.call * 1e6:.1f} us"],
        ["a run in process", f"{found.start * 1e3:.2f} ms"],
        ["a run in a process of its own", f"{found.isolated * 1e3:.0f} ms"],
        ["a hostile pattern, beyond its budget", f"{found.late:.2f} s"],
    ]
    table(["what", "takes"], rows)
    bar("the concurrent runs, seconds", found.wall, WALL_BAR, least=False)
    bar("a host call, us", found.call * 1e6, CALL_BAR * 1e6, least=False)
    bar("a run in process, ms", found.start * 1e3, START_BAR * 1e3, least=False)
    bar("a hostile pattern, seconds beyond its budget", found.late, LATE_BAR, least=False)


if __name__ == "__main__":
    main()
