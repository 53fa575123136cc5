"""What a section's Lua finds: each row a piece of Lua and what it returns, or the error it ends in."""

from __future__ import annotations

import json
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runvil.runtime import RunErrorKind
from runvil.runtime.guest import Guest, compiled
from runvil.runtime.limits import Limits
from tests.runtime.support import Echo, Shout, failure, lua, prompt, text_host, within

GIVES: list[tuple[str, str]] = [
    # results
    ("return 'a'", "a"),
    ("return 7", "7"),
    ("return 7.0", "7"),
    ("return -0.5", "-0.5"),
    ("return true", "true"),
    ("return 2^53", "9007199254740992"),
    ("return 1e300", "1e+300"),
    ("return nil", "done"),
    ("return", "done"),
    ("return 'a', 'b'", "a"),
    ("return 0/0 ~= 0/0", "true"),
    ("return _VERSION", "Lua 5.5"),
    # tools
    ("return tools.call('text/shout', { text = 'a' })", "A"),
    ("return tools.call(tools.get('text/shout'), { text = 'a' })", "A"),
    ("return tostring(tools.get('text/none'))", "nil"),
    (
        "local t = tools.get('text/echo') return t.id .. t.pack.id .. t.pack.name .. #t.pack.tools",
        "text/echotextacme/text2",
    ),
    (
        "local ok, e = pcall(tools.call, 'text/none') return e.kind .. ' ' .. e.name .. ' ' .. tostring(e)",
        'unbound_tool text/none tool "text/none" is not a catalog tool in this run',
    ),
    ("local ok, e = pcall(tools.call, 'text/echo', { fail = 'broke' }) return e.kind .. ' ' .. e", "tool broke"),
    (
        "local ok, e = pcall(tools.call, 'text/echo', { fail = 'broke' }) return e.message .. tostring(e.name)",
        "brokenil",
    ),
    (
        "local ok, e = pcall(tools.call, 'text/echo', { ['break'] = 1 }) return tostring(e)",
        "text/echo: the call did not finish",
    ),
    ("for i = 1, 3 do tools.call('text/shout') end return tools.calls['text/shout'] .. tools.calls['text/echo']", "30"),
    ("return tostring(tools.calls['text/none'])", "nil"),
    # packs
    ("return packs.get('text').name .. packs.get('acme/text').id", "acme/texttext"),
    ("return tostring(packs.get('web')) .. tostring(packs.get('other/text'))", "nilnil"),
    ("return #packs.required() .. packs.required()[1].id .. #packs.extras()", "1text0"),
    # messages
    ("messages:user('a') messages:system('b') messages:assistant('c') messages:tool('d', 'id') return #messages", "4"),
    ("messages:user('a') return messages[1].role .. messages[1].content .. tostring(messages[2])", "useranil"),
    ("local l = messages.new() l:user('x') return #l .. #messages", "10"),
    ("messages:append({ role = 'user', content = 'x' }) messages:append(messages[1]) return #messages", "2"),
    ("messages:user('x') local n = 0 for i, m in ipairs(messages) do n = n + 1 end return n", "1"),
    ("messages:tool('d', 'id') return messages[1].tool_call_id", "id"),
    # json
    ("return json.encode({ b = 1, a = { 1, 2.5, 'x' }, c = {} })", '{"a":[1,2.5,"x"],"b":1,"c":{}}'),
    ("return json.encode(json.array()) .. json.encode({ l = json.array({ 1 }) })", '[]{"l":[1]}'),
    ("return json.encode(json.null) .. json.encode(nil) .. json.encode(1.0)", "nullnull1.0"),
    ("return json.encode('\\n\\1\"\\\\/é')", '"\\n\\u0001\\"\\\\/é"'),
    (
        'local d = json.decode(\'{"a":null,"b":[null,1]}\') return tostring(d.a) .. tostring(d.b[1] == json.null)',
        "niltrue",
    ),
    ("return json.encode(json.decode('[[], {}, \"\\\\ud83d\\\\ude00\\\\ud800\"]'))", '[[],{},"😀\ufffd"]'),
    (
        "return math.type(json.decode('1')) .. math.type(json.decode('1.0')) .. math.type(json.decode('1e2'))",
        "integerfloatfloat",
    ),
    ("return select(2, pcall(json.decode, nil)).message", "json.decode expects a string, got nil"),
    ("return select(2, pcall(json.decode, 5)).message", "json.decode expects a string, got number"),
    ("return select(2, pcall(json.decode, '[1,]')).message", "json.decode: unexpected character at byte 4"),
    ("return select(2, pcall(json.encode, print)).message", "json.encode: there is no JSON for a function"),
    ("return select(2, pcall(json.encode, { 1, x = 2 })).kind", "lua"),
    # order, coroutines, the rest
    (
        "local t = {} for k in pairs({ 3, 4, b = 1, a = 1, [true] = 1, [2.5] = 1 }) do t[#t + 1] = tostring(k) end "
        "return table.concat(t, ' ')",
        "1 2 true 2.5 a b",
    ),
    ("local t = { a = 1, b = 2, c = 3 } for k in pairs(t) do t[k] = nil end return next(t) == nil", "true"),
    (
        "local t = setmetatable({}, { __pairs = function() return function(_, k) if not k then return 1, 'x' end end "
        "end }) for k, v in pairs(t) do return v end",
        "x",
    ),
    ("local co = coroutine.wrap(function(a) return coroutine.yield(a + 1) * 2 end) return co(1) .. co(5)", "210"),
    ("local co = coroutine.wrap(function() return tools.call('text/shout', { text = 'in' }) end) return co()", "IN"),
    (
        "local f = coroutine.wrap(function() for i = 1, 2 do "
        "coroutine.yield(tools.call('text/shout', { text = 'n' .. i })) end end) return f() .. f()",
        "N1N2",
    ),
    (
        "local inner = coroutine.wrap(function() return pcall(tools.call, 'text/echo', { fail = 'deep' }) end) "
        "local outer = coroutine.wrap(function() local ok, e = inner() return e.kind end) return outer()",
        "tool",
    ),
    ("return tostring(pcall(coroutine.yield))", "false"),
    ("local _, main = coroutine.running() return main", "true"),
    ("return select(2, xpcall(error, function(e) return 'handled ' .. e end, 'x'))", "handled x"),
    ("return select('#', xpcall(function(...) return ... end, print, 1, 2))", "3"),
    ("return table.concat({ 1, 2, 3 }, ',', 2) .. table.unpack({ 'x' }) .. table.pack(1, nil, 3).n", "2,3x3"),
    ("local t = { 3, 1, 2 } table.sort(t) table.insert(t, 9) table.remove(t, 1) return table.concat(t)", "239"),
    ("return ('x'):rep(3, '-') .. ('abc'):upper() .. #('é') .. utf8.len('é')", "x-x-xABC21"),
    ("x = 5 return x + _G.x", "10"),
    ("local ok, e = pcall(error, { code = 5 }) return e.code", "5"),
    ("return json.encode(args) .. json.encode(var)", "{}{}"),
]


