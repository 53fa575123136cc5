"""Which text is returned and what it is called (spec 1.13)."""

from __future__ import annotations

import pytest

from runvil.core.page import Extraction, Rendered
from runvil.extract import page as rules
from runvil.extract import render
from tests.unit.extract.pages import ADDRESS, has_paragraphs, page, paragraphs

NAV = "<nav><a href=/start>Start</a> <a href=/shop>Shop menu entry</a></nav>"
FOOTER = "<footer>Printed by the harbour office, all numbers without warranty.</footer>"


def test_the_article_comes_without_navigation_and_footer() -> None:
    rendered = render(page(f"{NAV}<article><h1>Ferries</h1>{paragraphs(3)}</article>{FOOTER}"), ADDRESS)
    assert rendered.extraction is Extraction.READABILITY
    assert rendered.text.startswith("# Ferries\n")
    assert has_paragraphs(rendered.text, 3)
    assert "Shop menu entry" not in rendered.text
    assert "without warranty" not in rendered.text


def test_raw_is_the_whole_page() -> None:
    rendered = render(page(f"{NAV}<article><h1>Ferries</h1>{paragraphs(3)}</article>{FOOTER}"), ADDRESS, raw=True)
    assert rendered.extraction is Extraction.RAW_HTML
    for part in ("Shop menu entry", "# Ferries", "in that week. (2)", "without warranty"):
        assert part in rendered.text


@pytest.mark.parametrize(
    ("article", "label"),
    [
        ("a" * 100, Extraction.READABILITY),
        ("a" * 99, Extraction.RAW_HTML),
        ("é" * 50, Extraction.READABILITY),
        ("é" * 49 + "a", Extraction.RAW_HTML),
    ],
)
def test_a_hundred_bytes_make_an_article(article: str, label: Extraction) -> None:
    rendered = render(page(f"<nav>Menu</nav><article><p>{article}</p></article>"), ADDRESS)
    assert rendered.extraction is label
    assert article in rendered.text
    assert ("Menu" in rendered.text) == (label is Extraction.RAW_HTML)


@pytest.mark.parametrize("article", ["", "   ", "  \n" + "a" * 99 + "\n "])
def test_blanks_around_an_article_do_not_count(article: str) -> None:
    assert not rules.is_enough(article)


@pytest.mark.parametrize("failure", [RecursionError, MemoryError, ValueError])
def test_a_whole_page_that_cannot_be_rendered_leaves_the_short_article(
    monkeypatch: pytest.MonkeyPatch, failure: type[Exception]
) -> None:
    def fails(_html: str, _url: str, *, whole: bool) -> tuple[Extraction, str, str]:
        if not whole:
            return Extraction.READABILITY, "tiny", "T"
        return attempt("<p>x", "https://a.example/", whole=True)

    def broken(*_: object) -> str:
        raise failure

    attempt = rules._attempt
    monkeypatch.setattr(rules, "markdown", broken)
    monkeypatch.setattr(rules, "_attempt", fails)
    assert rules.render("", ADDRESS) == Rendered("tiny", Extraction.RAW_HTML, "T")


@pytest.mark.parametrize("failure", [RecursionError, MemoryError, ValueError])
def test_a_parser_that_fails_gives_an_empty_page(monkeypatch: pytest.MonkeyPatch, failure: type[Exception]) -> None:
    def broken(*_: object) -> None:
        raise failure

    monkeypatch.setattr(rules, "parse", broken)
    assert render(page(paragraphs(3)), ADDRESS) == Rendered("", Extraction.RAW_HTML, "")


@pytest.mark.parametrize("html", ["", "   ", "<!-- only -->", "<script>x</script>", "<p></p>", "<frameset><frame>"])
def test_a_page_without_text_is_raw_and_empty(html: str) -> None:
    assert render(html, ADDRESS) == Rendered("", Extraction.RAW_HTML, "")


@pytest.mark.parametrize(
    ("html", "title"),
    [
        ("<title> Two\n words &amp; more </title><p>x", "Two words & more"),
        ("<p>x", ""),
        ("<title></title>", ""),
        ("<svg><title>icon</title></svg><p>x", ""),
        (f"<title>{'t' * 5000}</title>", "t" * 500),
    ],
)
def test_the_title_is_the_pages_own_in_one_line(html: str, title: str) -> None:
    assert render(html, ADDRESS).title == title


def test_the_most_it_says_is_not_that_an_address_is_bad() -> None:
    rendered = render(page(f"{paragraphs(3)}<a href=x>link</a>"), "no address at all")
    assert has_paragraphs(rendered.text, 3)
