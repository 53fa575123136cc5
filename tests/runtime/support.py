"""What the runtime's tests share: prompts around a piece of Lua, a Host with a small Pack, and a bounded wait."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, TypeVar

from runvil import ToolError, ToolErrorKind, ToolOutput
from runvil.runtime import Host, Pack, RunError, Unavailable
from runvil.testing import ScriptedModel

T = TypeVar("T")

IN_TIME = 20.0  # seconds; a guard against a hang, not a measure

HEAD = "---\nname: p\ndescription: d\nrunvil: 0\nuses: [acme/text]\nmodels:\n  r: {}\n---\n\n# P\n"


def prompt(lua: str, *, prose: str = "", head: str = HEAD) -> str:
    """A prompt of one section. The Lua begins in line 16 of it when there is no prose."""
    return f"{head}\n## A\n\n{prose}\n\n```lua\n{lua}\n```\n"


LOOP = "tools.offer({{{offered}}}) models.use('r') messages:user('go') models.loop() return messages[#messages].content"


def looping(*offered: str) -> str:
    return prompt(LOOP.format(offered=", ".join(f"'{name}'" for name in offered)))


class Shout:
    """text/shout: a trusted tool."""

    id, wire_name = "text/shout", "text_shout"
    description = "Put a text in capitals."

    def __init__(self) -> None:
        self.parameters: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
        self.asked: list[Mapping[str, object]] = []

    async def call(self, arguments: Mapping[str, object]) -> ToolOutput:
        self.asked.append(arguments)
        return ToolOutput(str(arguments.get("text", "")).upper(), untrusted=False)


class Echo:
    """text/echo: says what it was given, as a stranger would; fails when it is asked to."""

    id, wire_name = "text/echo", "text_echo"
    description = "Say a text again."

    def __init__(self) -> None:
        self.parameters: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}}
        self.asked: list[Mapping[str, object]] = []

    async def call(self, arguments: Mapping[str, object]) -> ToolOutput:
        self.asked.append(arguments)
        if "fail" in arguments:
            raise ToolError(ToolErrorKind.BACKEND, str(arguments["fail"]))
        if "break" in arguments:
            raise RuntimeError("a secret of the tool's")
        return ToolOutput(str(arguments.get("text", "")))


class Slow:
    """text/slow: never ends; `text/lasting` survives a stop and ends when it is told to."""

    description = "Wait."

    def __init__(self, name: str = "slow", *, survives_stop: bool = False) -> None:
        self.id, self.wire_name = f"text/{name}", f"text_{name}"
        self.survives_stop = survives_stop
        self.parameters: dict[str, Any] = {"type": "object"}
        self.begun = asyncio.Event()
        self.end = asyncio.Event()
        self.dropped = False

    async def call(self, arguments: Mapping[str, object]) -> ToolOutput:
        self.begun.set()
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.dropped = True
            raise
        return ToolOutput("ended", untrusted=False)


class TextPlugin:
    """Brings acme/text, with the tools it is given."""

    def __init__(self, *tools: Any) -> None:
        self._tools = tools

    def packs(self, config: Mapping[str, Any], services: Mapping[str, Any]) -> Sequence[Pack | Unavailable]:
        return [Pack("acme/text", self._tools)]


def text_host(*tools: Any, **options: Any) -> Host:
    host = Host(**{"model": ScriptedModel(), **options})
    host.call(TextPlugin(*(tools or (Echo(), Shout()))))
    return host


async def within(work: Awaitable[T]) -> T:
    async with asyncio.timeout(IN_TIME):
        return await work


async def failure(host: Host, text: str, **options: Any) -> RunError:
    try:
        result = await within(host.run(text, **options))
    except RunError as error:
        return error
    raise AssertionError(f"the run ended well: {result!r}")


async def lua(code: str, **options: Any) -> str:
    """The result of a piece of Lua on a Host with acme/text."""
    return await within(text_host(**options).run(prompt(code)))
