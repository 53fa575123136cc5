"""Stopping a round while the run goes on: what is under way is cancelled, the run is told, and lives (spec 1.19)."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

T = TypeVar("T")


class Stopped(Exception):
    """What was awaited was dropped by a stop."""


class Interrupt:
    """The stop switch of one run, whose task it knows. A stop reaches the one thing the run is waiting for.

    Without a task of its own for what it waits for: the run's task is cancelled, and called back from that here.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[object] | None = None
        self._droppable = False
        self._dropped = False
        self._stopped = False

    def stop(self) -> None:
        """Drop what can be dropped now; a call that survives a stop ends first, and its round after it."""
        self._stopped = True
        if self._droppable and not self._dropped and self._task is not None:
            self._dropped = True
            self._task.cancel()

    async def droppable(self, work: Awaitable[T]) -> T:
        """Await `work` so that a stop cancels it. Raises Stopped."""
        self._task = task = asyncio.current_task()
        self._droppable, self._dropped = True, False
        try:
            result = await work
        except asyncio.CancelledError:
            if not self._dropped or task is None or task.uncancel() > 0:
                raise  # the run itself is cancelled, by a stop or not
            raise Stopped from None
        finally:
            self._droppable = False
        if self._dropped and task is not None:  # it ended in spite of being cancelled
            task.uncancel()
            raise Stopped
        return result

    def begin_round(self) -> None:
        """From here on a stop is meant for this round."""
        self._stopped = False

    def check_round(self) -> None:
        """Raise Stopped when a stop came while something that survives it was under way."""
        if self._stopped:
            raise Stopped
