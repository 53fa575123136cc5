"""The two ends of a session as the SDK wants them: what it reads messages from, and what it writes them to.

The SDK's own stdio transport hands every message on twice more, from a task that reads and to one that writes, and each
hand-over is several turns of the loop. Here the one who wants a message splits and reads the next line itself, and the
one who has a message writes it itself.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

import anyio
import mcp_types as types
from mcp.shared.message import ServerMessageMetadata, SessionMessage

MAX_LINE = 4 * 1024 * 1024
"""Bytes of a message, as many as the SDK takes over HTTP; of a longer one nothing is kept."""

MAX_CALLS = 1024
"""Requests that are read and not yet answered: four times as many as a WebFetch runs at once. While there are so many
the next line is not read, so that what a client asked without waiting stays with the client."""

PIECE = 64 * 1024
"""Bytes that are read at once: what a pipe holds."""

ANSWERS = (types.JSONRPCResponse, types.JSONRPCError)

TOO_LONG = types.ErrorData(code=types.INVALID_REQUEST, message=f"the message is longer than {MAX_LINE} bytes")
NO_JSON = types.ErrorData(code=types.PARSE_ERROR, message="the line is no JSON")
NO_MESSAGE = types.ErrorData(code=types.INVALID_REQUEST, message="the line is no JSON-RPC 2.0 message")


class Lines:
    """Bytes as they come, cut into lines. A line longer than `most` bytes becomes None, however long it goes on."""

    def __init__(self, most: int = MAX_LINE) -> None:
        self._most = most
        self._begun = bytearray()
        self._lost = False  # the line that has begun is too long already

    def of(self, piece: bytes) -> Iterator[bytes | None]:
        """The lines that end in this piece, without their ends."""
        *whole, rest = piece.split(b"\n")
        for last in whole:
            self._go_on(last)
            yield self._ended()
        self._go_on(rest)

    def end(self) -> Iterator[bytes | None]:
        """The last line, where it has no end."""
        if self._begun or self._lost:
            yield self._ended()

    def _go_on(self, more: bytes) -> None:
        self._lost = self._lost or len(self._begun) + len(more) > self._most
        if self._lost:
            self._begun.clear()
        else:
            self._begun += more

    def _ended(self) -> bytes | None:
        line = None if self._lost else bytes(self._begun)
        self._begun.clear()
        self._lost = False
        return line


class Flow(asyncio.BaseProtocol):
    """What the loop says of a pipe that is written to: whether it takes more, and whether anyone reads it.

    leave: called when nobody does; ends the reading.
    """

    def __init__(self, leave: Callable[[], None]) -> None:
        self._leave = leave
        self._free = asyncio.Event()
        self._free.set()
        self.lost = False

    def pause_writing(self) -> None:
        self._free.clear()

    def resume_writing(self) -> None:
        self._free.set()

    def connection_lost(self, exc: Exception | None) -> None:
        """Who reads no answers is served no more, whatever it may still ask."""
        self.lost = True
        self._free.set()
        self._leave()

    async def free(self) -> None:
        await self._free.wait()


class _End:
    """What the SDK does with an end beside reading or writing."""

    async def aclose(self) -> None:
        """The pipe is closed by who opened it."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class Outgoing(_End):
    """Writes messages, one after the other. While the client does not read, senders wait and hold no bytes yet."""

    def __init__(self, pipe: asyncio.WriteTransport, flow: Flow) -> None:
        self._pipe = pipe
        self._flow = flow
        self._turn = asyncio.Lock()
        self.calls = asyncio.Semaphore(MAX_CALLS)

    async def send(self, item: SessionMessage) -> None:
        """Raises anyio.BrokenResourceError when nobody reads."""
        try:
            async with self._turn:
                await self._flow.free()
                self._write(item.message)
        finally:  # a call whose answer could not be written is over as well
            if isinstance(item.message, ANSWERS):
                self.calls.release()

    async def refuse(self, error: types.ErrorData) -> None:
        """Answer what is no request, and so has no id. Raises anyio.BrokenResourceError."""
        async with self._turn:
            await self._flow.free()
            self._write(types.JSONRPCError(jsonrpc="2.0", id=None, error=error))

    def _write(self, message: types.JSONRPCMessage) -> None:
        if self._flow.lost:
            raise anyio.BrokenResourceError
        self._pipe.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async def unanswered(self) -> None:
        """A request was cancelled, so that nothing answers it."""
        self.calls.release()


class Incoming(_End):
    """Reads messages until the client closes its end. A line that is none is answered, and not handed on."""

    def __init__(self, reader: asyncio.StreamReader, outgoing: Outgoing) -> None:
        self._reader = reader
        self._outgoing = outgoing
        self._lines = Lines()
        self._waiting: deque[bytes | None] = deque()
        self._call = ServerMessageMetadata(on_request_unanswered=outgoing.unanswered)

    async def receive(self) -> SessionMessage:
        """Raises anyio.EndOfStream."""
        while True:
            message = _read(await self._line())
            if isinstance(message, types.JSONRPCRequest):
                await self._outgoing.calls.acquire()
                return SessionMessage(message, self._call)
            if isinstance(message, types.ErrorData):
                await self._outgoing.refuse(message)
            elif message is not None:
                return SessionMessage(message)

    async def _line(self) -> bytes | None:
        while not self._waiting:
            piece = await self._reader.read(PIECE)
            self._waiting.extend(self._lines.of(piece) if piece else self._lines.end())
            if not piece and not self._waiting:
                raise anyio.EndOfStream
        return self._waiting.popleft()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError) as error:
            raise StopAsyncIteration from error


def _read(line: bytes | None) -> types.JSONRPCMessage | types.ErrorData | None:
    """The message of a line, or what is wrong with it; None for an empty one. What is not UTF-8 in it is replaced."""
    if line is None:
        return TOO_LONG
    if not line.strip():
        return None
    text = line.decode("utf-8", "replace")
    try:
        return types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return NO_MESSAGE if _is_json(text) else NO_JSON


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
