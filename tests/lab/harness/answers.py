"""What a host of the lab's web can say, well-behaved or not. Each Answer is a small value that goes through a pipe."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from dataclasses import dataclass, replace
from enum import Enum
from http import HTTPStatus
from typing import TYPE_CHECKING

import brotli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.lab.harness.web import Exchange

MIB = 1024 * 1024
GIB = 1024 * MIB
HTML = "text/html; charset=utf-8"


class Then(Enum):
    """What happens to the connection after the bytes."""

    KEEP = "it stays open for another request"
    CLOSE = "it is closed in order"
    RESET = "it is reset"
    HANG = "it stays open and silent"
    CLOSE_LATER = "it stays open until the next request arrives, and is closed without an answer"
    RESET_LATER = "the same, reset instead"


@dataclass(frozen=True)
class Raw:
    """Exactly these bytes."""

    data: bytes
    then: Then = Then.CLOSE

    async def play(self, exchange: Exchange) -> bool:
        await exchange.send(self.data)
        return await _then(exchange, self.then)


@dataclass(frozen=True)
class Page:
    """A correct answer with a length."""

    body: bytes
    content_type: str | None = HTML
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    then: Then = Then.KEEP

    async def play(self, exchange: Exchange) -> bool:
        await exchange.send(self.head() + self.body)
        return await _then(exchange, self.then)

    def head(self) -> bytes:
        fields = [("Content-Length", str(len(self.body))), *self.headers]
        if self.content_type is not None:
            fields.append(("Content-Type", self.content_type))
        return head(self.status, *fields)

    def coded(self, coding: str) -> Page:
        body = gzip.compress(self.body) if coding == "gzip" else brotli.compress(self.body)
        return replace(self, body=body, headers=(*self.headers, ("Content-Encoding", coding)))


@dataclass(frozen=True)
class Endless:
    """`start` once, then `piece` for ever: as fast as it is taken, or one every `pause` seconds."""

    start: bytes
    piece: bytes
    pause: float = 0.0

    async def play(self, exchange: Exchange) -> bool:
        await exchange.send(self.start)
        while True:
            await exchange.send(self.piece)
            await asyncio.sleep(self.pause)  # the pace of the attack; nothing waits for it


@dataclass(frozen=True)
class Slow:
    """Another answer, `pause` seconds late."""

    answer: Page
    pause: float

    async def play(self, exchange: Exchange) -> bool:
        await asyncio.sleep(self.pause)
        return await self.answer.play(exchange)


@dataclass(frozen=True)
class Late:
    """A correct answer, and `pause` seconds later bytes that nobody asked for."""

    answer: Page
    extra: bytes
    pause: float

    async def play(self, exchange: Exchange) -> bool:
        await exchange.send(self.answer.head() + self.answer.body)
        await asyncio.sleep(self.pause)
        await exchange.send(self.extra)
        return True


@dataclass(frozen=True)
class Bomb:
    """`size` zero bytes in a few: sent whole, closed in order."""

    coding: str
    size: int = GIB
    content_type: str = HTML

    async def play(self, exchange: Exchange) -> bool:
        await exchange.send(
            head(200, ("Content-Type", self.content_type), ("Content-Encoding", self.coding), ("Connection", "close"))
        )
        for piece in gzip_zeros(self.size) if self.coding == "gzip" else brotli_zeros(self.size):
            await exchange.send(piece)
        return False


def head(status: int, *fields: tuple[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {value}" for name, value in fields)]
    return "\r\n".join([*lines, "", ""]).encode("latin-1")


def redirect(location: str, status: int = 302, fields: tuple[tuple[str, str], ...] = ()) -> Page:
    return Page(b"elsewhere", "text/plain", status, (("Location", location), *fields))


def gzip_zeros(size: int) -> Iterator[bytes]:
    """One gzip member. After a full flush a block stands alone, so the second one serves for all that follow."""
    block = bytes(MIB)
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    first = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    again = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    yield b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + first
    check = zlib.crc32(block)
    for _ in range(size // MIB - 1):
        check = zlib.crc32(block, check)
        yield again
    yield packer.flush() + check.to_bytes(4, "little") + (size % 2**32).to_bytes(4, "little")


def brotli_zeros(size: int) -> Iterator[bytes]:
    """The same for brotli: two flushes settle the state, then every block is the same few bytes."""
    block = bytes(MIB)
    packer = brotli.Compressor(quality=1, lgwin=24)
    for _ in range(3):
        again = packer.process(block) + packer.flush()
        yield again
    for _ in range(size // MIB - 3):
        yield again
    yield packer.finish()


async def _then(exchange: Exchange, then: Then) -> bool:
    if then is Then.RESET:
        exchange.reset()
    elif then is Then.HANG:
        await exchange.until_gone()
    elif then is Then.CLOSE_LATER:
        await exchange.reader.readuntil(b"\r\n\r\n")
    elif then is Then.RESET_LATER:
        await exchange.reader.readuntil(b"\r\n\r\n")
        exchange.reset()
    return then is Then.KEEP


NOT_FOUND = Page(b"nothing is served here", "text/plain", 404)
