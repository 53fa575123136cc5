"""A network that is a script. The address filter runs in front of it, never inside.

    net = FakeNet(
        dns={"example.com": ["93.184.216.34"], "gone.example": NXDOMAIN},
        replies={"https://example.com/": Reply(headers=[("Content-Type", "text/plain")], body=b"hello")},
    )
    async with WebFetch(net=net) as fetch:
        output = await fetch.call({"url": "https://example.com/"})
    assert net.lookups == ["example.com"] and net.dialled == ["93.184.216.34"]

`net.lookups`, `net.dialled` and `net.requests` record everything the walk asked of it, in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from ipaddress import ip_address
from typing import Final

from runvil.core.addresses import Address, address_text
from runvil.core.admission import Route
from runvil.core.content import Head
from runvil.core.url import Name
from runvil.ports import Broken, LookupBroken


class _Nxdomain(Enum):
    NXDOMAIN = auto()


NXDOMAIN: Final = _Nxdomain.NXDOMAIN
"""A DNS entry whose lookup fails."""


class Behaviour(Enum):
    """What a scripted server does instead of answering properly."""

    CONNECT_HANG = auto()
    """No connection opens within the connect limit."""

    REFUSE_CONNECTION = auto()
    BAD_CERTIFICATE = auto()
    HANG_BEFORE_HEADERS = auto()
    RESET_BEFORE_HEADERS = auto()
    RESET_MID_BODY = auto()
    """After the scripted body."""

    HANG_MID_BODY = auto()


DnsAnswer = Sequence[str | Address] | _Nxdomain
"""What a lookup gives: addresses, none, or NXDOMAIN."""


@dataclass(frozen=True, slots=True)
class Rebinding:
    """A name whose answer changes: one entry a lookup, the last one from then on."""

    answers: tuple[DnsAnswer, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """A scripted response. headers: (name, value) pairs. body: bytes, or chunks that are made when they are read.

    behaviour: what the server does instead of answering properly, if anything.
    """

    status: int = 200
    headers: Sequence[tuple[str, str | bytes]] = ()
    body: bytes | Iterable[bytes] = b""
    behaviour: Behaviour | None = None


class UnexpectedRequest(AssertionError):
    """The walk asked for a name or a URL that the script does not hold."""


class FakeNet:
    """A network that answers from a script and records what it was asked (contract 4).

    dns: host -> addresses, [] (it exists without one), NXDOMAIN, or Rebinding. replies: URL -> Reply.

    It records, in order: `lookups` (names), `dialled` (addresses), `requests` (URLs); and counts `open_connections` and
    `bytes_read`. What the script does not hold raises UnexpectedRequest.
    """

    def __init__(
        self, dns: Mapping[str, DnsAnswer | Rebinding] | None = None, replies: Mapping[str, Reply] | None = None
    ) -> None:
        self._dns = dict(dns or {})
        self._replies = dict(replies or {})
        self.lookups: list[str] = []
        self.dialled: list[str] = []
        self.requests: list[str] = []
        self.open_connections = 0
        self.bytes_read = 0

    async def lookup(self, name: Name) -> Sequence[Address]:
        asked = self.lookups.count(name)
        self.lookups.append(name)
        if name not in self._dns:
            raise UnexpectedRequest(f"lookup of {name}")
        entry = self._dns[name]
        answer = entry.answers[min(asked, len(entry.answers) - 1)] if isinstance(entry, Rebinding) else entry
        if isinstance(answer, _Nxdomain):
            raise LookupBroken("NXDOMAIN")
        return tuple(ip_address(text) for text in answer)

    async def open(self, route: Route) -> FakeResponse:
        self.dialled.append(address_text(route.addresses[0]))
        self.requests.append(route.url.full)
        reply = self._replies.get(route.url.full)
        if reply is None:
            raise UnexpectedRequest(f"request for {route.url.full}")
        match reply.behaviour:
            case Behaviour.CONNECT_HANG:
                raise TimeoutError
            case Behaviour.REFUSE_CONNECTION | Behaviour.BAD_CERTIFICATE | Behaviour.RESET_BEFORE_HEADERS:
                raise Broken(reply.behaviour.name)
        self.open_connections += 1
        if reply.behaviour is Behaviour.HANG_BEFORE_HEADERS:
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self.open_connections -= 1
        return FakeResponse(self, reply)

    async def aclose(self) -> None:
        return None


class FakeResponse:
    """The answer that a Reply scripts, as the walk reads it."""

    def __init__(self, net: FakeNet, reply: Reply) -> None:
        self._net = net
        self._reply = reply
        fields = ((name.lower().encode(), v if isinstance(v, bytes) else v.encode()) for name, v in reply.headers)
        self.head = Head(reply.status, tuple(fields))

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        body = self._reply.body
        for chunk in (body,) if isinstance(body, bytes) else body:
            self._net.bytes_read += len(chunk)
            yield chunk
        if self._reply.behaviour is Behaviour.RESET_MID_BODY:
            raise Broken("reset")
        if self._reply.behaviour is Behaviour.HANG_MID_BODY:
            await asyncio.get_running_loop().create_future()

    async def aclose(self) -> None:
        self._net.open_connections -= 1
