"""Sound responses to damage, and the damage: seeded, so that every run sees the same ones."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from random import Random

import brotli

PAGE = b"<!doctype html><title>Herons</title><p>" + b"Eleven herons stood in the shallows. " * 12 + b"</p>"


def response(head: str, body: bytes = b"") -> bytes:
    return head.strip().replace("\n", "\r\n").encode() + b"\r\n\r\n" + body


def chunked(body: bytes, size: int = 100) -> bytes:
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def sized(body: bytes, *fields: str, status: str = "200 OK") -> bytes:
    return response("\n".join([f"HTTP/1.1 {status}", *fields, f"Content-Length: {len(body)}"]), body)


PACKED = gzip.compress(PAGE, mtime=0)
SQUEEZED = bytes(brotli.compress(PAGE))

FRAMED: Mapping[str, bytes] = {
    "sized html": sized(PAGE, "Content-Type: text/html; charset=utf-8"),
    "sized text": sized("Grüße".encode("latin-1"), "Content-Type: text/plain; charset=iso-8859-1"),
    "sized gzip": sized(PACKED, "Content-Type: text/html", "Content-Encoding: gzip"),
    "sized brotli": sized(SQUEEZED, "Content-Type: text/plain", "Content-Encoding: br"),
    "chunked json": response(
        "HTTP/1.1 200 OK\nContent-Type: application/json\nTransfer-Encoding: chunked", chunked(b'{"a": [1, 2, 3]}', 5)
    ),
    "chunked gzip": response(
        "HTTP/1.1 200 OK\nContent-Type: text/plain\nTransfer-Encoding: chunked\nContent-Encoding: gzip",
        chunked(PACKED, 40),
    ),
    "after information": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + sized(PAGE, "Content-Type: text/html"),
}
"""Responses whose end is marked, so that a cut one can be told from a whole one."""

OTHERS: Mapping[str, bytes] = {
    "until the end": response("HTTP/1.1 200 OK\nContent-Type: text/html\nConnection: close", PAGE),
    "old": response("HTTP/1.0 200 OK\nContent-Type: text/plain", b"hello"),
    "redirect": response("HTTP/1.1 302 Found\nLocation: https://example.com:8080/?secret\nContent-Length: 0"),
    "onward": response("HTTP/1.1 301 Moved\nLocation: /b?c\nContent-Length: 0"),
    "missing": response("HTTP/1.1 404 Not Found\nContent-Type: text/html\nContent-Length: 3", b"no\n"),
    "nothing": response("HTTP/1.1 204 No Content"),
    "both lengths": response(
        "HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 3\nTransfer-Encoding: chunked", chunked(PAGE)
    ),
    "upgrade": response("HTTP/1.1 101 Switching Protocols\nUpgrade: websocket\nConnection: upgrade"),
    "large": sized(b"x" * 30_000, "Content-Type: text/plain"),
}

SOUND: Mapping[str, bytes] = {**FRAMED, **OTHERS}

_FIELDS = [
    *(b"Content-Length: 5", b"Content-Length: -1", b"Content-Length: 99999999999999999999", b"Content-Type: "),
    *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked", b"Connection: close", b" folded"),
    *(b"Content-Encoding: br", b"Content-Encoding: gzip, gzip", b"Content-Type: text/html;charset=utf-16"),
    *(
        b"Location: https://127.0.0.1/?x",
        b"Location: \xff",
        b"Location: mailto:a b?c",
        b"HTTP/1.1 200 OK",
        b"HTTP/2 200",
    ),
    *(b"ffffffffffffffff", b"0\r\n", b"HTTP/1.1 100 Continue\r\n"),
]
TOKENS = [
    *(b"\r\n", b"\n", b"\r", b"\0", b" ", b":", b"\xff", b"\r\n\r\n", b"x" * 9000, b"A: b\r\n" * 300),
    *(b"<!--", b"<table><tr><td>", b"</p>" * 50, b"&#x110000;"),
    *(field + b"\r\n" for field in _FIELDS),
]


def damaged(sound: bytes, chance: Random) -> bytes:
    """`sound` with one to four places damaged: bytes replaced, taken out, doubled, or something put in."""
    data = bytearray(sound)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        span = chance.choice((1, 1, 2, 8, 64))
        match chance.randrange(5):
            case 0:
                data[at : at + span] = chance.randbytes(min(span, 8))
            case 1:
                del data[at : at + span]
            case 2:
                data[at:at] = data[at : at + span] * chance.choice((1, 2, 100))
            case 3:
                data[at:at] = chance.choice(TOKENS)
            case _:
                token = chance.choice(TOKENS)
                data[at : at + len(token)] = token
    return bytes(data)
