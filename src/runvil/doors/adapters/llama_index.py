"""LlamaIndex: `FunctionAgent(tools=tools(fetch), llm=llm)`. A refusal is an output that is marked as an error.

Give one tool object either to programs that `await` or to such that wait, not to both at once: it belongs to one loop.
"""

# mypy: disable-error-code="import-not-found,misc"
from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.tools import AsyncBaseTool, ToolMetadata, ToolOutput

from runvil import Tool
from runvil.doors.adapters.calls import Blocking, Outcome, outcome


def tools(*ours: Tool) -> list[AsyncBaseTool]:
    return [_Tool(tool) for tool in ours]


@dataclass
class _Metadata(ToolMetadata):
    """The schema as it is; LlamaIndex would make one from a pydantic model."""

    parameters: dict[str, Any] = field(default_factory=dict)

    def get_parameters_dict(self) -> dict[str, Any]:
        return self.parameters

    @property
    def fn_schema_str(self) -> str:
        return json.dumps(self.parameters, ensure_ascii=False)


class _Tool(AsyncBaseTool):
    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self._blocking = Blocking(lambda: tool)
        self._metadata = _Metadata(tool.description, tool.wire_name, None, parameters=tool.parameters)

    @property
    def metadata(self) -> ToolMetadata:
        return self._metadata

    def call(self, **arguments: Any) -> ToolOutput:
        return self._output(arguments, self._blocking.outcome(arguments))

    async def acall(self, **arguments: Any) -> ToolOutput:
        return self._output(arguments, await outcome(self._tool, arguments))

    def _output(self, given: dict[str, Any], said: Outcome) -> ToolOutput:
        return ToolOutput(self._tool.wire_name, said.text, None, given, said.text, said.failed)
