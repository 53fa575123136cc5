"""Whatever a server answers, a search ends in results or in a SearchError, and results hold what they may hold."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runvil import SearchError, SearchQuery, SearchResult, WebSearch
from runvil.core.results import results_json
from runvil.providers.client import Request
from runvil.providers.reply import Limits, Reply
from runvil.providers.rows import MAX_DESCRIPTION, MAX_TITLE, MAX_URL, host_of, plain, within
from tests.support.steady import steady
from tests.unit.providers.asking import KINDS, ROWS, VENDORS
from tests.vectors.expectations import call

WORDS = [
    "url", "link", "title", "results", "web", "data", "search", "organic", "error", "message", "detail", "query",
    "altered", "highlights", "unresponsive_engines", "extra_snippets", "meta_url", "publishedDate", "time", "code",
    "https://a.example/", "", " ", "\ud800", "javascript:x", "https://", "a.example",
]  # fmt: skip

SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.floats() | st.sampled_from(WORDS) | st.text(max_size=5)
ANSWERS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=5),
    max_leaves=20,
)


class Canned:
    """A client whose every answer is the same."""

    def __init__(self, reply: Reply) -> None:
        self._reply = reply

    async def send(self, request: Request, limits: Limits | None = None, *, patient: bool = True) -> Reply:
        return self._reply


def provider(name: str, reply: Reply) -> Any:
    made = KINDS[name].provider("http://127.0.0.1:1")
    if name == "gateway":
        made._client = Canned(reply)
    else:
        made._vendor.client = Canned(reply)
    return made


def searched(name: str, body: bytes, status: int = 200) -> None:
    made = provider(name, Reply(status, "application/json", body))
    try:
        found = asyncio.run(made.search(SearchQuery("hi", count=5)))
    except SearchError:
        return
    assert status == 200
    if name == "gateway":
        return
    assert len(found.results) <= 5
    for row in found.results:
        assert len(row.title) <= MAX_TITLE
        assert len(row.description) <= MAX_DESCRIPTION
        assert len(row.url) <= MAX_URL
        assert not row.url or host_of(row.url)
    if all(row.url for row in found.results):
        results_json(found)


@pytest.mark.parametrize("name", KINDS)
def test_any_json_is_results_or_a_failure(name: str) -> None:
    """Invariant: no answer, however shaped, raises anything else than SearchError."""

    @given(ANSWERS, st.sampled_from([200, 200, 200, 202, 400, 403, 422, 429, 500]))
    @steady(150)
    def any_answer(answer: object, status: int) -> None:
        searched(name, json.dumps(answer).encode(), status)

    any_answer()


@pytest.mark.parametrize("name", KINDS)
def test_a_good_answer_with_one_part_exchanged_is_results_or_a_failure(name: str) -> None:
    """Invariant: as above, where the damage is deep inside."""
    good = KINDS[name].answer(ROWS)

    @given(st.data(), ANSWERS)
    @steady(150)
    def damaged(data: st.DataObject, part: object) -> None:
        answer = json.loads(json.dumps(good))
        where = answer
        while True:
            keys = list(where) if isinstance(where, dict) else list(range(len(where)))
            key = data.draw(st.sampled_from(keys))
            if not isinstance(where[key], dict | list) or not where[key] or data.draw(st.booleans()):
                where[key] = part
                break
            where = where[key]
        searched(name, json.dumps(answer).encode())

    damaged()


@pytest.mark.parametrize("name", VENDORS)
def test_any_bytes_are_a_failure(name: str) -> None:
    @given(st.binary(max_size=50))
    @steady(50)
    def any_bytes(body: bytes) -> None:
        searched(name, b"\x01" + body)

    any_bytes()


@given(st.text(max_size=200))
@steady(300)
def test_cleaned_text_is_one_line_and_stays_as_it_is(text: str) -> None:
    """Invariant: no control, no line break, no half character, no white space at the ends."""
    cleaned = plain(text)
    assert cleaned == " ".join(cleaned.split())
    assert not any(ord(letter) < 32 or 0xD800 <= ord(letter) < 0xE000 for letter in cleaned)
    cleaned.encode()


HOSTS = st.sampled_from(
    ["a.example", "A.example.", "b.a.example", "nota.example", "example", "x y", "[::1]", "1.2.3.4", ""]
)


@given(st.lists(HOSTS, max_size=3), st.lists(HOSTS, max_size=3))
@steady(200)
def test_both_lists_hold_whatever_is_in_them(include: list[str], exclude: list[str]) -> None:
    """Invariant: a kept row is in an included host, if there is any, and in no excluded one."""
    query = SearchQuery("hi", include_domains=tuple(include), exclude_domains=tuple(exclude))
    rows = [row for _, row, _ in ROWS] + ["https://b.a.example/", "https://nota.example/", "https://1.2.3.4/"]
    found = within(query, [result(url) for url in rows])
    for row in found:
        labels = f".{host_of(row.url)}"
        assert not any(labels.endswith(f".{host.lower().rstrip('.')}") for host in exclude if host)
        assert not include or any(labels.endswith(f".{host.lower().rstrip('.')}") for host in include if host)


def result(url: str) -> Any:
    return SearchResult("", url, "")


async def test_the_tool_over_a_vendor_answers_in_its_own_shape() -> None:
    body = json.dumps(KINDS["tavily"].answer(ROWS)).encode()
    outcome = await call(WebSearch(provider("tavily", Reply(200, "application/json", body))), {"query": "hi"})
    assert outcome.text == (
        '{"query":"hi","results":['
        '{"title":"One","url":"https://a.example/1","description":"first","site_name":"a.example"},'
        '{"title":"Two","url":"https://b.example/2","description":"second","site_name":"b.example"}]}'
    )
