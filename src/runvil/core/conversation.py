"""A conversation with a model as values: what goes out in a round, what comes back (spec 3.10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that a model asks for. arguments: JSON text, as the model wrote it, well formed or not."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Message:
    """One record. role: system, user, assistant or tool. tool_call_id: in a tool record, the call it answers."""

    role: str
    content: str
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True)
class ToolDeclaration:
    """A tool as a model sees it: under its wire name. parameters: its JSON Schema."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class ModelError(Exception):
    """A round that brought no reply; `str()` says why. too_long: the conversation does not fit the model's context."""

    def __init__(self, message: str, *, too_long: bool = False) -> None:
        super().__init__(message)
        self.too_long = too_long


@runtime_checkable
class Model(Protocol):
    """A model that can be asked for one round.

    It may have `context_tokens`, the size of its context, which prompts can ask for (spec 3.12).
    """

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolDeclaration]) -> Message:
        """The assistant's record. Raises ModelError. Cancelled, it leaves no connection open."""
        ...
