"""A smolagents agent that makes the table's calls, one a step: those that its own check of types lets through."""

# mypy: disable-error-code="import-not-found,misc"
from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.doors.matrix import ROWS, by_library
from tests.doors.matrix import tools as ours

pytest.importorskip("smolagents", reason="smolagents is not installed")

from smolagents import ToolCallingAgent
from smolagents.models import (
    ChatMessage,
    ChatMessageToolCall,
    ChatMessageToolCallFunction,
    MessageRole,
    Model,
    get_tool_json_schema,
)
from smolagents.monitoring import LogLevel

from runvil.doors.adapters.smolagents import tools

LET_THROUGH = [row for row in ROWS if not row.free]


class Scripted(Model):
    """One call a step, then the end."""

    def __init__(self) -> None:
        super().__init__(model_id="scripted")
        self.calls = [(row.tool, dict(row.arguments)) for row in LET_THROUGH] + [("final_answer", {"answer": "done"})]

    def generate(self, messages: Any, **_: Any) -> ChatMessage:
        name, arguments = self.calls.pop(0)
        call = ChatMessageToolCall(
            id=f"c{len(self.calls)}",
            type="function",
            function=ChatMessageToolCallFunction(name=name, arguments=arguments),
        )
        return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[call])


def test_an_agents_model_reads_the_librarys_text_for_every_call() -> None:
    agent = ToolCallingAgent(
        tools=tools(*ours()), model=Scripted(), max_steps=len(LET_THROUGH) + 1, verbosity_level=LogLevel.OFF
    )
    assert agent.run("go") == "done"
    seen = [step.observations for step in agent.memory.steps if getattr(step, "tool_calls", None)]
    assert seen[:-1] == [asyncio.run(by_library(row)).text.strip() for row in LET_THROUGH]


def test_what_is_optional_is_not_required_of_the_model() -> None:
    fetch, search = (get_tool_json_schema(tool)["function"] for tool in tools(*ours()))
    assert fetch["parameters"]["required"] == ["url"]
    assert search["parameters"]["required"] == ["query"]
    assert search["parameters"]["properties"]["freshness"]["enum"] == ["pd", "pw", "pm", "py"]
