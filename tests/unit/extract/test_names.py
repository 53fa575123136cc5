"""What the names of elements are taken to say."""

from __future__ import annotations

import pytest

from runvil.extract.names import FOREIGN, IS_ARTICLE, IS_PRODUCT, NOTHING, PLAIN, TALKING, says


@pytest.mark.parametrize(
    "names",
    [
        "nav", "site-nav", "NavBar", "main_sidebar", "side-bar", "skip-link", "sr-only", "screen-reader-text",
        "related-posts", "relatedArticles", "newsletter_signup", "read-more", "x y footer z", "cookie-banner",
        "mini-cart", "btn primary", "socialshare",
    ],
)  # fmt: skip
def test_some_names_are_foreign_everywhere(names: str) -> None:
    assert says(names, PLAIN) == FOREIGN


@pytest.mark.parametrize(
    "names",
    [
        "", "content", "article-body", "banner", "hero", "card", "widget", "navigator", "canvas", "shared-values",
        "header-anchor-post", "sharing-code-with-multiple-developers", "adventure", "popularity", "reader",
    ],
)  # fmt: skip
def test_most_names_say_nothing(names: str) -> None:
    assert says(names, PLAIN) == NOTHING


def test_some_names_say_it_on_one_kind_of_page_only() -> None:
    assert says("byline", PLAIN) == NOTHING
    assert says("byline", IS_ARTICLE) == FOREIGN
    assert says("media-caption", IS_ARTICLE) == FOREIGN
    assert says("customer-reviews", PLAIN) == FOREIGN
    assert says("ratings", PLAIN) == NOTHING
    assert says("ratings", IS_PRODUCT) == FOREIGN
    assert says("ratings byline", IS_ARTICLE | IS_PRODUCT) == FOREIGN


def test_comments_are_told_from_what_is_foreign() -> None:
    assert says("comment-list", PLAIN) == TALKING
    assert says("comments sidebar", PLAIN) == FOREIGN
    assert says("disqus_thread", IS_ARTICLE) == TALKING


def test_long_names_cost_no_more() -> None:
    assert says("x" * 10_000 + " nav", PLAIN) == NOTHING
