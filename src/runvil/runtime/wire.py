"""What passes between a run and the process of its prompt: JSON frames behind four bytes of length, each checked.

    process -> run   true                                                     once, when it is ready
    run -> process   {"do": "load" | "enter" | "answer", ...}                 one at a time
    process -> run   {"outline": ...} | {"event": ...} | {"error": ...}       its answer

A process that was taken over can send what it likes; the most it gets is `Garbled`, and the end of its own run.
"""

from __future__ import annotations

import json
from typing import Any, Final

from runvil.runtime.errors import Place, RunError, RunErrorKind
from runvil.runtime.frontmatter import Frontmatter, Role
from runvil.runtime.guest import Event
from runvil.runtime.stage import Outline

HEAD: Final = 4

MAX_FRAME: Final = 32 * 1024 * 1024
"""Bytes: half of what a section's Lua may hold. A fetched text is a thousandth of it."""

_KINDS: Final = frozenset(map(str, RunErrorKind))

DIED: Final = "the prompt's process died: it used more than its limits allow"


class Garbled(Exception):
    """The bytes that came are no frame."""


def frame(value: Any) -> bytes:
    data = json.dumps(value, separators=(",", ":")).encode()
    return len(data).to_bytes(HEAD) + data


def size(head: bytes) -> int:
    found = int.from_bytes(head)
    if found > MAX_FRAME:
        raise Garbled
    return found


def body(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise Garbled from error


def write_event(event: Event) -> dict[str, Any]:
    return {"event": [event.status, event.logs, *event.values]}


def read_event(answer: Any) -> Event:
    match _checked(answer):
        case {"event": [str(status), None | str() as logs, *values]}:
            if all(value is None or isinstance(value, str | int | float) for value in values):
                return Event(status, logs, tuple(values))
    raise RunError(RunErrorKind.INTERNAL, "the prompt's process answered what it was not asked")


def write_outline(outline: Outline) -> dict[str, Any]:
    head = outline.head
    roles = [[role.label, role.min_context] for role in head.models]
    return {"outline": [head.name, list(head.uses), roles, head.max_tool_iterations, list(outline.sections)]}


def read_outline(answer: Any) -> Outline:
    try:
        name, uses, roles, rounds, sections = _checked(answer)["outline"]
        head = Frontmatter(
            name=str(name),
            description="",
            uses=tuple(map(str, uses)),
            models=tuple(Role(str(label), min_context=int(least)) for label, least in roles),
            max_tool_iterations=int(rounds),
        )
        return Outline(head, [(str(title), bool(has_lua)) for title, has_lua in sections])
    except (KeyError, TypeError, ValueError) as error:
        raise RunError(RunErrorKind.INTERNAL, "the prompt's process answered what it was not asked") from error


def write_error(error: RunError) -> dict[str, Any]:
    place = error.place and [error.place.file, error.place.line, error.place.column]
    return {"error": [error.kind, str(error), place]}


def _checked(answer: Any) -> Any:
    """The answer, unless it is an error: then that is raised."""
    match answer:
        case {"error": [str(kind), str(message), None]} if kind in _KINDS:
            raise RunError(RunErrorKind(kind), message)
        case {"error": [str(kind), str(message), [str(file), int(line), int(column)]]} if kind in _KINDS:
            raise RunError(RunErrorKind(kind), message, Place(file, line, column))
    return answer
