"""Two model servers on loopback that are as strict as the real ones: what those would answer 400 to, fails here too.

`openai(*replies)` and `anthropic(*replies)` make a script for `FakeVendor`: a reply a round, an assistant's record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from runvil.runtime import Message
from tests.support.vendors import Asked, Told

KEY = "planted-model-key-51c0ffee"
MODEL = "tide-1"

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Refusal(Exception):
    """What the server would say no to."""


def demand(holds: object, why: str) -> None:
    if not holds:
        raise Refusal(why)


def only(value: Any, keys: set[str], where: str) -> None:
    demand(isinstance(value, dict), f"{where} is not an object")
    demand(set(value) <= keys, f"{where} has unknown members: {sorted(set(value) - keys)}")


# ------------------------------------------------------------------ OpenAI's shape


def openai(*replies: Message) -> list[Callable[[Asked], Told]]:
    return [_answering(reply, _check_openai, _completion) for reply in replies]


def _check_openai(asked: Asked) -> None:
    demand(asked.method == "POST" and asked.path == "/v1/chat/completions", "no such endpoint")
    demand(_header(asked, "authorization") == f"Bearer {KEY}", "bad key")
    demand(_header(asked, "content-type") == "application/json", "bad content type")
    body = asked.json
    only(body, {"model", "messages", "tools", "tool_choice", "temperature", "max_tokens"}, "the body")
    demand(body["model"] == MODEL, "no such model")
    demand(body["messages"], "messages must not be empty")
    if "tools" in body:
        demand(body["tools"], "tools must not be empty")
        for tool in body["tools"]:
            _check_openai_tool(tool)
    demand("tool_choice" not in body or "tools" in body, "tool_choice is only allowed with tools")
    _check_openai_messages(body["messages"])


def _check_openai_tool(tool: Any) -> None:
    only(tool, {"type", "function"}, "a tool")
    demand(tool["type"] == "function", "a tool's type")
    function = tool["function"]
    only(function, {"name", "description", "parameters"}, "a function")
    demand(_NAME.fullmatch(function["name"]), "a function's name")
    demand(function["parameters"].get("type") == "object", "a function's parameters")


def _check_openai_messages(messages: Sequence[Mapping[str, Any]]) -> None:
    owed: list[str] = []
    for message in messages:
        demand(not owed or message["role"] == "tool", f"calls without an answer: {owed}")
        match message["role"]:
            case "system" | "user":
                only(message, {"role", "content"}, "a message")
                demand(isinstance(message["content"], str), "content must be text")
            case "assistant":
                only(message, {"role", "content", "tool_calls"}, "an assistant message")
                owed = [_openai_call(call) for call in message.get("tool_calls", ())]
                demand("tool_calls" not in message or owed, "tool_calls must not be empty")
                demand(owed or isinstance(message["content"], str), "content must be text")
                demand(len(set(owed)) == len(owed), "two calls with one id")
            case "tool":
                only(message, {"role", "content", "tool_call_id"}, "a tool message")
                demand(message["tool_call_id"] in owed, "a tool message answers no call")
                owed.remove(message["tool_call_id"])
            case role:
                raise Refusal(f"role {role}")
    demand(not owed, f"calls without an answer: {owed}")


def _openai_call(call: Mapping[str, Any]) -> str:
    only(call, {"id", "type", "function"}, "a call")
    demand(call["type"] == "function", "a call's type")
    only(call["function"], {"name", "arguments"}, "a call's function")
    demand(isinstance(json.loads(call["function"]["arguments"]), dict), "a call's arguments")
    demand(call["id"], "a call's id")
    return str(call["id"])


def _completion(reply: Message) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.content or None, "refusal": None}
    if reply.tool_calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.tool_calls
        ]
    reason = "tool_calls" if reply.tool_calls else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason, "logprobs": None}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice]}


# ------------------------------------------------------------------ Anthropic's shape


def anthropic(*replies: Message) -> list[Callable[[Asked], Told]]:
    return [_answering(reply, _check_anthropic, _message) for reply in replies]


def _check_anthropic(asked: Asked) -> None:
    demand(asked.method == "POST" and asked.path == "/v1/messages", "no such endpoint")
    demand(_header(asked, "x-api-key") == KEY, "bad key")
    demand(_header(asked, "anthropic-version") == "2023-06-01", "bad version")
    body = asked.json
    only(body, {"model", "messages", "system", "max_tokens", "tools", "tool_choice", "temperature"}, "the body")
    demand(body["model"] == MODEL, "no such model")
    demand(isinstance(body["max_tokens"], int), "max_tokens is required")
    demand("tool_choice" not in body or body.get("tools"), "tool_choice is only allowed with tools")
    for tool in body.get("tools", ()):
        only(tool, {"name", "description", "input_schema"}, "a tool")
        demand(_NAME.fullmatch(tool["name"]), "a tool's name")
        demand(tool["input_schema"].get("type") == "object", "a tool's input_schema")
    _check_turns(body["messages"])


def _check_turns(turns: Sequence[Mapping[str, Any]]) -> None:
    demand(turns and turns[0]["role"] == "user", "the first turn must be the user's")
    owed: set[str] = set()
    for number, turn in enumerate(turns):
        only(turn, {"role", "content"}, "a turn")
        demand(turn["role"] == ("user", "assistant")[number % 2], "turns must alternate")
        demand(turn["content"], "a turn must not be empty")
        answered = {block["tool_use_id"] for block in turn["content"] if block["type"] == "tool_result"}
        demand(answered == owed, f"tool_use without its tool_result at once after it: {owed ^ answered}")
        for block in turn["content"]:
            _check_block(block)
        owed = {block["id"] for block in turn["content"] if block["type"] == "tool_use"}
    demand(not owed, "tool_use without its tool_result")


def _check_block(block: Mapping[str, Any]) -> None:
    match block["type"]:
        case "text":
            only(block, {"type", "text"}, "a text block")
            demand(block["text"].strip(), "text content blocks must be non-empty")
        case "tool_use":
            only(block, {"type", "id", "name", "input"}, "a tool_use block")
            demand(isinstance(block["input"], dict), "tool_use.input must be an object")
            demand(re.fullmatch(r"[a-zA-Z0-9_-]+", block["id"]), "tool_use.id")
        case "tool_result":
            only(block, {"type", "tool_use_id", "content"}, "a tool_result block")
        case other:
            raise Refusal(f"block type {other}")


def _message(reply: Message) -> dict[str, Any]:
    text = [{"type": "text", "text": reply.content}] if reply.content else []
    uses = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        for call in reply.tool_calls
    ]
    reason = "tool_use" if uses else "end_turn"
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": MODEL, "content": text + uses,
            "stop_reason": reason, "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip


# ------------------------------------------------------------------ both


def _answering(
    reply: Message, check: Callable[[Asked], None], written: Callable[[Message], dict[str, Any]]
) -> Callable[[Asked], Told]:
    def answer(asked: Asked) -> Told:
        try:
            check(asked)
        except (Refusal, KeyError, TypeError, ValueError) as error:
            return Told({"error": {"message": f"refused: {error!r}", "type": "invalid_request_error"}}, status=400)
        return Told(written(reply))

    return answer


def _header(asked: Asked, name: str) -> str | None:
    return next((value for key, value in asked.headers.items() if key.lower() == name), None)


def texts(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        yield message.content
