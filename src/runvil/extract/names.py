"""What authors name the parts of their pages that are not the page: words of `class` and `id` attributes.

Only words that mean the same on every site, and few of them: a broad list (banner, widget, hero, card, tools ...) gains
two points on news and loses seven on service pages (research note D).
A trailing * stands for any ending.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

PLAIN, IS_ARTICLE, IS_PRODUCT = 0, 1, 2
"""What is known of a page, which decides what its names mean; bits, because they are asked for every element."""

NOTHING, FOREIGN, TALKING = 0, 1, 2
"""What names say: nothing, that this is not the page, that people talk here."""

ALWAYS = (
    # the site's own furniture
    "nav navbar navigation menu breadcrumb breadcrumbs sidebar foot footer masthead pagination pager skiplink "
    # passing the page on
    "share sharing sharebar sharebuttons sharetools sharethis social* followus "
    # other pages
    "related* relate recommended recommendation recommendations alsolike readmore morestories morenews morefrom "
    "trending mostread mostpopular popular "
    # asking for something
    "newsletter* subscribe* subscription* signup cookie* consent gdpr popup modal "
    # advertisements
    "ad ads advert adverts advertisement advertising sponsor sponsored sponsors promo promos promotion promotions "
    "outbrain taboola "
    # for other readers than the eye
    "sronly screenreader visuallyhidden printonly noprint "
    # what is worked with, not read
    "control controls btn button buttons cart minicart "
    # what others say about it, and who they are
    "review reviews userinfo signature usertitle userbanner userextra userextras extrauserinfo postprofile "
    # what is said when one points at it
    "tooltip tooltips popover"
)
TALK = "comment comments commentlist commentsection commentarea disqus respond"
"""Below an article; a forum is made of them."""

ARTICLE = (
    "byline bylines author authors dateline published timestamp meta articleheader articleinfo category categories "
    "keywords credit credits photocredit imagecredit caption captions *caption bio postnav* prev previous tool tools "
    "print gallery slideshow photogallery imagegallery"
)
"""Around the text of news and posts: who, when, filed under what, whose picture."""

PRODUCT = (
    "review* customer* rating ratings recentlyviewed upsell upsells crosssell crosssells similar* qanda question "
    "questions youmay* complementary testimonial testimonials shipping delivery return returns footnote footnotes legal"
)
"""Around the description of something for sale: what others say of it, what else there is, how it comes."""

MAX_NAMES = 300
"""Characters of an element's names that are looked at."""

MAX_PARTS = 4
"""Parts of a hyphenated name; one of more is the slug of a heading ("sharing-with-multiple-developers")."""

_PARTS = re.compile(r"[-_]+")


@lru_cache(maxsize=16_384)
def says(names: str, kind: int) -> int:
    """What the names of an element say of it on a page of this kind."""
    said = NOTHING
    for name in names[:MAX_NAMES].lower().split():
        one = _says_one(name, kind)
        if one == FOREIGN:
            return FOREIGN
        said = said or one
    return said


@lru_cache(maxsize=16_384)
def _says_one(name: str, kind: int) -> int:
    """What one name says. Remembered apart: pages of a kind put the same names together differently."""
    parts = _PARTS.split(name)
    if len(parts) > MAX_PARTS:
        return NOTHING
    words, beginnings, endings = _table(kind)
    said = NOTHING
    for word in (*parts, *map("".join, pairwise(parts))):
        if word in words or word.startswith(beginnings) or word.endswith(endings):
            return FOREIGN
        if word in _TALK or word.startswith("disqus"):
            said = TALKING
    return said


_TALK = frozenset(TALK.split())


@lru_cache(maxsize=4)
def _table(kind: int) -> tuple[frozenset[str], tuple[str, ...], tuple[str, ...]]:
    listed = ALWAYS.split()
    if kind & IS_ARTICLE:
        listed += ARTICLE.split()
    if kind & IS_PRODUCT:
        listed += PRODUCT.split()
    beginnings = tuple(word[:-1] for word in listed if word.endswith("*"))
    endings = tuple(word[1:] for word in listed if word.startswith("*"))
    return frozenset(listed), beginnings, endings
