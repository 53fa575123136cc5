"""LangChain and LangGraph: `create_agent(model, tools=tools(fetch))`. A refusal is a ToolMessage with status "error".

Give one tool object either to programs that `await` or to such that wait, not to both at once: it belongs to one loop.
"""

# mypy: disable-error-code="import-not-found"
from __future__ import annotations

from langchain_core.tools import StructuredTool, ToolException

from runvil import Tool
from runvil.doors.adapters.calls import Blocking, Outcome, outcome


def tools(*ours: Tool) -> list[StructuredTool]:
    return [_made(tool) for tool in ours]


def _made(tool: Tool) -> StructuredTool:
    blocking = Blocking(lambda: tool)

    def wait(**arguments: object) -> str:
        return _text(blocking.outcome(arguments))

    async def call(**arguments: object) -> str:
        return _text(await outcome(tool, arguments))

    return StructuredTool.from_function(
        func=wait,
        coroutine=call,
        name=tool.wire_name,
        description=tool.description,
        args_schema=tool.parameters,
        infer_schema=False,
        handle_tool_error=True,
    )


def _text(said: Outcome) -> str:
    if said.failed:
        raise ToolException(said.text)
    return said.text
