"""Every snippet of docs/mcp.md is what the client it is for reads, and asks for a command that there is."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from runvil.doors.cli import mcp

DOCUMENT = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
IN_TIME = 60.0

STDIO = {"type", "command", "args", "env", "timeout"}
HTTP = {"type", "url", "headers", "bearer_token_env_var"}
ROOTS = {"mcpServers", "servers", "context_servers", "mcp_servers"}
"""The members that the clients document, as read in their own documents in November 2026."""


def snippets() -> list[Mapping[str, Any]]:
    read = {"json": json.loads, "toml": tomllib.loads}
    return [read[language](text) for language, text in BLOCKS if language in read]


def accepted(arguments: list[str]) -> None:
    """The command takes these arguments."""
    with click.Context(mcp.command) as context:
        mcp.command.make_parser(context).parse_args(list(arguments))
    mcp.command.make_context("mcp", list(arguments), resilient_parsing=False)


@pytest.mark.parametrize("snippet", snippets(), ids=str)
def test_a_configuration_is_of_the_documented_form(snippet: Mapping[str, Any]) -> None:
    ((root, servers),) = snippet.items()
    assert root in ROOTS
    for server in servers.values():
        assert set(server) <= (STDIO if "command" in server else HTTP)
        if "command" in server:
            assert (server["command"], server["args"][0]) == ("runvil", "mcp")
            accepted(server["args"][1:])


def test_the_shell_commands_are_ours() -> None:
    lines = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines()]
    assert lines
    for line in lines:
        _, _, arguments = line.partition("runvil mcp")
        accepted(arguments.split())


def test_the_program_prints_what_the_document_says(tmp_path: Path) -> None:
    programs = [text for language, text in BLOCKS if language == "python"]
    outputs = [text for language, text in BLOCKS if language == "output"]
    (tmp_path / "runvil").write_text(f'#!/bin/sh\nexec {sys.executable} -m runvil "$@"\n')
    (tmp_path / "runvil").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "HOME": str(tmp_path)}
    for program, output in zip(programs, outputs, strict=True):
        done = subprocess.run(
            [sys.executable, "-c", program],
            env=environment, capture_output=True, text=True, check=True, timeout=IN_TIME,
        )  # fmt: skip
        assert done.stdout == output


def test_every_option_of_the_command_has_its_place_in_a_document() -> None:
    fetching = (Path(__file__).parents[2] / "docs" / "fetch.md").read_text(encoding="utf-8")
    search = (Path(__file__).parents[2] / "docs" / "search.md").read_text(encoding="utf-8")
    flags = [flag for option in mcp.command.params for flag in option.opts]
    assert [flag for flag in flags if flag not in DOCUMENT + fetching + search] == []
