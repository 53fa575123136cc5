"""Anthropic's own client and our declarations and dispatcher, against a strict model on loopback."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from runvil.doors.adapters.anthropic import messages_tools, tool_results
from tests.doors.matrix import ROWS, by_library, tools
from tests.doors.model_server import model_server

anthropic = pytest.importorskip("anthropic", reason="anthropic is not installed")

IN_TIME = 60.0


async def test_a_message_gets_the_librarys_text_for_every_call_and_refusals_as_errors() -> None:
    fetch, search = tools()
    declared = messages_tools([fetch, search])
    turns: list[Any] = [{"role": "user", "content": "go"}]
    with model_server(ROWS) as model:
        async with asyncio.timeout(IN_TIME), fetch, anthropic.AsyncAnthropic(api_key="k", base_url=model.url) as client:
            while True:
                answer = await client.messages.create(model="m", max_tokens=9, messages=turns, tools=declared)
                turns.append({"role": "assistant", "content": answer.content})
                if answer.stop_reason != "tool_use":
                    break
                turns.append({"role": "user", "content": await tool_results([fetch, search], answer.content)})
    assert answer.content[0].text == "done"
    library = [await by_library(row) for row in ROWS]
    assert model.said == [said.text for said in library]
    assert model.failed == [said.kind == "hard" for said in library]