@pytest.mark.parametrize(("code", "wanted"), GIVES)
async def test_a_piece_of_lua_gives(code: str, wanted: str) -> None:
    assert await lua(code) == wanted


FAILS: list[tuple[str, RunErrorKind, str]] = [
    ("return {}", RunErrorKind.LUA, "cannot return a table as a result"),
    ("return print", RunErrorKind.LUA, "cannot return a function as a result"),
    ("error('x')", RunErrorKind.LUA, "p.md:17: x"),
    ("error({})", RunErrorKind.LUA, "(error object is a table value)"),
    ("local x = nil + 1", RunErrorKind.LUA, "p.md:17: attempt to perform arithmetic on a nil value"),
    ("tools.call('text/echo', 'x')", RunErrorKind.LUA, "args must be a table, got string"),
    ("tools.call('text/echo', { f = print })", RunErrorKind.LUA, "args must be a JSON-representable table"),
    ("tools.call('text/echo', { 1 })", RunErrorKind.LUA, "args must be a JSON-representable table"),
    ("tools.call('text/echo', { x = 0/0 })", RunErrorKind.LUA, "args must be a JSON-representable table"),
    ("tools.call('text/echo', { x = '\\xff' })", RunErrorKind.LUA, "args must be a JSON-representable table"),
    ("tools.call(5)", RunErrorKind.LUA, "tools.call takes a tool id or a Tool object, got number"),
    ("tools.call('nope')", RunErrorKind.TOOL, 'tool "nope" is not a catalog tool in this run'),
    ("tools.call('text/echo', { fail = 'f' })", RunErrorKind.TOOL, "tool call failure: f"),
    ("tools.get(5)", RunErrorKind.LUA, "tools.get takes a tool id, got number"),
    ("tools.offer('nope')", RunErrorKind.LUA, 'tools.offer: "nope" is not a catalog tool in this run'),
    ("tools.offer({'text/echo', 'nope'})", RunErrorKind.LUA, 'tools.offer: "nope" is not a catalog tool in this run'),
    ("tools.always_offer('nope')", RunErrorKind.LUA, 'tools.always_offer: "nope" is not a catalog tool in this run'),
    ("tools.offer(nil)", RunErrorKind.LUA, "tools.offer takes a tool id, a Tool object or an array of them, got nil"),
    ("tools.offer('text/echo', 5)", RunErrorKind.LUA, "tools.offer takes a string as description, got number"),
    ("packs.offer('nope')", RunErrorKind.LUA, 'packs.offer: "nope" is not a Pack in this run'),
    ("models.use('x')", RunErrorKind.LUA, 'models.use label "x" is not a bound model role'),
    ("models.loop()", RunErrorKind.BINDING, "model binding required for section A"),
    ("models.use('r') models.loop({})", RunErrorKind.LUA, "models.loop takes a list of messages or nothing, got table"),
    ("messages:user(5)", RunErrorKind.LUA, "messages:user expects a string, got number"),
    ("messages.user('x')", RunErrorKind.LUA, "user is called on a list of messages, as in messages:user(…)"),
    (
        "messages:append({ role = 'boss', content = '' })",
        RunErrorKind.LUA,
        "messages:append expects a table with a role and a content",
    ),
    ("messages[1] = 'x'", RunErrorKind.LUA, 'messages objects are frozen: cannot assign field "1"'),
    ("untrusted(5)", RunErrorKind.LUA, "untrusted expects a string, got number"),
    ("json.array(5)", RunErrorKind.LUA, "json.array expects a table, got number"),
    ("var.x = print", RunErrorKind.LUA, "var must hold JSON data (a function)"),
    (
        "table.sort({ 1, 2 }, function() tools.call('text/echo') end)",
        RunErrorKind.LUA,
        "the host cannot be called inside a comparison, a gsub callback or a __tostring",
    ),
]


