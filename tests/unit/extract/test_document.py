"""What is taken out of a page before anybody judges it, and what its links are relative to."""

from __future__ import annotations

import pytest

from runvil.extract import document, render
from runvil.extract.document import Document
from tests.unit.extract.pages import page, paragraphs

ADDRESS = "https://a.example/dir/page?q=1"


def parsed(html: str) -> Document:
    found = document.parse(html, ADDRESS, whole=True)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("tag", "base"),
    [
        ("", ADDRESS),
        ("<base href='/other/'>", "https://a.example/other/"),
        ("<base href='//b.example/x'>", "https://b.example/x"),
        ("<base target=_top><base href=first/><base href=second/>", "https://a.example/dir/first/"),
        ("<base href='javascript:alert(1)'>", ADDRESS),
        ("<base href='data:text/html,x'>", ADDRESS),
        ("<base href='https://[broken/'>", ADDRESS),
        (f"<base href='/{'x' * 9000}'>", ADDRESS),
    ],
)
def test_the_first_base_that_means_something_counts(tag: str, base: str) -> None:
    assert parsed(f"<head>{tag}</head><p>x").base == base


@pytest.mark.parametrize(
    "unread",
    [
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "<template><p>SECRET</template>",
        "<object>SECRET</object>",
        "<svg><text>SECRET</text></svg>",
        "<dialog>SECRET</dialog>",
        "<p hidden>SECRET",
        "<p hidden=until-found>SECRET",
        "<p aria-hidden=true>SECRET",
        "<p style=display:none>SECRET",
        "<p style='color: red; DISPLAY : none !important'>SECRET",
        "<p style='visibility:hidden'>SECRET",
        "<p style='opacity: 0'>SECRET",
        "<p style='font-size:0px;'>SECRET",
        "<p style='opacity:.0'>SECRET",
        "<p style='display:/**/none'>SECRET",
        "<p style='display:none!important;display:block'>SECRET",
        "<p style='content-visibility:hidden'>SECRET",
        "<p style='font-size:1px'>SECRET",
        "<p style='font: 0/0 a'>SECRET",
        "<p style='position:absolute;left:-9999px'>SECRET",
        "<p style='position: fixed; top: -999em'>SECRET",
        "<p style='margin:0 0 0 -9999px'>SECRET",
        "<p style='text-indent:-9999px'>SECRET",
        "<p style='transform:translateX(-9999px)'>SECRET",
        "<p style='transform:scale(0)'>SECRET",
        "<p style='position:absolute;clip:rect(0,0,0,0)'>SECRET",
        "<p style='clip: rect(1px 1px 1px 1px)'>SECRET",
        "<p style='clip-path: inset(50%)'>SECRET",
        "<p style='height:0;overflow:hidden'>SECRET",
        "<p style='max-width:0px;overflow:clip'>SECRET",
        "<p style='width:1px;height:1px;overflow:hidden'>SECRET",
        "<p style='color:transparent'>SECRET",
        "<p style='color:rgba(0, 0, 0, 0)'>SECRET",
        "<p style='color: rgb(0 0 0 / 0%)'>SECRET",
        "<p style='color:#fff;background:#FFF'>SECRET",
        "<noscript>SECRET</noscript>",
        "<!-- SECRET -->",
    ],
)
def test_what_no_reader_sees_goes(unread: str) -> None:
    text = render(f"<body>{paragraphs(2)}{unread}", ADDRESS, raw=True).text
    assert "in that week. (1)" in text
    assert "SECRET" not in text


@pytest.mark.parametrize(
    "seen",
    [
        "<p aria-hidden=false>SEEN",
        "<p style='font-size:0.9em'>SEEN",
        "<p style='opacity:0.5'>SEEN",
        "<p style='display:inline'>SEEN",
        "<p style='display:none;display:block'>SEEN",
        "<p style='color:rgb(0, 0, 0)'>SEEN",
        "<p style='color:inherit;background:inherit'>SEEN",
        "<p style='background-clip:text;color:transparent'>SEEN",
        "<p style='margin-left:-20px;text-indent:-1em'>SEEN",
        "<p style='position:relative;left:-1200px'>SEEN",
        "<p style='left:-9999px'>SEEN",
        "<p style='transform:translateX(-100%)'>SEEN",
        "<p style='overflow:hidden;height:10em'>SEEN",
        "<p style='font-size:10px'>SEEN",
        "<td style='font-size:0px'><div style='font-size:13px'>SEEN</div>",
        "<a style='text-indent:-9999px;width:32px;height:32px;background:#ccc'>SEEN</a>",
        "<img style='color:transparent' src=x alt=SEEN>",
        "<dialog open>SEEN</dialog>",
        "<details><summary>More</summary>SEEN</details>",
    ],
)
def test_what_a_reader_sees_stays(seen: str) -> None:
    assert "SEEN" in render(f"<body>{paragraphs(2)}{seen}", ADDRESS, raw=True).text


