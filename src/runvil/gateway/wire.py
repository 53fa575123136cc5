"""uvicorn's HTTP/1.1 with the two bounds it lacks: the time for a request's head, and the number of connections.

Without them anybody who can connect could hold every descriptor of the process, and needs no key for it.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_TIME = 5.0
"""Seconds from a connection, or from the first byte of a later request, to the end of the request's head."""

MAX_CONNECTIONS = 1000
"""Open at once; one more is closed unread. Most systems give a process 1024 descriptors."""


class BoundedProtocol(H11Protocol):
    """One connection."""

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()
        else:
            self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_served():
            self._head_came()
        elif self._due is None:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        super().connection_lost(exc)

    def _is_served(self) -> bool:
        """Whether a request has come whose answer has not ended."""
        return self.cycle is not None and not self.cycle.response_complete

    def _expect_head(self) -> None:
        self._due = self.loop.call_later(HEAD_TIME, self._give_up)

    def _head_came(self) -> None:
        if self._due is not None:
            self._due.cancel()
            self._due = None

    def _give_up(self) -> None:
        self._due = None
        if not self._is_served():
            self.transport.close()
