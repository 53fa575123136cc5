"""Writing what strangers wrote: to a pipe as it is, to a terminal without its control characters."""

from __future__ import annotations

import re
import sys
from typing import TextIO

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""C0 and C1 but for tab and newline: an escape sequence in a page could retitle, recolour or rewrite a terminal."""


def say(text: object, stream: TextIO | None = None) -> None:
    """Print a line; by default to stdout."""
    stream = stream or sys.stdout
    shown = str(text)
    print(_CONTROLS.sub("\ufffd", shown) if stream.isatty() else shown, file=stream)


class Progress:
    """One line on a terminal's stderr that counts; nothing elsewhere."""

    def __init__(self, total: int, what: str) -> None:
        self._total = total
        self._what = what
        self._done = 0
        self._shown = total > 1 and sys.stderr.isatty()

    def step(self) -> None:
        self._done += 1
        if self._shown:
            print(f"\r{self._done}/{self._total} {self._what}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
