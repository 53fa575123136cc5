"""A pydantic-ai agent whose model, the framework's own FunctionModel, makes the table's calls."""

# mypy: disable-error-code="import-not-found"
from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.doors.matrix import ROWS, by_library
from tests.doors.matrix import tools as ours
from tests.doors.model_server import DESCRIBED

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from runvil.doors.adapters.pydantic_ai import tools

IN_TIME = 60.0


async def test_an_agents_model_reads_the_librarys_text_for_every_call() -> None:
    fetch, search = ours()
    returned: list[Any] = []

    def model(messages: list[Any], info: AgentInfo) -> ModelResponse:
        assert {tool.name: (tool.description, tool.parameters_json_schema) for tool in info.function_tools} == DESCRIBED
        returned[:] = [part for part in messages[-1].parts if isinstance(part, ToolReturnPart)]
        if returned:
            return ModelResponse([TextPart("done")])
        calls = [ToolCallPart(row.tool, dict(row.arguments), f"c{n}") for n, row in enumerate(ROWS)]
        return ModelResponse(calls)

    async with asyncio.timeout(IN_TIME), fetch:
        result = await Agent(FunctionModel(model), tools=tools(fetch, search)).run("go")
    assert result.output == "done"
    library = [await by_library(row) for row in ROWS]
    by_id = sorted(returned, key=lambda part: int(part.tool_call_id[1:]))
    assert [part.content for part in by_id] == [said.text for said in library]
    assert [part.outcome for part in by_id] == ["failed" if said.kind == "hard" else "success" for said in library]
