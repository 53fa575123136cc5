"""What is bold, listed, quoted or linked on a page reads the same when another program renders its markdown."""

from __future__ import annotations

from html import escape

import pytest
from bench.fidelity import rendered
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from runvil.extract import render
from tests.support.reading import reading
from tests.support.steady import steady

pytest.importorskip("markdown_it")

ADDRESS = "https://a.example/dir/page"
WORDS = [
    "a", "é", "b1", "“q”", "x.", "(y)", "-.", "1.", "#k", "z:", "*", "_k_", "t’s", "中文", "。", "€", "~", "`", "``",
    "[l]", "<", "&amp;", ")", "+", "|", "…", "!", ">", "=", "\\", "$", "://",
]  # fmt: skip
SPACES = st.sampled_from(["", " ", "  ", "\n"])
CODE = st.sampled_from(["x", "a b", "é", "*k*", "a`b", "<b>"]).map(lambda code: f"<code>{escape(code)}</code>")
TEXT = st.builds("{}{}{}".format, SPACES, st.sampled_from(WORDS).map(escape), SPACES)


def around(inner: SearchStrategy[str], *tags: str) -> SearchStrategy[str]:
    return st.builds("<{0}>{1}</{0}>".format, st.sampled_from(tags), inner)


def phrases(inner: SearchStrategy[str]) -> SearchStrategy[str]:
    return st.lists(
        st.one_of(
            around(inner, "b", "strong", "i", "em", "s", "del"),
            around(inner, "b", "i"),
            st.builds("w<br>{}v".format, inner),
            CODE.map(" {} ".format),  # what stands beside it may get a space, and that has its own test
            TEXT,
        ),
        min_size=1,
        max_size=4,
    ).map("".join)


LINE = st.recursive(TEXT, phrases, max_leaves=12)
LINK = st.builds(" <a href=https://l.example/>k{}</a> ".format, LINE.filter(lambda line: "<br>" not in line))
PARAGRAPH = around(st.lists(LINE | LINK, min_size=1, max_size=3).map("".join), "p")
HEADING = around(LINE.filter(lambda line: "<br>" not in line), "h2", "h3")
LISTING = st.sampled_from(["a\n  b", "x *y*", "é `k`"]).map("<pre><code>{}</code></pre>".format)


def blocks(inner: SearchStrategy[str]) -> SearchStrategy[str]:
    several = st.lists(inner, min_size=1, max_size=3).map("".join)
    items = st.lists(around(several, "li"), min_size=1, max_size=3).map("".join)
    return around(items, "ul", "ol") | around(inner, "blockquote") | inner


PAGES = st.recursive(PARAGRAPH | HEADING | LISTING | around(LINE, "div"), blocks, max_leaves=6)


@steady(1_500)
@given(LINE)
def test_a_line_reads_back(line: str) -> None:
    html = f"<p>{line}"
    markdown = render(html, ADDRESS, raw=True).text
    assert reading(rendered(markdown)) == reading(html), markdown


@steady(1_000)
@given(st.lists(PAGES, min_size=1, max_size=3).map("<hr>".join))
def test_a_page_reads_back(html: str) -> None:
    markdown = render(html, ADDRESS, raw=True).text
    assert reading(rendered(markdown)) == reading(html), markdown
