"""A LangChain agent whose model, the framework's own fake one, makes the table's calls; waiting and not."""

# mypy: disable-error-code="import-not-found,misc"
from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.doors.matrix import ROWS, Said, by_library
from tests.doors.matrix import tools as ours
from tests.doors.model_server import DESCRIBED

pytest.importorskip("langchain", reason="langchain is not installed")

from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from runvil.doors.adapters.langchain import tools

IN_TIME = 60.0


class Model(FakeMessagesListChatModel):
    """Checks what it is offered."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        declared = [convert_to_openai_tool(tool)["function"] for tool in tools]
        assert {one["name"]: (one["description"], one["parameters"]) for one in declared} == DESCRIBED
        return self


def agent(*tools_: Any) -> Any:
    calls = [{"name": row.tool, "args": dict(row.arguments), "id": f"c{n}"} for n, row in enumerate(ROWS)]
    return create_agent(Model(responses=[AIMessage("", tool_calls=calls), AIMessage("done")]), tools=tools(*tools_))


def check(messages: list[Any], library: list[Said]) -> None:
    returned = sorted((m for m in messages if isinstance(m, ToolMessage)), key=lambda m: int(m.tool_call_id[1:]))
    assert [message.content for message in returned] == [said.text for said in library]
    assert [message.status == "error" for message in returned] == [said.kind == "hard" for said in library]
    assert messages[-1].content == "done"


async def test_an_agents_model_reads_the_librarys_text_for_every_call() -> None:
    fetch, search = ours()
    async with asyncio.timeout(IN_TIME), fetch:
        state = await agent(fetch, search).ainvoke({"messages": [("user", "go")]})
    check(state["messages"], [await by_library(row) for row in ROWS])


def test_an_agent_that_waits_reads_the_same() -> None:
    state = agent(*ours()).invoke({"messages": [("user", "go")]})
    check(state["messages"], [asyncio.run(by_library(row)) for row in ROWS])
