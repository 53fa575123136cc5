"""One worker process and its two pipes: started, greeted, asked for a page, killed and reaped.

Started as a command line: never `multiprocessing`, which would run the caller's script again, and never by import,
which would bring the parser into this process. It gets no environment, no descriptor but its pipes, and no second more
than its time.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from runvil.core import frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import IO

    from runvil.core.page import Rendered

BOOT: Final = (
    "import sys; ours = sys.argv[2:]; sys.path[:] = ours + [p for p in sys.path if p not in ours]; "
    "from runvil.extract.worker import main; main(int(sys.argv[1]))"
)
"""What the process runs: this house from where this process has it. Isolated (-I), so the paths come as arguments."""

PAGE_SECONDS = 9.0
"""Wall time for one page: three times the worker's own CPU limit, for a machine that is busy with other things."""

START_SECONDS = 20.0
"""Wall time for a start, which takes 0.1 s; the margin is for cold disks."""

_KEPT_ENVIRONMENT: Final = ("SYSTEMROOT",)
"""Windows cannot start Python without it. Nothing else: what is in the environment is not the page's business."""


class Lost(Exception):
    """A worker could not be started, died, took too long or answered garbage."""


class Watchdog:
    """One thread that ends what takes too long, for all processes of a pool.

    A page goes under guard and out again without waking it: it looks up only when the earliest time may have come.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._guarded: dict[object, tuple[float, Callable[[], None]]] = {}
        self._thread: threading.Thread | None = None
        self._wakes = math.inf

    @contextmanager
    def guard(self, seconds: float, end: Callable[[], None]) -> Iterator[None]:
        """Call `end` if what happens inside takes longer. Raises Lost where there are no more threads."""
        key, until = object(), time.monotonic() + seconds
        with self._changed:
            self._start()
            self._guarded[key] = (until, end)
            if until < self._wakes:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                del self._guarded[key]

    def stop(self) -> None:
        """End the thread; the next guard starts another."""
        with self._changed:
            thread, self._thread = self._thread, None
            self._changed.notify()
        if thread is not None:
            thread.join()

    def _start(self) -> None:
        if self._thread is not None:
            return
        thread = threading.Thread(target=self._watch, name="runvil-watchdog", daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # no more threads
            raise Lost from error
        self._thread = thread

    def _watch(self) -> None:
        me = threading.current_thread()
        with self._changed:
            while self._thread is me:
                now = time.monotonic()
                for until, end in self._guarded.values():
                    if until <= now:
                        end()
                to_come = [until for until, _ in self._guarded.values() if until > now]
                self._wakes = min(to_come, default=math.inf)
                self._changed.wait(self._wakes - now if to_come else None)


class WorkerProcess:
    """One process and its two pipes. Used by one thread, but for kill()."""

    def __init__(self, boot: str, watchdog: Watchdog) -> None:
        self.locks: tuple[str, ...] = ()
        self._watchdog = watchdog
        try:
            self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and program text
                [sys.executable, "-I", "-c", boot, str(os.getpid()), *map(os.path.abspath, filter(None, sys.path))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,  # bounded, and nothing a page made a parser say belongs in a log
                env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
                bufsize=0,
                close_fds=True,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except (OSError, ValueError, TypeError) as error:
            raise Lost from error

    def greet(self) -> None:
        with self._within(START_SECONDS):
            self.locks = frames.read_hello(self._read)

    def exchange(self, request: frames.Request) -> tuple[Rendered, bool]:
        """Have a page rendered; whether the worker ends after it. Raises Lost."""
        with self._within(PAGE_SECONDS):
            for part in frames.write_request(request):
                self._write(part)
            return frames.read_reply(self._read, request.limit)

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        """Kill and reap the process and close its pipes."""
        self._process.kill()
        for pipe in self._pipes():
            with suppress(OSError):
                pipe.close()
        self._process.wait()

    @contextmanager
    def _within(self, seconds: float) -> Iterator[None]:
        """Kill the process if what happens inside takes longer; its pipes break then. Raises Lost for any break."""
        try:
            with self._watchdog.guard(seconds, self.kill):
                yield
        except (OSError, EOFError, frames.Garbled, OverflowError) as error:
            raise Lost from error

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def _read(self, size: int) -> bytes:
        return frames.read_all(self._pipes()[1].read, size)

    def _write(self, data: bytes) -> None:
        frames.write_all(self._pipes()[0].write, data)
