"""How much of what is where on a page: text, links, prose; what is foreign to it; whether it is a listing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import compress, count
from typing import TYPE_CHECKING

from runvil.extract.cards import is_list_of_articles, lightened
from runvil.extract.kinds import FOREIGN_TAG, INLINE, LINK, NEVER_FOREIGN
from runvil.extract.names import FOREIGN, IS_ARTICLE, IS_PRODUCT, MAX_NAMES, NOTHING, PLAIN, TALKING, says

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turbohtml import Element

    from runvil.extract.claims import Claims
    from runvil.extract.survey import Sums, Survey

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

LITTLE = 0.1
"""Share of the page's text that is little, however much of its prose it is: a notice about cookies beside a listing."""

TALK = 0.5
"""Share of a page's unlinked text in comments from which on it is a place to talk rather than an article."""

ARTICLE_TALK = 0.7
"""Share of the prose that comments may hold where the page says that it is an article: many have more of them."""

OPENED_ARTICLE = 0.2
"""Share of the prose in an <article> from which on what holds it is not passed over: a story opened in a dialog."""

OPENING = 20
"""Characters at the beginning of a text that are looked for in the page's descriptions before all of it is."""

SAID = 40
"""Characters of words that a description and a text must begin with alike."""

_FURNITURE = frozenset({"nav", "footer"})
_FOREIGN_ROLES = frozenset({
    "navigation", "contentinfo", "complementary", "search", "dialog", "alertdialog", "banner", "menu", "menubar",
    "toolbar",
})  # fmt: skip
_WORDS = re.compile(r"\w+")
_OTHERS = bytes([1, 0]) + bytes(254)
"""Turns marks into those of all the others."""


@dataclass(slots=True)
class Measures:
    """Per element of a survey, foreign parts left out: text, the part of it inside links, weight of prose.

    article: whether the page is one. listing: whether it is a list of things rather than a text. blocks: the prose of
    each block without that of blocks in it. weight: prose, that of cards beside an article counted less.
    """

    page: Survey
    claims: Claims
    article: bool
    listing: bool
    foreign: bytearray
    blocks: list[int]
    text: Sums
    linked: Sums
    prose: Sums
    weight: Sums

    def has_prose(self, at: int) -> bool:
        return self.prose[at] >= FEW_PROSE


def measure(page: Survey, hidden: bytearray, claims: Claims, roles: list[Element]) -> Measures:
    linked, unlinked = _parted(page)
    blocks = _blocks(page, unlinked)
    plain = page.sums(blocks, hidden)
    article = claims.article
    weighed = lightened(page, blocks, FEW_PROSE) if article else blocks
    full, quoted = page.fullness(hidden), _quoted(page, claims, plain)
    belief = _Belief(plain if weighed is blocks else page.sums(weighed, hidden), full, quoted, MUCH)
    kind, plainly = _kind(article=article, product=claims.product), _plainly_foreign(page, roles)
    foreign, talk = _foreign(page, hidden, plainly, kind=kind, full=full, belief=belief)
    if article:
        belief = _Belief(plain, full, quoted, ARTICLE_TALK)
    if article or not _is_talk(page, talk, unlinked):
        for at in talk:
            foreign[at] |= belief.holds(at)
    text, inked, prose = (page.sums(amounts, foreign) for amounts in (page.own, linked, blocks))
    listed = is_list_of_articles(page, prose, FEW_PROSE)
    article = article and not listed
    listing = listed or _is_listing(prose[0], text[0], article=article)
    weight = page.sums(weighed, foreign) if article and weighed is not blocks else prose
    return Measures(page, claims, article, listing, foreign, blocks, text, inked, prose, weight)


def _is_listing(prose: int, text: int, *, article: bool) -> bool:
    if article:
        return prose < ARTICLE_LISTING * text
    return prose < FEW_PROSE or prose < LISTING * text


