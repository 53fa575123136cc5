"""What a section's Lua can ask of the host, and how its answers and failures go back (spec 3.6, 3.9, 3.11)."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from runvil.core.conversation import Model
from runvil.core.envelope import wrap
from runvil.runtime.catalog import Catalog
from runvil.runtime.errors import ErrorKind, HostFailure
from runvil.runtime.interrupt import Interrupt, Stopped
from runvil.runtime.trace import Trace, since
from runvil.tools import Tool, ToolError, ToolOutput

logger = logging.getLogger("runvil.runtime")

STOPPED: Final = "the model round was stopped"
CALL_STOPPED: Final = "{id} was stopped"
UNFINISHED: Final = "{id}: the call did not finish"
NO_OBJECT: Final = "{name}: the arguments are not a JSON object"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all calls of one run share. rounds: the most a model loop takes."""

    catalog: Catalog
    model: Model | None
    nonce: str
    rounds: int
    trace: Trace
    interrupt: Interrupt


class Refused(Exception):
    """A tool call that failed; `str()` is the tool's own message."""


async def called(setting: Setting, tool_id: str, arguments: str, by: str) -> str:
    """Call a tool with JSON arguments; its text, in the envelope unless it may be trusted. Raises Refused, Stopped."""
    tool = setting.catalog.tools[tool_id]
    telling = _Telling(setting.trace, tool_id, arguments, by, setting.trace.now())
    try:
        output = await _run(setting.interrupt, tool, arguments_of(arguments, tool.wire_name))
    except (ToolError, Refused) as error:
        telling.tell("error", ToolOutput(str(error)))
        raise Refused(str(error)) from error
    except Stopped:
        telling.tell("stopped", ToolOutput(""))
        raise
    telling.tell("ok", output)
    return wrap(output.text, setting.nonce) if output.untrusted else output.text


async def _run(interrupt: Interrupt, tool: Tool, arguments: Mapping[str, Any]) -> ToolOutput:
    """Whatever a tool raises but its own errors is logged and becomes one sentence: it may say anything."""
    try:
        if getattr(tool, "survives_stop", False):
            return await tool.call(arguments)
        return await interrupt.droppable(tool.call(arguments))
    except (ToolError, Stopped):
        raise
    except Exception as error:
        logger.exception("the tool %s ended in an error that has no sentence", tool.id)
        raise Refused(UNFINISHED.format(id=tool.id)) from error


@dataclass(frozen=True, slots=True)
class _Telling:
    """A call as the trace tells it."""

    trace: Trace
    id: str
    arguments: str
    by: str
    begun: float

    def tell(self, outcome: str, output: ToolOutput) -> None:
        if self.trace.on:
            self.trace.tell(
                "tool",
                section=self.trace.section,
                by=self.by,
                id=self.id,
                arguments=self.arguments,
                outcome=outcome,
                text=output.text,
                untrusted=output.untrusted,
                soft=output.soft,
                ms=since(self.begun),
            )


def arguments_of(text: str, name: str) -> Mapping[str, Any]:
    """The arguments as JSON, as strictly as JSON is meant. Raises Refused."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise Refused(NO_OBJECT.format(name=name)) from error
    if not isinstance(value, dict):
        raise Refused(NO_OBJECT.format(name=name))
    return value


def _refuse_constant(word: str) -> None:
    raise ValueError(f"{word} is not JSON")


async def lua_call(setting: Setting, tool_id: object, text: object) -> str:
    """`tools.call`. Raises HostFailure."""
    if not isinstance(tool_id, str) or not isinstance(text, str) or tool_id not in setting.catalog.tools:
        raise HostFailure(ErrorKind.UNBOUND_TOOL, f'tool "{tool_id}" is not a catalog tool in this run', str(tool_id))
    try:
        return await called(setting, tool_id, text, "lua")
    except Refused as error:
        raise HostFailure(ErrorKind.TOOL, str(error)) from error
    except Stopped:
        raise HostFailure(ErrorKind.STOPPED, CALL_STOPPED.format(id=tool_id)) from None


async def lua_wrap(setting: Setting, text: object) -> str:
    """`untrusted`."""
    return wrap(str(text), setting.nonce)
