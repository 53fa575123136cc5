"""What the adapters share: a call whose every outcome is a text for the model, and calls for callers without a loop."""

from __future__ import annotations

import asyncio
import atexit
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from runvil import Tool, ToolError, WebFetch

CLOSING_SECONDS = 5.0
"""How long the interpreter's exit waits for the worker processes to be ended."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """text: exactly what the tool says. failed: it was a refusal or an error, not a result."""

    text: str
    failed: bool = False


async def outcome(tool: Tool, arguments: Any) -> Outcome:
    """Call a tool. No failure of a call is raised: an agent goes on, and its model reads what was wrong."""
    try:
        output = await tool.call(arguments)  # anything a model wrote: the tool checks it
    except ToolError as error:
        return Outcome(str(error), failed=True)
    return Outcome(output.text)


async def outcome_of(tools: Sequence[Tool], name: str, arguments: str | object) -> Outcome:
    """The same by wire name, with arguments that may still be JSON text."""
    tool = next((tool for tool in tools if tool.wire_name == name), None)
    if tool is None:
        return Outcome(f"no tool named {name}; there is: {', '.join(tool.wire_name for tool in tools)}", failed=True)
    return await outcome(tool, _decoded(arguments) if isinstance(arguments, str) else arguments)


def _decoded(text: str) -> object:
    """What is no JSON is no arguments, and the tool says which are missing."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class Blocking:
    """A tool for callers that wait: its calls run on one loop, in a daemon thread that the first call starts.

    opening: makes the tool, when it is first needed.
    """

    def __init__(self, opening: Callable[[], Tool]) -> None:
        self._opening = opening
        self._lock = threading.Lock()
        self._tool: Tool | None = None

    def __call__(self, **arguments: object) -> str:
        return self.outcome(arguments).text

    def outcome(self, arguments: object) -> Outcome:
        future = asyncio.run_coroutine_threadsafe(outcome(self._started(), arguments), self._loop)
        try:
            return future.result()
        except BaseException:  # the caller was interrupted: so is the call
            future.cancel()
            raise

    def _started(self) -> Tool:
        with self._lock:
            if self._tool is None:
                self._tool = self._opening()
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._loop.run_forever, name="runvil-tool", daemon=True)
                self._thread.start()
                atexit.register(self.close)
            return self._tool

    def close(self) -> None:
        """End the tool and its thread. A later call starts anew."""
        with self._lock:
            tool, self._tool = self._tool, None
        if tool is None:
            return
        atexit.unregister(self.close)
        if isinstance(tool, WebFetch):
            asyncio.run_coroutine_threadsafe(tool.aclose(), self._loop).result(CLOSING_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSING_SECONDS)
        self._loop.close()