@pytest.mark.parametrize(("code", "kind", "message"), FAILS)
async def test_a_piece_of_lua_fails(code: str, kind: RunErrorKind, message: str) -> None:
    error = await failure(text_host(), prompt(code), file="p.md")
    assert (error.kind, str(error)) == (kind, message)


async def test_arguments_reach_a_tool_as_the_json_they_are() -> None:
    echo = Echo()
    code = "tools.call('text/echo', { a = {}, l = json.array(), s = { 1, 2 }, n = json.null, i = 5, f = 5.0, t = 'é' })"
    await within(text_host(echo, Shout()).run(prompt(code)))
    assert echo.asked == [{"a": {}, "l": [], "s": [1, 2], "n": None, "i": 5, "f": 5.0, "t": "é"}]


async def test_offers_enter_the_scope_once_in_first_order_with_their_description() -> None:
    from runvil.testing import ScriptedModel

    code = """
        tools.offer('text/shout') tools.offer({'text/echo', tools.get('text/shout')}) tools.offer('text/echo', 'Mine.')
        pcall(tools.offer, {'text/echo', 'nope'})
        models.use('r') messages:user('x') models.loop() return tools.get('text/echo').description"""
    model = ScriptedModel("ok")
    assert await within(text_host(model=model).run(prompt(code))) == "Say a text again."
    assert [(tool.name, tool.description) for tool in model.rounds[0].tools] == [
        ("text_shout", "Put a text in capitals."),
        ("text_echo", "Mine."),
    ]


