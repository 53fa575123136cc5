"""OpenAI Agents SDK: `Agent(name=..., tools=tools(fetch))`. A refusal is a result that says so."""

# mypy: disable-error-code="import-not-found"
from __future__ import annotations

from typing import Any

from agents import FunctionTool

from runvil import Tool
from runvil.doors.adapters.calls import outcome_of


def tools(*ours: Tool) -> list[FunctionTool]:
    return [_made(tool) for tool in ours]


def _made(tool: Tool) -> FunctionTool:
    async def call(_: Any, arguments: str) -> str:
        return (await outcome_of([tool], tool.wire_name, arguments)).text

    return FunctionTool(
        name=tool.wire_name,
        description=tool.description,
        params_json_schema=tool.parameters,
        on_invoke_tool=call,
        strict_json_schema=False,  # strict mode would have every argument required
    )
