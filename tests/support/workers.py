"""Worker processes that misbehave, and what is to be seen of processes from outside."""

from __future__ import annotations

import textwrap
from contextlib import suppress
from pathlib import Path

_BOOT = """
import ctypes, errno, mmap, os, signal, socket, subprocess, sys, threading, time
sys.path[:] = sys.argv[2:] + [p for p in sys.path if p not in sys.argv[2:]]
from runvil.core.page import Extraction, Rendered
from runvil.extract import worker
serve = worker._serve
{before}
def locked_in():
{inside}
    serve()
worker._serve = locked_in
worker.main(int(sys.argv[1]))
"""


def boot(inside: str = "", before: str = "") -> str:
    """A worker's program text that runs `inside` once it is locked in and has greeted, `before` before anything."""
    return _BOOT.format(inside=textwrap.indent(inside or "pass", "    "), before=before)


REPORTS_ITSELF = "worker.render = lambda *_: Rendered(str(os.getpid()), Extraction.READABILITY)\n"
"""A worker that answers every page with its process id."""


_others: set[int] = set()


def forget_others() -> None:
    """Leave the processes that are there now out of account: the lab's nursery lives as long as the whole run."""
    _others.clear()
    _others.update(_all_children())


def children() -> set[int]:
    """The processes that any thread of this one has started since, and that are not reaped."""
    return _all_children() - _others


def _all_children() -> set[int]:
    threads = Path("/proc/self/task")
    found: set[int] = set()
    for task in threads.iterdir() if threads.exists() else ():
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread ended meanwhile
            found.update(int(child) for child in (task / "children").read_text().split())
    return found
