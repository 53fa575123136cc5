"""For every page: rendering gives text, never an exception, in bounded length, and without what must not be in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from runvil.core.page import Extraction
from runvil.core.salvage import Salvage, salvage
from runvil.extract import render
from runvil.extract.page import is_enough
from runvil.extract.tables import MAX_PADDING
from tests.support.steady import steady

ADDRESS = "https://a.example/dir/page"
TAGS = [
    "p", "div", "span", "a", "img", "table", "tr", "td", "th", "ul", "ol", "li", "pre", "code", "b", "i", "svg", "math",
    "annotation", "script", "style", "noscript", "template", "h1", "h2", "br", "hr", "iframe", "video", "dl", "dt",
    "dd", "blockquote", "figure", "form", "nav", "main", "article", "details", "select", "option", "base", "title",
    "body",
]  # fmt: skip
ATTRIBUTES = st.sampled_from([
    "", " <",
    " href=x", " href=javascript:y", " href='data:,z'", " src=x", " src='data:,z'", " srcset='a 1x, b 2x'", " alt=w",
    " hidden", " style=display:none", " class=nav", " class=language-x", " colspan=3", " rowspan=9", " colspan=65534",
    " role=presentation", " alttext=x", " shadowrootmode=open", " id=", ' x="', " x='>'",
])  # fmt: skip
MARKUP = st.one_of(
    st.builds("<{}{}>".format, st.sampled_from(TAGS), ATTRIBUTES),
    st.builds("</{}>".format, st.sampled_from(TAGS)),
    st.text(max_size=30),
    st.sampled_from(
        ["&lt;", "&#x1F600;", "&#0;", "<!--", "-->", "<![CDATA[", "]]>", "\0", "|", "```", "$", "word " * 30]
    ),
)
ADDRESSES = st.text(st.sampled_from("/\\:[]?#@%. ax1\t\n\u2100\ud800;,"), max_size=9)
PAGES = st.lists(MARKUP, max_size=60).map("".join)


@steady(150)
@given(st.binary(max_size=2_000), st.booleans())
def test_any_bytes_are_a_page(html: bytes, raw: bool) -> None:
    rendered = render(html.decode("utf-8", "replace"), ADDRESS, raw)
    rendered.text.encode()
    assert len(rendered.text) <= 100 * len(html) + 100


@steady(150)
@given(PAGES, st.booleans())
def test_any_markup_is_a_page(html: str, raw: bool) -> None:
    rendered = render(html, ADDRESS, raw)
    assert len(rendered.text) <= 100 * len(html) + 8 * MAX_PADDING
    assert "\n" not in rendered.title
    for payload in ("](javascript:", "](data:"):
        assert payload not in rendered.text


@steady(300)
@given(st.sampled_from(["href", "src", "srcset", "data-src", "action", "poster", "cite", "style", "class"]), ADDRESSES)
def test_no_address_costs_a_page_its_text(name: str, address: str) -> None:
    quoted = address.replace("&", "&amp;").replace('"', "&quot;")
    tags = "".join(f'<{tag} {name}="{quoted}">inner</{tag}>' for tag in ("a", "form", "blockquote", "video", "p"))
    rendered = render(f'<p>before<img alt=x {name}="{quoted}">{tags}after', ADDRESS, raw=True)
    assert "before" in rendered.text
    assert "after" in rendered.text


@steady(150)
@given(PAGES)
def test_the_label_says_which_text_it_is(html: str) -> None:
    rendered, whole = render(html, ADDRESS), render(html, ADDRESS, raw=True)
    assert whole.extraction is Extraction.RAW_HTML
    if rendered.extraction is Extraction.READABILITY:
        assert is_enough(rendered.text)
    else:
        assert rendered.text == whole.text


@steady(150)
@given(PAGES, st.integers(1, 200))
def test_salvaging_gives_no_more_than_is_asked_for(html: str, limit: int) -> None:
    data = html.encode("utf-8", "replace")
    assert salvage(data, 10_000_000)[:limit].rstrip() == salvage(data, limit).rstrip()


@steady(150)
@given(PAGES, st.integers(1, 50))
def test_salvaging_does_not_depend_on_where_slices_end(html: str, size: int) -> None:
    data = html.encode("utf-8", "replace")
    rescue = Salvage(10_000_000)
    for start in range(0, len(data), size):
        rescue.feed(data[start : start + size])
    assert rescue.text().split() == salvage(data, 10_000_000).split()
