"""The process of one untrusted prompt: lock in, say so, do what the run asks until the pipe closes (isolated.py)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from runvil.core.frames import read_all, write_all
from runvil.runtime import wire
from runvil.runtime.errors import RunError
from runvil.runtime.guest import compiled
from runvil.runtime.limits import Limits
from runvil.runtime.stage import LocalStage, Outline

_STDIN, _STDOUT = 0, 1
_REHEARSAL = "---\nname: p\ndescription: d\nrunvil: 0\nuses: [web]\n---\n# T\n\n```lua\nreturn prose\n```\n"


def main(lock: Callable[[int], tuple[str, ...]], parent: int) -> None:
    """Serve the process `parent` on standard input and output. Does not return."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is the parent's to handle
    rehearsed = LocalStage(Limits())  # whatever is imported or read on first use is now
    rehearsed.prepare(compiled(_REHEARSAL, "p"))
    rehearsed.entered(0, '{"section":"T","packs":[],"roles":[],"args":{},"var":"{}","always":[]}')
    lock(parent)
    _write(wire.frame(True))
    with suppress(EOFError, OSError):
        _serve()
    os._exit(0)


def _serve() -> None:
    stage = LocalStage(Limits())
    while True:
        request = wire.body(_read(wire.size(_read(wire.HEAD))))
        try:
            if request["do"] == "load":
                memory, steps, seconds = request["limits"]
                stage = LocalStage(Limits(memory=memory, steps=steps, seconds=seconds))
                found = compiled(request["text"], request["file"])
                stage.prepare(found)
                answer = wire.write_outline(Outline.of(found))
            else:
                answer = wire.write_event(_stepped(stage, request))
        except RunError as error:
            answer = wire.write_error(error)
        _write(wire.frame(answer))


def _stepped(stage: LocalStage, request: dict[str, Any]) -> Any:
    if request["do"] == "enter":
        return stage.entered(request["section"], request["setting"])
    return stage.answered(request["ok"], *request["values"])


def _read(size: int) -> bytes:
    """Exactly `size` bytes. Raises EOFError when the run is over."""
    return read_all(partial(os.read, _STDIN), size)


def _write(data: bytes) -> None:
    write_all(partial(os.write, _STDOUT), data)
