"""One connection's bytes: hands over what arrives, holds the sender back, tells when an idle one was soiled."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import cast

from runvil.ports import Broken

HIGH_WATER = 64 * 1024
"""Unread bytes at which the sender is held back. asyncio's TLS reads up to 256 KiB before it can be told."""


class Wire(asyncio.Protocol):
    """A connected socket. Read with `read()`; close with `abort()`, which never waits."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._unread: deque[bytes] = deque()
        self._size = 0
        self._paused = False
        self._ended = False
        self._error: Exception | None = None
        self._reader: asyncio.Future[None] | None = None
        self.on_soiled: Callable[[], None] | None = None
        """Called once when something happens on a connection that nobody reads: it cannot be used again."""

    @property
    def clean(self) -> bool:
        """Whether nothing is unread and the peer has not hung up: what reuse demands."""
        return not (self._unread or self._ended or self._transport is None or self._transport.is_closing())

    def write(self, data: bytes) -> None:
        if self._transport is None or self._transport.is_closing():
            raise Broken("the connection is closed")
        self._transport.write(data)

    async def read(self) -> bytes:
        """The next bytes; b"" at the end. Raises Broken when the connection failed."""
        while not self._unread and not self._ended:
            self._reader = self._loop.create_future()
            try:
                await self._reader
            finally:
                self._reader = None
        if not self._unread:
            if self._error is not None:
                raise Broken("the connection failed") from self._error
            return b""
        data = self._unread.popleft()
        self._size -= len(data)
        if self._paused and self._size < HIGH_WATER and self._transport is not None:
            self._paused = False
            self._transport.resume_reading()
        return data

    def abort(self) -> None:
        """Close at once, without waiting for the peer. Any number of times."""
        self.on_soiled = None
        self._unread.clear()  # whoever still holds this object shall not hold what nobody will read
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # other loops' are alike without being one

    def data_received(self, data: bytes) -> None:
        self._unread.append(data)
        self._size += len(data)
        if self._size >= HIGH_WATER and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()
        self._stir()

    def eof_received(self) -> bool:
        self._ended = True
        self._stir()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = True
        self._error = self._error or exc
        self._stir()

    def _stir(self) -> None:
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(None)
        elif self.on_soiled is not None:
            soiled, self.on_soiled = self.on_soiled, None
            soiled()
