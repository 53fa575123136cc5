"""Pages made to exhaust a parser: the call ends in time with the text that is there, and nobody else notices."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from runvil import WebFetch
from tests.lab.harness.answers import MIB, Page
from tests.lab.harness.marks import in_lab
from tests.lab.support import ARTICLE, EXAMPLE, SENTENCE

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

pytestmark = [pytest.mark.lab, pytest.mark.slow]

CAP = 8 * MIB
WORDS = b"words in the middle of it"

# By name, because parameters must survive JSON.
PAGES = {
    "100,000 nested tags": b"<div>" * 100_000 + WORDS,
    "100,000 nested inline tags": b"<b><i><a href=/x>" * 33_333 + WORDS,
    "a million cells": b"<table>" + b"<tr>" + b"<td>x" * 999_999 + b"<td>" + WORDS + b"</table>",
    "8 MiB of open tags": (WORDS + b"<div>" * (CAP // 5))[:CAP],
    "8 MiB of one attribute": WORDS + b"<a title='" + b"x" * (CAP - 100),
    "8 MiB of entities": (WORDS + b"&lt;" * (CAP // 4))[:CAP],
    "a comment without end": WORDS + b"<!--" + b"-" * (CAP - 100),
}


@pytest.mark.parametrize("kind", list(PAGES))
@in_lab
async def test_a_hostile_page_ends_in_time_and_the_next_fetch_is_unharmed(lab: Lab, kind: str) -> None:
    lab.site("hostile.example", EXAMPLE, Page(PAGES[kind]))
    lab.site("example.com", EXAMPLE, ARTICLE)
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://hostile.example/")
        assert page.extraction in {"readability", "raw-html"}
        assert WORDS.decode() in page.text or page.truncated
        assert SENTENCE in (await fetch.fetch("https://example.com/")).text


@in_lab
async def test_two_hostile_pages_do_not_hold_up_an_ordinary_one(lab: Lab) -> None:
    lab.site("one.example", EXAMPLE, Page(PAGES["a million cells"]))
    lab.site("two.example", EXAMPLE, Page(PAGES["8 MiB of open tags"]))
    lab.site("example.com", EXAMPLE, ARTICLE)
    async with WebFetch() as fetch:
        hostile = [asyncio.create_task(fetch.fetch(f"https://{name}.example/")) for name in ("one", "two")]
        await lab.until("request", 2)
        async with asyncio.timeout(10.0):  # the rendering budget is 3 s; the rest is the noise of a busy machine
            page = await fetch.fetch("https://example.com/")
        assert SENTENCE in page.text
        await asyncio.gather(*hostile)
