"""`python -m tests.doors.mcp_conformance NODE MODULES`: other people's suites against our server, as a page of results.

NODE: a node of version 22 or later. MODULES: a node_modules directory with @modelcontextprotocol/conformance and
/inspector. The status is 1 when anything that applies did not pass. `python -m tests.doors.mcp_conformance serve PORT`
is the server for the scenarios that call tools of fixed names: our own machinery over other offers.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runvil import ToolOutput, __version__
from runvil.doors.mcp import server
from runvil.doors.mcp.http import serve_http
from runvil.doors.mcp.offers import Answer, Offer

IN_TIME = 120.0
TICK = 0.05
"""Seconds between two reports of progress here, so that a scenario need not wait."""

SERVED = ("server-initialize", "ping", "tools-list", "dns-rebinding-protection")
"""Scenarios of `runvil mcp` itself."""

FIXED = ("tools-call-simple-text", "tools-call-error", "tools-call-with-progress", "json-schema-2020-12")
"""Scenarios that call tools of fixed names."""

OTHERS: Mapping[str, str] = {
    "logging|completion|resources|prompts": "the server has tools alone",
    "sampling|elicitation": "the server asks nothing of its client",
    "image|audio|embedded|mixed": "the tools give text alone",
    "tools-call-with-logging": "logs go to stderr",
    "server-sse": "there are no sessions",
}
"""Why the rest does not apply, by what its name holds."""

SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
    "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Named:
    """A tool that is only declared."""

    wire_name: str
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object"})
    description: str = "For the conformance suite."

    @property
    def id(self) -> str:
        return self.wire_name

    async def call(self, _: Mapping[str, object]) -> ToolOutput:
        raise NotImplementedError


@dataclass(frozen=True)
class Fixed:
    """What a scenario expects. ticks: reports of progress before the answer."""

    tool: Named
    says: Answer
    ticks: int = 0
    title: str = "Fixed"
    schema: None = None
    seconds: float = 1.0

    async def answer(self, _: Mapping[str, Any]) -> Answer:
        await asyncio.sleep(self.ticks * TICK)
        return self.says


OFFERS: Sequence[Offer] = (
    Fixed(Named("test_simple_text"), Answer("This is a simple text response for testing.")),
    Fixed(Named("test_error_handling"), Answer("This tool intentionally returns an error for testing", failed=True)),
    Fixed(Named("test_tool_with_progress"), Answer("done"), ticks=5),
    Fixed(Named("json_schema_2020_12_tool", SCHEMA), Answer("done")),
)


@dataclass(frozen=True)
class Result:
    suite: str
    what: str
    passed: bool
    said: str


class Suites:
    def __init__(self, node: str, modules: Path) -> None:
        self._node = node
        self._modules = modules

    def version(self, package: str) -> str:
        return str(
            json.loads((self._modules / "@modelcontextprotocol" / package / "package.json").read_text())["version"]
        )

    def run(self, package: str, script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = self._modules / "@modelcontextprotocol" / package / script
        return subprocess.run(
            [self._node, str(path), *arguments], capture_output=True, text=True, check=False, timeout=IN_TIME
        )

    def scenario(self, url: str, name: str) -> Result:
        done = self.run("conformance", "dist/index.js", "server", "--url", url, "--scenario", name)
        passed, failed = _counts(done.stdout + done.stderr)
        return Result(
            "conformance", name, done.returncode == 0 and passed > 0 and failed == 0, f"{passed} of {passed + failed}"
        )

    def scenarios(self) -> list[str]:
        listed = self.run("conformance", "dist/index.js", "list", "--server").stdout
        return re.findall(r"^\s+- (\S+)", listed, re.MULTILINE)

    def inspect(self, what: str, target: Sequence[str], *arguments: str, expect: str, status: int = 0) -> Result:
        done = self.run("inspector", "clients/launcher/build/index.js", "--cli", *target, *arguments)
        passed = done.returncode == status and expect in done.stdout
        return Result("inspector", what, passed, f"status {done.returncode}")


def _counts(said: str) -> tuple[int, int]:
    """How many checks passed and failed."""
    found = re.findall(r"(?:Passed: |^.*: )(\d+)(?:/(\d+))?(?: passed)?, (\d+) failed", said, re.MULTILINE)
    return (int(found[-1][0]), int(found[-1][2])) if found else (0, 0)


def results(suites: Suites) -> Iterator[Result]:
    with _Served("-m", "runvil", "mcp", "--http", "127.0.0.1:0") as url:
        yield from (suites.scenario(url, name) for name in SERVED)
        yield from _inspected(suites, url, ["--server-url", url, "--transport", "http"])
    with _Served("-m", "tests.doors.mcp_conformance", "serve", "0") as url:
        yield from (suites.scenario(url, name) for name in FIXED)
    yield from _inspected(suites, "stdio", [sys.executable, "-m", "runvil", "mcp"])


def _inspected(suites: Suites, where: str, target: Sequence[str]) -> Iterator[Result]:
    door = "http" if where.startswith("http") else where
    call = ("--method", "tools/call", "--tool-name", "web_fetch", "--tool-arg")
    yield suites.inspect(
        f"{door}: tools/list --strict", target, "--method", "tools/list", "--strict", expect="web_fetch"
    )
    yield suites.inspect(
        f"{door}: a soft failure", target, *call, "url=http://a.example/", expect="scheme not allowed: http"
    )
    yield suites.inspect(
        f"{door}: a hard failure", target, *call, "url=https://127.1/", expect='"isError": true', status=5
    )


class _Served:
    """A server process; its address."""

    def __init__(self, *arguments: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, *arguments], stderr=subprocess.PIPE, text=True, env=os.environ
        )

    def __enter__(self) -> str:
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        return found[0]

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.communicate(timeout=IN_TIME)


def page(suites: Suites) -> tuple[list[str], bool]:
    """The page's lines, and whether everything passed."""
    found = list(results(suites))
    rest = [name for name in suites.scenarios() if name not in (*SERVED, *FIXED)]
    node = subprocess.run([suites._node, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    lines = [
        "## Suites of others against the MCP server",
        "",
        f"runvil {__version__}, @modelcontextprotocol/conformance {suites.version('conformance')}, "
        f"@modelcontextprotocol/inspector {suites.version('inspector')}, node {node}.",
        "",
        "| suite | what | result | checks or status |",
        "|---|---|---|---|",
        *(f"| {one.suite} | {one.what} | {'passed' if one.passed else 'FAILED'} | {one.said} |" for one in found),
        "",
        "Scenarios that do not apply to a server that has tools alone:",
        "",
        "| scenario | why |",
        "|---|---|",
        *(f"| {name} | {_reason(name)} |" for name in rest),
    ]
    return lines, all(one.passed for one in found)


def _reason(name: str) -> str:
    return next(reason for pattern, reason in OTHERS.items() if re.search(pattern, name))


def main(arguments: Sequence[str]) -> int:
    if arguments[0] == "serve":
        server.TICK = TICK
        serve_http(server.server_of(OFFERS, __version__), "127.0.0.1", int(arguments[1]))
        return 0
    lines, passed = page(Suites(arguments[0], Path(arguments[1])))
    print("\n".join(lines))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
