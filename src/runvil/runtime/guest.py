"""Lua for one section: a state of its own, whose guest never meets a value of Python's (spec 3.5).

What crosses the border are byte strings, numbers and booleans. The Lua files of this package are the inside: the
sandbox with its budget, the guarded library, JSON, the environment, and what puts them together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from runvil.runtime.errors import Place, RunError, RunErrorKind
from runvil.runtime.extras import of_the_extra
from runvil.runtime.limits import Limits
from runvil.runtime.prompt import Block, Prompt, parse

Scalar = str | int | float | bool | None

INSIDE: Final = ("sandbox", "library", "json", "environment")
_BOOT: Final = "boot"

_KEPT_PROMPTS: Final = 64
"""Compiled prompts kept: a host runs a few files again and again."""

_NAME_LENGTH: Final = 40
"""Characters of a file's name in Lua's messages, which cut a chunk's name at 59 bytes."""


@dataclass(frozen=True, slots=True)
class Event:
    """How a section stands when it has come to a halt.

    status: "call" (values: what the host is asked), "done" (result or None, JSON of what is carried on), "failed"
    (kind, message, name) or "spent" (which budget). logs: the lines it logged since.
    """

    status: str
    logs: str | None
    values: tuple[Scalar, ...]

    @classmethod
    def of(cls, answer: tuple[Any, ...]) -> Event:
        status, logs, *values = (_text(value) for value in answer)
        return cls(str(status), None if logs is None else str(logs), tuple(values))


def _text(value: Any) -> Scalar:
    """Lua's strings are bytes; whatever is no UTF-8 in them is replaced on the way out."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return value if isinstance(value, int | float) else None


@dataclass(frozen=True, slots=True)
class Compiled:
    """A prompt with the bytecode of its walked sections' blocks, made in this process by Lua's own compiler."""

    prompt: Prompt
    codes: tuple[tuple[bytes, ...], ...]


@lru_cache(maxsize=_KEPT_PROMPTS)
def compiled(text: str, file: str) -> Compiled:
    """Parse a prompt and compile all its Lua. Raises RunError; nothing of the prompt has run then, or ever."""
    prompt = parse(text, file)
    runtime = _state(Limits())
    dump = runtime.globals()[b"string"][b"dump"]
    codes = [tuple(dump(_compile(runtime, block, file)) for block in section.blocks) for section in prompt.walked]
    for section in prompt.children:
        for block in section.blocks:
            _compile(runtime, block, file)
    return Compiled(prompt, tuple(codes))


def _state(limits: Limits) -> Any:
    """A bare Lua state. Strings stay bytes: Lua's are."""
    with of_the_extra():
        from lupa.lua55 import LuaRuntime  # type: ignore[import-untyped]  # noqa: PLC0415
    return LuaRuntime(encoding=None, register_eval=False, register_builtins=False, max_memory=limits.memory)


def _compile(runtime: Any, block: Block, file: str) -> Any:
    """The block's function. Blank lines in front of it make Lua count the file's lines."""
    source = "\n" * (block.line - 1) + block.lua
    name = "=" + Path(file).name[-_NAME_LENGTH:]
    found = runtime.globals()[b"load"](source.encode("utf-8", "replace"), name.encode("utf-8", "replace"), b"t")
    if isinstance(found, tuple):
        raise _syntax_error(found[1].decode("utf-8", "replace"), block, file)
    return found


def _syntax_error(text: str, block: Block, file: str) -> RunError:
    match = re.search(r":(\d+): (.*)", text, re.DOTALL)
    line, detail = (int(match[1]), match[2]) if match else (block.line, text)
    place = Place(file, line, _column(detail, block, line))
    return RunError(RunErrorKind.PARSE, f"lua: {detail}", place)


def _column(detail: str, block: Block, line: int) -> int:
    """Lua's compiler names a line and the token it stumbled over: the token's last occurrence in the line is taken."""
    lines = block.lua.split("\n")
    at = line - block.line
    token = re.search(r"near '(.*)'$", detail, re.DOTALL)
    if not 0 <= at < len(lines):
        return 1
    return max(lines[at].rfind(token[1]), 0) + 1 if token else len(lines[at]) + 1


@cache
def _inside(name: str) -> bytes:
    """One of our own Lua files as bytecode."""
    runtime = _state(Limits())
    source = Path(__file__).with_name(f"{name}.lua").read_bytes()
    loaded = runtime.globals()[b"load"](source, f"=runvil/{name}".encode(), b"t")
    code: bytes = runtime.globals()[b"string"][b"dump"](
        loaded, True
    )  # without its line numbers: it loads in a third of the time
    return code


class Guest:
    """One section's Lua. Runs in the caller's thread until the guest asks the host for something, or ends.

    setting: JSON of what the environment shows. steps, seconds: what is left of the run's budget.
    """

    def __init__(self, blocks: Sequence[Block], codes: Sequence[bytes], setting: str, limits: Limits) -> None:
        self._runtime = _state(limits)
        load = self._runtime.globals()[b"load"]
        boot, *inside = (load(_inside(name), None, b"b")() for name in (_BOOT, *INSIDE))
        parts = boot(*inside, limits.steps, limits.seconds, setting.encode("utf-8", "replace"))
        add, self._start, self._step, self._used = parts
        for block, code in zip(blocks, codes, strict=True):
            add(code, block.prose.encode("utf-8", "replace"))

    def start(self) -> Event:
        return self._ran(self._start)

    def answer(self, ok: bool, *values: Scalar) -> Event:
        """Give the host's answer: values, or a failure's kind, message and name."""
        return self._ran(self._step, ok, *(_bytes(value) for value in values))

    @property
    def used(self) -> tuple[int, float]:
        """Steps and seconds."""
        steps, seconds = self._used()
        return int(steps), float(seconds)

    def _ran(self, function: Any, *values: Any) -> Event:
        from lupa.lua55 import LuaError, LuaMemoryError  # noqa: PLC0415  there: the state was made with it

        try:
            return Event.of(function(*values))
        except LuaMemoryError:
            return Event("spent", None, ("memory",))
        except LuaError as error:  # what even our own Lua could not catch: the stack's end
            return Event("spent", None, (str(error),))


def _bytes(value: Scalar) -> Any:
    return value.encode("utf-8", "replace") if isinstance(value, str) else value
