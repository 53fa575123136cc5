"""MCP over stdin and stdout, until the client closes its end."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

INTERRUPTED = 130


def serve_stdio(server: Server[Any]) -> None:
    asyncio.run(_serve(server))


async def _serve(server: Server[Any]) -> None:
    with suppress(NotImplementedError):  # Windows has no such handler, and no need of one
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, _leave)
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _leave() -> None:
    """At once: the SDK waits for stdin in a thread that nothing interrupts. Workers end with their parent."""
    os._exit(INTERRUPTED)
