"""The lab's web: one set of wildcard listeners is every host of the internet.

Every address is local, so the address an accepted socket is bound to IS the address that was dialled. Any port speaks
TLS or plain HTTP, as the client's first byte asks. What a host says is an Answer (answers.py).
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
import traceback
from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from tests.lab.harness.answers import NOT_FOUND
from tests.lab.harness.authority import GOOD, Authority, Certificate, bare_context

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

PORTS = (80, 443)
BACKLOG = 1024
HANDSHAKE_LIMIT = 30.0
SHUTDOWN_LIMIT = 2.0
HEAD_LIMIT = 64 * 1024
PIECE = 64 * 1024
TLS_HANDSHAKE = 0x16
IP_FREEBIND = 15
IPV6_FREEBIND = 78
FILLERS = 4
LINGER_NOTHING = struct.pack("ii", 1, 0)  # close() then sends a reset


@dataclass
class Connection:
    """What the web saw of one accepted connection."""

    address: str
    port: int
    tls: bool = False
    sni: str | None = None
    alpn: str | None = None
    secured: bool = False
    requests: int = 0


@dataclass(frozen=True)
class Request:
    address: str
    port: int
    tls: bool
    connection: int  # which accepted connection it came over, counted from 0
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    raw: bytes

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name), None)


class Answer(Protocol):
    async def play(self, exchange: Exchange) -> bool:
        """Answer the request just read. True: the connection stays open for another one."""
        ...


@dataclass
class Exchange:
    """One connection as an Answer sees it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    connection: Connection
    request: Request | None = None

    async def send(self, data: bytes) -> None:
        """Raises ConnectionError once the client is gone. `drain` alone neither tells nor lets the loop find out."""
        if self.writer.transport.is_closing():
            raise ConnectionResetError
        self.writer.write(data)
        await self.writer.drain()
        await asyncio.sleep(0)

    async def until_gone(self) -> None:
        """Wait for the client to leave."""
        with contextlib.suppress(ConnectionError, ssl.SSLError):
            while await self.reader.read(PIECE):
                pass

    def reset(self) -> None:
        raw = self.writer.get_extra_info("socket")
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOTHING)
        self.writer.transport.abort()


