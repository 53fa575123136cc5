"""The pool of worker processes that turn HTML into markdown: killable, locked in, replaced when lost.

A page can make a parser hang, swell or crash, so it is parsed in a process of its own (extract/worker.py), started as a
command line: never `multiprocessing`, which would run the caller's script again. One thread per process does the
blocking reads and writes, so a pool serves whatever event loops come along, and works where loops have no pipes.
Whatever happens to a worker, the page's text comes from `core.salvage` instead: rendering fails for no page.
"""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from runvil.core import frames
from runvil.core.page import Extraction, Rendered
from runvil.core.salvage import Salvage, slices

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import IO

MOST_WORKERS = 4
"""A page takes some milliseconds: more processes than this only cost memory, 30 MB each."""

MOST_WAITING = 512
"""Pages that may wait for a worker: twice the fetches one tool may have in flight. The next one is salvaged at once."""

PAGE_SECONDS = 9.0
"""Wall time for one page: three times the worker's own CPU limit, for a machine that is busy with other things."""

START_SECONDS = 20.0
"""Wall time for a start, which takes 0.1 s; the margin is for cold disks."""

START_PAUSE = 10.0
"""Seconds without a new attempt after a worker could not be started."""

SALVAGE_SECONDS = 0.5
"""Kept back before a page's deadline for salvaging it: 8 MiB take up to a second, 40,000 characters milliseconds."""

_BOOT: Final = (
    "import sys; sys.path += [p for p in sys.argv[2:] if p not in sys.path]; "
    "from runvil.extract.worker import main; main(int(sys.argv[1]))"
)

_PIECE: Final = 1024 * 1024
_KEPT_ENVIRONMENT: Final = ("SYSTEMROOT",)
"""Windows cannot start Python without it. Nothing else: what is in the environment is not the page's business."""

logger = logging.getLogger("runvil.workers")


class Lost(Exception):
    """A worker could not be started, died, took too long or answered garbage."""


class Workers:
    """The pool; implements `ports.Renderer`. count: processes at most, by default one per processor up to four.

    boot: the program text that a worker's Python runs, for tests.
    """

    def __init__(self, count: int | None = None, boot: str = _BOOT) -> None:
        self._count = count or max(1, min(os.cpu_count() or 1, MOST_WORKERS))
        self._boot = boot
        self._changed = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._keepers: list[_Keeper] = []
        self._closers: list[_Answer] = []
        self._closed = False

    def warm(self) -> None:
        """Start the first worker, if none is there."""
        with self._changed:
            if not self._keepers and not self._closed:
                self._add_keeper()

    @property
    def locks(self) -> tuple[str, ...]:
        """The names of the locks that a worker has put on; none before the first has started."""
        with self._changed:
            return next((keeper.locks for keeper in self._keepers if keeper.locks), ())

    async def render(self, html: bytes, address: str, *, raw: bool, limit: int, until: float) -> Rendered:
        """Render UTF-8 `html`; what a lost worker or a late one owes is salvaged. Never raises but for cancellation."""
        loop = asyncio.get_running_loop()
        job = _Job(frames.Request(raw, limit, address, html), _Answer(loop))
        rendered = None
        try:
            if self._enqueue(job):
                async with asyncio.timeout_at(until - SALVAGE_SECONDS):
                    rendered = await job.answer.future
        except TimeoutError:
            pass
        finally:
            self._withdraw(job)
        if rendered is None:
            rendered = await _salvaged(html, limit, until)
        return rendered

    async def aclose(self) -> None:
        """End every process and thread; pages still waiting are salvaged by those who wait."""
        gone = _Answer(asyncio.get_running_loop())
        with self._changed:
            self._closed = True
            waiting, self._waiting = list(self._waiting), deque()
            keepers = list(self._keepers)
            if keepers:
                self._closers.append(gone)
            self._changed.notify_all()
        for job in waiting:
            job.answer.give(None)
        for keeper in keepers:
            keeper.end()
        if keepers:
            await gone.future
        for keeper in keepers:
            keeper.join()  # has said that it is gone: returns at once

    # --- what the keepers call, in their threads ---

    def next_job(self, keeper: _Keeper) -> _Job | None:
        """The page that has waited longest, or None when the pool closes."""
        with self._changed:
            keeper.busy = False
            while not self._waiting and not self._closed:
                self._changed.wait()
            if self._closed:
                return None
            keeper.busy = True
            return self._waiting.popleft()

    def leave(self, keeper: _Keeper) -> None:
        with self._changed:
            self._keepers.remove(keeper)
            closers = [] if self._keepers else self._closers
        for closer in closers:
            closer.give(None)

    # --- under the lock or before it ---

    def _enqueue(self, job: _Job) -> bool:
        with self._changed:
            if self._closed or len(self._waiting) >= MOST_WAITING:
                return False
            self._waiting.append(job)
            idle = sum(not keeper.busy for keeper in self._keepers)
            if len(self._waiting) > idle and len(self._keepers) < self._count:
                self._add_keeper()
            self._changed.notify()
        return True

    def _withdraw(self, job: _Job) -> None:
        with self._changed, suppress(ValueError):
            self._waiting.remove(job)

    def _add_keeper(self) -> None:
        keeper = _Keeper(self, self._boot)
        self._keepers.append(keeper)
        keeper.start()


