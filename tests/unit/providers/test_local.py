"""The local index: what is remembered, what is found, and that nothing a user types is syntax."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import stat
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runvil import Page, SearchError, SearchQuery, SearchResult
from runvil.core.page import Extraction
from runvil.providers import LocalIndex, LocalProvider, index
from runvil.providers.index import IndexUnusable, data_directory
from runvil.providers.terms import joined, match_of, spaced
from tests.support.steady import steady
from tests.unit.providers.asking import urls

NOW = 1_790_000_000.0
DAY = 86_400.0


def page(url: str, text: str, title: str = "") -> Page:
    return Page(url, text, False, Extraction.PLAIN, 200, "text/plain", title)


@pytest.fixture
def remembered(tmp_path: Path) -> LocalIndex:
    return LocalIndex(tmp_path / "runvil")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [NOW]
    monkeypatch.setattr("runvil.providers.index.time.time", lambda: now[0])
    return now


def found(remembered: LocalIndex, query: str, **arguments: object) -> list[str]:
    return [row.url for row in remembered.find(SearchQuery(query, **arguments))]  # type: ignore[arg-type]


async def test_a_page_is_found_with_its_title_its_snippet_and_when_it_was_fetched(
    remembered: LocalIndex, clock: list[float]
) -> None:
    text = "filler " * 200 + "The walrus has **tusks** of ivory. " + "filler " * 200
    remembered.remember(page("https://www.a.example/walrus", text, "On Walruses"))
    (row,) = (await LocalProvider(remembered).search(SearchQuery("walrus tusks"))).results
    assert "walrus has **tusks** of ivory" in row.description
    assert len(row.description) < 500
    assert row == SearchResult(
        "On Walruses", "https://www.a.example/walrus", row.description, "fetched 2026-09-21", "www.a.example"
    )


def test_a_title_counts_for_more_and_all_words_before_any(remembered: LocalIndex) -> None:
    remembered.remember_all([
        page("https://a.example/text", "a red fox in the text " + "word " * 20),
        page("https://a.example/title", "some text " * 10, "Red fox"),
        page("https://a.example/half", "red " * 50),
    ])  # fmt: skip
    assert found(remembered, "red fox") == ["https://a.example/title", "https://a.example/text"]
    assert found(remembered, "fox unicorn") == ["https://a.example/title", "https://a.example/text"]
    assert found(remembered, "unicorn") == []


def test_endings_accents_and_case_are_no_difference(remembered: LocalIndex) -> None:
    remembered.remember(page("https://a.example/", "Running through the Café"))
    assert found(remembered, "RUN cafe") == ["https://a.example/"]


@pytest.mark.parametrize(
    ("text", "query"), [("東京タワーの高さ", "タワー"), ("北京大学位于北京", "大学"), ("ยินดีต้อนรับสู่กรุงเทพ", "กรุงเทพ")]
)
def test_scripts_without_spaces_are_searched_within(remembered: LocalIndex, text: str, query: str) -> None:
    remembered.remember(page("https://a.example/", text, text))
    (row,) = remembered.find(SearchQuery(query))
    assert (row.title, row.description) == (text, text)


def test_a_page_that_is_remembered_again_replaces_itself_and_its_query_string_is_dropped(
    remembered: LocalIndex,
) -> None:
    remembered.remember(page("https://a.example/p?token=secret#part", "old words"))
    remembered.remember(page("https://a.example/p?token=other", "new words"))
    assert found(remembered, "old") == []
    assert found(remembered, "new") == ["https://a.example/p"]
    kept = remembered.path.read_bytes()
    assert (b"secret" in kept, b"other" in kept) == (False, False)


def test_hosts_are_filtered_on_label_boundaries(remembered: LocalIndex) -> None:
    hosts = ["a.example", "sub.a.example", "nota.example", "a_example", "b.example"]
    remembered.remember_all([page(f"https://{host}/", "word") for host in hosts])
    assert set(found(remembered, "word", include_domains=("A.EXAMPLE.",))) == {
        "https://a.example/", "https://sub.a.example/",
    }  # fmt: skip
    assert "https://sub.a.example/" not in found(remembered, "word", exclude_domains=("sub.a.example",))
    assert found(remembered, "word", include_domains=("a.example",), exclude_domains=("a.example",)) == []
    assert found(remembered, "word", include_domains=("not a host",)) == []
    assert len(found(remembered, "word", exclude_domains=("not a host", "'; DROP TABLE pages; --"))) == 5
    many = tuple(f"h{n}.example" for n in range(20))
    assert len(found(remembered, "word", include_domains=("b.example", *many[1:]), exclude_domains=many)) == 1


@pytest.mark.parametrize(("freshness", "days"), [("pd", 1), ("pw", 7), ("pm", 31), ("py", 365)])
def test_freshness_is_by_the_time_of_the_fetch(
    remembered: LocalIndex, clock: list[float], freshness: str, days: int
) -> None:
    remembered.remember(page("https://a.example/", "word"))
    clock[0] = NOW + days * DAY
    assert len(found(remembered, "word", freshness=freshness)) == 1
    clock[0] += 1
    assert found(remembered, "word", freshness=freshness) == []


def test_a_language_filters_the_pages_whose_language_is_known(remembered: LocalIndex) -> None:
    for name in ("de", "en", None):
        remembered.remember(page(f"https://{name}.example/", "word"), language=name)
    assert set(found(remembered, "word", search_lang="de-CH")) == {
        "https://de.example/",
        "https://None.example/".lower(),
    }
    assert len(found(remembered, "word", search_lang="?")) == 3


def test_a_count_is_kept_and_ten_is_the_default(remembered: LocalIndex) -> None:
    remembered.remember_all([page(f"https://a.example/{n}", "word") for n in range(30)])
    assert [len(found(remembered, "word", count=n)) for n in (1, 20, None)] == [1, 20, 10]


SYNTAX = [
    'AND "', "OR", "NOT x", "NEAR(a b)", "a*", "^a", "title:a", "-a", "+a", "(a", "a)", '"', '""', '"""', "a AND",
    "{a b}",
    "'", "''; DROP TABLE pages", "\\", "%", "_", "\x00", "a\x00b", "\ud800", "*", "?", ":", "…", "😀", " ", "",
]  # fmt: skip