class Web:
    def __init__(self, authority: Authority, note: Callable[[str], None]) -> None:
        self.connections: list[Connection] = []
        self.requests: list[Request] = []
        self.broken: list[str] = []
        self.fillers: set[tuple[str, int]] = set()  # who fills the queues of blackholes: nobody's dials
        self._authority = authority
        self._note = note
        self._sites: dict[tuple[str, str], tuple[Answer, ...]] = {}
        self._served: Counter[tuple[str, str]] = Counter()
        self._certificates: dict[str, Certificate] = {}
        self._deaf: set[str] = set()
        self._sockets: list[socket.socket] = []
        self._tasks: set[asyncio.Task[None]] = set()

    # --- scripting ---

    def serve(self, url: str, answers: tuple[Answer, ...]) -> None:
        """The nth request for `url` gets the nth answer; the last one stays."""
        self._sites[_site(url)] = answers

    def certify(self, name: str, certificate: Certificate) -> None:
        self._certificates[name] = certificate

    def deafen(self, address: str) -> None:
        """Connections to `address` are accepted and then ignored: no handshake, no byte."""
        self._deaf.add(address)

    def blackhole(self, address: str, port: int) -> None:
        """Connections to `address` are neither accepted nor refused: a full queue drops the SYN."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self._sockets.append(_listener(family, address, port, 0))
        for _ in range(FILLERS):
            filler = socket.socket(family)
            filler.setblocking(False)
            filler.connect_ex((address, port))
            self.fillers.add(filler.getsockname()[:2])
            self._sockets.append(filler)

    # --- life ---

    def start(self) -> None:
        for port in PORTS:
            for family, wildcard in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
                listener = _listener(family, wildcard, port, BACKLOG)
                self._sockets.append(listener)
                self._spawn(self._accept(listener))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for one in self._sockets:
            one.close()

    def _spawn(self, work: Coroutine[object, object, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self.broken.append("".join(traceback.format_exception(error)))

    # --- serving ---

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            accepted, _ = await loop.sock_accept(listener)
            accepted.setblocking(False)
            address, port = accepted.getsockname()[:2]
            number = len(self.connections)
            self.connections.append(Connection(address, port))
            self._note("connection")
            self._spawn(self._host(accepted, number))

    async def _host(self, accepted: socket.socket, number: int) -> None:
        exchange = None
        try:
            exchange = await self._converse(accepted, self.connections[number])
            if exchange is not None:
                await self._answer_all(exchange, number)
        except (ConnectionError, ssl.SSLError, asyncio.IncompleteReadError, TimeoutError):
            return  # the client's doing, or an Answer's
        finally:
            await _closed(accepted, exchange)
            self._note("gone")

    async def _converse(self, accepted: socket.socket, connection: Connection) -> Exchange | None:
        """Wait for the first byte, then speak what it speaks."""
        await _readable(accepted)
        if connection.address in self._deaf:
            await _drained(accepted)
            return None
        first = accepted.recv(1, socket.MSG_PEEK)
        if not first:
            return None
        connection.tls = first[0] == TLS_HANDSHAKE
        context = self._greeter(connection) if connection.tls else None
        reader, writer = await _streams(accepted, context)
        if connection.tls:
            connection.secured = True
            connection.alpn = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        return Exchange(reader, writer, connection)

    def _greeter(self, connection: Connection) -> ssl.SSLContext:
        context = bare_context()
        context.sni_callback = partial(self._choose, connection)
        return context

    def _choose(self, connection: Connection, talk: ssl.SSLObject, name: str | None, _: ssl.SSLContext) -> None:
        connection.sni = name
        name = name or connection.address  # a client names no address
        talk.context = self._authority.context(name, self._certificates.get(name, GOOD))

    async def _answer_all(self, exchange: Exchange, number: int) -> None:
        while True:
            head = await exchange.reader.readuntil(b"\r\n\r\n")
            exchange.request = _request(head, exchange.connection, number)
            exchange.connection.requests += 1
            self.requests.append(exchange.request)
            self._note("request")
            if not await self._answer(exchange.request).play(exchange):
                return

    def _answer(self, request: Request) -> Answer:
        key = (request.header("host") or "", request.target)
        answers = self._sites.get(key)
        if answers is None:
            return NOT_FOUND
        turn = self._served[key]
        self._served[key] += 1
        return answers[min(turn, len(answers) - 1)]


def _site(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.netloc, (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _listener(family: socket.AddressFamily, address: str, port: int, backlog: int) -> socket.socket:
    """Several may hold one port: the one bound to the exact address wins over the wildcard."""
    listener = socket.socket(family)
    listener.setblocking(False)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    if family == socket.AF_INET6:
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listener.setsockopt(socket.IPPROTO_IPV6, IPV6_FREEBIND, 1)
    else:
        listener.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
    listener.bind((address, port))
    listener.listen(backlog)
    return listener


async def _closed(accepted: socket.socket, exchange: Exchange | None) -> None:
    if exchange is None:
        accepted.close()
        return
    exchange.writer.close()
    with contextlib.suppress(ConnectionError, ssl.SSLError, TimeoutError):
        await exchange.writer.wait_closed()


async def _readable(sock: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    ready = loop.create_future()
    loop.add_reader(sock, lambda: None if ready.done() else ready.set_result(None))
    try:
        await ready
    finally:
        loop.remove_reader(sock)


async def _drained(sock: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    while await loop.sock_recv(sock, PIECE):
        pass


async def _streams(
    accepted: socket.socket, context: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=HEAD_LIMIT, loop=loop)
    protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
    limits = {"ssl_handshake_timeout": HANDSHAKE_LIMIT, "ssl_shutdown_timeout": SHUTDOWN_LIMIT} if context else {}
    transport, _ = await loop.connect_accepted_socket(lambda: protocol, accepted, ssl=context, **limits)
    return reader, asyncio.StreamWriter(transport, protocol, reader, loop)


def _request(head: bytes, connection: Connection, number: int) -> Request:
    first, *rest = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ", 2)
    headers = tuple((name, value.strip()) for name, _, value in (line.partition(":") for line in rest))
    return Request(connection.address, connection.port, connection.tls, number, method, target, headers, head)
