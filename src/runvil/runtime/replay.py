"""Run a traced run again without network or model: the nonce, the tools' answers and the model's come from the trace.

    recording = Recording.read(open("run.jsonl"))
    host = Host(model=recording.model, nonce=lambda: recording.nonce)
    host.call(recording)
    assert await host.run(text, args=recording.args) == recording.result

What a changed prompt asks beyond what was recorded fails, as a tool or a model that does not answer.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from runvil.core.conversation import Message, ModelError, ToolCall, ToolDeclaration
from runvil.core.failures import ToolErrorKind
from runvil.runtime.packs import Pack, wire_name
from runvil.tools import ToolError, ToolOutput

Event = Mapping[str, Any]


class Recording:
    """One run's events, as a Plugin and a model."""

    def __init__(self, events: Sequence[Event]) -> None:
        begun = next(event for event in events if event["event"] == "run")
        self.nonce: str = begun["nonce"]
        self.args: Mapping[str, str] = begun["args"]
        self.result: str | None = events[-1].get("result")
        self.model = _RecordedModel([event for event in events if event["event"] == "round"])
        answers: defaultdict[str, deque[Event]] = defaultdict(deque)
        for event in events:
            if event["event"] == "tool":
                answers[event["id"]].append(event)
        self._packs = [
            Pack(pack["name"], [_RecordedTool(tool, answers[tool["id"]]) for tool in pack["tools"]])
            for pack in begun["packs"]
        ]

    @classmethod
    def read(cls, lines: Iterable[str]) -> Recording:
        return cls([json.loads(line) for line in lines])

    def packs(self, config: Mapping[str, Any], services: Mapping[str, Any]) -> Sequence[Pack]:
        return self._packs


class _RecordedTool:
    def __init__(self, declared: Mapping[str, Any], answers: deque[Event]) -> None:
        self.id: str = declared["id"]
        self.wire_name = wire_name(self.id)
        self.description: str = declared["description"]
        self.parameters: dict[str, Any] = declared["parameters"]
        self._answers = answers

    async def call(self, arguments: Mapping[str, object]) -> ToolOutput:
        if not self._answers:
            raise ToolError(ToolErrorKind.OTHER, f"{self.id}: the recording holds no further call")
        answer = self._answers.popleft()
        if answer["outcome"] != "ok":
            raise ToolError(ToolErrorKind.OTHER, answer["text"])
        return ToolOutput(answer["text"], untrusted=answer["untrusted"], soft=answer["soft"])


class _RecordedModel:
    def __init__(self, rounds: Sequence[Event]) -> None:
        self._rounds = deque(rounds)

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolDeclaration]) -> Message:
        if not self._rounds:
            raise ModelError("the recording holds no further round")
        told = self._rounds.popleft()
        if "error" in told:
            raise ModelError(told["error"])
        calls = [ToolCall(call["id"], call["name"], call["arguments"]) for call in told["tool_calls"]]
        return Message("assistant", told["content"], tuple(calls))
