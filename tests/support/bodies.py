"""The vectors' body notation (`server_behaviour.body` in the spec's vectors) as bytes."""

from __future__ import annotations

import base64
import gzip
from collections.abc import Iterator, Mapping
from typing import Any

import brotli


def body_bytes(body: Mapping[str, Any]) -> bytes:
    match body:
        case {"text": str(text)}:
            return text.encode()
        case {"b64": str(text)}:
            return base64.b64decode(text)
        case {"repeat": str(text), "count": int(count)}:
            return text.encode() * count
        case {"gzip_of": inner}:
            return gzip.compress(body_bytes(inner), mtime=0)
        case {"br_of": inner}:
            compressed: bytes = brotli.compress(body_bytes(inner), quality=5)
            return compressed
        case {"concat": parts}:
            return b"".join(body_bytes(part) for part in parts)
    raise AssertionError(f"unknown body: {body}")


def never_read() -> Iterator[bytes]:
    """A body that must not be downloaded."""
    raise AssertionError("the body was read")
    yield b""


def header_value(value: object) -> bytes:
    """A vector's header value: text, or raw bytes in base64."""
    if isinstance(value, Mapping):
        return base64.b64decode(value["b64"])
    return str(value).encode()
