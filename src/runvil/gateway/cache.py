"""Answers that are kept for a while. A failure is never kept; one question is asked once, however many ask it.

The cache is no protection: a store that cannot be asked is a store without the answer.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from runvil.core.results import SearchQuery
from runvil.gateway.rows import MAX_ANSWER
from runvil.gateway.store import LOST, Redis

log = logging.getLogger("runvil.gateway")

MAX_ENTRIES = 2048
MAX_BYTES = 32 * 1024 * 1024
"""Answers kept in memory, and their bytes: whichever is reached first; the one longest unused goes."""

EMPTY_TTL = 60
"""Seconds at most for an answer without rows: there may be some soon."""

FORMAT = "1"
"""Part of every key: to be raised when what is stored changes."""


@dataclass(frozen=True, slots=True)
class Answer:
    """body: as it goes to the client. rows: how many are in it. vendor: who found them."""

    body: bytes
    rows: int
    vendor: str


class Store(Protocol):
    async def get(self, key: str) -> Answer | None: ...

    async def put(self, key: str, answer: Answer, ttl: int) -> None: ...


Make = Callable[[], Awaitable[Answer]]


def key_of(configuration: str, query: SearchQuery) -> str:
    """The same for all queries that must have the same answer. configuration: all else that it depends on."""
    text = json.dumps(
        (
            *(FORMAT, configuration, query.query, query.count, query.freshness, query.safesearch),
            *((query.country or "").lower(), (query.search_lang or "").lower()),
            *(sorted(set(query.include_domains)), sorted(set(query.exclude_domains))),
        )
    )
    return hashlib.sha256(text.encode()).hexdigest()


class Cache:
    """ttl: seconds. store: None to keep nothing and only ask once what is asked at once."""

    def __init__(self, store: Store | None, ttl: int) -> None:
        self._store = store if ttl else None
        self._ttl = ttl
        self._flights: dict[str, asyncio.Task[tuple[Answer, str]]] = {}

    async def answer(self, key: str, make: Make) -> tuple[Answer, str]:
        """The answer and where it is from: hit, miss, or shared with a request that was there first."""
        flight = self._flights.get(key)
        if flight is not None:
            return (await asyncio.shield(flight))[0], "shared"
        flight = asyncio.ensure_future(self._made(key, make))
        self._flights[key] = flight
        flight.add_done_callback(lambda done: self._landed(key, done))
        return await asyncio.shield(flight)

    async def _made(self, key: str, make: Make) -> tuple[Answer, str]:
        found = await self._store.get(key) if self._store else None
        if found is not None:
            return found, "hit"
        answer = await make()
        if self._store:
            await self._store.put(key, answer, self._ttl if answer.rows else min(self._ttl, EMPTY_TTL))
        return answer, "miss"

    def _landed(self, key: str, flight: asyncio.Task[tuple[Answer, str]]) -> None:
        del self._flights[key]
        if not flight.cancelled():
            flight.exception()  # whoever waited has it; if nobody did, there is nobody to tell


class MemoryStore:
    """An LRU of one process. clock: seconds, never backwards."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, Answer]] = OrderedDict()
        self._bytes = 0

    async def get(self, key: str) -> Answer | None:
        until, answer = self._kept.get(key, (0.0, None))
        if answer is None:
            return None
        if self._clock() >= until:
            self._drop(key)
            return None
        self._kept.move_to_end(key)
        return answer

    async def put(self, key: str, answer: Answer, ttl: int) -> None:
        self._drop(key)
        self._kept[key] = (self._clock() + ttl, answer)
        self._bytes += len(answer.body)
        while len(self._kept) > MAX_ENTRIES or self._bytes > MAX_BYTES:
            self._drop(next(iter(self._kept)))

    def _drop(self, key: str) -> None:
        _, answer = self._kept.pop(key, (0.0, None))
        self._bytes -= len(answer.body) if answer else 0


class RedisStore:
    """Shared by all instances. The key is a digest: no query stands in it."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def get(self, key: str) -> Answer | None:
        try:
            raw = await self._redis.client.get(_name(key))
        except LOST as error:
            _say_lost(error)
            return None
        return _unpacked(raw)

    async def put(self, key: str, answer: Answer, ttl: int) -> None:
        head = json.dumps([len(answer.body), answer.rows, answer.vendor]).encode()
        try:
            await self._redis.client.set(_name(key), head + b"\n" + answer.body, ex=ttl)
        except LOST as error:
            _say_lost(error)


def _unpacked(raw: object) -> Answer | None:
    """A stored answer, if it is whole."""
    if not isinstance(raw, bytes) or len(raw) > 2 * MAX_ANSWER:
        return None
    head, _, body = raw.partition(b"\n")
    try:
        size, rows, vendor = json.loads(head)
    except (ValueError, TypeError):
        return None
    return Answer(body, rows, vendor) if size == len(body) else None


def _name(key: str) -> str:
    return f"runvil:answer:{key}"


def _say_lost(error: Exception) -> None:
    log.warning("cache store lost", extra={"fields": {"error": type(error).__name__}})