@pytest.mark.parametrize("query", SYNTAX)
def test_nothing_that_is_typed_is_syntax(remembered: LocalIndex, query: str) -> None:
    remembered.remember(page("https://a.example/", "a b x"))
    assert found(remembered, query) in ([], ["https://a.example/"])
    assert found(remembered, "a b x") == ["https://a.example/"]


@given(st.text(max_size=60))
@steady(300)
def test_any_text_is_a_match_expression(query: str) -> None:
    """Invariant: whatever is typed, FTS5 takes the expression."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize='porter unicode61')")
    for match in match_of(query):
        connection.execute("SELECT rowid FROM words WHERE words MATCH ?", (match,)).fetchall()
    connection.close()


@given(st.text(alphabet="ab 東京タワกท", max_size=30))
@steady(200)
def test_what_was_parted_for_the_index_is_joined_for_the_eye(text: str) -> None:
    """Invariant: parting and joining leave the characters and their order."""
    assert joined(spaced(text)).replace(" ", "") == text.replace(" ", "")


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_the_file_is_its_owners_alone(remembered: LocalIndex) -> None:
    before = os.umask(0)
    try:
        remembered.remember(page("https://a.example/", "word"))
    finally:
        os.umask(before)
    assert stat.S_IMODE(remembered.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(remembered.path.parent.stat().st_mode) == 0o700
    remembered.path.chmod(0o644)
    remembered.remember(page("https://a.example/", "word"))
    assert stat.S_IMODE(remembered.path.stat().st_mode) == 0o600
    assert os.listdir(remembered.path.parent) == ["pages.sqlite3"]


def test_the_oldest_pages_make_room(
    remembered: LocalIndex, clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "MAX_PAGES", 3)
    for n in range(5):
        clock[0] += 1
        remembered.remember(page(f"https://a.example/{n}", "word"))
    assert sorted(found(remembered, "word")) == [f"https://a.example/{n}" for n in (2, 3, 4)]
    monkeypatch.setattr(index, "MAX_TOTAL", 25)
    clock[0] += 1
    remembered.remember(page("https://a.example/big", "word" * 5))
    assert found(remembered, "word") == ["https://a.example/4"]
    assert found(remembered, "wordwordwordwordword") == ["https://a.example/big"]


def test_of_a_long_page_the_beginning_is_kept(remembered: LocalIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(index, "MAX_TEXT", 9)
    remembered.remember(page("https://a.example/", "beginning end"))
    assert (found(remembered, "beginning"), found(remembered, "end")) == (["https://a.example/"], [])


async def test_no_index_is_a_failure_that_says_so_and_makes_no_file(remembered: LocalIndex) -> None:
    with pytest.raises(SearchError, match="no pages are remembered on this machine") as caught:
        await LocalProvider(remembered).search(SearchQuery("hi"))
    assert caught.value.kind == "Backend"
    assert not remembered.path.parent.exists()


def test_an_index_whose_first_page_is_still_being_written_is_empty(remembered: LocalIndex) -> None:
    remembered.path.parent.mkdir()
    remembered.path.touch()
    with pytest.raises(IndexUnusable, match="no pages are remembered"):
        remembered.find(SearchQuery("hi"))
    remembered.remember(page("https://a.example/", "word"))
    assert found(remembered, "word") == ["https://a.example/"]


def test_a_search_that_takes_too_long_is_stopped(remembered: LocalIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    remembered.remember_all([page(f"https://a.example/{n}", "word " * 50) for n in range(50)])
    monkeypatch.setattr(index, "QUERY_SECONDS", -1.0)
    monkeypatch.setattr(index, "STEPS", 1)
    with pytest.raises(IndexUnusable, match="interrupted"):
        remembered.find(SearchQuery("word"))


async def test_a_damaged_index_is_a_failure(remembered: LocalIndex) -> None:
    remembered.remember(page("https://a.example/", "word"))
    remembered.path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(SearchError, match="the local index cannot be used"):
        await LocalProvider(remembered).search(SearchQuery("hi"))
    with pytest.raises(IndexUnusable):
        remembered.remember(page("https://a.example/", "word"))


def test_an_index_of_another_version_is_left_alone(remembered: LocalIndex) -> None:
    remembered.remember(page("https://a.example/", "word"))
    connection = sqlite3.connect(remembered.path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(IndexUnusable, match="another version"):
        remembered.remember(page("https://b.example/", "word"))


def test_a_failure_in_the_middle_leaves_nothing_half_done(remembered: LocalIndex) -> None:
    remembered.remember(page("https://a.example/", "word"))
    good, bad = page("https://b.example/", "word"), page("https://c.example/", None)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        remembered.remember_all([good, bad])
    assert found(remembered, "word") == ["https://a.example/"]


@pytest.mark.parametrize("attempt", range(5))
def test_writers_wait_for_each_other_from_the_first_on(remembered: LocalIndex, attempt: int) -> None:
    start = threading.Barrier(4, timeout=60)

    def write(place: int) -> None:
        start.wait()
        for n in range(5):
            remembered.remember(page(f"https://a.example/{place}/{n}", "word"))

    threads = [threading.Thread(target=write, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found(remembered, "word", count=20)) == 20


async def test_a_search_leaves_the_loop_free(remembered: LocalIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    here = threading.get_ident()
    monkeypatch.setattr(
        remembered, "find", lambda query: [SearchResult(str(threading.get_ident()), "https://a.example/", "")]
    )
    (row,) = (await LocalProvider(remembered).search(SearchQuery("hi"))).results
    assert row.title != str(here)


async def test_many_searches_at_once_are_answered(remembered: LocalIndex) -> None:
    remembered.remember(page("https://a.example/", "word"))
    provider = LocalProvider(remembered)
    answers = await asyncio.gather(*(urls(provider, SearchQuery("word")) for _ in range(20)))
    assert answers == [["https://a.example/"]] * 20


def test_the_directory_is_the_platforms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_directory({"XDG_DATA_HOME": "/data"}, "linux") == Path("/data/runvil")
    assert data_directory({"XDG_DATA_HOME": "relative"}, "linux") == tmp_path / ".local/share/runvil"
    assert data_directory({}, "darwin") == tmp_path / "Library/Application Support/runvil"
    assert data_directory({"LOCALAPPDATA": "/local"}, "win32") == Path("/local/runvil")
