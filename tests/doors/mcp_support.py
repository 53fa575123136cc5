"""The server as a process of its own, and the SDK's own client before it, over either transport and in either era."""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

IN_TIME = 30.0
"""Seconds; a guard against a hang."""

DOORS = ("stdio auto", "stdio legacy", "http auto", "http legacy")
"""A transport, and a client's mode: the current protocol, or the handshake of 2025."""

RUNVIL = ("-m", "runvil")

KEPT = ("SSL_CERT_FILE", "XDG_DATA_HOME", "RUNVIL_GATEWAY_URL", "RUNVIL_GATEWAY_API_KEY", "PYTHONPATH")
"""What the SDK's client would not hand on by itself."""


def environment(**more: str) -> dict[str, str]:
    return {name: os.environ[name] for name in KEPT if name in os.environ} | more


@asynccontextmanager
async def client_at(door: str, *options: str, program: Sequence[str] = RUNVIL, **env: str) -> AsyncIterator[Any]:
    """A connected client; the server's process ends with it. program: what Python runs."""
    transport, mode = door.split()
    if transport == "stdio":
        started = StdioServerParameters(
            command=sys.executable, args=[*program, "mcp", *options], env=environment(**env)
        )
        async with Client(stdio_client(started), mode=mode) as client:
            yield client
    else:
        async with serving(*options, program=program, **env) as (url, _), Client(url, mode=mode) as client:
            yield client


@asynccontextmanager
async def serving(*options: str, program: Sequence[str] = RUNVIL, **env: str) -> AsyncIterator[tuple[str, int]]:
    """`runvil mcp --http`: its address and its process id. Nothing but the address may be said on stderr."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, *program, "mcp", "--http", "127.0.0.1:0", *options,
        stderr=asyncio.subprocess.PIPE, env={**os.environ, **env},
    )  # fmt: skip
    assert process.stderr is not None
    try:
        async with asyncio.timeout(IN_TIME):
            line = (await process.stderr.readline()).decode()
        found = re.fullmatch(r"runvil: serving (http://\S+/mcp)\n", line)
        assert found, line
        yield found[1], process.pid
    finally:
        process.terminate()
        async with asyncio.timeout(IN_TIME):
            said = (await process.stderr.read()).decode()
            await process.wait()
    assert said == ""


def text_of(result: Any) -> str:
    """The one text of a result."""
    (block,) = result.content
    assert block.type == "text"
    text: str = block.text
    return text


@asynccontextmanager
async def spoken_to(*, pipes: bool = True) -> AsyncIterator[asyncio.subprocess.Process]:
    """`runvil mcp` at the other end of pipes, as clients start it, or of a file. It ends by itself, in silence."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "runvil", "mcp", limit=2**24,
        stdin=asyncio.subprocess.PIPE if pipes else asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        async with asyncio.timeout(IN_TIME):
            yield process
            assert process.stderr is not None
            assert await process.stderr.read() == b""
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def say(process: asyncio.subprocess.Process, line: bytes) -> None:
    assert process.stdin is not None
    process.stdin.write(line + b"\n")


async def heard(process: asyncio.subprocess.Process) -> Any:
    assert process.stdout is not None
    return json.loads(await process.stdout.readline())


INITIALIZE = json.dumps({
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}).encode()  # fmt: skip
