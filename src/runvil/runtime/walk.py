"""The walk over a prompt's sections: requirements first, then the title's body, then `##` by `##` (spec 3.4, 3.12)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, Final

from runvil.runtime.calls import Setting, lua_call, lua_wrap
from runvil.runtime.errors import HostFailure, RunError, RunErrorKind, uncaught
from runvil.runtime.guest import Event
from runvil.runtime.loop import lua_loop
from runvil.runtime.stage import Outline, Stage

NOTHING: Final = "done"
"""The result of a run in which no block returned anything."""

SPENT: Final = {
    "time": "the run's Lua used up its budget of steps or time",
    "memory": "the run's Lua needs more memory than a section may have",
    "stack": "the run's Lua is nested deeper than its stack",
}

GARBLED: Final = "the prompt's process answered what it was not asked"

prompt_log = logging.getLogger("runvil.runtime.prompt")


class Walk:
    """One walk. args: what the prompt sees as `args`."""

    def __init__(self, setting: Setting, outline: Outline, stage: Stage, args: Mapping[str, str]) -> None:
        self._setting = setting
        self._outline = outline
        self._stage = stage
        self._args = args
        self._carried: Mapping[str, Any] = {"var": {}, "always": []}

    async def run(self) -> str:
        """The run result. Raises RunError."""
        for index, (title, has_lua) in enumerate(self._outline.sections):
            self._setting.trace.section = title
            self._setting.trace.tell("section", section=title)
            if has_lua and (result := await self._section(index, title)) is not None:
                return result
        return NOTHING

    async def _section(self, index: int, title: str) -> str | None:
        event = await self._stage.enter(index, self._shown(title))
        self._log(event)
        while event.status == "call":
            event = await self._stage.answer(*await self._answer(event))
            self._log(event)
        try:
            return self._ended(event)
        except RunError as error:
            if index == 0 and error.kind is RunErrorKind.LUA:  # the title's body says whether the prompt can run
                raise RunError(RunErrorKind.REQUIREMENTS_UNMET, str(error)) from error
            raise

    def _shown(self, title: str) -> str:
        return json.dumps({
            "section": title,
            "packs": self._setting.catalog.shown,
            "roles": [role.label for role in self._outline.head.models],
            "args": self._args,
            "var": json.dumps(self._carried["var"]),
            "always": self._carried["always"],
        })  # fmt: skip

    async def _answer(self, event: Event) -> tuple[Any, ...]:
        """What goes back for what was asked: True and values, or False and a failure."""
        op, *asked = event.values
        try:
            match op, len(asked):
                case "tool", 2:
                    return True, await lua_call(self._setting, *asked)
                case "wrap", 1:
                    return True, await lua_wrap(self._setting, *asked)
                case "loop", 3:
                    return True, *await lua_loop(self._setting, *asked)
        except HostFailure as error:
            return False, str(error.kind), str(error), error.name
        except (KeyError, TypeError, ValueError) as error:  # only a process that was taken over asks such things
            raise RunError(RunErrorKind.INTERNAL, GARBLED) from error
        raise RunError(RunErrorKind.INTERNAL, GARBLED)

    def _ended(self, event: Event) -> str | None:
        match event.status, event.values:
            case "done", (result, str(carried)):
                self._carried = json.loads(carried)
                return None if result is None else str(result)
            case "failed", (kind, message, *_):
                raise uncaught(str(kind), str(message))
            case "spent", (what, *_):
                raise RunError(RunErrorKind.QUOTA, SPENT.get(str(what), SPENT["stack"]))
        raise RunError(RunErrorKind.INTERNAL, GARBLED)

    def _log(self, event: Event) -> None:
        if event.logs is not None:
            prompt_log.info("%s: %s", self._setting.trace.section, event.logs)
            self._setting.trace.tell("log", section=self._setting.trace.section, text=event.logs)
