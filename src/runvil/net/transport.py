"""The only file that opens a socket: dials a Route's vetted addresses, TLS on the name, one GET, the raw body.

Nothing here can resolve a name, follow a redirect, read a proxy setting or send a credential: there is no code for it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from ipaddress import IPv4Address, ip_address

import aiohappyeyeballs
import h11

from runvil.core.addresses import Address
from runvil.core.admission import Route
from runvil.core.config import FetchConfig
from runvil.core.content import Head
from runvil.core.url import Name
from runvil.net.pool import Line, Pool
from runvil.net.wire import Wire
from runvil.ports import Broken, Resolver

ACCEPT = (
    "text/html, application/xhtml+xml, text/markdown, text/plain;q=0.9, application/json;q=0.9, "
    "application/xml;q=0.9, text/*;q=0.8, */*;q=0.1"
)
"""What becomes text, honestly; the last item because a named type to refuse says more than an HTTP 406."""

ATTEMPT_DELAY = 0.25
"""Seconds before the next address is tried beside the last one (RFC 8305 5)."""

MAX_DIALLED = 32
"""Addresses tried for one connection: what the connect limit and ATTEMPT_DELAY leave room for, rounded up."""

MAX_INFORMATIONAL = 8
"""1xx responses accepted before the real one; some servers send a few, an attacker sends them for ever."""

SWITCHING = 101
"""Never asked for, so never accepted."""

MAX_HEAD_BYTES = 64 * 1024
MAX_FIELDS = 256
MAX_FIELD_BYTES = 8 * 1024
"""Bounds on a response's header (architecture 6). A longer Location is read: `parse` makes it a status text."""

Dialled = tuple[socket.socket, Address]
Dial = Callable[[Sequence[Address], int], Awaitable[Dialled]]
"""(vetted addresses, port) -> a connected socket and the address of them that it is connected to."""


async def dial(addresses: Sequence[Address], port: int) -> Dialled:
    """Connect to the first address that answers (RFC 8305). Raises OSError, or Broken for a peer nobody vetted."""
    infos = [
        (family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (str(address), port))
        for address in addresses[:MAX_DIALLED]
        for family in (socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6,)
    ]
    sock = await aiohappyeyeballs.start_connection(infos, happy_eyeballs_delay=ATTEMPT_DELAY, interleave=1)
    try:
        peer = ip_address(sock.getpeername()[0].partition("%")[0])
        if peer not in addresses:
            raise Broken("connected to an address that was not vetted")
    except BaseException:
        sock.close()
        raise
    return sock, peer


class SocketNet:
    """`ports.Net` over real sockets."""

    def __init__(self, config: FetchConfig, resolver: Resolver, trust: ssl.SSLContext, dial: Dial = dial) -> None:
        self._config = config
        self._resolver = resolver
        self._trust = trust
        self._dial = dial
        self._pool = Pool(config.pool_idle_timeout)

    async def lookup(self, name: Name) -> Sequence[Address]:
        return await self._resolver.lookup(name)

    async def open(self, route: Route) -> HttpResponse:
        """One GET over an idle connection to a vetted address, or a new one (ports.Net.open).

        A failure on an idle one is retried on a new one: the server may have closed it just then.
        """
        idle = self._pool.take(_key(route), route.addresses)
        if idle is not None:
            with contextlib.suppress(Broken):
                return await self._exchange(idle, route)
        return await self._exchange(await self._connect(route), route)

    async def aclose(self) -> None:
        await self._pool.aclose()
        await self._resolver.aclose()

    async def _connect(self, route: Route) -> Line:
        try:
            async with asyncio.timeout(self._config.connect_timeout):
                sock, peer = await self._dial(route.addresses, route.url.port)
        except TimeoutError:
            raise
        except OSError as error:
            raise Broken("no connection") from error
        secure = route.url.scheme == "https"
        wire = Wire()
        try:  # however it ends early, asyncio closes the socket it was given
            await asyncio.get_running_loop().create_connection(
                lambda: wire,
                sock=sock,
                ssl=self._trust if secure else None,
                server_hostname=route.tls_name if secure else None,
                ssl_handshake_timeout=self._config.timeout if secure else None,
            )
        except (OSError, ValueError) as error:  # ValueError: a name that OpenSSL takes for none
            raise Broken("no TLS connection") from error
        http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD_BYTES)
        return Line(_key(route), peer, wire, http)

    async def _exchange(self, line: Line, route: Route) -> HttpResponse:
        try:
            line.wire.write(self._request(line.http, route))
            head = await _head(line)
            line.doubtful = head.first(b"content-length") is not None and head.first(b"transfer-encoding") is not None
        except BaseException:
            line.wire.abort()
            raise
        return HttpResponse(line, head, self._pool)

    def _request(self, http: h11.Connection, route: Route) -> bytes:
        headers = [
            ("Host", route.url.authority),
            ("User-Agent", self._config.user_agent),
            ("Accept", ACCEPT),
            ("Accept-Encoding", "gzip, br"),
        ]
        try:
            request = http.send(h11.Request(method="GET", target=route.url.target, headers=headers))
            end = http.send(h11.EndOfMessage())
        except h11.LocalProtocolError as error:
            raise Broken("a request that cannot be written") from error
        return (request or b"") + (end or b"")


class HttpResponse:
    """`ports.Response` over one line."""

    def __init__(self, line: Line, head: Head, pool: Pool) -> None:
        self._line = line
        self._pool = pool
        self.head = head

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        while True:
            event = await _event(self._line)
            if isinstance(event, h11.Data):
                data = bytes(event.data)
                del event  # while the caller waits for its budget, one copy is enough
                yield data
            elif isinstance(event, h11.EndOfMessage):
                return
            else:
                raise Broken("no end of the body")

    async def aclose(self) -> None:
        self._pool.put(self._line)


async def _event(line: Line) -> h11.Event:
    try:
        while not isinstance(event := line.http.next_event(), h11.Event):
            if event is h11.PAUSED:
                raise Broken("data after the end")
            line.http.receive_data(await line.wire.read())
    except h11.RemoteProtocolError as error:
        raise Broken("not HTTP/1.1") from error
    return event


async def _head(line: Line) -> Head:
    for _ in range(MAX_INFORMATIONAL + 1):
        event = await _event(line)
        if isinstance(event, h11.Response):
            return _checked(Head(event.status_code, tuple(event.headers)))
        if not isinstance(event, h11.InformationalResponse) or event.status_code == SWITCHING:
            break
    raise Broken("no response")


def _checked(head: Head) -> Head:
    total = sum(len(name) + len(value) for name, value in head.headers)
    longest = max((len(value) for name, value in head.headers if name != b"location"), default=0)
    if len(head.headers) > MAX_FIELDS or total > MAX_HEAD_BYTES or longest > MAX_FIELD_BYTES:
        raise Broken("a header beyond its bounds")
    return head


def _key(route: Route) -> tuple[str, str, int]:
    return route.url.scheme, route.tls_name, route.url.port
