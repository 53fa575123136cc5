"""What is done to a vendor's rows, step by step and in order (spec 2.8)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.gateway import rows
from runvil.gateway.rows import RowRules, host_of, post_process, rendered, sanitize_text, strip_tracking_params

RULES = RowRules()


def row(url: str, **members: str) -> SearchResult:
    return SearchResult(members.pop("title", "t"), url, members.pop("description", "d"), **members)  # type: ignore[arg-type]


def urls(*given_rows: SearchResult, rules: RowRules = RULES, **asked: tuple[str, ...] | int) -> list[str]:
    query = SearchQuery("q", **{"count": 20, **asked})  # type: ignore[arg-type]
    return [each.url for each in post_process(given_rows, query, rules)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\tc", "a b c"),
        ("a\r\x0b\x0c\x00\x7f\x85\x9fb", "ab"),
        ("  a \u00a0\u2003 b  ", "a b"),
        ("\ud800a", "a"),
        ("&amp;lt;b&amp;gt;", "<b>"),
        ("&nbsp;&#60;&AMP;", "&nbsp;&#60;&AMP;"),
        ("", ""),
        ("\u0436\u4e2d\U0001f600", "\u0436\u4e2d\U0001f600"),
    ],
)
def test_text_is_one_line_without_controls_and_with_six_entities_decoded(text: str, expected: str) -> None:
    assert sanitize_text(text, 100) == expected


def test_text_is_cut_at_its_cap_after_cleaning() -> None:
    assert sanitize_text("x" * 512, 512) == "x" * 512
    assert sanitize_text("x" * 513, 512) == "x" * 512
    assert sanitize_text("&amp;" * 3, 2) == "&&"


@given(st.text(max_size=200), st.integers(1, 60))
def test_no_text_is_longer_than_its_cap_or_holds_a_control(text: str, cap: int) -> None:
    line = sanitize_text(text, cap)
    assert len(line) <= cap
    assert not [c for c in line if ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0]


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://e.com/a?utm_source=1&b=2&fbclid=x&mc_cid=y&mc_eid=z&utm_=", "https://e.com/a?b=2"),
        ("https://e.com/a?gclid=1#part", "https://e.com/a#part"),
        ("https://e.com/a?utm=1&gclid2=2", "https://e.com/a?utm=1&gclid2=2"),
        ("https://e.com/a#?utm_source=1", "https://e.com/a#?utm_source=1"),
        ("https://e.com/a?b&gclid", "https://e.com/a?b"),
        ("https://e.com/a?", "https://e.com/a"),
        ("https://e.com/utm_source", "https://e.com/utm_source"),
    ],
)
def test_only_the_parameters_that_track_are_taken_off_an_address(url: str, expected: str) -> None:
    assert strip_tracking_params(url) == expected


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://WWW.Example.com.:443/", "www.example.com"),
        ("http://e.com", "e.com"),
        ("ftp://e.com/", None),
        ("javascript:alert(1)", None),
        ("not-a-url", None),
        ("https:///", None),
        ("", None),
        ("https://e.com/a b", None),
        ("https://e.com/\n", None),
        ("https://e.com/" + "x" * (2048 - 14), "e.com"),
        ("https://e.com/" + "x" * (2048 - 13), None),
    ],
)
def test_a_row_needs_an_address_that_a_client_can_dial(url: str, host: str | None) -> None:
    assert host_of(url) == host
    assert urls(row(url)) == ([url] if host else [])


def test_an_address_is_measured_after_its_trackers_are_gone() -> None:
    tracked = "https://e.com/?utm_source=" + "x" * 3000
    assert urls(row(tracked)) == ["https://e.com/"]
    assert urls(row(tracked), rules=RowRules(strip_tracking=False)) == []


def test_the_site_is_the_host_without_www_whatever_the_vendor_calls_it() -> None:
    (one,) = post_process([row("https://www.e.com/", site_name="E, the best")], SearchQuery("q", 1), RowRules())
    assert one.site_name == "e.com"


def test_members_are_capped_and_empty_snippets_fall_away() -> None:
    long = SearchResult("t" * 600, "https://e.com/", "d" * 5000, "a" * 99, None, ("", " ", *["s" * 2000] * 9))
    (one,) = post_process([long], SearchQuery("q", 1), RowRules())
    assert (len(one.title), len(one.description), len(one.age or "")) == (512, 4096, 64)
    assert [len(text) for text in one.extra_snippets] == [1024] * 6


def test_domains_match_on_label_boundaries_and_exclusion_comes_last() -> None:
    all_rows = [row(f"https://{host}/") for host in ("e.com", "a.e.com", "note.com", "e.com.evil.org", "b.e.com")]
    assert urls(*all_rows, include_domains=("e.com",), exclude_domains=("b.e.com",)) == [
        "https://e.com/",
        "https://a.e.com/",
    ]


def test_a_host_gets_its_share_in_order_and_www_is_the_same_host() -> None:
    mixed = [row(f"https://{host}/{at}") for at, host in enumerate(("www.e.com", "e.com", "e.com", "f.com"))]
    assert urls(*mixed) == ["https://www.e.com/0", "https://e.com/1", "https://f.com/3"]
    assert urls(*mixed, rules=RowRules(max_per_host=3), count=3) == [each.url for each in mixed[:3]]


def test_filters_run_before_the_share_of_a_host_and_the_count() -> None:
    given_rows = [row("https://a.e.com/1"), row("https://x.org/"), row("https://a.e.com/2")]
    assert urls(*given_rows, include_domains=("e.com",), count=2) == ["https://a.e.com/1", "https://a.e.com/2"]


def test_an_answer_too_large_for_a_client_loses_its_last_rows() -> None:
    big = [
        SearchResult("t", f"https://s{at}.com/", "\U0001f600" * 4096, None, None, ("\U0001f600" * 1024,) * 8)
        for at in range(20)
    ]
    count, body = rendered(SearchQuery("q", 20), SearchResults("q", tuple(big)), RowRules())
    assert 0 < count < 20
    assert len(body) <= rows.MAX_ANSWER
    assert len(json.loads(body)["results"]) == count
