"""pydantic-ai: `Agent(model, tools=tools(fetch))`. A refusal is a failed tool result, which ends no run."""

# mypy: disable-error-code="import-not-found"
from __future__ import annotations

from pydantic_ai import Tool as AgentTool
from pydantic_ai.exceptions import ToolFailed

from runvil import Tool
from runvil.doors.adapters.calls import outcome


def tools(*ours: Tool) -> list[AgentTool[object]]:
    return [_made(tool) for tool in ours]


def _made(tool: Tool) -> AgentTool[object]:
    async def call(**arguments: object) -> str:
        said = await outcome(tool, arguments)
        if said.failed:
            raise ToolFailed(said.text)
        return said.text

    return AgentTool.from_schema(call, tool.wire_name, tool.description, tool.parameters)
