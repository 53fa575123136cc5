"""Writing what strangers wrote: to a pipe as it is, to a terminal without its control characters."""

from __future__ import annotations

import os
import re
import sys
from typing import TextIO

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""C0 and C1 but for tab and newline: an escape sequence in a page could retitle, recolour or rewrite a terminal."""


def harmless(text: object, stream: TextIO | None = None) -> str:
    """The text as it may go to the stream, by default stdout."""
    on_terminal = (stream or sys.stdout).isatty()
    return _CONTROLS.sub("\ufffd", str(text)) if on_terminal else str(text)


def say(text: object, stream: TextIO | None = None) -> None:
    """Print a line of somebody's text; by default to stdout."""
    stream = stream or sys.stdout
    print(harmless(text, stream), file=stream)


def coloured(code: int, text: str) -> str:
    """Our own text in a colour (an SGR code), if stdout is a terminal and NO_COLOR is not set."""
    plain = os.environ.get("NO_COLOR", "") != "" or not sys.stdout.isatty()
    return text if plain else f"\x1b[{code}m{text}\x1b[0m"


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