class _Answer:
    """A future that any thread may fulfil, once its loop is free, or never if its loop is gone."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self.future: asyncio.Future[Rendered | None] = loop.create_future()

    def give(self, rendered: Rendered | None) -> None:
        with suppress(RuntimeError):  # the loop was closed meanwhile
            self._loop.call_soon_threadsafe(self._settle, rendered)

    def _settle(self, rendered: Rendered | None) -> None:
        if not self.future.done():
            self.future.set_result(rendered)


@dataclass(eq=False, slots=True)
class _Job:
    request: frames.Request
    answer: _Answer


class _Keeper(threading.Thread):
    """The thread that keeps one worker process alive and passes it pages."""

    def __init__(self, pool: Workers, boot: str) -> None:
        super().__init__(name="runvil-worker", daemon=True)
        self.busy = False
        self._pool = pool
        self._boot = boot
        self._lock = threading.Lock()
        self._ending = False
        self._worker: _Worker | None = None
        self._not_before = 0.0

    @property
    def locks(self) -> tuple[str, ...]:
        worker = self._worker
        return worker.locks if worker is not None else ()

    def run(self) -> None:
        try:
            self._start()
            while (job := self._pool.next_job(self)) is not None:
                self._start()
                job.answer.give(self._rendered(job.request))
                self._start()
        finally:
            self._end_worker()
            self._pool.leave(self)

    def end(self) -> None:
        """Kill the process, now or as soon as it has started. From any thread."""
        with self._lock:
            self._ending = True
            if self._worker is not None:
                self._worker.kill()

    def _start(self) -> None:
        """Have a worker that has greeted, if one can be had."""
        if self._worker is not None or time.monotonic() < self._not_before:
            return
        try:
            worker = _Worker(self._boot)
            with self._lock:
                self._worker = worker
                if self._ending:
                    worker.kill()
            worker.greet()
        except Lost as lost:
            self._end_worker()
            self._not_before = time.monotonic() + START_PAUSE
            if not self._ending:
                logger.warning("no worker could be started, pages are reduced to their text: %s", lost.__cause__)

    def _rendered(self, request: frames.Request) -> Rendered | None:
        if self._worker is None:
            return None
        try:
            rendered, last = self._worker.exchange(request)
        except Lost as lost:
            logger.debug("a worker was lost while rendering: %r", lost.__cause__)
            rendered, last = None, True
        if last:
            self._end_worker()
        return rendered

    def _end_worker(self) -> None:
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()


class _Worker:
    """One process and its two pipes. Used by one thread, but for kill()."""

    def __init__(self, boot: str) -> None:
        self.locks: tuple[str, ...] = ()
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
        timer = threading.Timer(seconds, self.kill)
        timer.daemon = True
        timer.start()
        try:
            yield
        except (OSError, EOFError, frames.Garbled, OverflowError) as error:
            raise Lost from error
        finally:
            timer.cancel()
            timer.join()

    def _pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def _read(self, size: int) -> bytes:
        pieces = []
        while size > 0:
            piece = self._pipes()[1].read(min(size, _PIECE))
            if not piece:
                raise EOFError
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._pipes()[0].write(rest) :]


async def _salvaged(html: bytes, limit: int, until: float) -> Rendered:
    """The page's bare text, as much as there is by `until`, in pieces between which the loop does other things."""
    loop = asyncio.get_running_loop()
    rescue = Salvage(limit + 1)
    for piece in slices(html):
        rescue.feed(piece)
        if rescue.full or loop.time() >= until:
            break
        await asyncio.sleep(0)
    return Rendered(rescue.text(), Extraction.RAW_HTML)
