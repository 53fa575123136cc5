"""A model behind an OpenAI-compatible server: `POST {base_url}/chat/completions`, without streaming (spec 3.15)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from runvil.core.conversation import Message, ModelError, ToolCall, ToolDeclaration
from runvil.runtime.models.client import DEADLINE, Client

PATH: Final = "/chat/completions"
NO_COMPLETION: Final = "the model's answer is no chat completion"


class OpenAICompatibleModel:
    """A model behind an OpenAI-compatible server. base_url: its root, which ends in /v1 for most.

    api_key: None for a server that wants none.
    options: further members of every request, such as temperature or max_tokens. context_tokens: how much the model
    holds, for prompts that ask. deadline: seconds for a round. trust: an `ssl.SSLContext` in place of the house's roots
    (contract 3). Raises ConfigError.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str | None,
        model: str,
        *,
        options: Mapping[str, Any] | None = None,
        context_tokens: int | None = None,
        deadline: float = DEADLINE,
        trust: Any = None,
    ) -> None:
        headers = {} if api_key is None else {"Authorization": f"Bearer {api_key}"}
        self._client = Client(base_url, api_key, headers, deadline=deadline, trust=trust)
        self._model = model
        self._options = dict(options or {})
        self.context_tokens = context_tokens

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolDeclaration]) -> Message:
        """One round. Raises ModelError."""
        body = {**self._options, "model": self._model, "messages": [_sent(message) for message in messages]}
        if tools:
            body |= {"tools": [_declared(tool) for tool in tools], "tool_choice": "auto"}
        return _read(await self._client.post(PATH, body))

    async def aclose(self) -> None:
        await self._client.aclose()


def _sent(message: Message) -> dict[str, Any]:
    record: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        record["content"] = message.content or None
        record["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": sendable(call.arguments)}}
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        record["tool_call_id"] = message.tool_call_id
    return record


def sendable(arguments: str) -> str:
    """A model's arguments as they may go back: servers refuse the malformed ones that models write."""
    return json.dumps(as_object(arguments), ensure_ascii=False)


def as_object(arguments: str) -> dict[str, Any]:
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _declared(tool: ToolDeclaration) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": dict(tool.parameters)}
    return {"type": "function", "function": function}


def _read(answer: Any) -> Message:
    try:
        message = answer["choices"][0]["message"]
        calls = tuple(_call(call) for call in message.get("tool_calls") or ())
        return Message("assistant", _text(message), calls)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise ModelError(NO_COMPLETION) from error


def _text(message: Mapping[str, Any]) -> str:
    """The content: a string, parts of which some are text, or none; a refusal is an answer too."""
    content = message.get("content") or message.get("refusal") or ""
    if isinstance(content, list):
        content = "".join(part["text"] for part in content if part.get("type") == "text")
    if not isinstance(content, str):
        raise TypeError
    return content


def _call(call: Mapping[str, Any]) -> ToolCall:
    function = call["function"]
    arguments = function.get("arguments") or "{}"
    if not isinstance(arguments, str):  # an object, as some servers send it
        arguments = json.dumps(arguments, ensure_ascii=False)
    return ToolCall(str(call.get("id") or ""), str(function["name"]), arguments)