async def test_an_offer_ends_with_its_section_unless_it_is_for_always() -> None:
    from runvil.testing import ScriptedModel

    loop = "models.use('r') messages:user('x') models.loop()"
    text = prompt(f"tools.offer('text/shout') tools.always_offer('text/echo', 'Still.') {loop}")
    text += f"\n## B\n\n```lua\n{loop}\n```\n\n## C\n\n```lua\n{loop} return #messages\n```\n"
    model = ScriptedModel("a", "b", "c")
    assert await within(text_host(model=model).run(text)) == "2"
    assert [[tool.name for tool in sent.tools] for sent in model.rounds] == [
        ["text_shout", "text_echo"],
        ["text_echo"],
        ["text_echo"],
    ]
    assert model.rounds[2].tools[0].description == "Still."


PROSE: list[tuple[str, str]] = [
    ("Hello {{ args.who }}!", "Hello you!"),
    ("{{args.who}}{{  args.who  }}", "youyou"),
    ("{{ var.n }} of {{ var.deep.list.1 }}", "5 of first"),
    ("no {placeholders} here }}", "no {placeholders} here }}"),
    ("{{ mine }}", "global"),
]


@pytest.mark.parametrize(("prose", "wanted"), PROSE)
async def test_placeholders_are_filled(prose: str, wanted: str) -> None:
    first = "var.n = 5 var.deep = { list = { 'first' } }"
    text = prompt(first) + f"\n## B\n\n```lua\nmine = 'global'\n```\n\n{prose}\n\n```lua\nreturn prose\n```\n"
    assert await within(text_host().run(text, args={"who": "you"})) == wanted


@pytest.mark.parametrize(
    "prose", ["{{ args.none }}", "{{ args }}", "{{ 1 + 1 }}", "{{ a() }}", "{{ tools.call }}", "{{ }}"]
)
async def test_a_placeholder_without_a_value_fails_where_it_is_read(prose: str) -> None:
    error = await failure(text_host(), prompt("return prose", prose=prose))
    assert error.kind is RunErrorKind.LUA
    assert str(error).startswith("prose: ")
    assert await within(text_host().run(prompt("return 'unread'", prose=prose))) == "unread"


async def test_what_a_placeholder_is_filled_with_is_not_filled_again() -> None:
    assert await within(
        text_host().run(prompt("return prose", prose="{{ args.a }}"), args={"a": "{{ args.b }}%1"})
    ) == ("{{ args.b }}%1")


async def test_print_and_log_go_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "runvil.runtime.prompt")
    await lua("print('a', 1, nil) log('b')")
    assert caplog.messages == ["A: a 1 nil\nb"]


def test_a_guest_is_made_of_bytes_alone_whatever_it_returns() -> None:
    found = compiled(prompt("return '\\xff\\0'"), "p")
    setting = json.dumps({"section": "A", "packs": [], "roles": [], "args": {}, "var": "{}", "always": []})
    event = Guest(found.prompt.walked[1].blocks, found.codes[1], setting, Limits()).start()
    assert event.values[0] == "\ufffd\0"


JSON_VALUES = st.recursive(
    st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_json_comes_back_as_it_was(value: object) -> None:
    """Through Python's encoder, Lua's decoder and encoder, and Python's decoder."""
    found = compiled(prompt("return json.encode(json.decode(args.j))"), "p")
    args = {"j": json.dumps(value, ensure_ascii=False)}
    setting = json.dumps({"section": "A", "packs": [], "roles": [], "args": args, "var": "{}", "always": []})
    event = Guest(found.prompt.walked[1].blocks, found.codes[1], setting, Limits()).start()
    assert event.status == "done", event
    back = json.loads(str(event.values[0]))
    assert back == value
    assert type(back) is type(value)
