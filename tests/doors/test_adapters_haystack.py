"""A Haystack agent whose model, the framework's own mock, makes the table's calls; waiting and not."""

# mypy: disable-error-code="import-not-found"
from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.doors.matrix import ROWS, by_library
from tests.doors.matrix import tools as ours
from tests.doors.model_server import DESCRIBED

pytest.importorskip("haystack", reason="haystack-ai is not installed")

from haystack.components.agents import Agent
from haystack.components.generators.chat.mock import MockChatGenerator
from haystack.dataclasses import ChatMessage, ToolCall

from runvil.doors.adapters.haystack import tools

IN_TIME = 60.0


def agent(*tools_: Any) -> Agent:
    made = tools(*tools_)
    assert {tool.name: (tool.description, tool.parameters) for tool in made} == DESCRIBED
    calls = [ToolCall(row.tool, dict(row.arguments), f"c{n}") for n, row in enumerate(ROWS)]
    replies = [ChatMessage.from_assistant(tool_calls=calls), ChatMessage.from_assistant("done")]
    return Agent(chat_generator=MockChatGenerator(replies), tools=made)


def read(result: dict[str, Any]) -> list[str]:
    assert result["messages"][-1].text == "done"
    results = [message.tool_call_result for message in result["messages"] if message.tool_call_result]
    return [one.result for one in sorted(results, key=lambda one: int(one.origin.id[1:]))]


async def test_an_agents_model_reads_the_librarys_text_for_every_call() -> None:
    fetch, search = ours()
    async with asyncio.timeout(IN_TIME), fetch:
        result = await agent(fetch, search).run_async([ChatMessage.from_user("go")])
    assert read(result) == [(await by_library(row)).text for row in ROWS]


def test_an_agent_that_waits_reads_the_same() -> None:
    result = agent(*ours()).run([ChatMessage.from_user("go")])
    assert read(result) == [asyncio.run(by_library(row)).text for row in ROWS], json.dumps(read(result))
