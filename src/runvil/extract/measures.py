"""How much of what is where on a page: text, links, prose; what is foreign to it; whether it is a listing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runvil.extract.names import FOREIGN, IS_ARTICLE, IS_PRODUCT, NOTHING, PLAIN, TALKING, says

if TYPE_CHECKING:
    from turbohtml import Element

    from runvil.extract.claims import Claims
    from runvil.extract.survey import Survey

FEW_PROSE = 400
"""Weight below which a page is taken for a listing, whose blocks of links are the content."""

LISTING = 0.6
"""Share of prose in a page's text below which it is a listing too: 19 in 20 articles have more, 1 in 4 listings."""

ARTICLE_LISTING = 0.3
"""The same where the page says that it is an article: it may have many boxes of links around it."""

PARAGRAPH = 60
"""Characters of unlinked text that make a block prose rather than a label."""

MUCH = 0.45
"""Share of the page's prose that an element may hold and still be believed when its name says it is no content."""

TALK = 0.5
"""Share of a page's unlinked text in comments from which on it is a place to talk rather than an article."""

OPENING = 20
"""Characters at the beginning of a text that are looked for in the page's descriptions before all of it is."""

SAID = 40
"""Characters of words that a description and a text must begin with alike."""

# fmt: off
_INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "nobr", "q", "ruby", "rt", "rp", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr",
})
_FOREIGN_TAGS = frozenset({
    "nav", "footer", "aside", "select", "menu", "dialog", "button", "textarea",
})
_FURNITURE = frozenset({"nav", "footer"})
_FOREIGN_ROLES = frozenset({
    "navigation", "contentinfo", "complementary", "search", "dialog", "alertdialog", "banner", "menu", "menubar",
    "toolbar",
})
_NEVER_FOREIGN = frozenset({
    "html", "body", "main", "article", "h1", "h2", "h3", "h4", "h5", "h6", "p", "pre", "table", "tbody", "tr", "td",
})
# fmt: on
_WORDS = re.compile(r"\w+")


@dataclass(slots=True)
class Measures:
    """Per element of a survey, foreign parts left out: text, the part of it inside links, weight of prose.

    blocks: the prose of each block without that of blocks in it.
    """

    page: Survey
    claims: Claims
    foreign: bytearray
    blocks: list[int]
    text: list[int]
    linked: list[int]
    prose: list[int]

    @property
    def listing(self) -> bool:
        """Whether the page is a list of things rather than a text."""
        share = ARTICLE_LISTING if self.claims.article else LISTING
        return (not self.claims.article and self.prose[0] < FEW_PROSE) or self.prose[0] < share * self.text[0]

    def has_prose(self, at: int) -> bool:
        return self.prose[at] >= FEW_PROSE


def measure(page: Survey, hidden: bytearray, claims: Claims) -> Measures:
    inside = page.spread(bytearray(tag == "a" for tag in page.tags))
    linked = [own if link else 0 for own, link in zip(page.own, inside, strict=True)]
    unlinked = [own - link for own, link in zip(page.own, linked, strict=True)]
    blocks = _blocks(page, unlinked)
    full = page.fullness(hidden)
    whole = page.sums(blocks, hidden)
    most = int(whole[0] * MUCH)
    believed = bytearray(prose <= most for prose in whole)
    _believe_description(page, believed, claims)
    foreign, talk = _foreign(page, hidden, _kind(claims), believed, full)
    if claims.article or not _is_talk(page, talk, unlinked):
        for at in talk:
            foreign[at] |= believed[at]
    text, inked, prose = (page.sums(amounts, foreign) for amounts in (page.own, linked, blocks))
    return Measures(page, claims, foreign, blocks, text, inked, prose)


def _names(node: Element) -> str:
    class_, id_ = node.attr("class"), node.attr("id")
    return f"{class_ or ''} {id_ or ''}" if class_ or id_ else ""


def _blocks(page: Survey, unlinked: list[int]) -> list[int]:
    """Each block's unlinked text, its inline elements' included, where that is enough to be prose."""
    block = list(range(len(page.nodes)))
    weights = list(unlinked)
    for at, tag in enumerate(page.tags):
        if tag in _INLINE and at:
            around = block[at] = block[page.parent[at]]
            weights[around] += weights[at]
            weights[at] = 0
    return [weight if weight >= PARAGRAPH else 0 for weight in weights]


def _kind(claims: Claims) -> int:
    return (IS_ARTICLE if claims.article else PLAIN) | (IS_PRODUCT if claims.product else PLAIN)


def _is_talk(page: Survey, talk: list[int], unlinked: list[int]) -> bool:
    """Whether the parts named comments are the page: a forum, a question with its answers."""
    marks = bytearray(len(page.nodes))
    for at in talk:
        marks[at] = 1
    inside = sum(sum(unlinked[at : page.end[at]]) for at in page.outermost(marks))
    return inside > TALK * sum(unlinked)


def _foreign(
    page: Survey, hidden: bytearray, kind: int, believed: bytearray, full: list[int]
) -> tuple[bytearray, list[int]]:
    """Mark the elements that say they are no content and are believed; list those that say they are comments."""
    foreign = bytearray(hidden)
    talk: list[int] = []
    at, count = 1, len(page.nodes)
    while at < count:
        if foreign[at] or not full[at]:
            at = page.end[at]
            continue
        said = _says(page.tags[at], page.nodes[at], kind)
        if said == FOREIGN and believed[at]:
            foreign[at] = 1
            at = page.end[at]
            continue
        if said == TALKING:
            talk.append(at)
        at += 1
    return foreign, talk


def _says(tag: str, node: Element, kind: int) -> int:
    if tag in _FOREIGN_TAGS:
        return FOREIGN
    if tag in _NEVER_FOREIGN:
        return NOTHING
    said = says(names, kind) if (names := _names(node)) else NOTHING
    return FOREIGN if said != FOREIGN and (node.attr("role") or "") in _FOREIGN_ROLES else said


def _believe_description(page: Survey, believed: bytearray, claims: Claims) -> None:
    """What the page's own description quotes is no foreign part, whatever it is named."""
    for place in described(page, claims.about):
        at = place
        while at > 0:
            if page.tags[at] not in _FURNITURE:
                believed[at] = 0
            at = page.parent[at]


def described(page: Survey, about: list[str]) -> list[int]:
    """The places of the texts that a description of the page begins with or quotes."""
    if not about:
        return []
    whole = "\n".join(about)
    found = [(at, text) for at, text in page.texts if text[:OPENING] in whole]
    if not found:
        return []
    spoken = [" ".join(_WORDS.findall(text.lower())) for text in about]
    return [at for at, text in found if _is_quoted(" ".join(_WORDS.findall(text[:120].lower()))[:100], spoken)]


def _is_quoted(words: str, spoken: list[str]) -> bool:
    return len(words) > SAID // 2 and any(text.startswith(words[:SAID]) or words[:60] in text for text in spoken)
