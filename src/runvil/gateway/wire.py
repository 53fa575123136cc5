"""uvicorn's HTTP/1.1 with the bounds it lacks: time for a request's head, time to take an answer, connections at once.

Without them anybody who can connect could hold every descriptor of the process, and would need no key for it.
"""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_TIME = 5.0
"""Seconds from a connection, or from the first byte of a later request, to the end of the request's head."""

TAKE_TIME = 10.0
"""Seconds in which a client must make room when it has stopped reading: an answer is 256 KiB at most."""

MAX_CONNECTIONS = 1000
"""Open at once; one more is closed unread. Most systems give a process 1024 descriptors."""


class BoundedProtocol(H11Protocol):
    """One connection."""

    _due: asyncio.TimerHandle | None = None
    _stuck: asyncio.TimerHandle | None = None

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

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stuck = self.loop.call_later(TAKE_TIME, self.transport.abort)

    def resume_writing(self) -> None:
        self._is_taken()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_came()
        self._is_taken()
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

    def _is_taken(self) -> None:
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None

    def _give_up(self) -> None:
        self._due = None
        if not self._is_served():
            self.transport.close()
