"""A model that is a script.

model = ScriptedModel(asks(web_fetch={"url": "https://example.com/"}), "The page says hello.")
host = Host(services, model)
...
assert model.rounds[1].messages[-1].role == "tool"
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runvil.core.conversation import Message, ModelError, ToolCall, ToolDeclaration

Step = str | Message | Exception | Callable[[Sequence[Message]], Message]
"""One round: a text to answer with, a whole record, an error to raise, or what makes a record of the messages."""


@dataclass(frozen=True, slots=True)
class Round:
    """What the model was sent."""

    messages: tuple[Message, ...]
    tools: tuple[ToolDeclaration, ...]


class ScriptedModel:
    """`runvil.runtime.Model` that replies as its script says, a step a round; `rounds` records what it was sent.

    always: repeat the last step for ever; otherwise a round beyond the script is a ModelError.
    """

    def __init__(self, *script: Step, always: bool = False, context_tokens: int | None = None) -> None:
        self._script = script
        self._always = always
        self.context_tokens = context_tokens
        self.rounds: list[Round] = []

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolDeclaration]) -> Message:
        at = len(self.rounds)
        self.rounds.append(Round(tuple(messages), tuple(tools)))
        if at >= len(self._script) and not (self._always and self._script):
            raise ModelError("the script has no further round")
        step = self._script[min(at, len(self._script) - 1)]
        if isinstance(step, Exception):
            raise step
        if isinstance(step, str):
            return Message("assistant", step)
        return step if isinstance(step, Message) else step(messages)


def asks(*calls: tuple[str, Mapping[str, Any] | str], content: str = "", **more: Mapping[str, Any] | str) -> Message:
    """An assistant's record that calls tools: (wire name, arguments) pairs, or names as keywords.

    Arguments are an object, or text as a careless model writes it.
    """
    pairs = [*calls, *more.items()]
    made = [ToolCall(f"call_{number}", name, _text(value)) for number, (name, value) in enumerate(pairs, 1)]
    return Message("assistant", content, tuple(made))


def _text(arguments: Mapping[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)
