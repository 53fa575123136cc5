"""`python -m bench.comparison`: what other fetch tools and SSRF guards do with the same pages, as the lab saw it.

Each runs in a process of its own, in a network of the benchmark's own where every address is local and answers. What
counts is not what a tool says but what was dialled: a connection inside is one, whatever error came after it.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import shutil
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module

import click
from tests.lab.harness.lab import Lab, is_inward

from bench.comparison_cases import CASES, Case, arrange
from bench.comparison_peers import ALSO, FEATURES, PEERS, Feature
from bench.network import lab, own_network, spawn
from bench.report import heading, installed, table

LIMIT = 40.0
"""Seconds for one question: more than any peer's own time-outs."""

REFUSED, READ, READ_WRONG, DIALLED, SENT = "refused", "read", "read wrong", "DIALLED inside", "SENT inside"


@dataclass(frozen=True)
class Said:
    """What a tool said. text: of the page, or "" when it raised; error: why it raised, or ""."""

    text: str
    error: str


@click.command()
@click.option("--only", multiple=True, type=click.Choice(list(PEERS)), help="These alone; repeatable.")
@click.option("--quick", is_flag=True, help="runvil alone: shows that it runs.")
@click.option("--features", is_flag=True, help="What peers have and runvil has not, read in their sources.")
@click.option("--said", is_flag=True, help="Also what each tool said, in its own words.")
def main(only: tuple[str, ...], quick: bool, features: bool, said: bool) -> None:
    """What each tool does with the same pages."""
    if features:
        table(["what", "who has it", "shown by", "here"], [_feature(each) for each in FEATURES])
        return
    names = _present(("runvil",) if quick else only or tuple(PEERS))
    heading(
        "What fetch tools and guards do with the same pages",
        "Each by its defaults, in a network of its own where every address answers; what counts is what was dialled.",
        f"{READ}: the page's text came. {READ_WRONG}: a text came, not the page's. {REFUSED}: no text came.",
        f"{DIALLED}: a connection to an inner address was opened. {SENT}: it was sent a request.",
        *(f"{name}: {PEERS[name].way}" for name in names),
        packages=[PEERS[name].package for name in names if name != "runvil"],
    )
    with own_network() as place, lab(place) as handle:
        columns = {name: _column(handle, name, said) for name in names}
    table(["page", *names], [[case.what, *(columns[name][case.what] for name in names)] for case in CASES])


def _feature(each: Feature) -> list[str]:
    version = installed(each.peer)
    if version is None:
        return [each.what, f"{each.peer} (absent)", "", each.here]
    source = inspect.getsource(import_module(each.module))
    shown = f"`{each.text}` in `{each.module}`" if each.text in source else "NOT FOUND"
    return [each.what, f"{each.peer} {version}", shown, each.here]


def _present(names: tuple[str, ...]) -> list[str]:
    """Those that are installed; the others are named with the way to have them."""
    absent = [name for name in names if installed(PEERS[name].package) is None]
    if absent:
        packages = " ".join([*(PEERS[name].package for name in absent), *ALSO])
        click.echo(f"left out: {', '.join(absent)}; to have them: pip install {packages}\n")
    return [name for name in names if name not in absent]


def _column(handle: Lab, name: str, aloud: bool) -> dict[str, str]:
    """Case -> outcome, for one tool in one fresh process."""
    with ProcessPoolExecutor(1, spawn) as pool:
        found = {}
        for number, case in enumerate(CASES):
            url = arrange(handle, case, f"c{number}.{name}.example")
            dials, requests = len(handle.dialled()), len(handle.requests())
            said = pool.submit(asked, name, url).result()
            inner = any(is_inward(dial.address) for dial in handle.dialled()[dials:])
            sent = any(is_inward(request.address) for request in handle.requests()[requests:])
            found[case.what] = outcome(case, said, inner=inner, sent=sent)
            if aloud:
                click.echo(f"{name}, {case.what}: {found[case.what]}: {said.error or said.text[:200]!r}")
    return found if found[CASES[0].what] == READ else {what: _doubted(one) for what, one in found.items()}


def _doubted(cell: str) -> str:
    """A tool that cannot read the first page refuses everything: that is no merit."""
    return "?" if cell == REFUSED else cell


def asked(name: str, url: str) -> Said:
    """Ask one tool for one page, in the tool's process."""
    roots = os.environ["REQUESTS_CA_BUNDLE"] = os.environ["SSL_CERT_FILE"]
    vars(import_module("certifi"))["where"] = lambda: (
        roots
    )  # all believe the lab's authority, whomever they ask for roots
    path = os.environ["PATH"].split(os.pathsep)  # mcp-server-fetch would install a Node package, over the network
    os.environ["PATH"] = os.pathsep.join(one for one in path if shutil.which("node", path=one) is None)
    try:
        return Said(asyncio.run(_bounded(name, url)), "")
    except Exception as error:  # whatever a peer raises is its refusal
        return Said("", f"{type(error).__name__}: {error}")


async def _bounded(name: str, url: str) -> str:
    async with asyncio.timeout(LIMIT):
        return await PEERS[name].ask(url)


def outcome(case: Case, said: Said, *, inner: bool, sent: bool) -> str:
    """What happened. inner, sent: whether something inside was dialled, and sent a request, meanwhile."""
    if sent:
        return SENT
    if inner:
        return DIALLED
    if case.mark in said.text:
        return READ
    return READ_WRONG if said.text.strip() else REFUSED


if __name__ == "__main__":
    main()
