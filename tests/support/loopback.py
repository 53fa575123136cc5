"""A scripted server on loopback and a network that dials it: the real transport, end to end, with a fake DNS.

    async with Loopback({"https://example.com/": Answer(...)}, dns={"example.com": ["93.184.216.34"]}) as site:
        async with WebFetch(net=site.net(FetchConfig()), renderer=InProcess()) as fetch: ...
    assert site.dialled == ["93.184.216.34"]

The dialler stands where sockets are opened: whatever address the walk asks for is recorded and connected to loopback.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType

import h11
import trustme

from runvil import FetchConfig, assemble
from runvil.core.addresses import Address, address_text
from runvil.ports import Net, Resolver
from runvil.testing import Answer as DnsAnswer
from runvil.testing import FakeNet, Rebinding

LATE = 0.05  # seconds after an answer at which it sends what nobody asked for
QUIET = 10.0  # seconds after which a test's server gives a connection up


@dataclass
class Request:
    """What the server saw."""

    url: str
    method: str
    target: str
    headers: list[tuple[str, str]]
    sni: str | None

    def header(self, name: str) -> str | None:
        return next((v for k, v in self.headers if k.lower() == name.lower()), None)


@dataclass
class Answer:
    """What the server sends: a whole response, or `raw` bytes as they are.

    then: "keep" the connection as HTTP says, "close" it, "reset" it, or "hang".
    """

    status: int = 200
    headers: Sequence[tuple[str, bytes]] = ()
    body: bytes = b""
    chunked: bool = False
    raw: bytes | None = None
    then: str = "keep"

    def encoded(self) -> bytes:
        if self.raw is not None:
            return self.raw
        lines = [f"HTTP/1.1 {self.status} X".encode()]
        names = {name.lower() for name, _ in self.headers}
        lines += [name.encode() + b": " + value for name, value in self.headers]
        body = self.body
        if self.chunked:
            lines.append(b"Transfer-Encoding: chunked")
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        elif "content-length" not in names and self.status not in (204, 304):
            lines.append(b"Content-Length: %d" % len(body))
        return b"\r\n".join(lines) + b"\r\n\r\n" + body


@dataclass
class Loopback:
    """The server. answers: URL -> Answer, or a list of them, one a request, the last one from then on."""

    answers: Mapping[str, Answer | Sequence[Answer]]
    dns: Mapping[str, DnsAnswer | Rebinding] = field(default_factory=dict)
    bad_certificate: bool = False
    refused: frozenset[str] = frozenset()  # dialled addresses that refuse
    silent: frozenset[str] = frozenset()  # dialled addresses that never answer
    late: bytes = b""  # sent on a connection some time after its first answer

    def __post_init__(self) -> None:
        self.requests: list[Request] = []
        self.dialled: list[str] = []
        self.connections = 0
        self.open = 0
        self._fake = FakeNet(dns=self.dns)
        self._authority = trustme.CA()
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def lookups(self) -> list[str]:
        return self._fake.lookups

    def net(self, config: FetchConfig, resolver: Resolver | None = None) -> Net:
        """The real transport over this server."""
        trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trust.set_alpn_protocols(["http/1.1"])
        self._authority.configure_trust(trust)
        return assemble.seamed(config, resolver or self._fake, trust, self._dial)

    async def _dial(self, addresses: Sequence[Address], port: int) -> tuple[socket.socket, Address]:
        address = addresses[0]
        self.dialled.append(address_text(address))
        if address_text(address) in self.refused:
            raise ConnectionRefusedError
        if address_text(address) in self.silent:
            await asyncio.get_running_loop().create_future()
        sock = socket.socket()
        sock.setblocking(False)
        try:
            secure = not any(url.startswith("http:") for url in self.answers)
            server = self._servers[0 if secure else 1]
            await asyncio.get_running_loop().sock_connect(sock, server.sockets[0].getsockname())
        except BaseException:
            sock.close()
            raise
        return sock, address

    async def __aenter__(self) -> Loopback:
        self.asked, self.closed = asyncio.Event(), asyncio.Event()
        names = sorted({name.removesuffix(".") for name in self.dns}) or ["example.com"]
        if self.bad_certificate:
            names = ["somebody-else.example"]
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        context.sni_callback = self._note_sni
        self._authority.issue_cert(*names, "1.1.1.1", "2606:4700:4700::1111").configure_cert(context)
        self._servers = [
            await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=context),
            await asyncio.start_server(self._serve, "127.0.0.1", 0),
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for server in self._servers:
            server.close()
            await server.wait_closed()

    def _note_sni(self, connection: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> None:
        connection.runvil_sni = name  # type: ignore[attr-defined]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self.connections += 1
        self.open += 1
        try:
            with contextlib.suppress(OSError, TimeoutError, asyncio.IncompleteReadError):
                await self._converse(reader, writer)
        finally:
            self._tasks.discard(task)
            self.open -= 1
            self.closed.set()
            writer.transport.abort()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            async with asyncio.timeout(QUIET):
                request = await self._request(reader, writer)
            if request is None:
                return
            self.requests.append(request)
            self.asked.set()
            answer = self._answer(request.url)
            writer.write(answer.encoded())
            await writer.drain()
            if self.late:
                asyncio.get_running_loop().call_later(LATE, writer.write, self.late)
                self.late = b""
            if answer.then == "reset":
                _reset(writer)
            if answer.then in ("reset", "close"):
                return
            if answer.then == "hang":
                await reader.read()  # until the client goes away
                return

    def _answer(self, url: str) -> Answer:
        found = self.answers.get(url)
        if found is None:
            raise AssertionError(f"request for {url}")
        if isinstance(found, Answer):
            return found
        asked = sum(request.url == url for request in self.requests)
        return found[min(asked, len(found)) - 1]

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
        http = h11.Connection(h11.SERVER)
        while not isinstance(event := http.next_event(), h11.Request):
            data = await reader.read(65536)
            if not data:
                return None
            http.receive_data(data)
        headers = [(name.decode(), value.decode()) for name, value in event.headers.raw_items()]
        host = next(value for name, value in headers if name.lower() == "host")
        ssl_object = writer.get_extra_info("ssl_object")
        target = event.target.decode()
        return Request(
            url=f"{'https' if ssl_object else 'http'}://{host}{target}",
            method=event.method.decode(),
            target=target,
            headers=headers,
            sni=getattr(ssl_object, "runvil_sni", None),
        )


def _reset(writer: asyncio.StreamWriter) -> None:
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
