"""`runvil demo`: the real walk against a small site and a rogues' gallery, both on loopback, shown row by row.

Everything that differs from `runvil fetch` is an object made here and passed as an argument; nothing of it can be
reached from an option, an environment variable or a global.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import click

from runvil import assemble
from runvil.core.config import FetchConfig
from runvil.doors.cli.demo_rows import ROGUE_ROWS, SECONDS, SITE_ROWS, Row, answers, names
from runvil.doors.cli.output import coloured, harmless
from runvil.doors.cli.statuses import FAILED, OK
from runvil.testing import LoopbackSite
from runvil.tools import ToolError, WebFetch

BOLD, DIM, RED, GREEN = 1, 2, 31, 32

WIDTH = 96
"""Characters of a result that are shown: a line of a wide terminal."""

EXCEPTIONS = f"""\
In force for this demo alone, as arguments of its own objects:
  names resolve by a script; a connection to an allowed address is dialled to a server on 127.0.0.1 instead;
  that server's certificate is believed; the time limit is {SECONDS} s instead of 20 s.
The policy, the address filter, TLS, HTTP, decoding and rendering are those of `runvil fetch`."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A row's outcome: what a model was given, what was dialled for it, whether both are as they must be."""

    row: Row
    text: str
    dialled: Sequence[str]

    @property
    def right(self) -> bool:
        wanted = self.row.wanted
        as_wanted = self.text == wanted if isinstance(wanted, str) else all(part in self.text for part in wanted)
        return as_wanted and tuple(self.dialled) == self.row.dials


@click.command("demo", epilog="Exit: 0 when every row came out right, 1 otherwise.")
def command() -> int:
    """Show what a model would be given: pages of a small site, and what became of an attacker's.

    Needs no internet: both are served on loopback, and the real walk runs against them.
    """
    return asyncio.run(_demo())


async def _demo() -> int:
    config = FetchConfig(timeout=SECONDS)
    wrong = 0
    try:
        served = LoopbackSite(answers(), names())
    except OSError as error:
        raise click.ClickException(f"the demo needs a directory for a temporary file (TMPDIR): {error}") from error
    async with served as site:
        net = assemble.seamed(config, site.resolver, site.certificate.client, site.dial)
        async with WebFetch(config, net=net) as fetch:
            for title, rows in (("A small site", SITE_ROWS), ("A rogues' gallery", ROGUE_ROWS)):
                print(f"\n{coloured(BOLD, title)}")
                for row in rows:
                    shown = await _ask(fetch, site, row)
                    wrong += not shown.right
                    _show(shown)
    print(f"\n{EXCEPTIONS}")
    print(f"\n{'Every row is right.' if not wrong else f'{wrong} rows are wrong.'}")
    return FAILED if wrong else OK


async def _ask(fetch: WebFetch, site: LoopbackSite, row: Row) -> Shown:
    before = len(site.dialled)
    for _ in range(row.times):
        try:
            text = (await fetch.call({"url": row.url, "raw": row.raw})).text
        except ToolError as error:
            text = str(error)
    return Shown(row, text, site.dialled[before:])


def _show(shown: Shown) -> None:
    mark = coloured(GREEN, "ok   ") if shown.right else coloured(RED, "WRONG")
    print(f"  {mark} {coloured(BOLD, shown.row.title)} {coloured(DIM, f'({_connections(shown)})')}")
    print(f"        {shown.row.url}")
    for line in _excerpt(shown.text):
        print(f"        {coloured(DIM, '>')} {harmless(line)}")


def _connections(shown: Shown) -> str:
    if shown.dialled:
        return f"connected to {', '.join(shown.dialled)}"
    return "over the connection that was open" if shown.row.reused else "no connection was opened"


def _excerpt(text: str) -> list[str]:
    """A failure's sentence, or a page's header in one line and the first lines of its text."""
    header, _, body = text.partition("\n\n")
    if not body:
        return [text]
    lines = [line for line in body.split("\n") if line.strip()]
    return [header.replace("\n", ", "), *(line[:WIDTH] for line in lines[:2])]
