"""MCP over stdin and stdout, until the client closes its end.

Where both are pipes, as a client makes them, the event loop itself reads and writes them: the SDK's way takes three
turns of a thread for every message, and cannot be interrupted. Elsewhere (a terminal, a file, Windows) it is the SDK's.
"""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

INTERRUPTED = 130

MAX_LINE = 4 * 1024 * 1024
"""Bytes of a message, as many as the SDK takes over HTTP; a longer one is answered as one that cannot be read."""

PIPE_ROOM = 256 * 1024
"""Bytes that a pipe is asked to hold, the most that Linux gives everybody: an answer should not need several turns."""

F_SETPIPE_SZ = 1031  # fcntl(2); the module knows it on Linux alone


def serve_stdio(server: Server[Any]) -> None:
    asyncio.run(_serve(server))


async def _serve(server: Server[Any]) -> None:
    with suppress(NotImplementedError):  # Windows has no such handler, and no need of one
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, _leave)
    async with _lines() as (incoming, outgoing), stdio_server(incoming, outgoing) as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _leave() -> None:
    """At once: the SDK waits for stdin in a thread that nothing interrupts. Workers end with their parent."""
    os._exit(INTERRUPTED)


@asynccontextmanager
async def _lines() -> AsyncIterator[tuple[Any, Any]]:
    """What the SDK's transport reads lines from and writes them to; None for its own."""
    if sys.platform == "win32" or not (_is_pipe(0) and _is_pipe(1)):
        yield None, None
        return
    incoming, outgoing = _taken()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_LINE)
    source, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb", 0))
    sink, flow = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, os.fdopen(outgoing, "wb", 0))
    try:
        yield _In(reader), _Out(asyncio.StreamWriter(sink, cast(Any, flow), None, loop))
    finally:
        source.close()
        sink.close()


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


def _taken() -> tuple[int, int]:
    """The pipes, under other numbers: what else reads stdin finds nothing, what else prints does so to stderr."""
    incoming, outgoing = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    _widen(outgoing)
    return incoming, outgoing


def _widen(pipe: int) -> None:
    with suppress(ImportError, OSError):  # not Linux, no pipe, or the user's pipes hold enough already
        import fcntl  # noqa: PLC0415  not on every platform

        fcntl.fcntl(pipe, F_SETPIPE_SZ, PIPE_ROOM)


class _In:
    """Lines of text."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader

    def __aiter__(self) -> _In:
        return self

    async def __anext__(self) -> str:
        try:
            line = await self._reader.readline()
        except ValueError:  # longer than MAX_LINE
            return "\n"
        if not line:
            raise StopAsyncIteration
        return line.decode("utf-8", "replace")


class _Out:
    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def write(self, text: str) -> None:
        self._writer.write(text.encode("utf-8"))
        await self._writer.drain()

    async def flush(self) -> None:
        return
