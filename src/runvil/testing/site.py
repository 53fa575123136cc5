"""A real web site on loopback, and what a `WebFetch` needs to reach it: real TLS, sockets and HTTP, a scripted DNS.

    pages, dns = {"https://example.com/": Answer(body=b"hi")}, {"example.com": ["93.184.216.34"]}
    async with LoopbackSite(pages, dns) as site:
        net = assemble.seamed(config, site.resolver, site.certificate.client, site.dial)
        async with WebFetch(config, net=net) as fetch:
            ...
    assert site.dialled == ["93.184.216.34"]

The dialler stands where sockets are opened: whatever vetted address the walk asks for is recorded, and connected to
loopback instead. It holds for the object it is passed to and for nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from runvil.core.addresses import Address, address_text
from runvil.ports import Resolver
from runvil.testing.certificate import Certificate
from runvil.testing.fake import DnsAnswer, FakeNet, Rebinding

QUIET = 10.0
"""Seconds after which the server gives a connection up on which nothing is asked."""

DRIP = 0.05
"""Seconds between the bytes of a dripping body."""

LATE = 0.05
"""Seconds after an answer at which the server sends what nobody asked for."""

_HEAD_LIMIT = 64 * 1024

_NO_BODY = (204, 304)


@dataclass(frozen=True)
class Request:
    """What the server saw. headers: as sent, in order. sni: the name in the TLS greeting."""

    url: str
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    sni: str | None

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)


@dataclass(frozen=True)
class Answer:
    """What the server sends: a response, or `raw` bytes as they are.

    then: "keep" the connection as HTTP says, "close" it, "reset" it, "hang", or "drip" a byte now and then for ever.
    """

    status: int = 200
    headers: Sequence[tuple[str, bytes]] = (("Content-Type", b"text/html; charset=utf-8"),)
    body: bytes = b""
    chunked: bool = False
    raw: bytes | None = None
    then: str = "keep"

    def encoded(self) -> bytes:
        if self.raw is not None:
            return self.raw
        lines = [f"HTTP/1.1 {self.status} X".encode()]
        lines += [name.encode() + b": " + value for name, value in self.headers]
        body = self.body
        if self.chunked:
            lines.append(b"Transfer-Encoding: chunked")
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        elif self._wants_a_length():
            lines.append(b"Content-Length: %d" % len(body))
        return b"\r\n".join(lines) + b"\r\n\r\n" + body

    def _wants_a_length(self) -> bool:
        has_one = any(name.lower() == "content-length" for name, _ in self.headers)
        return not has_one and self.status not in _NO_BODY and self.then != "drip"


class LoopbackSite:
    """A web server on loopback: an async context. answers: URL -> Answer, or several, one a request, then the last.

    dns: as FakeNet's. refused, silent: vetted addresses at which no connection opens. late: bytes sent after the first
    answer. certificate: for names beyond the example ones, or none that fits. It records `requests` and `dialled`.
    """

    def __init__(
        self,
        answers: Mapping[str, Answer | Sequence[Answer]],
        dns: Mapping[str, DnsAnswer | Rebinding] | None = None,
        *,
        certificate: Certificate | None = None,
        refused: frozenset[str] = frozenset(),
        silent: frozenset[str] = frozenset(),
        late: bytes = b"",
    ) -> None:
        self.certificate = certificate or Certificate.public()
        self.requests: list[Request] = []
        self.dialled: list[str] = []
        self.connections = 0
        self.open = 0
        self._answers = answers
        self._refused = refused
        self._silent = silent
        self._late = late
        self._fake = FakeNet(dns=dns)
        self._servers: dict[bool, asyncio.Server] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def resolver(self) -> Resolver:
        return self._fake

    @property
    def lookups(self) -> list[str]:
        return self._fake.lookups

    async def dial(self, addresses: Sequence[Address], port: int) -> tuple[socket.socket, Address]:
        """`net.transport.Dial`: connect to this server, whatever the address; secure unless the site speaks http."""
        address = addresses[0]
        self.dialled.append(address_text(address))
        if address_text(address) in self._refused:
            raise ConnectionRefusedError
        if address_text(address) in self._silent:
            await asyncio.get_running_loop().create_future()
        secure = not any(url.startswith("http:") for url in self._answers)
        sock = socket.socket()
        sock.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(sock, self._servers[secure].sockets[0].getsockname())
        except BaseException:
            sock.close()
            raise
        return sock, address

    async def __aenter__(self) -> LoopbackSite:
        self.asked, self.closed = asyncio.Event(), asyncio.Event()
        self.certificate.server.sni_callback = _note_name
        for secure in (True, False):
            self._servers[secure] = await asyncio.start_server(
                self._serve, "127.0.0.1", 0, limit=_HEAD_LIMIT, ssl=self.certificate.server if secure else None
            )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for server in self._servers.values():
            server.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.open += 1
        try:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
                while await self._exchange(reader, writer):  # cancelled by __aexit__ alone, and nothing comes after
                    pass
        finally:
            self._tasks.discard(task)
            self.open -= 1
            self.closed.set()
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """One request and its answer; whether the connection goes on."""
        async with asyncio.timeout(QUIET):
            request = _parsed(await reader.readuntil(b"\r\n\r\n"), writer)
        self.requests.append(request)
        self.asked.set()
        answer = self._answer(request.url)
        writer.write(answer.encoded())
        await writer.drain()
        if self._late:
            asyncio.get_running_loop().call_later(LATE, writer.write, self._late)
            self._late = b""
        return await _ending(answer, reader, writer)

    def _answer(self, url: str) -> Answer:
        found = self._answers.get(url)
        if found is None:
            return Answer(404)
        if isinstance(found, Answer):
            return found
        asked = sum(request.url == url for request in self.requests)
        return found[min(asked, len(found)) - 1]


async def _ending(answer: Answer, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    match answer.then:
        case "keep":
            return True
        case "reset":
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        case "hang":
            await reader.read()  # until the client goes away
        case "drip":
            while not writer.is_closing():
                writer.write(b".")
                await writer.drain()
                await asyncio.sleep(DRIP)
    return False


def _note_name(connection: ssl.SSLObject | ssl.SSLSocket, name: str | None, _context: ssl.SSLContext) -> None:
    vars(connection)["runvil_sni"] = name  # the one moment at which a server learns it


def _parsed(head: bytes, writer: asyncio.StreamWriter) -> Request:
    first, *fields = head.decode("latin-1").split("\r\n")[:-2]
    method, target, _ = first.split(" ")
    headers = tuple((name, value.strip()) for name, _, value in (field.partition(":") for field in fields))
    host = next((value for name, value in headers if name.lower() == "host"), "")
    secure = writer.get_extra_info("ssl_object")
    sni = getattr(secure, "runvil_sni", None)
    return Request(f"{'https' if secure else 'http'}://{host}{target}", method, target, headers, sni)
