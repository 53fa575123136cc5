"""What came back: a bounded body, decoded by the house's own decoders, which take a cut stream for what it is."""

from __future__ import annotations

import time
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from runvil.core.codings import ENCODED_SLACK, decoder

if TYPE_CHECKING:
    import httpx2

MAX_BODY = 2 * 1024 * 1024
"""Decompressed bytes of an answer: twenty rows with snippets take a tenth of it; SearXNG's may be a few hundred."""

MAX_ERROR = 16 * 1024
"""Bytes read of an answer that is a failure: enough for its reason."""

OK_STATUSES = range(200, 300)


class Oversized(Exception):
    """The body of a success is larger than it may be."""


@dataclass(frozen=True, slots=True)
class Limits:
    """success: bytes of a 2xx body, beyond which it is Oversized. failure: bytes of any other, the rest is not read."""

    success: int = MAX_BODY
    failure: int = MAX_ERROR


LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Reply:
    """retry_after: seconds, or None when the answer does not say."""

    status: int
    content_type: str
    body: bytes
    retry_after: float | None = None


async def body_of(response: httpx2.Response, limits: Limits) -> bytes:
    """The decoded body: all of a success, the beginning of a failure. Raises Oversized, BadCoding, and httpx2's own."""
    good = response.status_code in OK_STATUSES
    most = limits.success if good else limits.failure
    undo = decoder([c.strip().lower().encode() for c in response.headers.get("content-encoding", "").split(",") if c])
    body, encoded = bytearray(), 0
    async for data in response.aiter_raw():
        encoded += len(data)
        for piece in undo.feed(data):
            body += piece
            if len(body) > most:
                break
        if len(body) > most or encoded > most + ENCODED_SLACK:
            if good:
                raise Oversized
            return bytes(body[:most])
    undo.finish()
    return bytes(body)


def retry_after(value: str | None, now: float | None = None) -> float | None:
    """Seconds from a Retry-After header, which holds seconds or a date (RFC 9110 10.2.3)."""
    if value is None:
        return None
    if value.strip().isascii() and value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - (time.time() if now is None else now))
    except (ValueError, OverflowError):
        return None
