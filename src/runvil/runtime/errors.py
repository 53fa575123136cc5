"""How a run fails: the run error kinds of spec 3.11, and the failures that reach Lua as error values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class RunErrorKind(StrEnum):
    """How a run failed (spec 3.11). `Vfs` and `Determinism` are names of the spec that nothing here raises."""

    PARSE = "Parse"
    VERSION = "Version"
    BINDING = "Binding"
    COMPLETION = "Completion"
    TOOL = "Tool"
    VFS = "Vfs"
    DETERMINISM = "Determinism"
    LUA = "Lua"
    QUOTA = "Quota"
    CONTEXT_EXHAUSTED = "ContextExhausted"
    INTERNAL = "Internal"
    REQUIREMENTS_UNMET = "RequirementsUnmet"


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a prompt file. line, column: from 1."""

    file: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class RunError(Exception):
    """A run failed. `str()` is the message alone. kind: a RunErrorKind.

    place: file, line and column for errors that were found by reading the prompt, else None.
    """

    def __init__(self, kind: RunErrorKind, message: str, place: Place | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.place = place

    @property
    def located(self) -> str:
        """The message behind its place, where it has one."""
        return str(self) if self.place is None else f"{self.place}: {self}"


class ErrorKind(StrEnum):
    """`err.kind` of an error value in Lua."""

    TOOL = "tool"
    UNBOUND_TOOL = "unbound_tool"
    OUT_OF_SCOPE_TOOL = "out_of_scope_tool"
    TOOL_LOOP_EXHAUSTED = "tool_loop_exhausted"
    COMPLETION = "completion"
    CONTEXT_EXHAUSTED = "context_exhausted"
    STOPPED = "stopped"
    LUA = "lua"
    INTERNAL = "internal"


RUN_KINDS: dict[str, RunErrorKind] = {
    ErrorKind.TOOL: RunErrorKind.TOOL,
    ErrorKind.UNBOUND_TOOL: RunErrorKind.TOOL,
    ErrorKind.OUT_OF_SCOPE_TOOL: RunErrorKind.TOOL,
    ErrorKind.TOOL_LOOP_EXHAUSTED: RunErrorKind.TOOL,
    ErrorKind.COMPLETION: RunErrorKind.COMPLETION,
    ErrorKind.CONTEXT_EXHAUSTED: RunErrorKind.CONTEXT_EXHAUSTED,
    ErrorKind.STOPPED: RunErrorKind.COMPLETION,
    ErrorKind.LUA: RunErrorKind.LUA,
    ErrorKind.INTERNAL: RunErrorKind.BINDING,  # the one engine error of this kind: no model selected
}
"""What an error value that nobody catches makes of the run."""

UNCAUGHT_TOOL = "tool call failure: {message}"


class HostFailure(Exception):
    """A host call that Lua made failed: it becomes an error value there. name: the tool or other thing it names."""

    def __init__(self, kind: ErrorKind, message: str, name: str | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.name = name


def uncaught(kind: str, message: str) -> RunError:
    """The end of a run by an error that Lua did not catch. kind: an error value's, "lua" for any other error."""
    text = UNCAUGHT_TOOL.format(message=message) if kind == ErrorKind.TOOL else message
    return RunError(RUN_KINDS.get(kind, RunErrorKind.LUA), text)
