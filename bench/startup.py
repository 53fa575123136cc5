"""`python -m bench.startup`: whole processes, from their start to their end, beside bare Python and click alone.

The fetch is one of a page in a network of the benchmark's own, with DNS and TLS, by the default policy.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

import click
from tests.lab.harness.answers import Page

from bench.network import lab, own_network
from bench.report import bar, children_cpu, heading, table
from bench.servers import LINE

ADDRESS = "93.184.216.34"
ROUNDS = 9
LIMIT = 60.0
HELP_BAR, FETCH_BAR = 250, 600
MILLI = 1000

SCRIPT = "from runvil.doors.cli import main; main()"
"""What the installed `runvil` command runs."""

BARE, CLICK, HELP, FETCH = "python -c pass", "import click", "runvil --help", "runvil fetch, an HTML page"
COMMANDS: Mapping[str, Sequence[str]] = {
    BARE: ("-c", "pass"),
    CLICK: ("-c", "import click"),
    "import asyncio, ssl": ("-c", "import asyncio, ssl"),
    "import runvil": ("-c", "import runvil"),
    "runvil.WebFetch": ("-c", "import runvil; runvil.WebFetch"),
    HELP: ("-c", SCRIPT, "--help"),
    "runvil fetch, a text page": ("-c", SCRIPT, "fetch", "https://text.example/"),
    FETCH: ("-c", SCRIPT, "fetch", "https://html.example/"),
}

Spent = tuple[float, float]
"""Seconds on the clock; seconds of CPU, of the process and those it started."""


@click.command()
@click.option("--quick", is_flag=True, help="One round: shows that it runs, measures nothing.")
def main(quick: bool) -> None:
    """Start-up of Python, click, runvil and its commands."""
    rounds = 1 if quick else ROUNDS
    heading(
        "Whole processes, ms",
        f"Medians of {rounds} rounds after one that is not counted; every round runs each command once.",
        "CPU is of the process and its worker, if it started one.",
        packages=("click", "h11", "pycares", "ada-url", "turbohtml"),
    )
    with own_network() as place, lab(place) as web:
        web.site("text.example", ADDRESS, Page(LINE * 20, "text/plain; charset=utf-8"))
        web.site("html.example", ADDRESS, Page(b"<title>Tides</title><article><p>" + LINE * 20))
        turns = [_turn() for _ in range(rounds + 1)][1:]
    clock = {name: statistics.median(turn[name][0] for turn in turns) * MILLI for name in COMMANDS}
    cpu = {name: statistics.median(turn[name][1] for turn in turns) * MILLI for name in COMMANDS}
    table(
        ["process", "ms", "CPU ms", "x bare Python", "x click"],
        [
            [
                name,
                f"{clock[name]:.0f}",
                f"{cpu[name]:.0f}",
                *(f"{clock[name] / clock[of]:.1f}" for of in (BARE, CLICK)),
            ]
            for name in COMMANDS
        ],
    )
    bar(f"{HELP}, ms", clock[HELP], HELP_BAR, least=False)
    bar(f"{FETCH}, ms", clock[FETCH], FETCH_BAR, least=False)


def _turn() -> dict[str, Spent]:
    return {name: _spent(arguments) for name, arguments in COMMANDS.items()}


def _spent(arguments: Sequence[str]) -> Spent:
    cpu, clock = children_cpu(), time.perf_counter()
    done = subprocess.run([sys.executable, *arguments], capture_output=True, timeout=LIMIT, check=False, env=os.environ)  # noqa: S603  our own interpreter
    spent = time.perf_counter() - clock, children_cpu() - cpu
    if done.returncode != 0:
        raise click.ClickException(f"{arguments} failed: {done.stderr.decode(errors='replace')}")
    return spent


if __name__ == "__main__":
    main()
