"""Pages of our own, broken in every place: each still renders, in both ways, and the worker survives all of them."""

from __future__ import annotations

import asyncio
import random

import pytest

from runvil.extract import render
from runvil.extract.document import cleared, parse
from runvil.extract.isolate import isolate
from runvil.extract.markdown import markdown
from runvil.net.workers import Workers
from tests.unit.extract.pages import ADDRESS, page, paragraphs

SEEDS = [
    page(f"<nav><a href=/>Home</a></nav><article><h1>Title</h1>{paragraphs(2)}<ul><li>one<li>two</ul></article>"),
    page("<table><tr><th colspan=2>a<tr><td rowspan=2>b<td>c<tr><td><table><tr><td>d</table></table>"),
    page("<pre><code class=language-x>a\n b</code></pre><p><img src=x data-src=y alt=z><math alttext='m'></math>"),
    page("<div hidden><p>x</div><noscript><p>y</noscript><template shadowrootmode=open><p>z</template><svg><p>w</svg>"),
]
PIECES = ["<", ">", '"', "'", "&", "</", "<!--", "-->", "\0", "<b x=1>", "</table>", "<td>", "<svg>", "\ud7ff", "😀"]


def mutated(html: str, chance: random.Random) -> str:
    """`html` with a few places cut out, doubled, moved or filled with something else."""
    for _ in range(chance.randint(1, 6)):
        start = chance.randrange(len(html))
        end = min(len(html), start + chance.randint(0, 40))
        part = html[start:end]
        replacement = chance.choice(["", part * chance.randint(2, 60), part[::-1], chance.choice(PIECES)])
        html = html[:start] + replacement + html[end:]
    return html


def rendered(html: str, *, whole: bool) -> str:
    """As `render` does it, but what a step raises is not hidden by another way to the page's text."""
    document = parse(html, ADDRESS, whole=whole)
    if document is None:
        return ""
    part = None if whole else isolate(document)
    return markdown(cleared(document) if part is None else part, document.base)


@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_a_mutated_page_renders(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(300):
        html = mutated(SEEDS[seed], chance)
        for raw in (False, True):
            assert len(rendered(html, whole=raw)) < 100 * len(html) + 10_000, html


@pytest.mark.parametrize("seed", range(len(SEEDS)))
def test_a_page_cut_anywhere_renders(seed: int) -> None:
    for end in range(len(SEEDS[seed])):
        for raw in (False, True):
            assert len(rendered(SEEDS[seed][:end], whole=raw)) < 100 * end + 10_000


@pytest.mark.slow
async def test_one_worker_survives_them_all() -> None:
    chance = random.Random(7)
    renderer = Workers(1)
    until = asyncio.get_running_loop().time() + 60
    try:
        for number in range(900):
            html = mutated(SEEDS[number % len(SEEDS)], chance)
            given = await renderer.render(html.encode(), ADDRESS, raw=False, limit=10_000_000, until=until)
            expected = render(html, ADDRESS)
            assert given == expected or not expected.text, html  # a page that renders to nothing is salvaged
    finally:
        await renderer.aclose()
