"""A web server and a name server that do as little as they can, so that the client is what is measured.

They count what they saw: a table shows beside its ratios how many connections and questions a request took.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address
from typing import Any, cast

from tests.lab.harness.authority import GOOD

from bench.network import Place, fork, serving

ZONE = "page.example"
ADDRESS = IPv4Address("93.184.216.34")
SIZES = {"2 KB": 2 * 1024, "60 KB": 60 * 1024}
LINE = b"The tide turns twice a day, and the harbour turns with it, and so does everyone who lives there.\n"
WEB = ("0.0.0.0", 443)  # noqa: S104  every address of this network is its own
NAME_SERVER = ("127.0.0.1", 53)
BACKLOG = 1024

A, IN, TTL = 1, 1, 300
QUESTION_AT = 12
TYPE_BYTES = 4
FLAGS = 0x8180  # a recursive server's answer, no error
POINTER = 0xC000 | QUESTION_AT


@dataclass(frozen=True)
class Counts:
    """Shared with the servers' processes."""

    connections: Any
    questions: Any

    @classmethod
    def new(cls) -> Counts:
        return cls(fork.Value("l", 0), fork.Value("l", 0))

    def now(self) -> tuple[int, int]:
        return self.connections.value, self.questions.value


def url(size: str, number: int | None) -> str:
    """Where a page of that size is: on one host for all, or on host `number`, which closes the connection after it.

    A host of its own is what makes a lookup happen: c-ares answers aiohttp from a cache, empty answers for an hour
    whatever their TTL is.
    """
    host, way = ("www", "keep") if number is None else (f"h{number}", "close")
    return f"https://{host}.{ZONE}/{SIZES[size]}/{way}"


def bound(kind: socket.SocketKind, address: str, port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, kind)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, port))
    made.setblocking(False)
    return made


@contextmanager
def internet(place: Place) -> Iterator[Counts]:
    """Web and name server, each in a process of its own."""
    counts = Counts.new()
    listener = bound(socket.SOCK_STREAM, *WEB)
    listener.listen(BACKLOG)
    questions = bound(socket.SOCK_DGRAM, *NAME_SERVER)
    with serving(partial(web, listener, place, counts), partial(names, questions, counts)):
        yield counts


def web(listener: socket.socket, place: Place, counts: Counts) -> None:
    """Serve `url()`s until killed."""
    context = place.authority.context(f"*.{ZONE}", GOOD)
    asyncio.run(_serve_web(listener, context, counts))


async def _serve_web(listener: socket.socket, context: ssl.SSLContext, counts: Counts) -> None:
    make = partial(_Web, _answers(), counts)
    server = await asyncio.get_running_loop().create_server(make, sock=listener, ssl=context)
    await server.serve_forever()


def _answers() -> dict[bytes, tuple[bytes, bool]]:
    answers = {}
    for size in SIZES.values():
        body = (LINE * (size // len(LINE) + 1))[:size]
        for way, closes in ((b"close", True), (b"keep", False)):
            fields = b"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\nConnection: %s\r\n"
            head = b"HTTP/1.1 200 OK\r\n" + fields % (size, b"close" if closes else b"keep-alive")
            answers[b"/%d/%s" % (size, way)] = (head + b"\r\n" + body, closes)
    return answers


class _Web(asyncio.Protocol):
    def __init__(self, answers: dict[bytes, tuple[bytes, bool]], counts: Counts) -> None:
        self._answers = answers
        self._counts = counts
        self._unread = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._counts.connections.value += 1

    def data_received(self, data: bytes) -> None:
        *heads, self._unread = (self._unread + data).split(b"\r\n\r\n")
        for head in heads:
            answer, closes = self._answers[head.split(b" ", 2)[1]]
            self._transport.write(answer)
            if closes:
                self._transport.close()


def names(bound_socket: socket.socket, counts: Counts) -> None:
    """Answer every question for an A record with ADDRESS, any other one with nothing, until killed."""
    asyncio.run(_serve_names(bound_socket, counts))


async def _serve_names(bound_socket: socket.socket, counts: Counts) -> None:
    await asyncio.get_running_loop().create_datagram_endpoint(partial(_Names, counts), sock=bound_socket)
    await asyncio.get_running_loop().create_future()


class _Names(asyncio.DatagramProtocol):
    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)

    def datagram_received(self, data: bytes, addr: tuple[str | Any, int]) -> None:
        self._counts.questions.value += 1
        self._transport.sendto(answer(data), addr)


def answer(question: bytes) -> bytes:
    """The reply to one question (RFC 1035 4.1)."""
    end = question.index(0, QUESTION_AT) + 1 + TYPE_BYTES
    (kind,) = struct.unpack_from("!H", question, end - TYPE_BYTES)
    found = kind == A
    head = question[:2] + struct.pack("!5H", FLAGS, 1, int(found), 0, 0)
    record = struct.pack("!3HIH", POINTER, A, IN, TTL, len(ADDRESS.packed)) + ADDRESS.packed
    return head + question[QUESTION_AT:end] + (record if found else b"")
