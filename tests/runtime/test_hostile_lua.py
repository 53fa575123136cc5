"""Hostile Lua: it ends within its budget, in this process or with its own, and the host goes on serving."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from runvil.runtime import Limits, RunError, RunErrorKind, guest
from runvil.runtime.walk import SPENT
from tests.runtime.hostile_lua import CASES, ESCAPES, PATTERNS
from tests.runtime.support import failure, lua, prompt, text_host, within


async def outcome(code: str, *, isolate: bool = False, seconds: float = 0.05) -> tuple[str | None, str]:
    host = text_host(limits=Limits(seconds=seconds), isolate=isolate)
    try:
        return None, await within(host.run(prompt(code)))
    except RunError as error:
        return str(error.kind), str(error)


@pytest.mark.parametrize(("name", "code", "kind"), CASES, ids=[case[0] for case in CASES])
async def test_it_ends_in_this_process(name: str, code: str, kind: str | None) -> None:
    found, text = await outcome(code)
    assert found == kind, text
    assert await lua("return 'still here'") == "still here"


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code", "kind"), CASES, ids=[case[0] for case in CASES])
async def test_it_ends_in_a_process_of_its_own(name: str, code: str, kind: str | None) -> None:
    found, text = await outcome(code, isolate=True, seconds=0.3)
    assert found == kind, text


@pytest.mark.parametrize(("name", "code"), PATTERNS, ids=[case[0] for case in PATTERNS])
async def test_a_pattern_that_nothing_in_a_process_can_stop_ends_with_its_process(name: str, code: str) -> None:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    hostile = asyncio.create_task(outcome(code, isolate=True, seconds=0.2))
    served = 0
    while not hostile.done():  # the host goes on serving meanwhile
        assert await asyncio.create_task(lua("return 'served'")) == "served"
        served += 1
    assert await hostile == (RunErrorKind.QUOTA, SPENT["time"])
    assert served > 1
    assert loop.time() - begun < 15  # seconds; a bound against hanging, the bench measures


@pytest.mark.parametrize(("name", "expression"), ESCAPES, ids=[case[0] for case in ESCAPES])
async def test_there_is_no_way_out(name: str, expression: str) -> None:
    assert (
        await lua(f"local ok, found = pcall(function() return {expression} end) return not ok or found == nil")
        == "true"
    )


async def test_the_environment_holds_what_the_list_says_and_nothing_else() -> None:
    names = await lua("local t = {} for k in pairs(_G) do t[#t + 1] = k end return table.concat(t, ' ')")
    assert names.split() == [
        "_G", "_VERSION", "args", "assert", "coroutine", "error", "getmetatable", "ipairs", "json", "log", "math",
        "messages", "models", "next", "packs", "pairs", "pcall", "print", "rawequal", "rawget", "rawlen", "rawset",
        "select", "setmetatable", "string", "table", "tonumber", "tools", "tostring", "type", "untrusted", "utf8",
        "var", "xpcall",
    ]  # fmt: skip


async def test_the_state_s_own_globals_are_gone_when_a_prompt_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Any] = []
    make = guest._state

    def made(limits: Limits) -> Any:
        kept.append(make(limits))
        return kept[-1]

    monkeypatch.setattr(guest, "_state", made)
    assert await lua("return 'ran'") == "ran"
    assert list(kept[-1].globals().keys()) == []


async def test_no_value_of_the_guests_is_a_userdata() -> None:
    """What Python gives a Lua state arrives as userdata: none is anywhere in what the guest can reach."""
    code = """
        local seen, found = {}, {}
        local function look(value, path)
          if type(value) == 'userdata' or type(value) == 'thread' then found[#found + 1] = path end
          if type(value) ~= 'table' or seen[value] then return end
          seen[value] = true
          for k, v in pairs(value) do look(k, path) look(v, path .. '.' .. tostring(k)) end
        end
        look(_G, '_G')
        look(getmetatable(''), 'string')
        return table.concat(found, ' ')"""
    assert await lua(code) == ""


LOCKED = ["tools", "packs", "models", "messages", "json", "json.null", "args", "tools.calls", "tools.get('text/echo')",
          "packs.get('text')", "packs.get('text').tools", "select(2, pcall(tools.call, 'x'))", "''", "_G"]  # fmt: skip


@pytest.mark.parametrize("value", LOCKED)
async def test_a_locked_metatable_is_neither_seen_nor_set(value: str) -> None:
    assert await lua(f"return type(getmetatable({value}))") == "string"
    assert await lua(f"return tostring(pcall(setmetatable, {value}, {{}}))") == "false"


CHANGES = (
    "v.x = 1",
    "v[1] = 1",
    "rawset(v, 'x', 1)",
    "rawset(v, 1, 1)",
    "table.insert(v, 1)",
    "v.call = print",
    "table.move({1}, 1, 1, 1, v)",
)


@pytest.mark.parametrize("value", [name for name in LOCKED if name not in ("''", "_G")])
async def test_a_frozen_object_is_not_changed_by_any_way(value: str) -> None:
    for change in CHANGES:
        code = f"local v = {value} local ok = pcall(function() {change} end) return tostring(ok) .. tostring(v.x)"
        assert await lua(code) == "falsenil", change


async def test_prose_cannot_be_assigned_by_any_way() -> None:
    for change in ("prose = 1", "_G.prose = 1", "rawset(_G, 'prose', 1)", "_ENV.prose = 1"):
        assert (await outcome(change))[1].endswith("prose is read-only")


async def test_a_broken_function_of_the_guests_library_breaks_nothing_of_ours() -> None:
    code = """
        for _, library in pairs({string, table, math, utf8, coroutine}) do
          for name in pairs(library) do library[name] = function() error('mine') end end
        end
        for _, name in pairs({'error', 'pcall', 'type', 'next', 'ipairs', 'tostring', 'select'}) do _G[name] = nil end
        messages:user('x')
        var.x = json.decode('[1, "a\\\\n"]')
        return json.encode(var) .. tools.call('text/shout', { text = 'y' }) .. #messages"""
    assert await lua(code) == '{"x":[1,"a\\n"]}Y1'


async def test_bytecode_is_no_source() -> None:
    text = prompt("\x1bLua")
    assert (await failure(text_host(), text)).kind is RunErrorKind.PARSE


async def test_what_a_section_used_is_not_there_for_the_next() -> None:
    section = "## {name}\n\n```lua\nfor i = 1, 3e5 do end\n```\n"
    text = "---\nname: p\ndescription: d\nrunvil: 0\n---\n# P\n" + "".join(section.format(name=n) for n in "ABCDEFGHIJ")
    assert (await failure(text_host(limits=Limits(steps=1_000_000)), text)).kind is RunErrorKind.QUOTA
    assert await within(text_host(limits=Limits(steps=10_000_000)).run(text)) == "done"


async def test_memory_is_a_section_s_own() -> None:
    section = "## {name}\n\n```lua\nkept = ('x'):rep(3e7)\n```\n"
    text = "---\nname: p\ndescription: d\nrunvil: 0\n---\n# P\n" + "".join(section.format(name=n) for n in "ABCD")
    assert await within(text_host().run(text)) == "done"


async def test_a_file_that_its_parser_takes_too_long_for_ends_with_its_process() -> None:
    text = "---\nname: p\ndescription: d\nrunvil: 0\n---\n# P\n" + "".join(f"## {n}\n" for n in range(100_000))
    error = await failure(text_host(isolate=True, limits=Limits(seconds=0.1)), text)
    assert (error.kind, str(error)) == (RunErrorKind.QUOTA, SPENT["time"])


async def test_an_isolated_process_wears_its_locks_and_ends_with_its_run() -> None:
    host = text_host(isolate=True)
    assert await within(host.run(prompt("return tools.call('text/shout', { text = 'x' })"))) == "X"
    assert (await failure(host, prompt("return = 1"))).kind is RunErrorKind.PARSE
    assert (await failure(host, "no prompt")).kind is RunErrorKind.PARSE
    assert _children() == []


def _children() -> list[str]:
    """Processes whose parent is this one, as Linux knows them."""
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("no /proc here")
    pid = os.getpid()
    found: list[str] = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            found += [child for child in file.read().split() if _is_ours(child)]
    return found


def _is_ours(child: str) -> bool:
    try:
        with open(f"/proc/{child}/cmdline", "rb") as file:
            return b"runvil.runtime.worker" in file.read()
    except OSError:
        return False


async def _until_there_is_a_process() -> None:
    while not _children():  # a process tells nobody of its beginning
        await asyncio.create_task(lua("return 1"))


async def test_a_cancelled_isolated_run_leaves_no_process() -> None:
    run = text_host(isolate=True, limits=Limits(seconds=30)).start(prompt("while true do end"))
    await within(_until_there_is_a_process())
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await within(run)
    assert _children() == []
