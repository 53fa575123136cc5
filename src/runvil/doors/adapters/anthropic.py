"""Anthropic: declarations for the Messages API, and what answers the model's calls.

    message = client.messages.create(model=..., messages=turns, tools=messages_tools([fetch]), max_tokens=...)
    turns += [{"role": "assistant", "content": message.content}]
    turns += [{"role": "user", "content": await tool_results([fetch], message.content)}]

Needs no package: declarations and answers are plain dicts, calls are read by the names of their fields.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from runvil import Tool
from runvil.doors.adapters.calls import outcome_of


def messages_tools(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    return [
        {"name": tool.wire_name, "description": tool.description, "input_schema": tool.parameters} for tool in tools
    ]


async def tool_results(tools: Sequence[Tool], content: Iterable[Any]) -> list[dict[str, Any]]:
    """Run the calls in a message's content, all at once: the blocks to send back, in order."""
    calls = [block for block in content if block.type == "tool_use"]
    said = await asyncio.gather(*(outcome_of(tools, call.name, call.input) for call in calls))
    return [
        {"type": "tool_result", "tool_use_id": call.id, "content": each.text, "is_error": each.failed}
        for call, each in zip(calls, said, strict=True)
    ]
