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
import threading
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from runvil.core import frames
from runvil.core.page import Extraction, Rendered
from runvil.core.salvage import Salvage, slices
from runvil.net.process import BOOT, Lost, Watchdog, WorkerProcess

MOST_WORKERS = 4
"""A page takes some milliseconds: more processes than this only cost memory, 30 MB each."""

MOST_WAITING = 512
"""Pages that may wait for a worker: twice the fetches one tool may have in flight. The next one is salvaged at once."""

START_PAUSE = 10.0
"""Seconds without a new attempt after a worker could not be started."""

SALVAGE_SECONDS = 0.5
"""Kept back before a page's deadline for salvaging it: 8 MiB take up to a second, 40,000 characters milliseconds."""


logger = logging.getLogger("runvil.workers")


class Workers:
    """The pool; implements `ports.Renderer`. count: processes at most, by default one per processor up to four.

    boot: the program text that a worker's Python runs, for tests.
    """

    def __init__(self, count: int | None = None, boot: str = BOOT) -> None:
        self._count = count or max(1, min(os.cpu_count() or 1, MOST_WORKERS))
        self._boot = boot
        self._changed = threading.Condition()
        self._waiting: deque[_Job] = deque()
        self._keepers: list[_Keeper] = []
        self._closers: list[_Answer] = []
        self._closing = False
        self._complained = False
        self.watchdog = Watchdog()
        self.lost = 0
        """Workers that died or were killed while they had a page."""

    def warm(self) -> None:
        """Start the first worker, if none is there."""
        with self._changed:
            if not self._keepers and not self._closing:
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
        if rendered is not None and rendered.text.strip():
            return rendered
        return await _salvaged(html, limit, until)  # nothing found is looked for once more: memory may have run out

    async def aclose(self) -> None:
        """End every process and thread; pages still waiting are salvaged by those who wait.

        A page that comes later starts anew: who closes a tool may use it again.
        """
        gone = _Answer(asyncio.get_running_loop())
        with self._changed:
            waiting, self._waiting = list(self._waiting), deque()
            keepers = list(self._keepers)
            if keepers:
                self._closing = True
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

    def _enqueue(self, job: _Job) -> bool:
        with self._changed:
            if self._closing or len(self._waiting) >= MOST_WAITING:
                return False
            self._waiting.append(job)
            idle = sum(not keeper.busy for keeper in self._keepers)
            if len(self._waiting) > idle and len(self._keepers) < self._count:
                self._add_keeper()
            self._changed.notify()
            return bool(self._keepers)

    def _withdraw(self, job: _Job) -> None:
        with self._changed:
            if job in self._waiting:  # remove() alone would write the page into the text of a ValueError (CPython 3.11)
                self._waiting.remove(job)

    # --- what the keepers call, in their threads ---

    def next_job(self, keeper: _Keeper) -> _Job | None:
        """The page that has waited longest, or None when the pool closes."""
        with self._changed:
            keeper.busy = False
            while not self._waiting and not self._closing:
                self._changed.wait()
            if self._closing:
                return None
            keeper.busy = True
            return self._waiting.popleft()

    def leave(self, keeper: _Keeper) -> None:
        with self._changed:
            self._keepers.remove(keeper)
            if self._keepers:
                return
        self.watchdog.stop()
        with self._changed:
            if self._keepers:  # a page came meanwhile
                return
            self._closing = False
            closers, self._closers = self._closers, []
        for closer in closers:
            closer.give(None)

    def complain(self, reason: BaseException | None) -> None:
        """Say, once, that there are no workers to be had."""
        with self._changed:
            self._complain(reason)

    # --- under the lock ---

    def _add_keeper(self) -> None:
        keeper = _Keeper(self, self._boot)
        try:
            keeper.start()
        except RuntimeError as error:  # no more threads
            self._complain(error)
        else:
            self._keepers.append(keeper)

    def _complain(self, reason: BaseException | None) -> None:
        if not self._complained:
            self._complained = True
            logger.warning("no worker could be started, pages are reduced to their text: %r", reason)


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
        self._worker: WorkerProcess | None = None
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
                rendered = self._rendered(job.request)
                self.busy = False  # before the answer: the next page may come at once and needs no other worker
                job.answer.give(rendered)
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
            worker = WorkerProcess(self._boot, self._pool.watchdog)
            with self._lock:
                self._worker = worker
                if self._ending:
                    worker.kill()
            worker.greet()
        except Lost as lost:
            self._end_worker()
            self._not_before = time.monotonic() + START_PAUSE
            if not self._ending:
                self._pool.complain(lost.__cause__)

    def _rendered(self, request: frames.Request) -> Rendered | None:
        if self._worker is None:
            return None
        try:
            rendered, last = self._worker.exchange(request)
        except Lost as lost:
            logger.debug("a worker was lost while rendering: %r", lost.__cause__)
            self._pool.lost += 1
            rendered, last = None, True
        if last:
            self._end_worker()
        return rendered

    def _end_worker(self) -> None:
        with self._lock:
            worker, self._worker = self._worker, None
        if worker is not None:
            worker.end()


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
