"""One table of calls (matrix.py) through every door: byte for byte the library's text. Each framework's own tests hold
the same table against its adapter."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from runvil import assemble
from runvil.core.envelope import wrap
from runvil.doors.cli import call as call_command
from runvil.doors.cli import run
from tests.doors.matrix import ROWS, Provider, Row, Said, by_library, network

ROOT = str(Path(__file__).parents[2])
STATUS = {"ok": 0, "soft": 1, "hard": 3}

SERVER = (
    "-c",
    """
from runvil import assemble
from runvil.doors.cli import main, mcp
from tests.doors.matrix import Provider, network
assemble.network = lambda config: network()
mcp._provider = lambda name: Provider()
main()
""",
)
"""The command as it is, but for the table's network and provider."""


@pytest.fixture(autouse=True)
def tables_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemble, "network", lambda config: network())
    monkeypatch.setattr("runvil.doors.cli.search.from_environment", lambda name: Provider())


def expected(row: Row) -> Said:
    return asyncio.run(by_library(row))


def test_the_table_holds_every_kind_of_outcome() -> None:
    kinds = {(row.tool, expected(row).kind) for row in ROWS}
    assert kinds == {("web_fetch", kind) for kind in STATUS} | {("web_search", "ok"), ("web_search", "hard")}


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_call_prints_the_librarys_text(row: Row, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    said = expected(row)
    run(["call", row.tool, json.dumps(row.arguments)])
    out, err = capfdbinary.readouterr()
    assert (err if said.kind == "hard" else out) == f"{said.text}\n".encode()
    run(["call", row.tool, json.dumps(row.arguments), "--json"])
    told = json.loads(capfdbinary.readouterr().out)
    assert (told["text"], told["kind"]) == (said.text, said.kind)


@pytest.mark.parametrize("row", [row for row in ROWS if row.tool == "web_fetch" and not row.free], ids=str)
def test_fetch_prints_the_librarys_text(row: Row, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    said = expected(row)
    given = dict(row.arguments)
    options = ["--raw"] * bool(given.get("raw")) + [f"--max-chars={given.get('max_chars')}"] * ("max_chars" in given)
    assert run(["fetch", str(given["url"]), *options]) == STATUS[said.kind]
    out, err = capfdbinary.readouterr()
    assert (err if said.kind == "hard" else out) == f"{said.text}\n".encode()


@pytest.mark.parametrize("door", ["stdio auto", "stdio legacy", "http auto", "http legacy"])
async def test_mcp_gives_the_librarys_text(door: str) -> None:
    pytest.importorskip("mcp", reason="the extra runvil[mcp] is not installed")
    from tests.doors.mcp_support import IN_TIME, client_at, text_of

    library = [await by_library(row) for row in ROWS]
    async with asyncio.timeout(IN_TIME), client_at(door, program=SERVER, PYTHONPATH=ROOT) as client:
        results = await asyncio.gather(*(client.call_tool(row.tool, dict(row.arguments)) for row in ROWS))
    said = [Said(text_of(result), _kind(result)) for result in results]
    assert said == _as_mcp_tells(library)
    for result, row in zip(results, ROWS, strict=True):
        if row.tool == "web_fetch" and not result.is_error:
            assert result.structured_content["text"] == text_of(result)


@pytest.mark.parametrize("isolate", [False, True], ids=["in process", "--untrusted"])
async def test_lua_gets_the_librarys_text(isolate: bool) -> None:
    """In the envelope, as it came from outside; a hard failure is an error value whose message it is."""
    pytest.importorskip("lupa", reason="the extra runvil[lua] is not installed")
    from runvil.runtime import Host, WebPlugin
    from runvil.runtime.web import SEARCH_PROVIDER

    library = [await by_library(row) for row in ROWS]
    told: list[Mapping[str, Any]] = []
    async with Host({SEARCH_PROVIDER: Provider()}, isolate=isolate, nonce=lambda: NONCE) as host:
        host.call(WebPlugin(net=network()))
        results = json.loads(await host.run(PROMPT.format(calls=lua(list(map(lua_call, ROWS)))), observer=told.append))
    assert [Said(**result) for result in results] == [
        said if said.kind == "hard" else Said(wrap(said.text, NONCE), "ok") for said in library
    ]
    assert [event["text"] for event in told if event["event"] == "tool"] == [said.text for said in library]


NONCE = "0123456789abcdef" * 2

PROMPT = """---
name: table
description: Makes every call of the table.
runvil: 0
uses: [web]
---

# Table

```lua
local said = {{}}
for i, call in ipairs({calls}) do
  local ok, text = pcall(tools.call, call.id, call.arguments)
  said[i] = {{ kind = ok and 'ok' or text.kind == 'tool' and 'hard', text = tostring(text) }}
end
return json.encode(said)
```
"""


def lua_call(row: Row) -> Mapping[str, object]:
    return {"id": row.tool.replace("_", "/"), "arguments": row.arguments}


def lua(value: object) -> str:
    """A value as Lua writes it. Lua has no null in a table and cannot tell an empty list from an object: no row needs
    either, so that Lua makes every call of the table."""
    match value:
        case bool():
            return str(value).lower()
        case int():
            return str(value)
        case str():
            return f"'{''.join(f'{chr(92)}x{byte:02x}' for byte in value.encode())}'"
        case list() if value:
            return f"{{{', '.join(map(lua, value))}}}"
        case dict():
            return f"{{{', '.join(f'[{lua(name)}] = {lua(one)}' for name, one in value.items())}}}"
    raise AssertionError(f"no Lua for {value!r}")


def _kind(result: object) -> str:
    return "hard" if getattr(result, "is_error", False) else "ok"


def _as_mcp_tells(library: Sequence[Said]) -> list[Said]:
    """A soft failure is an ordinary result."""
    return [Said(said.text, "hard" if said.kind == "hard" else "ok") for said in library]


def test_the_command_has_no_other_way_to_a_tool() -> None:
    assert set(call_command.IDS) == {row.tool for row in ROWS}
