"""Packs and the Plugins that bring them (spec 3.13): how anybody gives prompts tools.

class Shout:
    id, wire_name = "text/shout", "text_shout"
    description = "Put a text in capitals."
    parameters = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

    async def call(self, arguments):
        return ToolOutput(str(arguments.get("text", "")).upper(), untrusted=False)

class TextPlugin:
    def packs(self, config, services):
        return [Pack("acme/text", [Shout()])]
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from runvil.core.config import ConfigError
from runvil.runtime.frontmatter import pack_id
from runvil.tools import Tool

_NAME: Final = re.compile(r"[a-z0-9._-]+/[a-z0-9._-]+")


def wire_name(tool_id: str) -> str:
    """The name under which a model sees a tool (spec 3.7)."""
    return tool_id.replace("/", "_").replace(".", "_")


@dataclass(frozen=True, slots=True)
class Pack:
    """A named set of tools. name: vendor/id. tools: each one's id is the Pack's id, a slash and the tool's own name.

    A tool may have `survives_stop`, True to go on when a model round is stopped. close: called when the Host closes.
    Raises ConfigError for a name or an id that is none.
    """

    name: str
    tools: Sequence[Tool]
    close: Callable[[], Awaitable[None]] | None = None

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ConfigError(f"{self.name!r} is no Pack name: vendor/id, of a-z 0-9 - _ .")
        ids = [tool.id for tool in self.tools]
        for tool_id in ids:
            if not tool_id.startswith(f"{self.id}/") or ids.count(tool_id) > 1:
                raise ConfigError(f"{tool_id!r} is no tool id in {self.name}, or not its only one")
        for tool in self.tools:
            if tool.wire_name != wire_name(tool.id):
                raise ConfigError(f"the wire name of {tool.id} is {wire_name(tool.id)}, not {tool.wire_name}")

    @property
    def id(self) -> str:
        return pack_id(self.name)


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A Pack that could not be built; reason: what a run that needs it is told."""

    name: str
    reason: str

    @property
    def id(self) -> str:
        return pack_id(self.name)


class Plugin(Protocol):
    """What a Host calls for Packs: any object with this method."""

    def packs(self, config: Mapping[str, Any], services: Mapping[str, Any]) -> Sequence[Pack | Unavailable]:
        """Build the Packs, once per Host. config: the Plugin's JSON, each Pack's part under its id.

        services: the Host-wide ones by id. What cannot be built is returned as Unavailable, not raised.
        """
        ...
