"""Idle connections of one `WebFetch`. One is lent only to a request whose freshly vetted addresses hold its peer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass

import h11

from runvil.core.addresses import Address
from runvil.net.wire import Wire

MAX_IDLE = 64
"""Idle connections kept in all: more than one agent needs, few enough to cost nothing."""

Key = tuple[str, str, int]
"""(scheme, tls_name, port): what a connection was opened, and its certificate checked, for."""


@dataclass(slots=True, eq=False)
class Line:
    """A connection and its HTTP state. peer: the vetted address that was dialled.

    doubtful: a message on it had two lengths, so nobody knows where the next begins (RFC 9112 6.3).
    expires: the loop time until which it is kept, once idle.
    """

    key: Key
    peer: Address
    wire: Wire
    http: h11.Connection
    doubtful: bool = False
    expires: float = 0.0

    @property
    def reusable(self) -> bool:
        """Both sides of h11 are done, and neither it nor the socket holds a byte or an end that nobody read."""
        done = self.http.our_state is h11.DONE and self.http.their_state is h11.DONE
        return done and not self.doubtful and self.http.trailing_data == (b"", False) and self.wire.clean


class Pool:
    """Serves one event loop at a time; lines of an earlier one are forgotten."""

    def __init__(self, idle_timeout: float) -> None:
        self._idle_timeout = idle_timeout
        self._idle: dict[Line, None] = {}  # oldest first
        self._loop: asyncio.AbstractEventLoop | None = None
        self._tidying: asyncio.Task[None] | None = None

    def take(self, key: Key, addresses: Sequence[Address]) -> Line | None:
        """An idle line to one of `addresses`, the youngest first; it is the caller's from then on."""
        self._settle_in()
        for line in reversed(self._idle):
            if line.key == key and line.peer in addresses and line.wire.clean:
                self._remove(line)
                return line
        return None

    def put(self, line: Line) -> None:
        """Keep a line whose exchange is over, if HTTP and the socket agree that it is; close it otherwise."""
        if not line.reusable:
            line.wire.abort()
            return
        self._settle_in()
        while len(self._idle) >= MAX_IDLE:
            self._drop(next(iter(self._idle)))
        line.http.start_next_cycle()
        line.expires = asyncio.get_running_loop().time() + self._idle_timeout
        line.wire.on_soiled = lambda: self._drop(line)
        self._idle[line] = None
        if self._tidying is None or self._tidying.done():
            self._tidying = asyncio.get_running_loop().create_task(self._tidy())

    async def aclose(self) -> None:
        for line in list(self._idle):
            self._drop(line)
        if self._tidying is not None and self._loop is asyncio.get_running_loop():
            self._tidying.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._tidying
        self._tidying = None

    async def _tidy(self) -> None:
        """Close lines whose time is up; all of them when the loop ends, which cancels its tasks."""
        loop = asyncio.get_running_loop()
        try:
            while self._idle:
                await asyncio.sleep(next(iter(self._idle)).expires - loop.time())
                for line in [line for line in self._idle if line.expires <= loop.time()]:
                    self._drop(line)
        finally:
            for line in list(self._idle):
                self._drop(line)

    def _settle_in(self) -> None:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._tidying, self._idle = loop, None, {}

    def _remove(self, line: Line) -> None:
        del self._idle[line]
        line.wire.on_soiled = None

    def _drop(self, line: Line) -> None:
        if line in self._idle:
            self._remove(line)
            line.wire.abort()
