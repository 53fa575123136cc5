"""Runs the examples of a page, in order and in one home, and compares what they print with what the page says.

A `python` block is run as a program, in a namespace of its own; the `output` block after it is what it prints. In a
`console` block, `$ [NAME=VALUE] runvil ...` lines are run and what follows is what the command prints. A block with a
title is a file of that name. In what is printed a line `...` stands for any lines, and `…` for any part of a line.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from runvil.doors.cli import run
from tests.docs.blocks import ROOT, Block

IN_TIME = 60.0  # seconds; a guard against a hang
TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT: calls are shown as they stand inside a coroutine

PROMPT = """---
name: page
description: Fetches a page.
runvil: 0
uses: [web]
---
# Page
## Fetch
```lua
return tools.call('web/fetch', { url = args.url })
```
"""

FACE = "from runvil import FetchConfig, FetchFailure, ToolError, WebFetch"

GIVEN: Mapping[str, Mapping[str, object]] = {
    "docs/extraction.md": {"html": "<title>A page</title><h1>A page</h1><p>Its text.</p>"},
    "docs/prompts.md": {"key": "a-key", "text": PROMPT},
}
"""What a page leaves to its reader."""


def matches(said: str, printed: str) -> bool:
    """Whether a program that printed this did as the page says."""
    lines = ("(?:.*\n)*?" if line == "..." else _line(line) for line in said.rstrip("\n").split("\n"))
    return re.fullmatch("".join(lines), printed.rstrip("\n") + "\n") is not None


def _line(line: str) -> str:
    return ".*".join(map(re.escape, line.split("…"))) + "\n"


def program(block: Block, names: Mapping[str, object] | None = None) -> str:
    """Run a block of Python; what it printed."""
    code = compile(block.text, str(block), "exec", flags=TOP_LEVEL_AWAIT)
    made: dict[str, object] = {"__name__": "example", **GIVEN.get(block.page, {}), **(names or {})}
    if block.page == "README.md":
        exec(FACE, made)
    run_it = types.FunctionType(code, made)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(run_it())
        else:
            run_it()
    return printed.getvalue()


def _python(block: Block, capfd: pytest.CaptureFixture[str]) -> None:
    printed = program(block)
    assert block.output is None or matches(block.output, printed), printed


def _python_elsewhere(block: Block, capfd: pytest.CaptureFixture[str]) -> None:
    """In a process of its own, whose PATH holds the command: for what starts `runvil`."""
    home = Path.cwd()
    (home / "runvil").write_text(f'#!/bin/sh\nexec {sys.executable} -m runvil "$@"\n')
    (home / "runvil").chmod(0o755)
    environment = {**os.environ, "PATH": f"{home}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-c", block.text]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=IN_TIME, check=False)
    assert done.returncode == 0, done.stderr
    assert block.output is not None
    assert matches(block.output, done.stdout), done.stdout


def _compiled(block: Block, capfd: pytest.CaptureFixture[str]) -> None:
    """For what needs a framework: tests/doors/test_adapters_document.py runs it where the framework is."""
    compile(block.text, str(block), "exec", flags=TOP_LEVEL_AWAIT)
    for adapter, names in re.findall(r"^from runvil\.doors\.adapters\.(\w+) import (.*)$", block.text, re.MULTILINE):
        source = (ROOT / "src" / "runvil" / "doors" / "adapters" / f"{adapter}.py").read_text(encoding="utf-8")
        defined = re.findall(r"^(?:async )?def (\w+)", source, re.MULTILINE)
        assert [name for name in names.split(", ") if name not in defined] == []


def _console(block: Block, capfd: pytest.CaptureFixture[str]) -> None:
    capfd.readouterr()
    for command, said in commands(block.text):
        with _surroundings(command) as arguments:
            run(arguments)
        out, err = capfd.readouterr()
        assert matches(said, out + err), f"$ {command}\n{out}{err}"


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with what it prints."""
    before, *parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
    assert not before, "a console block begins with a command"
    for part in parts:
        command, _, said = part.partition("\n")
        yield command, said


@contextlib.contextmanager
def _surroundings(command: str) -> Iterator[list[str]]:
    """The arguments of `runvil`, with the variables before it in the environment."""
    words = shlex.split(command)
    variables = dict(word.split("=", 1) for word in words[: words.index("runvil")])
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        yield words[len(variables) + 1 :]


RUNNERS: Mapping[str, Callable[[Block, pytest.CaptureFixture[str]], None]] = {"python": _python, "console": _console}
ELSEWHERE = {("docs/mcp.md", "python"): _python_elsewhere, ("docs/frameworks.md", "python"): _compiled}
"""How a language is run, and the pages on which it is run otherwise."""


def play(page: list[Block], capfd: pytest.CaptureFixture[str]) -> list[str]:
    """Run what can be run of a page; what went wrong, each with its place."""
    return [f"{block}: {wrong}" for block in page if (wrong := _trouble(block, capfd))]


def _trouble(block: Block, capfd: pytest.CaptureFixture[str]) -> str:
    if block.title:
        Path(block.title).write_text(block.text, encoding="utf-8")
        return ""
    runner: Any = ELSEWHERE.get((block.page, block.language)) or RUNNERS.get(block.language)
    if runner is None:
        return ""
    try:
        runner(block, capfd)
    except (Exception, SystemExit) as error:
        return f"{type(error).__name__}: {error}"
    return ""
