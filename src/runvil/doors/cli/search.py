"""`runvil search`: what a model would be given for a query; on a terminal a list to read."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import textwrap
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

import click

from runvil.core.calls import FRESHNESS, MAX_RESULTS, SAFESEARCH
from runvil.core.config import ConfigError
from runvil.core.failures import ToolErrorKind
from runvil.doors.cli.output import coloured, harmless, say
from runvil.doors.cli.statuses import FAILED, OK
from runvil.providers.environment import NAMES, chosen, from_environment
from runvil.providers.failover import close
from runvil.providers.index import LocalIndex
from runvil.tools import ToolError, WebSearch

HOW = (
    "no search provider: set a key (BRAVE_SEARCH_API_KEY, TAVILY_API_KEY, EXA_API_KEY, KAGI_API_KEY, SERPER_API_KEY), "
    "or SEARXNG_URL, or take --provider tavily-keyless, or remember pages with runvil fetch --remember"
)

INDENT = "   "
WIDEST = 100
"""Columns beyond which lines are hard to read."""


@click.command(
    "search",
    epilog="Exit: 0 success, 1 the provider failed, 2 usage. Which provider is taken: runvil doctor says.",
)
@click.argument("query", nargs=-1, required=True, metavar="QUERY")
@click.option("--count", type=click.IntRange(1, MAX_RESULTS), metavar="N", help="At most N results, 1 to 20.")
@click.option("--freshness", type=click.Choice(FRESHNESS), help="From the past day, week, month or year.")
@click.option("--country", metavar="CODE", help="Results for a country, such as us.")
@click.option("--search-lang", metavar="CODE", help="Results in a language, such as en.")
@click.option("--safesearch", type=click.Choice(SAFESEARCH), help="How strictly adult content is filtered out.")
@click.option("--include-domain", multiple=True, metavar="HOST", help="Results from this host alone; repeatable.")
@click.option("--exclude-domain", multiple=True, metavar="HOST", help="No results from this host; repeatable.")
@click.option("--provider", type=click.Choice(NAMES), metavar="NAME", help=f"Who is asked: {', '.join(NAMES)}.")
@click.option("--json", "as_json", is_flag=True, help="The results as a model gets them, also on a terminal.")
def command(query: tuple[str, ...], provider: str | None, as_json: bool, **options: Any) -> int:
    """Search the web; "-" reads the query from stdin.

    On a terminal the results are a list, in a pipe the JSON that a model would be given.
    """
    text = sys.stdin.read().strip() if query == ("-",) else " ".join(query)
    if provider is None and _has_none():
        say(f"runvil: {HOW}", sys.stderr)
        return FAILED
    arguments = {
        "query": text,
        "include_domains": options.pop("include_domain"),
        "exclude_domains": options.pop("exclude_domain"),
        **options,
    }
    return asyncio.run(_search(provider, arguments, as_json or not sys.stdout.isatty()))


def _has_none() -> bool:
    """No gateway, no vendor, and no page remembered."""
    return chosen(None, os.environ).name == "local" and not LocalIndex().exists()


@asynccontextmanager
async def searching(provider: str | None = None) -> AsyncIterator[WebSearch]:
    """The tool over the named provider or the environment's. Raises click.UsageError."""
    try:
        found = from_environment(provider)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    try:
        yield WebSearch(found)
    finally:
        await close(found)


async def _search(provider: str | None, arguments: Mapping[str, object], as_json: bool) -> int:
    async with searching(provider) as tool:
        try:
            output = await tool.call(arguments)
        except ToolError as error:
            if error.kind is ToolErrorKind.INVALID_ARGUMENTS:
                raise click.UsageError(str(error)) from error
            say(error, sys.stderr)
            return FAILED
    if as_json:
        say(output.text)
    else:
        _show(json.loads(output.text)["results"])
    return OK


def _show(rows: Sequence[Mapping[str, Any]]) -> None:
    width = min(shutil.get_terminal_size().columns, WIDEST)
    for place, row in enumerate(rows, 1):
        if place > 1:
            print()
        title, *lines = (harmless(line) for line in _lines(row, width))
        print(coloured(1, f"{place}. {title}"))
        print("\n".join(f"{INDENT}{line}" for line in lines))
    if not rows:
        say("Nothing found.", sys.stderr)


def _lines(row: Mapping[str, Any], width: int) -> Iterator[str]:
    """A row's title; its site and age; its address; its snippet. Each a stranger's words, on one line."""
    yield _one_line(row["title"]) or "(no title)"
    about = [_one_line(row[name]) for name in ("site_name", "age") if name in row]
    if about:
        yield ", ".join(about)
    yield _one_line(row["url"])
    yield from textwrap.wrap(_one_line(row["description"]), width - len(INDENT))


def _one_line(text: str) -> str:
    return " ".join(text.split())
