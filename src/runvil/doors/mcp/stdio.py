"""MCP over stdin and stdout, until the client closes its end.

Where both are pipes, as a client makes them, the event loop itself reads and writes them (pipes.py): the SDK's way
takes three turns of a thread for every message, and cannot be interrupted. Elsewhere (a terminal, a file, Windows) it
is the SDK's.
"""

from __future__ import annotations

import asyncio
import os
import signal
import stat
import sys
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from runvil.core.config import ConfigError
from runvil.doors.mcp.pipes import Flow, Incoming, Outgoing

INTERRUPTED = 130

ALONE = "runvil: waiting for an MCP client to speak on stdin; Ctrl-C ends it"

PIPE_ROOM = 256 * 1024
"""Bytes that a pipe is asked to hold, the most that Linux gives everybody: an answer should not need several turns."""

F_SETPIPE_SZ = 1031  # fcntl(2); the module knows it on Linux alone


def serve_stdio(server: Server[Any]) -> None:
    """Raises ConfigError where there is no stdin or stdout, OSError where stdout takes nothing more."""
    if sys.stdin is None or sys.stdout is None:
        raise ConfigError("stdin and stdout must be open: a client speaks through them")
    if sys.stdin.isatty():
        print(ALONE, file=sys.stderr, flush=True)  # noqa: T201
    try:
        asyncio.run(_serve(server))
    except ExceptionGroup as group:  # the SDK's transport, on a disk that is full
        if isinstance(group.exceptions[0], OSError):
            raise group.exceptions[0] from group
        raise


async def _serve(server: Server[Any]) -> None:
    with suppress(NotImplementedError):  # Windows has no such handler, and no need of one
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, _leave)
    async with _streams() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _leave() -> None:
    """At once: the SDK waits for stdin in a thread that nothing interrupts. Workers end with their parent."""
    os._exit(INTERRUPTED)


def _streams() -> AbstractAsyncContextManager[tuple[Any, Any]]:
    if sys.platform == "win32" or not (_is_pipe(0) and _is_pipe(1)):
        return stdio_server()
    return _pipes()


@asynccontextmanager
async def _pipes() -> AsyncIterator[tuple[Incoming, Outgoing]]:
    incoming, outgoing = _taken()
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    source, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(incoming, "rb", 0))
    sink, flow = await loop.connect_write_pipe(lambda: Flow(source.close), os.fdopen(outgoing, "wb", 0))
    answers = Outgoing(sink, flow)
    try:
        yield Incoming(reader, answers), answers
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
