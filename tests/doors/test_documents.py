"""Every example in the documents runs, and prints what the document says.

A `python` block is run as a program; an `output` block after it is what it prints. In a `console` block, `$ runvil ...`
lines are run and what follows is what the command prints; a line `...` stands for any rest. The network is scripted,
the policy and its filter are the real ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import re
import shlex
import subprocess
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runvil import assemble
from runvil.core.config import KNOBS
from runvil.doors.cli import run
from runvil.doors.cli.policy import OPTIONS
from runvil.testing import Behaviour, FakeNet, Reply

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", ROOT / "docs" / "fetch.md"]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
IN_TIME = 60.0  # seconds; a guard against a hang

EXAMPLE = b"""<!doctype html><title>Example Domain</title><h1>Example Domain</h1><p>This domain is for use in
documentation examples without needing permission. Avoid use in operations, and do not rely on it for anything that has
to stay.</p>"""
PUBLIC = ["93.184.216.34"]


def typed(content_type: str, body: bytes) -> Reply:
    return Reply(headers=[("Content-Type", content_type)], body=body)


def scripted() -> FakeNet:
    return FakeNet(
        dns={
            "example.com": PUBLIC,
            "plain.example.com": PUBLIC,
            "azure.example.com": ["168.63.129.16"],
            "wiki.corp.example": ["10.0.5.42"],
        },
        replies={
            "https://example.com/": typed("text/html", EXAMPLE),
            "https://example.com/missing": Reply(404),
            "https://example.com/old": Reply(302, [("Location", "/")]),
            "https://example.com/slow": Reply(behaviour=Behaviour.HANG_BEFORE_HEADERS),
            "https://example.com/data.json": typed("application/json", b'{"key": "value"}'),
            "https://example.com/notes.txt": typed("text/plain", b"Note one, note two"),
            "https://example.com/report.pdf": typed("application/pdf", b"%PDF"),
            "https://example.com:8443/": typed("text/plain", b"on another port"),
            "http://plain.example.com/": typed("text/plain", b"over plain http"),
            "https://azure.example.com/": typed("text/plain", b"the host agent"),
            "https://wiki.corp.example/": typed("text/plain", b"the wiki"),
        },
    )


@dataclass(frozen=True)
class Example:
    """A block of a document. output: what a program prints, or None when the document does not say."""

    document: str
    line: int
    language: str
    text: str
    output: str | None

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def examples(*languages: str) -> list[Example]:
    return [example for document in DOCUMENTS for example in _read(document) if example.language in languages]


def _read(document: Path) -> Iterator[Example]:
    source = document.read_text()
    blocks = list(FENCE.finditer(source))
    for block, after in zip(blocks, [*blocks[1:], None], strict=True):
        line = source.count("\n", 0, block.start()) + 1
        output = after[2] if after is not None and after[1] == "output" else None
        yield Example(document.name, line, block[1], block[2], output)


@pytest.fixture(autouse=True)
def scripted_network(monkeypatch: pytest.MonkeyPatch, own_background: None) -> None:
    monkeypatch.setattr(assemble, "network", lambda config: scripted())


def test_there_are_examples_to_run() -> None:
    assert len(examples("python")) > 5
    assert len(examples("console")) > 10


@pytest.mark.parametrize("example", examples("python"), ids=str)
def test_a_program_prints_what_the_document_says(example: Example) -> None:
    program = compile(example.text, str(example), "exec", flags=_TOP_LEVEL_AWAIT)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        _execute(program)
    if example.output is not None:
        assert printed.getvalue() == example.output


_TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT: the README shows calls as they stand inside a coroutine


def _execute(program: object) -> None:
    assert isinstance(program, types.CodeType)
    names: dict[str, object] = {}
    exec("from runvil import FetchConfig, FetchFailure, ToolError, WebFetch", names)
    run_it = types.FunctionType(program, names)
    if program.co_flags & inspect.CO_COROUTINE:
        asyncio.run(run_it())
    else:
        run_it()


def sessions() -> list[object]:
    """One case a command: the example, the command line, the lines it must print."""
    cases: list[object] = []
    for example in examples("console"):
        for part in re.split(r"^\$ ", example.text, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            cases.append(pytest.param(command, output, id=f"{example}-{len(cases)}"))
    return cases


@pytest.mark.parametrize(("command", "output"), sessions())
def test_a_command_prints_what_the_document_says(command: str, output: str, capfd: pytest.CaptureFixture[str]) -> None:
    program, *arguments = shlex.split(command)
    assert program == "runvil"
    run(arguments)
    out, err = capfd.readouterr()
    parts = re.split(r"(?<=\n)(\.\.\.\n)", output.rstrip("\n") + "\n")
    pattern = "".join(".*" if part == "...\n" else re.escape(part) for part in parts)
    assert re.fullmatch(pattern, (out + err).rstrip("\n") + "\n", re.DOTALL), out + err


def test_every_option_of_the_policy_has_its_example() -> None:
    document = (ROOT / "docs" / "fetch.md").read_text()
    shown = "\n".join(example.text for example in examples("console") if example.document == "fetch.md")
    assert [flag for flag, _ in OPTIONS if flag not in shown] == []
    assert [knob for knob in KNOBS if f"`{knob}`" not in document] == []


def test_the_readmes_commands_are_what_ci_runs() -> None:
    readme, ci = (ROOT / "README.md").read_text(), (ROOT / ".ci" / "run").read_text()
    for step in (".venv/bin/pip install -q -e '.[dev]'", ".venv/bin/python -m pytest"):
        assert step in readme
        assert step in ci
    assert subprocess.run([sys.executable, "-m", "runvil", "--version"], check=True, timeout=IN_TIME).returncode == 0
