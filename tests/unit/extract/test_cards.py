"""Rows of cards beside an article, lists of articles, and what else there is much of on a page and is not the page."""

from __future__ import annotations

import pytest

from runvil.extract import render
from tests.unit.extract.pages import ADDRESS, has_paragraphs, page, paragraphs

TEASER = "ELSE, a story of another day about the harbour master and the price of rope, told in two lines that lead on."
SAYS_ARTICLE = '<meta property="og:type" content="article">'
SAYS_PRODUCT = '<meta property="og:type" content="product">'
CARD = f"<li><h3><a href=/other>Another day</a></h3><p>{TEASER}</p></li>"
TEASERS = "".join(
    f"<article><h3><a href=/n/{i}>The headline that numbers {i}</a></h3><p>{TEASER}</p></article>" for i in range(8)
)


def text_of(body: str, head: str = "") -> str:
    return render(page(body, head), ADDRESS).text


@pytest.mark.parametrize(
    "row",
    [
        f"<div><ul>{CARD * 15}</ul></div>",
        "<div><ol>" + f"<li><img src=a.jpg><p>{TEASER}</p></li>" * 15 + "</ol></div>",
    ],
)
def test_a_row_of_cards_with_more_prose_than_the_article_is_not_the_page(row: str) -> None:
    text = text_of(f"<div><div>{paragraphs(6)}</div>{row}</div>", SAYS_ARTICLE)
    assert has_paragraphs(text, 3)
    assert "ELSE" not in text


def test_a_gallery_inside_an_article_is_left_out_however_much_it_says() -> None:
    pictures = f"<li><img src=a.jpg><p>{TEASER}</p></li>" * 30
    text = text_of(f"<div>{paragraphs(4)}<div class=full-gallery><ul>{pictures}</ul></div></div>", SAYS_ARTICLE)
    assert has_paragraphs(text, 3)
    assert "ELSE" not in text


@pytest.mark.parametrize("before", ["", paragraphs(3)])
def test_an_article_that_is_one_long_list_stays(before: str) -> None:
    text = text_of(f"<div><h1>Rope</h1><div>{before}</div><ol>{CARD * 30}</ol></div>", SAYS_ARTICLE)
    assert text.count("ELSE") == 30


def test_a_list_of_articles_that_claims_to_be_one_keeps_its_headlines() -> None:
    text = text_of(f"<main><h1>News of the harbour</h1><div>{TEASERS}</div></main>", SAYS_ARTICLE)
    assert text.count("The headline that numbers") == 8


def test_a_story_opened_in_a_dialog_is_the_page() -> None:
    stream = f"<div><ul>{f'<li><p>{TEASER}</p></li>' * 5}</ul></div>"
    text = text_of(f"{stream}<div class=modal role=dialog><article><h1>Tides</h1>{paragraphs(8)}</article></div>")
    assert has_paragraphs(text, 3)


def test_comments_below_an_article_are_left_out_though_they_say_more() -> None:
    said = f"<div class=comments>{f'<div><p>{TEASER}</p></div>' * 12}</div>"
    text = text_of(f"<div><div>{paragraphs(6)}</div>{said}</div>", SAYS_ARTICLE)
    assert has_paragraphs(text, 3)
    assert "ELSE" not in text


def test_a_notice_about_cookies_is_left_out_though_all_else_is_a_list() -> None:
    goods = "".join(f"<li><a href=/g/{i}>Rope number {i}, {i} fathoms of it, tarred</a>" for i in range(60))
    text = text_of(f"<main><ul>{goods}</ul></main><div class=cookie-consent><p>{TEASER}</p></div>")
    assert "Rope number 59" in text
    assert "ELSE" not in text


@pytest.mark.parametrize(
    "name", ["userBanner", "message-userTitle", "extraUserInfo", "postprofile", "message-userExtras"]
)
def test_what_a_forum_says_of_who_posts_is_left_out(name: str) -> None:
    post = f"<div class=post><h4>Ada</h4><dl class={name}><dt>ELSE</dt><dd>1,204</dd></dl>{paragraphs(1)}</div>"
    text = text_of(f"<div>{post * 5}</div>")
    assert text.count("Ada") == 5
    assert "ELSE" not in text


def test_what_is_shown_when_one_points_at_a_word_is_left_out() -> None:
    body = f"<div>{paragraphs(4)}<p>Impedance<span class=tooltip__text>ELSE</span> 32 ohm</p></div>"
    assert "ELSE" not in text_of(body)


def test_a_shop_that_says_it_for_the_phone_and_for_the_desk_says_it_once() -> None:
    body = (
        f"<main><h1>Rope</h1><div class=a><p>{TEASER}</p></div>{paragraphs(3)}<div class=b><p>{TEASER}</p></div></main>"
    )
    assert text_of(body, SAYS_PRODUCT).count("ELSE") == 1
    assert text_of(body).count("ELSE") == 2


@pytest.mark.parametrize("quote", ["<blockquote>{}</blockquote>", "<div class=quoteContainer><div>{}</div></div>"])
def test_a_quotation_of_what_stands_above_is_left_out_and_any_other_stays(quote: str) -> None:
    answer = (
        f"<div class=post>{quote.format(TEASER)}<p>I answer.</p>{quote.format('Somebody else said: ' + TEASER)}</div>"
    )
    text = text_of(f"<main><div class=post><p>{TEASER}</p></div>{answer}{paragraphs(3)}</main>")
    assert text.count("ELSE") == 2
    assert "Somebody else said" in text
