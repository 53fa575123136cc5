"""The lab's name server: 127.0.0.1 port 53, UDP and TCP. It answers what a test scripted and records every question.

Answers live for 300 seconds, so that a client that caches them asks too little and shows.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from ipaddress import IPv4Address, ip_address
from typing import TYPE_CHECKING, cast

from dnslib import AAAA, CNAME, QTYPE, RCODE, RR, A, DNSRecord

if TYPE_CHECKING:
    from collections.abc import Callable

SERVER = "127.0.0.1"
PORT = 53
TTL = 300
UDP_ROOM = 1232
CHAIN_LIMIT = 20


@dataclass(frozen=True)
class Addresses:
    """The name exists and has these addresses; none at all is NODATA."""

    addresses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Alias:
    """A CNAME. Where it leads is looked up here too, as a recursive server does."""

    target: str


@dataclass(frozen=True)
class Failure:
    rcode: str  # NXDOMAIN, SERVFAIL, REFUSED


@dataclass(frozen=True)
class Silence:
    """The question is recorded and never answered."""


@dataclass(frozen=True)
class ByType:
    """One fate for the A question, another for the AAAA question."""

    a: Addresses | Alias | Failure | Silence
    aaaa: Addresses | Alias | Failure | Silence


Step = Addresses | Alias | Failure | Silence | ByType
UNKNOWN = Failure("NXDOMAIN")


class NameServer:
    def __init__(self, note: Callable[[str], None]) -> None:
        self.queries: list[tuple[str, str]] = []
        self._note = note
        self._zone: dict[str, tuple[Step, ...]] = {}
        self._asked: Counter[tuple[str, str]] = Counter()
        self._udp: asyncio.DatagramTransport | None = None
        self._tcp: asyncio.Server | None = None

    def script(self, name: str, steps: tuple[Step, ...]) -> None:
        """The nth question of each type gets the nth step; the last one stays."""
        self._zone[name] = steps

    async def start(self) -> None:
        loop = asyncio.get_running_loop()
        self._udp, _ = await loop.create_datagram_endpoint(lambda: _Udp(self), local_addr=(SERVER, PORT))
        self._tcp = await asyncio.start_server(self._stream, SERVER, PORT)

    def close(self) -> None:
        if self._udp is not None:
            self._udp.close()
        if self._tcp is not None:
            self._tcp.close()

    def answer(self, data: bytes, room: int | None) -> bytes | None:
        """One question in, one packet out, or None for silence. `room`: the most bytes that fit, None over TCP."""
        question = DNSRecord.parse(data)
        name, kind = str(question.q.qname), QTYPE[question.q.qtype]
        self.queries.append((name, kind))
        self._note("query")
        reply = question.reply()
        if not self._fill(reply, name.lower().rstrip("."), kind, CHAIN_LIMIT):
            return None
        packed: bytes = reply.pack()
        if room is not None and len(packed) > room:
            packed = _truncated(question)
        return packed

    def _fill(self, reply: DNSRecord, name: str, kind: str, left: int) -> bool:
        step = self._step(name, kind)
        if isinstance(step, ByType):
            step = step.a if kind == "A" else step.aaaa
        if isinstance(step, Silence) or left == 0:
            return False
        if isinstance(step, Failure):
            reply.header.rcode = getattr(RCODE, step.rcode)
        elif isinstance(step, Alias):
            reply.add_answer(RR(name, QTYPE.CNAME, rdata=CNAME(step.target), ttl=TTL))
            return self._fill(reply, step.target.rstrip("."), kind, left - 1)
        else:
            for record in _records(name, kind, step):
                reply.add_answer(record)
        return True

    def _step(self, name: str, kind: str) -> Step:
        steps = self._zone.get(name, (UNKNOWN,))
        turn = self._asked[name, kind]
        self._asked[name, kind] += 1
        return steps[min(turn, len(steps) - 1)]

    async def _stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                size = int.from_bytes(await reader.readexactly(2), "big")
                reply = self.answer(await reader.readexactly(size), None)
                if reply is not None:
                    writer.write(len(reply).to_bytes(2, "big") + reply)
                    await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            writer.close()


class _Udp(asyncio.DatagramProtocol):
    def __init__(self, server: NameServer) -> None:
        self._server = server

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        reply = self._server.answer(data, UDP_ROOM)
        if reply is not None:
            self._transport.sendto(reply, addr)


def _records(name: str, kind: str, step: Addresses) -> list[RR]:
    addresses = [ip_address(text) for text in step.addresses]
    if kind == "A":
        return [RR(name, QTYPE.A, rdata=A(str(one)), ttl=TTL) for one in addresses if isinstance(one, IPv4Address)]
    if kind == "AAAA":
        six = [one for one in addresses if not isinstance(one, IPv4Address)]
        return [RR(name, QTYPE.AAAA, rdata=AAAA(tuple(one.packed)), ttl=TTL) for one in six]
    return []


def _truncated(question: DNSRecord) -> bytes:
    reply = question.reply()
    reply.header.tc = 1
    packed: bytes = reply.pack()
    return packed