def test_hidden_text_stays_where_it_is_most_of_the_page() -> None:
    assert "in that week. (3)" in parsed(f"<body><p>Loading<div hidden>{paragraphs(4)}</div>").root.text


def test_a_noscript_that_holds_the_page_stays() -> None:
    assert "in that week. (3)" in parsed(f"<body><p>Forum<noscript>{paragraphs(4)}</noscript>").root.text


def test_only_the_outermost_hidden_element_is_weighed() -> None:
    nested = "<div hidden>" * 50 + "SECRET" + "</div>" * 50
    assert "SECRET" not in render(f"<body>{paragraphs(1)}{nested}", ADDRESS, raw=True).text


def test_a_declarative_shadow_root_is_part_of_the_page() -> None:
    html = f"<my-page><template shadowrootmode=open>{paragraphs(2)}</template></my-page>"
    assert "in that week. (1)" in render(html, ADDRESS).text


@pytest.mark.parametrize(
    "tag", ["<b x{}>", "<B\nx{}>", "<code x{}/>", "<i x{}='</i>'>", '<u x{}=">y</u ">', "</b><b x{}>"]
)
def test_unclosed_formatting_is_not_opened_again_in_every_paragraph(tag: str) -> None:
    html = "<p>" + "".join(tag.format(number) for number in range(1_000)) + "<p>x" * 4_000
    assert sum(1 for _ in parsed(html).root.iter_elements()) < 10_000


def test_formatting_survives_on_an_ordinary_page() -> None:
    html = page("<p>A <b>bold</b> word and <code>code</code>.</p>" * 3_000)
    assert "A **bold** word and `code`." in render(html, ADDRESS, raw=True).text


def test_text_below_the_parsers_depth_is_not_lost() -> None:
    html = "<div>" * 600 + "<table><tr><td>cell</td></tr></table>" + "at the bottom"
    text = render(html, ADDRESS).text
    assert "cell" in text
    assert "at the bottom" in text


@pytest.mark.parametrize(
    "fold",
    [
        "<button aria-controls=f1>More</button><div id=f1 hidden>FOLD</div>",
        "<div role=tabpanel aria-hidden=true>FOLD</div>",
        "<div class='accordion-body' style='display:none'>FOLD</div>",
        "<div class='tab-pane' aria-hidden=true>FOLD</div>",
    ],
)
def test_what_a_reader_can_unfold_stays(fold: str) -> None:
    assert "FOLD" in render(f"<body>{paragraphs(2)}{fold}", ADDRESS, raw=True).text


def test_an_empty_block_leaves_no_mark() -> None:
    html = "<ul><li><div> </div><div>a</div><li></ul><h2> </h2><blockquote></blockquote><p>b<div><span></span></div>"
    assert render(html, ADDRESS, raw=True).text == "- a\n\nb"


def test_blank_parts_of_code_stay() -> None:
    html = "<pre><code><span>    </span><span>x</span>\n<span>\n</span>y</code></pre>"
    assert render(html, ADDRESS, raw=True).text == "```\n    x\n\ny\n```"


@pytest.mark.parametrize(
    "character", ["&#0;", "&#7;", "&#27;", "\x1b", "&#x2028;", "&#x2029;", "\u2028", "&#x7f;", "&#13;"]
)
@pytest.mark.parametrize(
    "html",
    ["<p>a{}# b", "<title>t{}t</title><p>x", "<img src=x alt='a{}b'>", "<a href='/x{}y'>z</a>", "<pre>a{}b</pre>"],
)
def test_no_character_passes_that_could_fool_a_terminal_or_a_reader_of_lines(character: str, html: str) -> None:
    rendered = render(html.format(character), ADDRESS, raw=True)
    for text in (rendered.text, rendered.title):
        assert not any(ord(each) < 32 and each not in "\n\t" for each in text)
        assert not set(text) & {"\x7f", "\u2028", "\u2029"}
    assert not rendered.text.startswith("# b")


def test_what_is_said_not_to_be_hidden_is_not() -> None:
    html = '<p>a<div aria-hidden="false" style="pointer-events: none">seen</div><div aria-hidden="true">unseen</div>'
    found = parsed(f"{html}<p>enough text that it is more than what is hidden here")
    assert found.page is not None
    assert [found.page.nodes[at].text for at, mark in enumerate(found.hidden) if mark] == ["unseen"]


def test_menus_and_choices_beside_an_article_are_gone_before_it_is_looked_for() -> None:
    html = "<nav><a href=/>Home</a></nav> <select><option>ten</select><nav> <h1>Title</h1></nav><p> text"
    beside = document.parse(html, ADDRESS, whole=False)
    assert beside is not None
    assert beside.root.text.split() == ["Title", "text"]
    assert parsed(html).root.text.split() == ["Home", "ten", "Title", "text"]
