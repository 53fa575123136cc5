"""Which part of a page is taken for the page."""

from __future__ import annotations

import pytest

from runvil.core.page import Extraction
from runvil.extract import render
from runvil.extract.survey import MAX_ELEMENTS
from tests.unit.extract.pages import ADDRESS, has_paragraphs, page, paragraphs

LINKS = "".join(f"<li><a href=/l/{i}>Elsewhere number {i}</a>" for i in range(12))


def article(body: str) -> str:
    rendered = render(page(body), ADDRESS)
    assert rendered.extraction is Extraction.READABILITY
    assert has_paragraphs(rendered.text, 4)
    return rendered.text


@pytest.mark.parametrize(
    "beside",
    [
        "<nav>ELSE</nav>",
        "<aside>ELSE</aside>",
        "<footer>ELSE</footer>",
        "<div role=navigation>ELSE</div>",
        "<div class='site-footer dark'>ELSE</div>",
        "<div id=sidebar>ELSE</div>",
        "<ul class=breadcrumbs><li>ELSE</ul>",
        "<section class=related-posts><p>ELSE</section>",
        "<div class=share-buttons>ELSE</div>",
        "<div class=newsletter-signup><p>ELSE</p></div>",
        "<div id=cookie-consent>ELSE</div>",
        "<div id=comments><p>ELSE</p></div>",
        "<button>ELSE</button>",
        f"<div class=x>ELSE <ul>{LINKS}</ul></div>",
    ],
)
@pytest.mark.parametrize("where", ["<div>{0}</div>{1}", "{1}<div>{0}</div>", "<article>{0}{1}</article>"])
def test_what_is_beside_the_article_goes(beside: str, where: str) -> None:
    assert "ELSE" not in article(where.format(paragraphs(4), beside))


@pytest.mark.parametrize(
    "part",
    [
        "<h2 class=sidebar-heading>HERE</h2>",
        "<p class=related>HERE</p>",
        "<table><tr><th>HERE<th>b<tr><td>1<td>2</table>",
        "<ul><li>HERE<li>and there</ul>",
        "<blockquote>HERE</blockquote>",
        "<figure><img src=i alt=HERE></figure>",
        "<div class=thread-navigator>HERE</div>",
        "<p>See <a href=x>HERE</a> and read on about what else there is.</p>",
    ],
)
def test_what_belongs_to_the_article_stays(part: str) -> None:
    assert "HERE" in article(f"<article>{paragraphs(4)}{part}</article>")


@pytest.mark.parametrize("name", ["modal-content", "comments", "share", "sidebar", "popup", "footer"])
def test_a_name_is_not_believed_of_most_of_the_page(name: str) -> None:
    article(f"<div><p>Short.</p><div class={name}>{paragraphs(4)}</div></div>")


@pytest.mark.parametrize(
    "wrap", ["<form>{}</form>", "<center>{}</center>", "<aside>{}</aside>", "<div><div><div>{}</div></div></div>"]
)
def test_whatever_holds_the_prose_is_gone_into(wrap: str) -> None:
    article(f"<div><a href=/>Home</a></div>{wrap.format(paragraphs(4))}<div><a href=/i>Imprint</a></div>")


def test_a_page_of_links_keeps_them() -> None:
    text = render(page(f"<nav>Menu</nav><main><h1>Index</h1><ul>{LINKS}</ul></main>"), ADDRESS).text
    assert all(f"[Elsewhere number {i}](https://news.example/l/{i})" in text for i in range(12))
    assert "Menu" not in text


def test_text_between_tags_of_no_paragraph_counts() -> None:
    text = "A sentence that stands in a plain division and is long enough to be read as prose by anybody. " * 3
    rendered = render(page(f"<nav>Menu</nav><div>{text}<br><br>{text}</div>"), ADDRESS)
    assert rendered.extraction is Extraction.READABILITY
    assert rendered.text.count("plain division") == 6
    assert "Menu" not in rendered.text


def test_a_page_of_too_many_elements_is_given_whole() -> None:
    html = page(f"<nav>Menu</nav>{paragraphs(4)}{'<i></i>' * MAX_ELEMENTS}")
    rendered = render(html, ADDRESS)
    assert rendered.extraction is Extraction.RAW_HTML
    assert "Menu" in rendered.text
    assert has_paragraphs(rendered.text, 4)
