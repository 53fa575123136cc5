"""What a run tells whoever watches it: one event for each thing that happened, as a plain JSON object.

    run      name, nonce, args, packs        the run begins; with what follows, all that a replay needs (replay.py)
    section  section                         a section begins
    log      section, text                   lines the prompt logged
    tool     section, by, id, arguments, outcome, text, untrusted, soft, ms
    round    section, label, messages, tools, content, tool_calls | error, ms
    end      result | error_kind and error, ms

`at` in each: milliseconds since the run began. A trace holds everything a model was told: keep it like its pages.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any, TextIO

Observer = Callable[[Mapping[str, Any]], None]
"""Called with every event as it happens. What it raises ends the run."""


class Trace:
    """Passes events on, with their time. Without an observer nothing is written down or timed."""

    def __init__(self, observer: Observer | None) -> None:
        self._observer = observer
        self._begun = time.monotonic()
        self.section = ""

    @property
    def on(self) -> bool:
        return self._observer is not None

    def tell(self, event: str, **members: Any) -> None:
        if self._observer is not None:
            self._observer({"event": event, "at": since(self._begun), **members})

    def now(self) -> float:
        return time.monotonic()


def since(begun: float) -> float:
    """Milliseconds, to the microsecond."""
    return round((time.monotonic() - begun) * 1000, 3)


def to_file(file: TextIO) -> Observer:
    """One JSON line an event, flushed: a run that is killed leaves what happened."""

    def write(event: Mapping[str, Any]) -> None:
        file.write(json.dumps(event, separators=(",", ":")) + "\n")
        file.flush()

    return write
