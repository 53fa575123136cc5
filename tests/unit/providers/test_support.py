"""The table of arguments says what goes over the wire: it is compared with the wire."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import pytest

from runvil import SearchQuery
from runvil.providers.environment import NAMES
from runvil.providers.support import ARGUMENTS, SUPPORT, Level, heard, summary, table
from tests.support.vendors import FakeVendor, Told
from tests.unit.providers.asking import EVERYTHING, KINDS

UNSET: dict[str, Any] = {
    "query": "other words", "count": None, "freshness": None, "country": None, "search_lang": None, "safesearch": None,
    "include_domains": (), "exclude_domains": (),
}  # fmt: skip

ON_THE_ROWS = {("searxng", "count")}
"""What the table says is done on the rows (and by a second page, where the first has rows)."""

PLENTY = {("brave", "count"), ("serper", "count"), ("exa", "count")}
"""A count gives way to plenty where rows will be filtered."""


async def sent(name: str, query: SearchQuery) -> tuple[Any, ...]:
    async with FakeVendor(Told(KINDS[name].answer([]))) as vendor:
        provider = KINDS[name].provider(vendor.root)
        await provider.search(query)
        await provider.aclose()
    return tuple((asked.method, asked.target, asked.body) for asked in vendor.asked)


@pytest.mark.parametrize("argument", ARGUMENTS)
@pytest.mark.parametrize("name", KINDS)
async def test_an_argument_reaches_the_vendor_unless_it_is_ignored(name: str, argument: str) -> None:
    whole = EVERYTHING
    if (name, argument) in PLENTY:
        whole = replace(EVERYTHING, include_domains=(), exclude_domains=())
    without = replace(whole, **{argument: UNSET[argument]})
    same = await sent(name, whole) == await sent(name, without)
    ignored = SUPPORT[name][argument].level is Level.IGNORED
    assert same == (ignored or (name, argument) in ON_THE_ROWS)


def test_every_provider_has_a_row_and_every_row_a_provider() -> None:
    assert set(SUPPORT) == set(NAMES) - {"tavily-keyless"}
    assert all(tuple(row) == ARGUMENTS for row in SUPPORT.values())


def test_every_level_but_native_says_how() -> None:
    cells = [(support.level, support.how) for row in SUPPORT.values() for support in row.values()]
    assert all(bool(how) == (level is not Level.NATIVE) for level, how in cells)


def test_what_is_ignored_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        query = heard("exa", EVERYTHING)
    assert query == replace(EVERYTHING, search_lang=None)
    assert caplog.messages == ["exa ignores search_lang"]


async def test_a_value_that_the_vendor_has_no_word_for_is_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="runvil"):
        await sent("brave", SearchQuery("hi", country="Atlantis"))
    assert caplog.messages == ["brave has no word for this country: left out"]


def test_the_table_can_be_read() -> None:
    lines = table().splitlines()
    assert len(lines) == len(SUPPORT) + 2
    assert {line.count("|") for line in lines} == {len(ARGUMENTS) + 2}
    assert summary("gateway") == "all arguments native"
    assert summary("exa") == "narrower: safesearch, exclude_domains; emulated: freshness; ignored: search_lang"
