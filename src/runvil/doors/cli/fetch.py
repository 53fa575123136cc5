"""`runvil fetch`: what a model would be given for a URL."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Any

import click

from runvil.core.config import FetchConfig
from runvil.core.failures import FetchFailure
from runvil.doors.cli.output import Progress, say
from runvil.doors.cli.policy import opened, policy, policy_options
from runvil.doors.cli.report import Outcome
from runvil.doors.cli.statuses import FAILED, OK
from runvil.providers.index import IndexUnusable, LocalIndex
from runvil.tools import WebFetch

AT_ONCE = 16
"""URLs fetched at a time: a wait for a slot would count against a fetch's deadline, so the others wait out here."""

MAX_URLS = 100_000
"""URLs in one command; `runvil batch` is for more."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks of every URL. form: text, json or ndjson. index: where to remember pages, or None."""

    raw: bool
    max_chars: int | None
    form: str
    index: LocalIndex | None = None


@click.command(
    "fetch",
    epilog="Exit: 0 success, 1 failed, 2 usage, 3 refused by the policy, 130 interrupted; of several the highest.",
)
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--raw", is_flag=True, help="The whole page as markdown, not only its main article.")
@click.option(
    "--max-chars", type=click.IntRange(min=1), metavar="N", help="At most N characters of text (default 40000)."
)
@click.option("--json", "form", flag_value="json", help="One JSON object a URL instead of text.")
@click.option("--ndjson", "form", flag_value="ndjson", help="The same, each on one line.")
@click.option("--remember", is_flag=True, help="Keep the pages on this machine, for runvil search --provider local.")
@policy_options
def command(
    urls: tuple[str, ...], raw: bool, max_chars: int | None, form: str | None, remember: bool, **options: Any
) -> int:
    """Fetch web pages and print what a model would be given: a three-line header, a blank line, and markdown.

    Several URLs are fetched at once and printed in order; "-" reads them from stdin, one a line. A failure that a model
    would read as a result goes to stdout, a refusal by the policy to stderr.
    """
    config = policy(options)
    index = LocalIndex() if remember else None
    return asyncio.run(_fetch(_listed(urls), config, Wanted(raw, max_chars, form or "text", index)))


def _listed(urls: Sequence[str]) -> list[str]:
    listed: list[str] = []
    for url in urls:
        listed += (line.strip() for line in sys.stdin if line.strip()) if url == "-" else (url,)
    if not listed:
        raise click.UsageError("no URL on stdin")
    if len(listed) > MAX_URLS:
        raise click.UsageError(f"more than {MAX_URLS} URLs")
    return listed


async def _fetch(urls: Sequence[str], config: FetchConfig, wanted: Wanted) -> int:
    status = 0
    progress = Progress(len(urls), "fetched")
    async with opened(config) as fetch:
        async for outcome in _in_order(fetch, urls, wanted, progress):
            progress.clear()
            _print(outcome, wanted.form, several=len(urls) > 1)
            status = max(status, outcome.status, await _remember(outcome, wanted.index))
    return status


async def _remember(outcome: Outcome, index: LocalIndex | None) -> int:
    """Keep the page, if that was asked for; a status."""
    if index is None or isinstance(outcome.result, FetchFailure):
        return OK
    try:
        await asyncio.to_thread(index.remember, outcome.result)
    except IndexUnusable as error:
        say(f"runvil: not remembered: {error}", sys.stderr)
        return FAILED
    return OK


async def _in_order(fetch: WebFetch, urls: Sequence[str], wanted: Wanted, progress: Progress) -> AsyncIterator[Outcome]:
    """Each URL's outcome, in the order asked for, AT_ONCE of them on the way."""
    under_way: list[asyncio.Task[Outcome]] = []
    rest = iter(urls)
    try:
        while True:
            while len(under_way) < AT_ONCE and (url := next(rest, None)) is not None:
                under_way.append(asyncio.create_task(_outcome(fetch, url, wanted, progress)))
            if not under_way:
                return
            yield await under_way.pop(0)
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def _outcome(fetch: WebFetch, url: str, wanted: Wanted, progress: Progress) -> Outcome:
    try:
        return Outcome(url, await fetch.fetch(url, raw=wanted.raw, max_chars=wanted.max_chars))
    except FetchFailure as failure:
        return Outcome(url, failure)
    finally:
        progress.step()


def _print(outcome: Outcome, form: str, *, several: bool) -> None:
    if form != "text":
        say(json.dumps(outcome.as_json(), ensure_ascii=False, indent=2 if form == "json" else None))
        return
    if several:
        say(f"--- {outcome.url}")
    say(outcome.result, sys.stderr if outcome.kind == "hard" else None)
