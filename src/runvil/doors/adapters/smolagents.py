"""smolagents: `ToolCallingAgent(tools=tools(fetch), model=model)`. A refusal is a result that says so."""

# mypy: disable-error-code="import-not-found,import-untyped,misc"
from __future__ import annotations

from typing import Any

from smolagents import Tool as SmolTool

from runvil import Tool
from runvil.doors.adapters.calls import Blocking


def tools(*ours: Tool) -> list[SmolTool]:
    return [_Tool(tool) for tool in ours]


class _Tool(SmolTool):
    """Arguments are the schema's; smolagents calls an optional one nullable."""

    output_type = "string"
    skip_forward_signature_validation = True

    def __init__(self, tool: Tool) -> None:
        schema = tool.parameters
        optional = set(schema["properties"]) - set(schema["required"])
        self.name = tool.wire_name
        self.description = tool.description
        self.inputs = {
            name: {**described, "nullable": True} if name in optional else described
            for name, described in schema["properties"].items()
        }
        self._call = Blocking(lambda: tool)
        super().__init__()

    def forward(self, **arguments: Any) -> str:
        return self._call(**arguments)
