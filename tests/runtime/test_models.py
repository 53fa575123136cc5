"""Models over real HTTP, against servers as strict as the real ones: what is sent, what comes back, what goes wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest

from runvil.core.config import ConfigError
from runvil.runtime import AnthropicModel, Message, Model, ModelError, OpenAICompatibleModel, RunErrorKind, ToolCall
from runvil.runtime.models import client
from runvil.testing import asks
from tests.runtime.model_servers import KEY, MODEL, anthropic, openai
from tests.runtime.support import Echo, Shout, failure, looping, prompt, text_host, within
from tests.support.vendors import DROP, Asked, FakeVendor, Told


@dataclass(frozen=True)
class Shape:
    """One of the two: how its server is scripted, how its model is made, and an answer as its server writes it."""

    name: str
    script: Callable[..., Sequence[Callable[[Asked], Told]]]
    model: Callable[..., Any]
    answer: dict[str, Any]

    def __repr__(self) -> str:
        return self.name


def _openai_model(root: str, **options: Any) -> OpenAICompatibleModel:
    return OpenAICompatibleModel(f"{root}/v1", KEY, MODEL, **options)


def _anthropic_model(root: str, **options: Any) -> AnthropicModel:
    return AnthropicModel(KEY, MODEL, base_url=root, **options)


OPENAI = Shape("openai", openai, _openai_model, {"choices": [{"message": {"content": "fine"}}]})
ANTHROPIC = Shape("anthropic", anthropic, _anthropic_model, {"content": [{"type": "text", "text": "fine"}]})
both = pytest.mark.parametrize("shape", [OPENAI, ANTHROPIC], ids=repr)

USER = [Message("user", "hello")]


@asynccontextmanager
async def connected(shape: Shape, *script: Any, **options: Any) -> AsyncIterator[tuple[Any, FakeVendor]]:
    async with FakeVendor(*script) as server:
        model = shape.model(server.root, **options)
        try:
            yield model, server
        finally:
            await model.aclose()


async def refused(shape: Shape, *script: Any, **options: Any) -> str:
    async with connected(shape, *script, **options) as (model, _):
        with pytest.raises(ModelError) as caught:
            await within(model.reply(USER, []))
    return str(caught.value)


@both
async def test_both_are_models(shape: Shape) -> None:
    async with connected(shape, Told(shape.answer)) as (model, _):
        assert isinstance(model, Model)
        assert await within(model.reply(USER, [])) == Message("assistant", "fine")


@both
async def test_a_prompt_with_a_loop_ends_in_the_models_text(shape: Shape) -> None:
    script = shape.script(asks(text_echo={"text": "<b>"}), Message("assistant", "done."))
    async with connected(shape, *script) as (model, server):
        assert await within(text_host(model=model).run(looping("text/echo"))) == "done."
    sent = json.dumps(server.asked[1].json)
    assert "&lt;b>" in sent
    assert "untrusted_input_" in sent


@both
async def test_several_calls_of_a_round_are_run_in_order_and_answered_together(shape: Shape) -> None:
    echo, shout = Echo(), Shout()
    batch = asks(("text_shout", {"text": "a"}), ("text_echo", {"text": "b"}), ("text_shout", {"text": "c"}))
    async with connected(shape, *shape.script(batch, Message("assistant", "done."))) as (model, server):
        host = text_host(echo, shout, model=model)
        assert await within(host.run(looping("text/shout", "text/echo"))) == "done."
    assert shout.asked == [{"text": "a"}, {"text": "c"}]
    assert echo.asked == [{"text": "b"}]
    assert len(server.asked) == 2


async def test_malformed_arguments_are_answered_as_text_and_go_back_well_formed() -> None:
    echo = Echo()
    bad = asks(("text_echo", '{"text": '), ("text_echo", "[1]"), ("text_echo", '{"text": NaN}'))
    async with connected(OPENAI, *openai(bad, Message("assistant", "sorry."))) as (model, server):
        assert await within(text_host(echo, model=model).run(looping("text/echo"))) == "sorry."
    assert echo.asked == []
    answers = [message["content"] for message in server.asked[1].json["messages"] if message["role"] == "tool"]
    assert ["text_echo: the arguments are not a JSON object" in answer for answer in answers] == [True] * 3


@both
async def test_system_and_user_records_reach_the_server(shape: Shape) -> None:
    lua = "models.use('r') messages:system('be brief') messages:user('a') messages:user('b') models.loop() return 'x'"
    async with connected(shape, *shape.script(Message("assistant", "ok"))) as (model, server):
        assert await within(text_host(model=model).run(prompt(lua))) == "x"
    assert "be brief" in json.dumps(server.asked[0].json)


@both
async def test_a_second_loop_goes_on_where_the_first_ended(shape: Shape) -> None:
    lua = """
        tools.offer('text/echo') models.use('r') messages:user('a') models.loop()
        messages:user('b') models.loop() return messages[#messages].content"""
    script = shape.script(asks(text_echo={"text": "x"}), Message("assistant", "one"), Message("assistant", "two"))
    async with connected(shape, *script) as (model, _):
        assert await within(text_host(model=model).run(prompt(lua))) == "two"


@both
async def test_calls_without_an_id_of_their_own_get_one(shape: Shape) -> None:
    twins = Message("assistant", "", (ToolCall("call_1", "text_echo", "{}"), ToolCall("call_1", "text_echo", "{}")))
    async with connected(shape, *shape.script(twins, Message("assistant", "done."))) as (model, _):
        assert await within(text_host(model=model).run(looping("text/echo"))) == "done."


@both
async def test_the_options_are_sent_and_no_tools_without_an_offer(shape: Shape) -> None:
    async with connected(shape, *shape.script(Message("assistant", "ok")), options={"temperature": 0}) as (
        model,
        server,
    ):
        await within(model.reply(USER, []))
    assert server.asked[0].json["temperature"] == 0
    assert "tools" not in server.asked[0].json


ANSWERS: list[tuple[dict[str, Any], Message]] = [
    ({"content": None, "refusal": "I will not."}, Message("assistant", "I will not.")),
    (
        {"content": [{"type": "text", "text": "a"}, {"type": "x"}, {"type": "text", "text": "b"}]},
        Message("assistant", "ab"),
    ),
    ({"content": "x", "tool_calls": None, "reasoning_content": "hm"}, Message("assistant", "x")),
    (
        {"tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]},
        Message("assistant", "", (ToolCall("", "f", '{"a": 1}'),)),
    ),
    (
        {"tool_calls": [{"id": "i", "function": {"name": "f", "arguments": ""}}]},
        Message("assistant", "", (ToolCall("i", "f", "{}"),)),
    ),
]


@pytest.mark.parametrize(("answer", "wanted"), ANSWERS)
async def test_what_servers_make_of_the_shape_is_read(answer: dict[str, Any], wanted: Message) -> None:
    async with connected(OPENAI, Told({"choices": [{"message": answer}]})) as (model, _):
        assert await within(model.reply(USER, [])) == wanted


NO_SHAPE: list[Any] = [
    *(None, [], "x", {}, {"choices": []}, {"choices": [{}]}, {"content": 5}, {"content": [5]}),
    {"choices": [{"message": {"content": 5}}]},
    {"choices": [{"message": {"tool_calls": [{}]}}]},
]


@both
@pytest.mark.parametrize("answer", NO_SHAPE)
async def test_an_answer_of_another_shape_is_an_error_that_says_so(shape: Shape, answer: Any) -> None:
    wanted = {"openai": "the model's answer is no chat completion", "anthropic": "the model's answer is no message"}
    assert await refused(shape, Told(answer)) == wanted[shape.name]


@both
@pytest.mark.parametrize(
    ("told", "message"),
    [
        (Told({"error": {"message": "no such model"}}, 404), "the model's server answered HTTP 404: no such model"),
        (Told({"error": "plain"}, 500), "the model's server answered HTTP 500: plain"),
        (Told(b"<html>", 502, kind="text/html"), "the model's server answered HTTP 502"),
        (Told({"error": {"message": "two\nlines\x1b[0m"}}, 400), "the model's server answered HTTP 400: two lines [0m"),
        (Told({"error": {"message": f"bad key {KEY}"}}, 401), "the model's server answered HTTP 401: bad key [key]"),
        (Told(b"", 302, headers=(("Location", "http://127.0.0.1:9/"),)), "the model's server answered HTTP 302"),
        (Told(b"{", 200), "the model's answer is not JSON"),
        (Told({"a": 1}, cut=True), "the model's answer broke off"),
        (Told(b"zzz", headers=(("Content-Encoding", "br"),)), "the model's answer broke off"),
    ],
)
async def test_what_goes_wrong_is_said_in_one_line(shape: Shape, told: Told, message: str) -> None:
    assert await refused(shape, told) == message


@both
async def test_nobody_there_is_said_without_the_path_of_a_key(shape: Shape) -> None:
    async with FakeVendor() as server:
        root = server.root
    model = shape.model(root)
    with pytest.raises(ModelError, match=r"the model could not be reached at http://127\.0\.0\.1"):
        await within(model.reply(USER, []))
    await model.aclose()


@both
async def test_a_connection_that_broke_before_an_answer_is_tried_again(shape: Shape) -> None:
    async with connected(shape, DROP, Told(shape.answer)) as (model, server):
        assert (await within(model.reply(USER, []))).content == "fine"
    assert len(server.asked) == 2


@both
@pytest.mark.parametrize("status", [429, 503, 529])
async def test_a_server_that_says_when_to_come_back_is_asked_again(shape: Shape, status: int) -> None:
    busy = Told({}, status, headers=(("Retry-After", "0"),))
    async with connected(shape, busy, busy, Told(shape.answer)) as (model, _):
        assert (await within(model.reply(USER, []))).content == "fine"
    assert "HTTP 429" in await refused(shape, Told({}, 429))
    assert "HTTP 429" in await refused(shape, Told({}, 429, headers=(("Retry-After", "soon"),)))


@both
async def test_the_deadline_holds_over_headers_and_body(shape: Shape) -> None:
    assert await refused(shape, object(), deadline=0.05) == "the model did not answer within 0.05 seconds"
    assert await refused(shape, Told({}, hang=True), deadline=0.05) == "the model did not answer within 0.05 seconds"


@both
async def test_an_answer_over_the_cap_is_refused_and_a_bomb_is_counted_while_it_swells(
    shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "MAX_REPLY", 100_000)
    wanted = "the model's answer is larger than 100000 bytes"
    assert await refused(shape, Told(b" " * 100_001)) == wanted
    assert await refused(shape, Told(b" " * 50_000_000, packed=True)) == wanted


@both
async def test_a_packed_answer_is_read(shape: Shape) -> None:
    async with connected(shape, Told(shape.answer, packed=True)) as (model, _):
        assert (await within(model.reply(USER, []))).content == "fine"


@pytest.mark.parametrize(
    "error",
    [
        {"message": "This model's maximum context length is 8192 tokens."},
        {"message": "prompt is too long: 300000 tokens"},
        {"message": "x", "code": "context_length_exceeded"},
    ],
)
async def test_a_conversation_that_does_not_fit_is_a_kind_of_its_own(error: dict[str, str]) -> None:
    async with connected(OPENAI, Told({"error": error}, 400)) as (model, _):
        found = await failure(text_host(model=model), looping())
    assert found.kind is RunErrorKind.CONTEXT_EXHAUSTED


async def test_a_failed_round_ends_the_run_as_completion_and_lua_can_catch_it() -> None:
    lua = "models.use('r') messages:user('x') local ok, e = pcall(models.loop) return e.kind .. ': ' .. tostring(e)"
    async with connected(OPENAI, Told({"error": {"message": "down"}}, 500)) as (model, _):
        found = await failure(text_host(model=model), looping())
        caught = await within(text_host(model=model).run(prompt(lua)))
    assert (found.kind, str(found)) == (RunErrorKind.COMPLETION, "the model's server answered HTTP 500: down")
    assert caught == "completion: the model's server answered HTTP 500: down"


@both
async def test_a_cancelled_round_closes_its_connection(shape: Shape) -> None:
    asked, gone = asyncio.Event(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        asked.set()
        await reader.read()
        writer.close()
        gone.set()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    model = shape.model(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
    round_ = asyncio.create_task(model.reply(USER, []))
    await within(asked.wait())
    round_.cancel()
    await within(gone.wait())
    with pytest.raises(asyncio.CancelledError):
        await round_
    server.close()
    await model.aclose()


@pytest.mark.parametrize(
    ("root", "key"),
    [
        ("ftp://example.com", None), ("nonsense", None), ("https://u:p@example.com/v1", None),
        ("https://e.com/?k=1", None),
        ("http://example.com/v1", KEY), ("http://10.0.0.1/v1", KEY), ("https://example.com/v1", "two\nlines"),
        ("https://example.com/v1", ""),
    ],
)  # fmt: skip
def test_a_root_or_key_that_cannot_be_used_is_refused_without_being_quoted(root: str, key: str | None) -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAICompatibleModel(root, key, MODEL)
    assert KEY not in str(caught.value)
    assert "u:p" not in str(caught.value)


@pytest.mark.parametrize("root", ["http://127.0.0.1:1/v1", "http://localhost/v1", "http://[::1]/v1", "https://e.com"])
def test_a_key_goes_over_https_or_to_this_machine(root: str) -> None:
    assert OpenAICompatibleModel(root, KEY, MODEL).context_tokens is None


async def test_proxies_and_netrc_of_the_environment_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with connected(OPENAI, Told(OPENAI.answer)) as (model, _):
        assert (await within(model.reply(USER, []))).content == "fine"
