"""`runvil fetch`: what a model would be given for a URL."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence

import click

from runvil.core.failures import FetchFailure
from runvil.doors.cli.report import Outcome
from runvil.tools import WebFetch


@click.command("fetch", epilog="Exit status: 0 success, 1 failed, 2 usage, 3 refused by the policy, 130 interrupted.")
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
@click.option("--raw", is_flag=True, help="The whole page as markdown, not only its main article.")
@click.option("--max-chars", type=click.IntRange(min=1), metavar="N", help="Return at most N characters of text.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a URL instead of text.")
def command(urls: tuple[str, ...], raw: bool, max_chars: int | None, as_json: bool) -> int:
    """Fetch web pages and print what a model would be given: a three-line header, a blank line, and markdown.

    A failure that a model would read as a result goes to stdout; a refusal by the policy goes to stderr.
    """
    return asyncio.run(_fetch(urls, raw, max_chars, as_json))


async def _fetch(urls: Sequence[str], raw: bool, max_chars: int | None, as_json: bool) -> int:
    status = 0
    async with WebFetch() as fetch:
        tasks = [asyncio.create_task(_outcome(fetch, url, raw, max_chars)) for url in urls]
        for task in tasks:
            outcome = await task
            _print(outcome, as_json, several=len(urls) > 1)
            status = max(status, outcome.status)
    return status


async def _outcome(fetch: WebFetch, url: str, raw: bool, max_chars: int | None) -> Outcome:
    try:
        return Outcome(url, await fetch.fetch(url, raw=raw, max_chars=max_chars))
    except FetchFailure as failure:
        return Outcome(url, failure)


def _print(outcome: Outcome, as_json: bool, *, several: bool) -> None:
    if as_json:
        print(json.dumps(outcome.as_json(), ensure_ascii=False, indent=2))
        return
    if several:
        print(f"--- {outcome.url}")
    print(outcome.result, file=sys.stderr if outcome.kind == "hard" else sys.stdout)
