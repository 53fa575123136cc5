"""`runvil run`: run a prompt file and print its result."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import click

from runvil.core.config import ConfigError
from runvil.doors.cli.check import complaint, read_prompt
from runvil.doors.cli.output import harmless, say
from runvil.doors.cli.statuses import FAILED, OK
from runvil.providers.environment import NAMES, from_environment
from runvil.providers.failover import close
from runvil.runtime import Host, RunError, WebPlugin
from runvil.runtime.extras import MissingExtra
from runvil.runtime.models.environment import from_environment as model_from_environment
from runvil.runtime.trace import Observer, to_file
from runvil.runtime.web import SEARCH_PROVIDER

SHOWN_ARGUMENTS = 60
"""Characters of a call's arguments in a line of progress."""


def _arguments(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
    pairs = [value.partition("=") for value in values]
    if any(not name or not equals for name, equals, _ in pairs):
        raise click.BadParameter("takes NAME=VALUE")
    return {name: value for name, _, value in pairs}


@click.command(
    "run",
    epilog="The model: RUNVIL_MODEL_URL, RUNVIL_MODEL_API_KEY and RUNVIL_MODEL, or --model. Exit: 0 success, 1 the run "
    "failed, 2 usage.",
)
@click.argument("prompt", metavar="PROMPT.md")
@click.option("--arg", "args", multiple=True, metavar="NAME=VALUE", callback=_arguments, help="A value of `args`.")
@click.option("--model", metavar="NAME", help="The model; anthropic/NAME is asked for at Anthropic's API.")
@click.option("--provider", type=click.Choice(NAMES), metavar="NAME", help=f"Who is searched: {', '.join(NAMES)}.")
@click.option(
    "--trace", type=click.File("w", encoding="utf-8"), metavar="FILE", help="Write every event, a JSON line each."
)
@click.option("--untrusted", is_flag=True, help="Run it in a locked process of its own: for prompts of strangers.")
def command(prompt: str, args: dict[str, str], trace: Any, untrusted: bool, **options: str | None) -> int:
    """Run PROMPT.md ("-" for stdin) with the web Pack and print the run result.

    On a terminal, what happens meanwhile is told on stderr.
    """
    try:
        text = read_prompt(prompt)
        opening = _host(untrusted, options["provider"], options["model"])
        result = asyncio.run(_run(opening, text, args=args, file=prompt, observer=_observer(trace)))
    except (RunError, MissingExtra) as error:
        say(complaint(error), sys.stderr)
        return FAILED
    say(result)
    return OK


async def _run(opening: AbstractAsyncContextManager[Host], text: str, **options: Any) -> str:
    async with opening as host:
        return await host.run(text, **options)


@asynccontextmanager
async def _host(untrusted: bool, provider: str | None, model: str | None) -> AsyncIterator[Host]:
    """A Host as the options and the environment say. Raises click.UsageError."""
    try:
        searched = from_environment(provider)
        asked = model_from_environment(model, os.environ)
    except ConfigError as error:
        raise click.UsageError(str(error)) from error
    try:
        async with Host({SEARCH_PROVIDER: searched}, asked, isolate=untrusted) as host:
            host.call(WebPlugin(), {"web": None})
            yield host
    finally:
        await close(searched)
        if asked is not None:
            await asked.aclose()


def _observer(trace: Any) -> Observer | None:
    """Who watches: the trace file, and a terminal's reader."""
    watching = [*([to_file(trace)] if trace is not None else []), *([_progress] if sys.stderr.isatty() else [])]
    if not watching:
        return None

    def tell(event: Mapping[str, Any]) -> None:
        for observer in watching:
            observer(event)

    return tell


def _progress(event: Mapping[str, Any]) -> None:
    line = _line(event)
    if line is not None:
        print(f"[{event['at'] / 1000:6.1f}s] {harmless(line, sys.stderr)}", file=sys.stderr, flush=True)


def _line(event: Mapping[str, Any]) -> str | None:
    match event["event"]:
        case "section":
            return f"## {event['section']}"
        case "log":
            return str(event["text"])
        case "tool":
            return f"{event['id']} {event['arguments'][:SHOWN_ARGUMENTS]} {event['outcome']}, {event['ms']:.0f} ms"
        case "round":
            asked = ", ".join(call["name"] for call in event.get("tool_calls", ()))
            return f"model, {event['ms']:.0f} ms: {event.get('error') or asked or 'an answer'}"
    return None
