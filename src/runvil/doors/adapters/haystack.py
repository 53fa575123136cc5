"""Haystack: `Agent(chat_generator=..., tools=tools(fetch))`. A refusal is a result that says so.

Give one tool object either to `run_async` or to `run`, not to both at once: it belongs to one loop.
"""

# mypy: disable-error-code="import-not-found"
from __future__ import annotations

from haystack.tools import Tool as HaystackTool

from runvil import Tool
from runvil.doors.adapters.calls import Blocking, outcome


def tools(*ours: Tool) -> list[HaystackTool]:
    return [_made(tool) for tool in ours]


def _made(tool: Tool) -> HaystackTool:
    blocking = Blocking(lambda: tool)

    def wait(**arguments: object) -> str:
        return blocking(**arguments)

    async def call(**arguments: object) -> str:
        return (await outcome(tool, arguments)).text

    return HaystackTool(
        name=tool.wire_name,
        description=tool.description,
        parameters=tool.parameters,
        function=wait,
        async_function=call,
    )
