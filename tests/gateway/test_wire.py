"""What a connection may cost that never becomes a request, or never takes its answer; over real sockets."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import pytest
import uvicorn
from uvicorn.server import ServerState

from runvil.core.results import SearchResult, SearchResults
from runvil.gateway import wire
from runvil.gateway.app import Gateway, application
from runvil.gateway.wire import BoundedProtocol
from tests.gateway.support import IN_TIME, SEARCH, TOKEN, Scripted, config, scripts, text

HEALTH = b"GET /health HTTP/1.1\r\nHost: g\r\n"
SERVING = b'"serving"}'
ASK = b'{"query":"q"}'
POST = (
    f"POST {SEARCH} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {TOKEN}\r\nContent-Length: {len(ASK)}\r\n\r\n".encode()
)

ANSWERS = 5
"""More of the large ones than all buffers between two sockets hold."""

LARGE = SearchResults(
    "q",
    tuple(SearchResult("t", f"https://s{at}.com/", "d" * 4096, extra_snippets=("s" * 1024,) * 8) for at in range(20)),
)


@dataclass
class Listening:
    """A gateway on a port, without the process around it. ended: one item for each connection that ended."""

    port: int = 0
    state: ServerState = field(default_factory=ServerState)
    ended: asyncio.Queue[None] = field(default_factory=asyncio.Queue)

    def connection(self, settings: uvicorn.Config) -> BoundedProtocol:
        told = self.ended.put_nowait

        class Watched(BoundedProtocol):
            def connection_lost(self, exc: Exception | None) -> None:
                super().connection_lost(exc)
                told(None)

        return Watched(settings, self.state, {})


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[Listening]:
    gateway = Gateway(config(text()), scripts(brave=Scripted(LARGE)))
    settings = uvicorn.Config(application(gateway), http=BoundedProtocol, log_config=None, lifespan="off", ws="none")
    settings.load()
    here = Listening()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: here.connection(settings), "127.0.0.1", 0)
    server.sockets[0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)  # its connections have it too
    here.port = server.sockets[0].getsockname()[1]
    async with asyncio.timeout(IN_TIME):
        yield here
    server.close()
    await server.wait_closed()
    await gateway.aclose()


async def closed(*writers: asyncio.StreamWriter) -> None:
    for writer in writers:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@pytest.mark.parametrize(
    ("before", "sent"),
    [(b"", b""), (b"", b"G"), (b"", HEALTH), (HEALTH + b"\r\n", b"G"), (HEALTH + b"\r\n", HEALTH)],
    ids=["nothing", "a letter", "two lines", "a letter after a request", "two lines after a request"],
)
async def test_a_head_that_does_not_come_to_its_end_is_given_up(
    before: bytes, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "HEAD_TIME", 0.05)
    async with listening() as here:
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        writer.write(before)
        if before:
            await reader.readuntil(SERVING)
        writer.write(sent)
        assert await reader.read() == b""
        await closed(writer)


async def test_a_connection_that_asks_in_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "HEAD_TIME", 5.0)
    async with listening() as here:
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        for _ in range(3):
            writer.write(HEALTH)
            writer.write(b"\r\n")
            await reader.readuntil(SERVING)
        (connection,) = here.state.connections
        assert isinstance(connection, BoundedProtocol)
        assert connection._due is None
        await closed(writer)


async def test_one_connection_more_than_there_may_be_is_closed_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_CONNECTIONS", 2)
    async with listening() as here:
        opened = [await asyncio.open_connection("127.0.0.1", here.port) for _ in range(2)]
        for reader, writer in opened:
            writer.write(HEALTH + b"\r\n")
            await reader.readuntil(SERVING)
        reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
        with contextlib.suppress(ConnectionError):
            assert await reader.read() == b""
        assert len(here.state.connections) == 2
        await closed(writer, *(each for _, each in opened))


async def test_a_client_that_does_not_take_its_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "TAKE_TIME", 0.05)
    async with listening() as here:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, ("127.0.0.1", here.port))
            await loop.sock_sendall(client, (POST + ASK) * ANSWERS)  # and reads nothing
            await here.ended.get()
        assert not here.state.connections
