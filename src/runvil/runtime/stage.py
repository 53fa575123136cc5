"""Where a prompt is read and its Lua runs: in this process (here), or in one of its own (isolated.py)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from runvil.runtime.frontmatter import Frontmatter
from runvil.runtime.guest import Compiled, Event, Guest, Scalar, compiled
from runvil.runtime.limits import Limits


@dataclass(frozen=True, slots=True)
class Outline:
    """What the walk needs of a prompt. sections: (title, whether it holds Lua), the title's own body first."""

    head: Frontmatter
    sections: Sequence[tuple[str, bool]]

    @classmethod
    def of(cls, found: Compiled) -> Outline:
        walked = found.prompt.walked
        return cls(found.prompt.head, [(section.title, bool(section.blocks)) for section in walked])


class Stage(Protocol):
    """One run's. The budget is kept here: what a section used is no longer there for the next."""

    async def load(self, text: str, file: str) -> Outline:
        """Read the prompt and compile all its Lua; none of it runs. Raises RunError."""
        ...

    async def enter(self, section: int, setting: str) -> Event:
        """Start a section in a fresh state."""
        ...

    async def answer(self, ok: bool, *values: Scalar) -> Event:
        """Answer what the section asked, and let it go on."""
        ...

    async def aclose(self) -> None: ...


class LocalStage:
    """In this process. Lua holds the loop while it computes; its budget bounds for how long (limits.py)."""

    def __init__(self, limits: Limits) -> None:
        self._left = limits
        self._compiled: Compiled | None = None
        self._guest: Guest | None = None

    async def load(self, text: str, file: str) -> Outline:
        found = compiled(text, file)
        self.prepare(found)
        return Outline.of(found)

    def prepare(self, found: Compiled) -> None:
        self._compiled = found

    async def enter(self, section: int, setting: str) -> Event:
        return self.entered(section, setting)

    async def answer(self, ok: bool, *values: Scalar) -> Event:
        return self.answered(ok, *values)

    def entered(self, section: int, setting: str) -> Event:
        assert self._compiled is not None
        self._leave()
        walked = self._compiled.prompt.walked[section]
        self._guest = Guest(walked.blocks, self._compiled.codes[section], setting, self._left)
        return self._guest.start()

    def answered(self, ok: bool, *values: Scalar) -> Event:
        assert self._guest is not None
        return self._guest.answer(ok, *values)

    def _leave(self) -> None:
        if self._guest is not None:
            steps, seconds = self._guest.used
            left = max(self._left.steps - steps, 1), max(self._left.seconds - seconds, 1e-6)
            self._left = replace(self._left, steps=left[0], seconds=left[1])
            self._guest = None

    async def aclose(self) -> None:
        self._guest = None
