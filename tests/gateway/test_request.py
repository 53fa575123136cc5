"""The body of a search, byte by byte: what is taken, what is cut, what is refused and in which words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runvil.core.results import SearchQuery
from runvil.gateway.refusals import Refusal
from runvil.gateway.request import FIELDS, Defaults, read_request, request_schema, vendor_query

SETTINGS = Defaults()


def read(body: Any, settings: Defaults = SETTINGS) -> SearchQuery:
    return read_request(body if isinstance(body, bytes) else json.dumps(body).encode(), settings)


def refused(body: Any) -> str:
    with pytest.raises(Refusal) as raised:
        read(body)
    assert (raised.value.status, raised.value.code) == (400, "malformed_request")
    prefix, _, said = str(raised.value).partition(": ")
    assert prefix == "malformed request"
    return said


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "the body is not JSON"),
        (b"{", "the body is not JSON"),
        (b"\xff", "the body is not JSON"),
        (b'{"query": NaN}', "the body is not JSON"),
        (b'{"query": "a", "count": 1e999}', "web_search: count is not a whole number"),
        (b"[" * 100_000, "the body is not JSON"),
        (b'{"query": "a", "count": ' + b"9" * 5000 + b"}", "the body is not JSON"),
        (b"[]", "the body is not a JSON object"),
        (b"null", "the body is not a JSON object"),
        (b'{"query": "a", "query": "b"}', "the body names a member twice"),
        ({}, "web_search: missing query"),
        ({"query": None}, "web_search: missing query"),
        ({"query": 5}, "web_search: query is not a string"),
        ({"query": "\ud800"}, "web_search: query is not a string"),
        ({"query": ""}, "web_search: empty query"),
        ({"query": "\t\u00a0\u3000\x85"}, "web_search: empty query"),
        ({"query": "a", "q": "b"}, 'web_search: unknown field "q"'),
        ({"query": "a", "Query": "b"}, 'web_search: unknown field "Query"'),
        ({"query": "a", "count": "5"}, "web_search: count is not a whole number"),
        ({"query": "a", "count": True}, "web_search: count is not a whole number"),
        ({"query": "a", "count": -1}, "web_search: count is not a whole number"),
        ({"query": "a", "count": 1.5}, "web_search: count is not a whole number"),
        ({"query": "a", "count": 2**32}, "web_search: count is not a whole number"),
        ({"query": "a", "freshness": "PD"}, 'web_search: invalid freshness "PD"'),
        ({"query": "a", "freshness": "2024-01-01to2024-1-2"}, 'web_search: invalid freshness "2024-01-01to2024-1-2"'),
        ({"query": "a", "freshness": "pd\n"}, 'web_search: invalid freshness "pd\n"'),
        ({"query": "a", "country": "u"}, 'web_search: invalid country "u"'),
        ({"query": "a", "country": "u5"}, 'web_search: invalid country "u5"'),
        ({"query": "a", "country": "\u0443\u0441"}, 'web_search: invalid country "\u0443\u0441"'),
        ({"query": "a", "search_lang": "e"}, 'web_search: invalid search_lang "e"'),
        ({"query": "a", "search_lang": "engl"}, 'web_search: invalid search_lang "engl"'),
        ({"query": "a", "safesearch": "Strict"}, 'web_search: invalid safesearch "Strict"'),
        ({"query": "a", "safesearch": []}, "web_search: safesearch is not a string"),
        ({"query": "a", "include_domains": "e.com"}, "web_search: include_domains is not a list"),
        ({"query": "a", "include_domains": [5]}, "web_search: an entry of include_domains is not a string"),
        ({"query": "a", "include_domains": [""]}, 'web_search: invalid include domain ""'),
        ({"query": "a", "include_domains": ["e.com."]}, 'web_search: invalid include domain "e.com."'),
        ({"query": "a", "exclude_domains": ["a_b.com"]}, 'web_search: invalid exclude domain "a_b.com"'),
        ({"query": "a", "exclude_domains": ["a-.com"]}, 'web_search: invalid exclude domain "a-.com"'),
        ({"query": "a", "exclude_domains": ["e.com\n"]}, 'web_search: invalid exclude domain "e.com\n"'),
        (
            {"query": "a", "exclude_domains": ["e.com"] * 21},
            "web_search: exclude_domains may list at most 20 hostnames",
        ),
    ],
)
def test_a_body_that_breaks_a_rule_is_refused_in_our_words(body: Any, said: str) -> None:
    assert refused(body) == said


def test_a_long_value_is_not_echoed_whole() -> None:
    assert len(refused({"query": "a", "country": "u" * 10_000})) < 200
    assert len(refused({"query": "a", "k" * 10_000: 1})) < 200


def test_labels_and_hosts_may_be_as_long_as_names_may_be() -> None:
    label = "a" * 63
    longest = f"{label}.{label}.{label}.{'b' * 61}"
    assert len(longest) == 253
    assert read({"query": "a", "include_domains": [longest]}).include_domains == (longest,)
    assert refused({"query": "a", "include_domains": [longest + "b"]})
    assert refused({"query": "a", "include_domains": ["a" * 64 + ".com"]})


def test_what_is_not_asked_for_has_the_configured_default() -> None:
    settings = Defaults(default_count=7, max_count=15, default_freshness="pw", default_safesearch="strict")
    assert read({"query": "a"}, settings) == SearchQuery("a", 7, "pw", None, None, "strict")
    blank = dict.fromkeys(("freshness", "country", "search_lang", "safesearch"), "")
    assert read({"query": "a", **blank}, settings) == SearchQuery("a", 7, "pw", None, None, "strict")
    nothing = dict.fromkeys(("count", "freshness", "country", "search_lang", "safesearch", "include_domains"))
    assert read({"query": "a", **nothing}, settings) == SearchQuery("a", 7, "pw", None, None, "strict")
    chosen = {"query": "a", "freshness": "pd", "safesearch": "off"}
    assert read(chosen, settings) == SearchQuery("a", 7, "pd", None, None, "off")


@pytest.mark.parametrize(("asked", "given_to_client"), [(0, 1), (1, 1), (20, 20), (21, 20), (2**32 - 1, 20), (5.0, 5)])
def test_a_count_is_clamped(asked: float, given_to_client: int) -> None:
    assert read({"query": "a", "count": asked}).count == given_to_client


def test_a_query_is_trimmed_and_then_cut() -> None:
    assert read({"query": " \u2003a  b\n"}).query == "a  b"
    assert read({"query": " " + "x" * 512}).query == "x" * 512
    assert read({"query": "x" * 513}).query == "x" * 512


def test_two_dates_are_a_freshness_and_domains_become_lower_case() -> None:
    asked = {"query": "a", "freshness": "2024-01-01to2024-06-30", "exclude_domains": ["Sub.E.com", "LOCALHOST"]}
    assert read(asked) == SearchQuery("a", 10, "2024-01-01to2024-06-30", exclude_domains=("sub.e.com", "localhost"))


def test_the_vendor_is_asked_for_three_rows_for_each_one_wanted_up_to_the_ceiling() -> None:
    asked = [vendor_query(SearchQuery("a", count), SETTINGS).count for count in (1, 3, 6, 7, 20)]
    assert asked == [3, 9, 18, 20, 20]


def test_the_schema_describes_every_field_in_the_tools_words() -> None:
    schema = request_schema()
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == list(FIELDS)
    assert all(member["description"] for member in schema["properties"].values())


@given(st.binary(max_size=300))
def test_any_bytes_are_a_query_or_a_refusal(body: bytes) -> None:
    try:
        assert read(body).query
    except Refusal as refusal:
        json.loads(refusal.body())


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.text(), max_size=3))


@given(st.dictionaries(st.sampled_from([*FIELDS, "other"]), VALUES))
def test_any_members_are_a_query_or_a_refusal(members: dict[str, Any]) -> None:
    try:
        found = read(json.dumps(members).encode())
    except Refusal:
        return
    assert found.query.strip()
    assert 1 <= (found.count or 0) <= 20