class _Belief:
    """Whether an element that says it is no content is believed: not with much of the prose or what is quoted."""

    __slots__ = ("_full", "_little", "_most", "_prose", "_quoted")

    def __init__(self, prose: Sums, full: Sums, quoted: set[int], share: float) -> None:
        self._prose, self._full, self._quoted = prose, full, quoted
        self._most, self._little = int(prose[0] * share), int(full[0] * LITTLE)

    def holds(self, at: int) -> bool:
        return (self._prose[at] <= self._most or self._full[at] <= self._little) and at not in self._quoted


def _parted(page: Survey) -> tuple[list[int], list[int]]:
    """Each node's own text inside links, and outside."""
    linked, unlinked = [0] * len(page.own), list(page.own)
    for at in page.outermost(page.marked(LINK)):
        end = page.end[at]
        linked[at:end] = page.own[at:end]
        unlinked[at:end] = [0] * (end - at)
    return linked, unlinked


def _blocks(page: Survey, unlinked: list[int]) -> list[int]:
    """Each block's unlinked text, its inline elements' included, where that is enough to be prose."""
    block, weights = page.blocks(), list(unlinked)
    for at in compress(count(1), page.marked(INLINE)[1:]):
        if weights[at]:
            weights[block[at]] += weights[at]
            weights[at] = 0
    return [weight if weight >= PARAGRAPH else 0 for weight in weights]


def _kind(*, article: bool, product: bool) -> int:
    return (IS_ARTICLE if article else PLAIN) | (IS_PRODUCT if product else PLAIN)


def _is_talk(page: Survey, talk: list[int], unlinked: list[int]) -> bool:
    """Whether the parts named comments are the page: a forum, a question with its answers."""
    if not talk:
        return False
    marks = bytearray(len(page.nodes))
    for at in talk:
        marks[at] = 1
    inside = sum(sum(unlinked[at : page.end[at]]) for at in page.outermost(marks))
    return inside > TALK * sum(unlinked)


def _foreign(
    page: Survey, hidden: bytearray, plainly: bytearray, *, kind: int, full: Sums, belief: _Belief
) -> tuple[bytearray, list[int]]:
    """Mark the elements that say they are no content and are believed; list those that say they are comments.

    Nothing is asked below a foreign one, nor where nothing is shown.
    """
    foreign, talk, nodes, end, before = bytearray(hidden), [], page.nodes, page.end, full.before
    after = 1
    for at in compress(count(), page.marked(NEVER_FOREIGN).translate(_OTHERS)):
        if at < after or before[end[at]] == before[at]:
            continue
        said = FOREIGN if plainly[at] else _said(nodes[at], kind)
        if said == FOREIGN and belief.holds(at):
            foreign[at] = 1
            after = end[at]
        elif said == TALKING:
            talk.append(at)
    return foreign, talk


def _said(node: Element, kind: int) -> int:
    """What the names of an element say of it."""
    class_, id_ = node.attr("class"), node.attr("id")
    if id_:
        return says(f"{class_ or ''} {id_}"[:MAX_NAMES], kind)
    return says(class_[:MAX_NAMES], kind) if class_ else NOTHING


def _plainly_foreign(page: Survey, roles: list[Element]) -> bytearray:
    """Mark what its tag or role says is no content."""
    marks = bytearray(page.marked(FOREIGN_TAG))
    for node in roles:
        marks[page.place[node]] |= node.attr("role") in _FOREIGN_ROLES
    return marks


def _quoted(page: Survey, claims: Claims, prose: Sums) -> set[int]:
    """What holds the page, whatever it is named: a text that its own description quotes, or an article of some size."""
    quoted: set[int] = set()
    least = max(FEW_PROSE, int(OPENED_ARTICLE * prose[0]))
    for place in described(page, claims.about):
        quoted.update(above for above in _upwards(page, place) if page.tags[above] not in _FURNITURE)
    for place in page.tagged("article"):
        if prose[place] >= least:
            quoted.update(_upwards(page, place))
    return quoted


def _upwards(page: Survey, at: int) -> Iterator[int]:
    """The place, and what it is in, without the root."""
    while at > 0:
        yield at
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
