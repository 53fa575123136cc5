"""OpenAI's own client and our declarations and dispatchers, against a strict model on loopback."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from runvil.doors.adapters.openai import chat_outputs, chat_tools, responses_outputs, responses_tools
from tests.doors.matrix import ROWS, by_library, tools
from tests.doors.model_server import model_server

IN_TIME = 60.0


async def library() -> list[str]:
    return [(await by_library(row)).text for row in ROWS]


async def test_a_chat_completion_gets_the_librarys_text_for_every_call() -> None:
    openai = pytest.importorskip("openai", reason="openai is not installed")
    fetch, search = tools()
    turns: list[Any] = [{"role": "user", "content": "go"}]
    with model_server(ROWS) as model:
        async with (
            asyncio.timeout(IN_TIME),
            fetch,
            openai.AsyncOpenAI(api_key="k", base_url=f"{model.url}/v1") as client,
        ):
            while True:
                answer = await client.chat.completions.create(
                    model="m", messages=turns, tools=chat_tools([fetch, search])
                )
                message = answer.choices[0].message
                turns.append(message)
                if not message.tool_calls:
                    break
                turns += await chat_outputs([fetch, search], message)
    assert message.content == "done"
    assert model.said == await library()


async def test_a_response_gets_the_librarys_text_for_every_call() -> None:
    openai = pytest.importorskip("openai", reason="openai is not installed")
    fetch, search = tools()
    turns: list[Any] = [{"role": "user", "content": "go"}]
    with model_server(ROWS) as model:
        async with (
            asyncio.timeout(IN_TIME),
            fetch,
            openai.AsyncOpenAI(api_key="k", base_url=f"{model.url}/v1") as client,
        ):
            while True:
                answer = await client.responses.create(model="m", input=turns, tools=responses_tools([fetch, search]))
                turns += answer.output
                outputs = await responses_outputs([fetch, search], answer.output)
                if not outputs:
                    break
                turns += outputs
    assert answer.output_text == "done"
    assert model.said == await library()


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("web_fetch", "{", "web_fetch: missing url argument"),
        ("web_fetch", "[" * 100_000, "web_fetch: missing url argument"),
        ("web_fetch", "null", "web_fetch: missing url argument"),
        ("web_search", "", "web_search: invalid arguments"),
        ("web_cook", "{}", "no tool named web_cook; there is: web_fetch, web_search"),
    ],
)
async def test_a_call_that_makes_no_sense_is_told_so(name: str, arguments: str, text: str) -> None:
    call = SimpleNamespace(type="function_call", call_id="c", name=name, arguments=arguments)
    assert await responses_outputs(tools(), [call, SimpleNamespace(type="message")]) == [
        {"type": "function_call_output", "call_id": "c", "output": text}
    ]


async def test_a_message_without_calls_needs_no_answer() -> None:
    assert await chat_outputs(tools(), SimpleNamespace(tool_calls=None)) == []
