"""`python -m bench.guard`: what the boundary costs, per hop, of a fetch's CPU and in units of one URL parse.

A unit is ada-url's parse of the same URL with the parts that `core.url.parse` reads off it. The fetches are real ones,
in a network of the benchmark's own; the guard's calls are the ones the walk makes, timed alone.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from ipaddress import ip_address

import ada_url
import click

from bench.fetch import Cell, spent
from bench.network import own_network, spawn
from bench.report import bar, heading, table
from bench.servers import internet
from runvil import FetchConfig
from runvil.core.admission import admit, follow, vet
from runvil.core.content import Head
from runvil.core.url import parse

URL = "https://www.page.example/harbour/tides/2026/november?view=week&from=2026-11-30"
LOCATION = b"/harbour/tides/2026/december?view=week&from=2026-12-07"
FIELDS = tuple(
    (name, b"some value or other")
    for name in (b"date", b"server", b"content-type", b"content-length", b"cache-control", b"etag", b"vary", b"age")
)
ANSWER = Head(200, FIELDS)
REDIRECT = Head(302, (*FIELDS, (b"location", LOCATION)))

FEW = tuple(ip_address(text) for text in ("93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946"))
MANY = tuple(ip_address(f"93.184.216.{n}") for n in range(8)) + tuple(ip_address(f"2606:2800::{n:x}") for n in range(8))

ROUNDS, CALLS, REQUESTS = 7, 2000, 320
SHARE_BAR, UNITS_BAR = 5.0, 6.0
PERCENT, MICRO = 100, 1e6

USUAL = Cell("60 KB", True, 32)
CHEAPEST = Cell("2 KB", False, 32)
FETCHES = {"fresh TLS 60 KB": USUAL, "reused 2 KB": CHEAPEST}

UNIT = "one URL parse, ada-url (the unit)"
HOPS = {
    "first hop, 2 addresses": ("parse", "admit", "vet 2 addresses", "follow an answer"),
    "further hop, 2 addresses": ("follow a redirect", "vet 2 addresses"),
    "first hop, 16 addresses": ("parse", "admit", "vet 16 addresses", "follow an answer"),
}
"""Sums of steps, as the walk takes them; the bars are for the first two."""

Costs = dict[str, float]
"""What -> CPU seconds."""


@click.command()
@click.option("--quick", is_flag=True, help="One round of few calls: shows that it runs, measures nothing.")
def main(quick: bool) -> None:
    """CPU of parse, admit, vet and follow, per hop."""
    rounds, calls, requests = (1, 50, 8) if quick else (ROUNDS, CALLS, REQUESTS)
    heading(
        "The guard's share of a fetch: parse, admit, vet and follow, per hop",
        f"Medians of {rounds} rounds, each with {calls} calls of every step and {requests} or more requests of a kind.",
        f"The default policy; {URL},",
        "and a redirect to another page of that host.",
        "A share is of the CPU that the whole process spends on one request, 32 requests at once.",
        packages=("ada-url", "h11", "pycares"),
    )
    with own_network() as place, internet(place), ProcessPoolExecutor(1, spawn) as pool:
        turns = [(_steps(calls), _fetches(pool, requests)) for _ in range(rounds)]
    steps = _medians([steps for steps, _ in turns])
    fetches = _medians([fetches for _, fetches in turns])
    table(*_report(steps, fetches))
    for hop in list(HOPS)[:2]:
        bar(f"{hop}, % of a {USUAL.text} fetch", PERCENT * steps[hop] / fetches[USUAL.text], SHARE_BAR, least=False)
        bar(f"{hop}, URL parses", steps[hop] / steps[UNIT], UNITS_BAR, least=False)


def _steps(calls: int) -> Costs:
    costs = {name: _seconds(work, calls) for name, work in _works().items()}
    return costs | {hop: sum(costs[step] for step in steps) for hop, steps in HOPS.items()}


def _works() -> dict[str, Callable[[], object]]:
    policy, url = FetchConfig(), parse(URL)
    admitted = admit(url, policy)
    return {
        UNIT: _unit,
        "parse": lambda: parse(URL),
        "admit": lambda: admit(url, policy),
        "vet 2 addresses": lambda: vet(admitted, FEW, policy),
        "vet 16 addresses": lambda: vet(admitted, MANY, policy),
        "follow an answer": lambda: follow(url, ANSWER, 0, policy),
        "follow a redirect": lambda: follow(url, REDIRECT, 0, policy),
    }


def _unit() -> object:
    """What `parse` asks of the library for this URL, and nothing more."""
    parsed = ada_url.URL(URL)
    return (
        parsed.href,
        parsed.protocol,
        parsed.host_type,
        parsed.hostname,
        parsed.port,
        parsed.pathname,
        parsed.username,
        parsed.password,
    )


def _seconds(work: Callable[[], object], calls: int) -> float:
    started = time.process_time()
    for _ in range(calls):
        work()
    return (time.process_time() - started) / calls


def _fetches(pool: ProcessPoolExecutor, least: int) -> Costs:
    return {
        cell.text: pool.submit(spent, "runvil", cell, cell.requests(least)).result() / cell.requests(least)
        for cell in FETCHES.values()
    }


def _medians(turns: Sequence[Costs]) -> Costs:
    return {what: statistics.median(turn[what] for turn in turns) for what in turns[0]}


def _report(steps: Costs, fetches: Costs) -> tuple[list[str], list[list[str]]]:
    columns = ["guard", "us", "URL parses", *(f"% of {name}" for name in FETCHES)]
    rows = []
    for name, cost in steps.items():
        shares = [f"{PERCENT * cost / fetches[cell.text]:.2f}" for cell in FETCHES.values()]
        rows.append([name, f"{MICRO * cost:.1f}", f"{cost / steps[UNIT]:.2f}", *shares])
    for name, cell in FETCHES.items():
        cost = fetches[cell.text]
        rows.append([f"(a fetch, {name})", f"{MICRO * cost:.0f}", f"{cost / steps[UNIT]:.0f}", *["" for _ in FETCHES]])
    return columns, rows


if __name__ == "__main__":
    main()
