"""`runvil check`: read prompt files and compile their Lua, without running anything."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from runvil.doors.cli.output import say
from runvil.doors.cli.statuses import FAILED, OK
from runvil.runtime import RunError
from runvil.runtime.extras import MissingExtra
from runvil.runtime.guest import compiled
from runvil.runtime.prompt import decoded


@click.command("check", epilog="Exit: 0 all are prompts, 1 one is not, 2 usage.")
@click.argument("prompts", nargs=-1, required=True, metavar="PROMPT.md...")
def command(prompts: tuple[str, ...]) -> int:
    """Parse each PROMPT.md and compile all its Lua; "-" reads stdin. Nothing of it runs.

    What is wrong is said with file, line and column.
    """
    return max(_check(name) for name in prompts)


def _check(name: str) -> int:
    try:
        compiled(read_prompt(name), name)
    except (RunError, MissingExtra) as error:
        say(complaint(error), sys.stderr)
        return FAILED
    say(f"{name}: ok")
    return OK


def read_prompt(name: str) -> str:
    """A prompt file's text. Raises RunError, click.FileError."""
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        raise click.FileError(name, error.strerror or "cannot be read") from error
    return decoded(data, name)


def complaint(error: RunError | MissingExtra) -> str:
    """A run error as the command shows it: its kind, and its place where it has one."""
    return f"{error.kind}: {error.located}" if isinstance(error, RunError) else f"runvil: {error}"
