"""What passes between a renderer and its worker process: three frames, every length bounded and checked before use.

    worker -> parent   hello     the names of the locks it has put on itself
    parent -> worker   request   raw flag, character limit, address, HTML
    worker -> parent   reply     label, whether it is the worker's last, title, text

Integers are big-endian, text is UTF-8. Never pickle: a parser that a page has taken over can send any bytes it likes,
and the most it gets for them is `Garbled`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from runvil.core.page import Extraction, Rendered
from runvil.core.url import MAX_URL_BYTES

Read = Callable[[int], bytes]
"""Gives exactly as many bytes as asked for; what it raises at an early end passes through."""

MAX_HTML = 256 * 1024 * 1024
"""Bytes: the highest configurable body (64 MiB, spec 1.21) can grow threefold when it is decoded and sent as UTF-8."""

MAX_TITLE = 2_000
"""Bytes: `extract` keeps 500 characters of a title, each at most four bytes."""

MAX_HELLO = 500
"""Bytes: some ten names of locks."""

MAX_CHARACTER = 4
"""Bytes that UTF-8 needs for one character."""

PIECE: Final = 1024 * 1024
"""Bytes asked of a pipe at once: a size that is announced and never comes takes no memory."""

_GREETING: Final = b"runvil-worker-1"
_LABELS: Final = (Extraction.READABILITY, Extraction.RAW_HTML)
_REQUEST_HEAD: Final = 11
_REPLY_HEAD: Final = 8


class Garbled(Exception):
    """The bytes that came are no frame."""


@dataclass(frozen=True, slots=True)
class Request:
    """One page to render. limit: characters of text wanted, one more shows that there are more."""

    raw: bool
    limit: int
    address: str
    html: bytes


def write_hello(locks: tuple[str, ...]) -> bytes:
    names = " ".join(locks).encode("ascii")[:MAX_HELLO]
    return _GREETING + len(names).to_bytes(2) + names


def read_hello(read: Read) -> tuple[str, ...]:
    if read(len(_GREETING)) != _GREETING:
        raise Garbled
    return tuple(_text(read, _bounded(read(2), MAX_HELLO)).split())


def write_request(request: Request) -> tuple[bytes, bytes]:
    """The frame in two parts, so that the page is not copied. Raises Garbled for a page or address over its bound."""
    address = request.address.encode("utf-8", "replace")
    if len(address) > MAX_URL_BYTES or len(request.html) > MAX_HTML:
        raise Garbled
    head = (
        request.raw.to_bytes(1),
        request.limit.to_bytes(4),
        len(address).to_bytes(2),
        len(request.html).to_bytes(4),
    )
    return b"".join((*head, address)), request.html


def read_request(read: Read) -> Request:
    head = read(_REQUEST_HEAD)
    address = _bounded(head[5:7], MAX_URL_BYTES)
    html = _bounded(head[7:11], MAX_HTML)
    return Request(head[0] == 1, int.from_bytes(head[1:5]), _text(read, address), read(html))


def write_reply(rendered: Rendered, limit: int, *, last: bool) -> bytes:
    title = rendered.title[: MAX_TITLE // MAX_CHARACTER].encode("utf-8", "replace")
    text = rendered.text[: limit + 1].encode("utf-8", "replace")
    label = _LABELS.index(rendered.extraction)
    return b"".join((label.to_bytes(1), last.to_bytes(1), len(title).to_bytes(2), len(text).to_bytes(4), title, text))


def read_reply(read: Read, limit: int) -> tuple[Rendered, bool]:
    """The rendered page, and whether the worker ends after it."""
    head = read(_REPLY_HEAD)
    label, last = head[0], head[1]
    if label >= len(_LABELS) or last > 1:
        raise Garbled
    title_size = _bounded(head[2:4], MAX_TITLE)
    text_size = _bounded(head[4:8], MAX_CHARACTER * (limit + 1))
    title, text = _text(read, title_size), _text(read, text_size)
    if len(text) > limit + 1:
        raise Garbled
    return Rendered(text, _LABELS[label], title), last == 1


def _bounded(field: bytes, most: int) -> int:
    size = int.from_bytes(field)
    if size > most:
        raise Garbled
    return size


def _text(read: Read, size: int) -> str:
    try:
        return read(size).decode()
    except UnicodeDecodeError as error:
        raise Garbled from error


def read_all(read: Callable[[int], bytes], size: int) -> bytes:
    """Exactly `size` bytes of a pipe, whose `read` gives fewer as it likes, and none at its end. Raises EOFError."""
    pieces = []
    while size > 0:
        piece = read(min(size, PIECE))
        if not piece:
            raise EOFError
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def write_all(write: Callable[[memoryview], int], data: bytes) -> None:
    """All of `data` into a pipe, whose `write` takes as much as it likes and says how much that was."""
    rest = memoryview(data)
    while rest:
        rest = rest[write(rest) :]
