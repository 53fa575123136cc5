"""Pages made to hang, swell or crash a renderer: each comes back in time, as far as it can be read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from runvil.core.page import Extraction, Rendered
from runvil.net.workers import Workers
from tests.support.workers import children
from tests.unit.extract.pages import ADDRESS, has_paragraphs, page, paragraphs

pytestmark = pytest.mark.slow

HANG = 60.0
BOTTOM = "The text at the very bottom of this page."
MIB = 1024 * 1024


@pytest.fixture
async def renderer() -> AsyncIterator[Workers]:
    pool = Workers(2)
    yield pool
    await pool.aclose()
    assert children() == set()


async def render(renderer: Workers, html: str, limit: int = 10_000_000) -> Rendered:
    """The page, within what a fetch has; a page that takes longer fails the test."""
    until = asyncio.get_running_loop().time() + HANG
    async with asyncio.timeout(HANG):
        return await renderer.render(html.encode(), ADDRESS, raw=False, limit=limit, until=until)


def nested(*tags: str) -> str:
    return "".join(f"<{tag}>" for tag in tags) * (100_000 // len(tags)) + BOTTOM


NESTED = [
    ("div",), ("span",), ("p", "div"), ("ul", "li"), ("dl", "dd"), ("blockquote",), ("table", "tr", "td"), ("b",),
    ("i", "div"), ("a", "div"), ("form", "div"), ("section",), ("article",), ("h1",), ("pre",), ("pre", "code"),
    ("button",), ("ruby", "rt"), ("noscript",), ("x-unknown",), ("figure",), ("details",), ("font",), ("nobr",),
    ("div hidden",), ("p style=display:none",), ("fieldset",), ("center",), ("math",), ("label",),
]  # fmt: skip


@pytest.mark.parametrize("tags", NESTED, ids="-".join)
async def test_the_bottom_of_a_hundred_thousand_elements_is_reached(renderer: Workers, tags: tuple[str, ...]) -> None:
    assert BOTTOM in (await render(renderer, nested(*tags))).text


async def test_a_million_cells_come_back(renderer: Workers) -> None:
    text = (await render(renderer, f"<table>{('<tr>' + '<td>7' * 1_000) * 1_000}</table>{BOTTOM}")).text
    assert BOTTOM in text
    assert text.count("7") == 1_000_000


async def test_eight_mebibytes_of_one_tag_come_back(renderer: Workers) -> None:
    assert BOTTOM in (await render(renderer, "<div>" * (8 * MIB // 5) + BOTTOM)).text


BOMBS = {
    "plain": "".join(f"<b x{number}>" for number in range(5_000)),
    "mixed": "".join(f"<{tag} x{number}>" for number in range(1_000) for tag in ("b", "i", "u", "em", "font")),
    "pairs in attributes": "".join(f'<b x{number}="</b>">' for number in range(5_000)),
    "pairs in broken attributes": "".join(f"<b x{number}='>y</b '>" for number in range(5_000)),
    "upper case, line feeds": "".join(f"<B\nx{number}>" for number in range(5_000)),
    "behind ignored ends": "</b>" * 5_000 + "".join(f"<b x{number}>" for number in range(5_000)),
    "anchors": "".join(f"<a x{number}><b x{number}>" for number in range(5_000)),
    "in cells": "<table><tr><td>" + "".join(f"<b x{number}>" for number in range(5_000)),
}


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS)
async def test_reopened_formatting_does_not_multiply(renderer: Workers, bomb: str) -> None:
    rendered = await render(renderer, f"<p>{bomb}{'<p>x' * 200_000}{BOTTOM}")
    assert BOTTOM in rendered.text
    assert len(rendered.text) < 3 * MIB


@pytest.mark.parametrize("size", [200, 500, 1_000, 1_700])
async def test_a_bomb_too_small_to_be_called_one_is_survived(renderer: Workers, size: int) -> None:
    html = "<p>" + "".join(f"<b x{number}>" for number in range(size)) + "<p>x" * (3_000_000 // size) + BOTTOM
    assert "x" in (await render(renderer, html, limit=40_000)).text


async def test_spans_do_not_multiply(renderer: Workers) -> None:
    html = f"<table>{'<tr><td colspan=65534 rowspan=65534>x' * 100_000}</table>{BOTTOM}"
    rendered = await render(renderer, html)
    assert BOTTOM in rendered.text
    assert len(rendered.text) < 3 * MIB


OTHERS = {
    "attributes": f"<div {' '.join(f'a{number}=x' for number in range(600_000))}>{BOTTOM}",
    "entities": "&lt;" * 2_000_000 + f"<p>{BOTTOM}",
    "links": "<a href=x>y</a>" * 200_000 + BOTTOM,
    "images": "<img src=x alt=y>" * 200_000 + BOTTOM,
    "paragraphs": "<p>x" * 2_000_000 + f"<p>{BOTTOM}",
    "options": "<select>" + "<option>x" * 800_000 + f"</select>{BOTTOM}",
    "tables in a deep page": "<div>" * 50_000 + "<table><td>x</td></table>" * 50_000 + BOTTOM,
    "zeros": "\0" * 8_000_000 + BOTTOM,
    "one word": "x" * 8_000_000 + f"<p>{BOTTOM}",
    "markdown's own": "*_`[<" * 900_000 + f"<p>{BOTTOM}",
    "class names": f"<div class='{'social-share ' * 600_000}'>{BOTTOM}</div>",
    "style": f"<div style='{'font-size:0' * 700_000}x'>{BOTTOM}</div>",
    "comments": "<!---->" * 1_000_000 + BOTTOM,
}


@pytest.mark.parametrize("html", OTHERS.values(), ids=OTHERS)
async def test_much_of_anything_comes_back(renderer: Workers, html: str) -> None:
    assert BOTTOM in (await render(renderer, html)).text


async def test_two_such_pages_do_not_hold_up_an_ordinary_one(renderer: Workers) -> None:
    """Both workers are busy with the worst page; the third waits for one rendering budget at most, not for two."""
    ordinary = page(f"<article>{paragraphs(3)}</article>")
    await render(renderer, ordinary)
    worst = "<p>" + "".join(f"<b x{number}>" for number in range(1_700)) + "<p>x" * 1_700
    bad = [asyncio.create_task(render(renderer, worst * 4, limit=40_000)) for _ in range(2)]
    await asyncio.sleep(0)
    good = asyncio.create_task(render(renderer, ordinary))
    last = asyncio.create_task(render(renderer, worst * 4, limit=40_000))
    done, _ = await asyncio.wait([good, last], return_when=asyncio.FIRST_COMPLETED)
    assert good in done
    assert good.result().extraction is Extraction.READABILITY
    assert has_paragraphs(good.result().text, 3)
    await asyncio.gather(*bad, last)


async def test_the_host_process_stays_as_it_was(renderer: Workers) -> None:
    def resident() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    html = nested("div", "table", "td")
    await render(renderer, html)
    before = resident()
    for _ in range(10):
        await render(renderer, html)
    assert resident() - before < 16 * MIB
