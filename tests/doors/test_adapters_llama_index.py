"""A LlamaIndex agent whose model, the framework's own mock, makes the table's calls."""

# mypy: disable-error-code="import-not-found"
from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.doors.matrix import ROWS, by_library
from tests.doors.matrix import tools as ours
from tests.doors.model_server import DESCRIBED

pytest.importorskip("llama_index.core", reason="llama-index-core is not installed")

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM

from runvil.doors.adapters.llama_index import tools

IN_TIME = 60.0


def model(messages: Any, **_: Any) -> ChatMessage:
    if any(message.role == MessageRole.TOOL for message in messages):
        return ChatMessage(role="assistant", content="done")
    calls = [
        ToolCallBlock(tool_call_id=f"c{n}", tool_name=r.tool, tool_kwargs=dict(r.arguments)) for n, r in enumerate(ROWS)
    ]
    return ChatMessage(role="assistant", blocks=[TextBlock(text=""), *calls])


@pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")  # LlamaIndex's own
async def test_an_agents_model_reads_the_librarys_text_for_every_call() -> None:
    fetch, search = ours()
    agent = FunctionAgent(tools=list(tools(fetch, search)), llm=MockFunctionCallingLLM(response_generator=model))
    async with asyncio.timeout(IN_TIME), fetch:
        result = await agent.run("go")
    assert str(result) == "done"
    library = [await by_library(row) for row in ROWS]
    by_id = {call.tool_id: call.tool_output for call in result.tool_calls}
    outputs = [by_id[f"c{n}"] for n in range(len(ROWS))]
    assert [output.content for output in outputs] == [said.text for said in library]
    assert [output.is_error for output in outputs] == [said.kind == "hard" for said in library]


def test_the_schemas_are_ours_and_a_call_may_wait() -> None:
    made = tools(*ours())
    declared = [tool.metadata.to_openai_tool()["function"] for tool in made]
    assert {one["name"]: (one["description"], one["parameters"]) for one in declared} == DESCRIBED
    assert made[0].call(url="https://127.1/").content == "ip literal host not allowed: 127.0.0.1"
