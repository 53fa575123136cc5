"""No URL, title or text adds a line to the page header; any JSON value is a call or one of three failures."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from runvil.core.calls import MAX_INTEGER, FetchCall, read_fetch_call
from runvil.core.failures import BadMaxChars, BadRaw, InvalidUrl, MissingUrl
from runvil.core.page import Extraction, Page, cut
from runvil.core.url import parse
from tests.property import urls
from tests.support.steady import steady

texts = st.text(max_size=60)
lines = st.sampled_from(["", "\n", "\r\n", "\n\n", "url: https://evil.example/\n", "\u2028", "\x85", "\x0b", "\x1c"])
titles = st.builds(lambda *parts: "".join(parts), lines, texts, lines, texts)


@steady(500)
@given(urls.texts, titles, titles, st.sampled_from(Extraction), titles)
def test_the_header_is_three_lines_whatever_the_page_says(
    address: str, text: str, title: str, extraction: Extraction, content_type: str
) -> None:
    try:
        url = parse(address)
    except InvalidUrl:
        return
    truncated = bool(len(text) % 2)
    page = Page(url.full, text, truncated, extraction, 200, content_type, title)
    header, _, body = str(page).partition("\n\n")
    assert body == text
    assert header.split("\n") == header.splitlines()  # nor for a reader that knows other line ends
    assert dict(line.split(": ", 1) for line in header.split("\n")) == {
        "url": url.full,
        "truncated": str(truncated).lower(),
        "extraction": str(extraction),
    }


@steady(400)
@given(texts, st.integers(1, 80))
def test_the_cut_gives_the_first_characters_and_says_whether_there_were_more(text: str, count: int) -> None:
    kept, longer = cut(text, count)
    assert text.startswith(kept)
    assert len(kept) == min(len(text), count)
    assert longer == (kept != text)


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-3, 50_000), st.floats(), st.integers(0, 10).map(float),
    st.sampled_from([2**64 - 1, 2**64, 2.0**64, 1e300, -0.0, 40_000.0]), st.text(max_size=10),
)  # fmt: skip
json_values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3)
)
arguments = st.one_of(
    json_values,
    st.fixed_dictionaries(
        {}, optional={"url": json_values, "max_chars": json_values, "raw": json_values, "x": json_values}
    ),
    st.fixed_dictionaries(
        {"url": texts}, optional={"max_chars": scalars, "raw": st.one_of(st.booleans(), st.none(), scalars)}
    ),
)


def is_count(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value == int(value) and 1 <= int(value) <= MAX_INTEGER


def expected_of(given_: object, ceiling: int) -> object:
    """The second reading of spec 1.3: a call, or the failure's class."""
    if not isinstance(given_, dict) or not isinstance(given_.get("url"), str):
        return MissingUrl
    wanted, raw = given_.get("max_chars"), given_.get("raw")
    if wanted is not None and not is_count(wanted):
        return BadMaxChars
    if not (raw is None or raw is True or raw is False):
        return BadRaw
    return FetchCall(given_["url"], ceiling if wanted is None else min(int(wanted), ceiling), raw is True)


@steady(400)
@given(arguments, st.sampled_from([1, 10, 40_000]))
def test_any_json_value_is_a_call_or_one_of_three_failures(value: object, ceiling: int) -> None:
    try:
        read: object = read_fetch_call(value, ceiling)
    except (MissingUrl, BadMaxChars, BadRaw) as failure:
        read = type(failure)
    assert read == expected_of(value, ceiling)
    if isinstance(read, FetchCall):
        assert type(read.max_chars) is int
        assert type(read.raw) is bool
