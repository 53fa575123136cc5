"""OpenAI: declarations for the Responses and the Chat Completions API, and what answers the model's calls.

    response = client.responses.create(model=..., input=turns, tools=responses_tools([fetch]))
    turns += response.output
    turns += await responses_outputs([fetch], response.output)

Needs no package: declarations and answers are plain dicts, calls are read by the names of their fields.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from runvil import Tool
from runvil.doors.adapters.calls import outcome_of


def _declared(tool: Tool) -> dict[str, Any]:
    """Not strict: strict mode would have every argument required."""
    return {"name": tool.wire_name, "description": tool.description, "parameters": tool.parameters, "strict": False}


def responses_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    return [{"type": "function", **_declared(tool)} for tool in tools]


def chat_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    return [{"type": "function", "function": _declared(tool)} for tool in tools]


async def responses_outputs(tools: Sequence[Tool], output: Iterable[Any]) -> list[dict[str, Any]]:
    """Run the calls in a response's `output`, all at once: the items to send back, in order."""
    calls = [item for item in output if item.type == "function_call"]
    said = await asyncio.gather(*(outcome_of(tools, call.name, call.arguments) for call in calls))
    return [
        {"type": "function_call_output", "call_id": call.call_id, "output": each.text}
        for call, each in zip(calls, said, strict=True)
    ]


async def chat_outputs(tools: Sequence[Tool], message: Any) -> list[dict[str, Any]]:
    """Run the calls in an assistant message, all at once: the messages to send back, in order."""
    calls = [call for call in message.tool_calls or () if call.type == "function"]
    said = await asyncio.gather(*(outcome_of(tools, call.function.name, call.function.arguments) for call in calls))
    return [
        {"role": "tool", "tool_call_id": call.id, "content": each.text} for call, each in zip(calls, said, strict=True)
    ]
