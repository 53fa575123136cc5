"""`fetch_sync`: the walk for programs without an event loop, and for notebooks whose loop is busy.

One loop, in one daemon thread, started by the first call and shared by all; its WebFetch has the default policy.
"""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Coroutine
from concurrent.futures import CancelledError
from typing import Any, TypeVar

from runvil.core.config import FetchConfig
from runvil.core.page import Page
from runvil.tools import WebFetch

T = TypeVar("T")

CLOSING_SECONDS = 5.0
"""How long the interpreter's exit waits for the worker processes to be ended."""


class _Background:
    """The loop thread and its WebFetch."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.fetch = WebFetch()
        self._thread = threading.Thread(target=self._loop.run_forever, name="runvil-sync", daemon=True)
        self._thread.start()
        atexit.register(self.close)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except (KeyboardInterrupt, CancelledError):
            future.cancel()
            raise

    def close(self) -> None:
        """End the worker processes and the loop's thread."""
        atexit.unregister(self.close)
        asyncio.run_coroutine_threadsafe(self.fetch.aclose(), self._loop).result(CLOSING_SECONDS)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(CLOSING_SECONDS)
        self._loop.close()


_lock = threading.Lock()
_background: _Background | None = None


def _shared() -> _Background:
    global _background  # noqa: PLW0603  one thread for the process, like the interpreter's own
    with _lock:
        if _background is None:
            _background = _Background()
        return _background


def fetch_sync(url: str, *, raw: bool = False, max_chars: int | None = None, config: FetchConfig | None = None) -> Page:
    """Fetch one page, waiting for it; inside a running loop too. raw, max_chars: as of `WebFetch.fetch`.

    Raises FetchFailure, and ConfigError when the environment's trust roots cannot be used.

    config: another policy than the default; its connections and workers are opened for this call and closed after it.
    """
    shared = _shared()
    if config is None:
        return shared.run(shared.fetch.fetch(url, raw=raw, max_chars=max_chars))
    return shared.run(_once(config, url, raw, max_chars))


async def _once(config: FetchConfig, url: str, raw: bool, max_chars: int | None) -> Page:
    async with WebFetch(config) as fetch:
        return await fetch.fetch(url, raw=raw, max_chars=max_chars)
