"""`runvil call`: a tool call exactly as a model makes it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import click

from runvil.core.calls import FETCH, SEARCH
from runvil.core.failures import ToolErrorKind
from runvil.doors.cli.output import say
from runvil.doors.cli.policy import opened, policy, policy_options
from runvil.doors.cli.search import searching
from runvil.doors.cli.statuses import FAILED, OK, REFUSED
from runvil.tools import Tool, ToolError


@asynccontextmanager
async def _fetching(options: dict[str, Any]) -> AsyncIterator[Tool]:
    async with opened(policy(options)) as tool:
        yield tool


@asynccontextmanager
async def _searching(_: dict[str, Any]) -> AsyncIterator[Tool]:
    async with searching() as tool:
        yield tool


TOOLS: Mapping[str, Callable[[dict[str, Any]], AbstractAsyncContextManager[Tool]]] = {
    FETCH.id: _fetching,
    SEARCH.id: _searching,
}
"""Tool id -> what opens it: fetching under the policy of the options, searching at the environment's provider."""

IDS = {FETCH.wire_name: FETCH.id, SEARCH.wire_name: SEARCH.id}


@click.command("call", epilog="""Example: runvil call web/fetch '{"url": "https://example.com/"}'""")
@click.argument("tool", metavar="TOOL")
@click.argument("arguments", metavar="JSON")
@click.option("--json", "as_json", is_flag=True, help="The outcome as a JSON object: kind, error_kind, text.")
@policy_options
def command(tool: str, arguments: str, as_json: bool, **options: Any) -> int:
    """Call TOOL (web/fetch, web/search, or a wire name such as web_fetch) with JSON arguments.

    "-" reads the arguments from stdin. The policy options are for fetching.
    """
    name = IDS.get(tool, tool)
    if name not in TOOLS:
        raise click.UsageError(f"no tool named {tool!r}; there is: {', '.join(TOOLS)}")
    return asyncio.run(_call(TOOLS[name](options), _decoded(arguments), as_json))


def _decoded(text: str) -> Any:
    try:
        return json.loads(sys.stdin.read() if text == "-" else text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"the arguments are not JSON: {error}") from error


async def _call(opening: AbstractAsyncContextManager[Tool], arguments: Any, as_json: bool) -> int:
    async with opening as tool:
        try:
            output = await tool.call(arguments)
        except ToolError as error:
            _show("hard", error.kind, str(error), as_json)
            return REFUSED if error.kind is ToolErrorKind.INVALID_ARGUMENTS else FAILED
    _show("soft" if output.soft else "ok", None, output.text, as_json)
    return FAILED if output.soft else OK


def _show(kind: str, error_kind: ToolErrorKind | None, text: str, as_json: bool) -> None:
    if as_json:
        say(json.dumps({"kind": kind, "error_kind": error_kind, "text": text}, ensure_ascii=False))
    else:
        say(text, sys.stderr if kind == "hard" else None)
