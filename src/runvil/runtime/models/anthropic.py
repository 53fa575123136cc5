"""A model behind Anthropic's Messages API: `POST {base_url}/v1/messages`, without streaming."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from runvil.core.conversation import Message, ModelError, ToolCall, ToolDeclaration
from runvil.runtime.models.client import DEADLINE, Client
from runvil.runtime.models.openai import as_object

BASE_URL: Final = "https://api.anthropic.com"
PATH: Final = "/v1/messages"
VERSION: Final = "2023-06-01"
"""The API's version, a header it insists on."""

MAX_TOKENS: Final = 4096
"""Tokens of one answer, which the API wants said; every current model gives as many."""

NO_MESSAGE: Final = "the model's answer is no message"


class AnthropicModel:
    """A model behind Anthropic's Messages API. base_url: the root before /v1.

    options: further members of every request, such as max_tokens. The rest is as OpenAICompatibleModel has it.
    """

    def __init__(
        self,
        api_key: str,
        model: str,
        *,
        base_url: str = BASE_URL,
        options: Mapping[str, Any] | None = None,
        context_tokens: int | None = None,
        deadline: float = DEADLINE,
        trust: Any = None,
    ) -> None:
        headers = {"x-api-key": api_key, "anthropic-version": VERSION}
        self._client = Client(base_url, api_key, headers, deadline=deadline, trust=trust)
        self._model = model
        self._options = {"max_tokens": MAX_TOKENS, **(options or {})}
        self.context_tokens = context_tokens

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolDeclaration]) -> Message:
        """One round. Raises ModelError."""
        body: dict[str, Any] = {**self._options, "model": self._model, "messages": turns(messages)}
        system = "\n\n".join(message.content for message in messages if message.role == "system" and message.content)
        if system:
            body["system"] = system
        if tools:
            body |= {"tools": [_declared(tool) for tool in tools], "tool_choice": {"type": "auto"}}
        return _read(await self._client.post(PATH, body))

    async def aclose(self) -> None:
        await self._client.aclose()


def turns(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """The records as the API wants them: turns that alternate, each of blocks; a tool's answer is the user's."""
    found: list[dict[str, Any]] = []
    for message in messages:
        blocks = _blocks(message)
        if not blocks:
            continue
        role = "assistant" if message.role == "assistant" else "user"
        if found and found[-1]["role"] == role:
            found[-1]["content"] += blocks
        else:
            found.append({"role": role, "content": blocks})
    return found


def _blocks(message: Message) -> list[dict[str, Any]]:
    match message.role:
        case "system":
            return []
        case "tool":
            result = {"type": "tool_result", "tool_use_id": message.tool_call_id or "", "content": message.content}
            return [result]
    text = [{"type": "text", "text": message.content}] if message.content.strip() else []  # an empty block is refused
    return text + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": as_object(call.arguments)}
        for call in message.tool_calls
    ]


def _declared(tool: ToolDeclaration) -> dict[str, Any]:
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.parameters)}


def _read(answer: Any) -> Message:
    try:
        blocks = answer["content"]
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        calls = [
            ToolCall(str(block["id"]), str(block["name"]), json.dumps(block["input"], ensure_ascii=False))
            for block in blocks
            if block["type"] == "tool_use"
        ]
        return Message("assistant", text, tuple(calls))
    except (KeyError, TypeError) as error:
        raise ModelError(NO_MESSAGE) from error
