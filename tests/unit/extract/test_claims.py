"""What a page says of itself: read within bounds, believed about what is on it, used alone only where nothing is."""

from __future__ import annotations

import json

import pytest
import turbohtml

from runvil.core.page import Extraction
from runvil.extract import render
from runvil.extract.claims import MAX_CLAIMS, MAX_SCRIPT, Claims, read_claims
from tests.unit.extract.pages import ADDRESS, has_paragraphs, page, paragraphs

LOAF = "A loaf of rye that keeps for a week, baked every night with sourdough, salt and water from the hill above town."


def linked(*values: object) -> str:
    return "".join(f"<script type='application/ld+json'>{_in_script(value)}</script>" for value in values)


def _in_script(value: object) -> str:
    return json.dumps(value).replace("</", "<\\/")


def claims(head: str) -> Claims:
    html = f"<head>{head}</head><p>x"
    root = turbohtml.parse(html).root
    assert root is not None
    return read_claims(html, root, root.select("script"), root.select("meta"))


@pytest.mark.parametrize(
    "head",
    [
        "<meta property=og:type content=article>",
        linked({"@type": "NewsArticle"}),
        linked({"@type": ["Thing", "BlogPosting"]}),
        linked({"@graph": [{"@type": "WebPage"}, {"@type": "Article"}]}),
    ],
)
def test_a_page_says_that_it_is_an_article(head: str) -> None:
    assert claims(head).article
    assert not claims(head).product


@pytest.mark.parametrize(
    "head",
    [
        "<meta property=og:type content=product>",
        linked({"@type": "Product", "description": LOAF}),
        "<div itemscope itemtype='https://schema.org/Product'>",
    ],
)
def test_a_page_says_that_it_is_of_a_product(head: str) -> None:
    assert claims(head).product


def test_a_page_of_many_products_is_not_of_one() -> None:
    assert not claims(linked([{"@type": "Product"}] * 12)).product


@pytest.mark.parametrize(
    "script",
    ["", "{", "[" * 100_000, "1" * 10_000, "null", "[1, [2], {}]", '{"@type": 7, "description": {"a": 1}}', "\ud800"],
)
def test_bad_linked_data_says_nothing(script: str) -> None:
    assert claims(f"<script type='application/ld+json'>{script}</script>") == Claims()


def test_claims_are_bounded() -> None:
    assert len(claims(linked([{"description": LOAF}] * 1_000)).about) <= MAX_CLAIMS
    assert claims(linked({"@type": "Article", "x": "y" * MAX_SCRIPT})) == Claims()


def test_a_product_without_its_description_gets_it() -> None:
    shell = page(f"<main><h1>Rye loaf</h1><p>{'Baked in the night and sold in the morning. ' * 5}</p></main>")
    head = linked({"@type": "Product", "name": "Rye loaf", "description": f"<p>{LOAF}</p><script>SECRET</script>"})
    text = render(shell.replace("</head>", head + "</head>"), ADDRESS).text
    assert LOAF in text
    assert "SECRET" not in text
    assert "<p>" not in text


def test_a_description_that_is_shown_is_not_repeated() -> None:
    head = linked({"@type": "Product", "description": LOAF})
    html = page(f"<main><h1>Rye loaf</h1><p>{LOAF}</p><p>{LOAF.replace('rye', 'wheat')}</p></main>", head)
    assert render(html, ADDRESS).text.count("A loaf of rye") == 1


def test_an_article_that_scripts_would_have_shown_is_taken_from_its_claim() -> None:
    body = " ".join(f"Sentence {number} of the report that the harbour office sent round." for number in range(30))
    html = page("<div id=root>Loading</div>", linked({"@type": "NewsArticle", "articleBody": body}))
    rendered = render(html, ADDRESS)
    assert rendered.extraction is Extraction.READABILITY
    assert "Sentence 29" in rendered.text


def test_a_claim_cannot_write_markdown() -> None:
    body = " ".join(["# no heading [no](link) `no code`"] * 20)
    html = page("<div id=root></div>", linked({"@type": "NewsArticle", "articleBody": body}))
    assert "\n# " not in "\n" + render(html, ADDRESS).text
    assert "[no](" not in render(html, ADDRESS).text


def test_what_the_description_quotes_is_kept_whatever_its_name() -> None:
    html = page(
        f"<main>{paragraphs(4)}<div class=popup><p>{LOAF}</p></div></main>", f"<meta name=description content='{LOAF}'>"
    )
    assert LOAF in render(html, ADDRESS).text
    assert LOAF not in render(page(f"<main>{paragraphs(4)}<div class=popup><p>{LOAF}</p></div></main>"), ADDRESS).text


def test_comments_are_the_page_where_they_are_most_of_it_and_it_is_no_article() -> None:
    thread = f"<div id=opening><p>What now? {'Who knows what to do. ' * 5}</p></div><div class=comments>"
    thread += "".join(f"<div class=comment>{paragraphs(1)}</div>" for _ in range(6)) + "</div>"
    assert render(page(f"<main>{thread}</main>"), ADDRESS).text.count("The ferry to") == 6
    head = linked({"@type": "NewsArticle"})
    html = page(f"<main><article>{paragraphs(8)}</article><div class=comments><p>TALK</p></div></main>", head)
    text = render(html, ADDRESS).text
    assert has_paragraphs(text, 8)
    assert "TALK" not in text
