"""The cache: one question is asked once, an answer is kept for its time, a failure never."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

import pytest

from runvil.core.results import SearchQuery
from runvil.gateway import cache as caching
from runvil.gateway.cache import EMPTY_TTL, Answer, Cache, MemoryStore, _unpacked, key_of
from tests.gateway.test_keys import Clock

ANSWER = Answer(b"{}", 1, "brave")


@dataclass
class Maker:
    """Makes an answer once `go` is set, or raises."""

    error: Exception | None = None
    answer: Answer = ANSWER
    asked: int = 0

    def __post_init__(self) -> None:
        self.go = asyncio.Event()

    async def __call__(self) -> Answer:
        self.asked += 1
        await self.go.wait()
        if self.error:
            raise self.error
        return self.answer


def ready(**members: object) -> Maker:
    maker = Maker(**members)  # type: ignore[arg-type]
    maker.go.set()
    return maker


async def test_a_question_asked_by_many_at_once_is_asked_once() -> None:
    cache, make = Cache(MemoryStore(), 60), Maker()
    waiting = [asyncio.ensure_future(cache.answer("k", make)) for _ in range(50)]
    await asyncio.sleep(0)
    make.go.set()
    sources = [source for _, source in await asyncio.gather(*waiting)]
    assert (make.asked, sources) == (1, ["miss", *["shared"] * 49])
    assert await cache.answer("k", make) == (ANSWER, "hit")


async def test_a_failure_reaches_all_who_wait_and_is_not_kept() -> None:
    cache, failing = Cache(MemoryStore(), 60), Maker(error=ValueError("no"))
    waiting = [asyncio.ensure_future(cache.answer("k", failing)) for _ in range(5)]
    await asyncio.sleep(0)
    failing.go.set()
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) for outcome in outcomes] == [ValueError] * 5
    assert await cache.answer("k", ready()) == (ANSWER, "miss")


async def test_one_who_leaves_takes_the_answer_from_nobody() -> None:
    cache, make = Cache(MemoryStore(), 60), Maker()
    first = asyncio.ensure_future(cache.answer("k", make))
    second = asyncio.ensure_future(cache.answer("k", make))
    await asyncio.sleep(0)
    first.cancel()
    make.go.set()
    assert await second == (ANSWER, "shared")
    assert make.asked == 1


async def test_nothing_is_kept_where_there_is_no_time_for_it() -> None:
    cache, make = Cache(MemoryStore(), 0), ready()
    for _ in range(2):
        assert await cache.answer("k", make) == (ANSWER, "miss")
    assert make.asked == 2


async def test_an_answer_is_kept_for_its_time_and_an_empty_one_for_less() -> None:
    clock = Clock()
    cache = Cache(MemoryStore(clock), 600)
    empty = replace(ANSWER, rows=0)
    await cache.answer("full", ready())
    await cache.answer("empty", ready(answer=empty))
    clock.now = EMPTY_TTL - 0.1
    assert (await cache.answer("empty", ready()))[1] == "hit"
    clock.now = EMPTY_TTL
    assert (await cache.answer("empty", ready()))[1] == "miss"
    clock.now = 599.9
    assert (await cache.answer("full", ready()))[1] == "hit"
    clock.now = 600.0
    assert (await cache.answer("full", ready()))[1] == "miss"


async def test_memory_is_bounded_by_number_and_by_bytes_and_the_longest_unused_goes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(caching, "MAX_ENTRIES", 3)
    store = MemoryStore(Clock())
    for key in "abc":
        await store.put(key, ANSWER, 60)
    await store.get("a")
    await store.put("d", ANSWER, 60)
    assert [key for key in "abcd" if await store.get(key)] == ["a", "c", "d"]
    monkeypatch.setattr(caching, "MAX_BYTES", 10)
    await store.put("e", Answer(b"x" * 9, 1, "brave"), 60)
    assert [key for key in "abcde" if await store.get(key)] == ["e"]
    await store.put("e", ANSWER, 60)
    assert store._bytes == len(ANSWER.body)


def test_queries_that_must_have_one_answer_have_one_key() -> None:
    query = SearchQuery("q", 5, country="US", search_lang="EN", include_domains=("a.com", "b.com"))
    same = replace(query, country="us", search_lang="en", include_domains=("b.com", "a.com", "a.com"))
    assert key_of("c", query) == key_of("c", same)


def test_queries_that_may_differ_have_keys_of_their_own() -> None:
    query = SearchQuery("q", 5)
    others = [
        replace(query, query="Q"),
        replace(query, count=6),
        replace(query, freshness="pd"),
        replace(query, country="us"),
        replace(query, search_lang="us"),
        replace(query, safesearch="off"),
        replace(query, include_domains=("a.com",)),
        replace(query, exclude_domains=("a.com",)),
    ]
    keys = {key_of("c", each) for each in (query, *others)} | {key_of("d", query)}
    assert len(keys) == len(others) + 2


@pytest.mark.parametrize("raw", [None, b"", b"x", b'[2, 1, "b"]\n{', b"[2, 1]\n{}", b"5\n{}", "text", b"x" * 600_000])
def test_what_is_not_whole_in_a_shared_store_is_not_there(raw: object) -> None:
    assert _unpacked(raw) is None


def test_what_is_whole_is_read_back() -> None:
    assert _unpacked(b'[2, 1, "brave"]\n{}') == ANSWER
