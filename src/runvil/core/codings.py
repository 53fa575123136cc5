"""Content codings, undone within bounds: output comes in small pieces, so a bomb is counted before it is expanded.

Ours, because clients return a gzip or brotli stream that was cut short as if it were whole (research, network A2).
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Protocol

import brotli

STEP = 64 * 1024
"""Most bytes asked of a decoder at once: the unit in which a body is counted against its cap."""

MAX_MEMBERS = 1024
"""Gzip members in one body. A stream of tiny members costs CPU without ever reaching the byte cap."""

ENCODED_SLACK = 64 * 1024
"""Encoded bytes allowed beyond the cap of the decoded ones: an honest coding never grows a body by more."""

_GZIP_WINDOW_BITS = 31  # 15, and 16 for a gzip wrapper
_GZIP_MAGIC = b"\x1f\x8b"


class BadCoding(ValueError):
    """The body is not what its Content-Encoding says, ends before its stream does, or has a coding we do not know."""


class Decoder(Protocol):
    def window(self, data: bytes) -> int:
        """Bytes the decoder will hold on to by itself once it is fed `data`, beyond what it holds already."""
        ...

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The output that `data` completes, in pieces of about STEP; stop iterating to stop decoding.

        Raises BadCoding.
        """
        ...

    def finish(self) -> None:
        """Say that no more data follows. Raises BadCoding when the stream was not at its end."""
        ...


def decoder(codings: Sequence[bytes]) -> Decoder:
    """The decoder for a body's content codings. At most one is undone (architecture 6). Raises BadCoding."""
    if not codings:
        return Identity()
    if len(codings) > 1 or codings[0] not in _DECODERS:
        raise BadCoding("unknown content coding")
    return _DECODERS[codings[0]]()


class Identity:
    def window(self, data: bytes) -> int:
        return 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        yield data

    def finish(self) -> None:
        return None


class Gzip:
    """RFC 1952, several members; bytes after a member that start no other are ignored, as browsers do."""

    WINDOW = 32 * 1024

    def __init__(self) -> None:
        self._member = zlib.decompressobj(_GZIP_WINDOW_BITS)
        self._members = 0
        self._fed = False
        self._after = b""  # what followed a member, until it shows whether another starts
        self._over = False

    def window(self, data: bytes) -> int:
        return 0 if self._fed or not data else self.WINDOW

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._fed = self._fed or bool(data)
        while data and not self._over:
            if self._member.eof and not (data := self._next_member(data)):
                return
            yield from self._inflate(data)
            data = self._member.unused_data

    def _next_member(self, data: bytes) -> bytes:
        """Start the next member and return its first bytes; nothing when none starts (yet)."""
        data, self._after = self._after + data, b""
        if len(data) < len(_GZIP_MAGIC):
            self._after = data
            return b""
        if not data.startswith(_GZIP_MAGIC):
            self._over = True
            return b""
        self._members += 1
        if self._members >= MAX_MEMBERS:
            raise BadCoding("too many gzip members")
        self._member = zlib.decompressobj(_GZIP_WINDOW_BITS)
        return data

    def _inflate(self, data: bytes) -> Iterator[bytes]:
        while data and not self._member.eof:
            try:
                piece = self._member.decompress(data, STEP)
            except zlib.error as error:
                raise BadCoding("not a gzip stream") from error
            if piece:
                yield piece
            data = self._member.unconsumed_tail

    def finish(self) -> None:
        if self._fed and not self._member.eof:
            raise BadCoding("the gzip stream was cut")


class Brotli:
    """RFC 7932. Its window is as large as the stream's first byte says, and held until the end."""

    def __init__(self) -> None:
        self._stream = brotli.Decompressor()
        self._fed = False

    def window(self, data: bytes) -> int:
        return 0 if self._fed or not data else 1 << window_bits(data[0])

    def feed(self, data: bytes) -> Iterator[bytes]:
        self._fed = self._fed or bool(data)
        while True:
            try:
                piece = self._stream.process(data, output_buffer_limit=STEP)
            except brotli.error as error:
                raise BadCoding("not a brotli stream") from error
            data = b""
            if piece:
                yield piece
            elif self._stream.can_accept_more_data():  # which it says of swallowed input with output pending, too
                return
            if self._stream.is_finished():
                return

    def finish(self) -> None:
        if self._fed and not self._stream.is_finished():
            raise BadCoding("the brotli stream was cut")


_DECODERS: dict[bytes, type[Gzip] | type[Brotli]] = {b"gzip": Gzip, b"x-gzip": Gzip, b"br": Brotli}
"""What Accept-Encoding asks for, and gzip's old name (RFC 9110 8.4.1.3)."""


def window_bits(first: int) -> int:
    """The window size a brotli stream declares in its first byte, as a power of two (RFC 7932 9.1)."""
    if not first & 1:
        return 16
    if n := (first >> 1) & 7:
        return 17 + n
    n = (first >> 4) & 7
    return 8 + n if n > 1 else 17  # n == 1 is invalid; the decoder says so
