"""Which element is the main content: walk down from the root while one child holds most of it, then look around."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from runvil.extract.measures import described

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from runvil.extract.measures import Measures

DOMINANT = 0.78
"""Share of an element's prose that one child must hold to be gone into."""

PROSE_WEIGHT = 4
"""How much more prose counts than other text when children are compared."""

BESIDE = 200
"""Characters of prose in paragraphs right beside the chosen element that belong to it all the same."""

NAMED = 0.25
"""Share of the prose that an element must hold to be believed when it is named the article."""

RIVAL = 0.3
"""Share of that element's prose from which on another one so named is an article of its own."""

FIRST = 0.1
"""Share of the prose that the article with the page's heading must hold to be chosen among several articles."""

LEAST = 300
_SIBLING = 100

# fmt: off
_CONTAINERS = frozenset({
    "html", "body", "main", "article", "section", "div", "form", "center", "table", "tbody", "tr", "td", "font", "span",
    "header", "fieldset", "noscript",
})
# fmt: on
_TABLE_PARTS = frozenset({"tbody", "tr"})
_PARAGRAPHS = frozenset({"p", "blockquote"})
_ARTICLE_NAME = re.compile(
    r"(?:^|\s)(?:[\w-]{0,40}?[-_]{1,2})?(?:article|post|entry|story)[-_]*(?:body|content|text)(?:\s|$)",
    re.IGNORECASE | re.ASCII,
)


def choose(measures: Measures) -> int:
    """The place of the main content."""
    main = _descend(measures)
    main = _with_paragraphs_beside(measures, main)
    if measures.claims.product:
        return main
    main = _named(measures, main)
    return _first_of_several(measures, main) if measures.article else main


def _descend(measures: Measures) -> int:
    """From the root, go on into the child that holds most, as long as there is one."""
    page, claims = measures.page, measures.claims
    if measures.listing and not measures.article and not claims.product:
        mass: Callable[[int], float] = measures.text.__getitem__
    else:
        mass = partial(_weight, measures)
    anchors = [] if measures.article else [at for at in described(page, claims.about) if measures.text[at]]
    main = 0
    while True:
        child = max((at for at in page.children(main) if not measures.foreign[at]), key=mass, default=0)
        if not child or page.tags[child] not in _CONTAINERS or mass(child) < DOMINANT * mass(main):
            break
        if any(page.holds(main, at) and not page.holds(child, at) for at in anchors) and not any(
            page.holds(child, at) for at in anchors
        ):
            break
        main = child
    while page.tags[main] in _TABLE_PARTS:  # rows without their table are a line of words
        main = page.parent[main]
    return main


def _weight(measures: Measures, at: int) -> float:
    prose, unlinked = measures.prose[at], measures.text[at] - measures.linked[at]
    return (PROSE_WEIGHT * prose + unlinked) * (measures.weight[at] / prose if prose else 1)


def _with_paragraphs_beside(measures: Measures, main: int) -> int:
    """Climb where the paragraphs of one text stand partly inside a division and partly beside it."""
    page = measures.page
    while (above := page.parent[main]) > 0:
        beside = sum(
            measures.blocks[at]
            for at in page.children(above)
            if at != main and page.tags[at] in _PARAGRAPHS and not measures.foreign[at]
        )
        if beside < BESIDE:
            break
        main = above
    return main


def _named(measures: Measures, main: int) -> int:
    """The element below `main` that is named the article, if there is one and only one."""
    page, prose = measures.page, measures.prose
    floor = max(LEAST, int(RIVAL * NAMED * prose[main]))
    named = [at for at in _with_at_least(measures, main, floor) if _is_named_article(measures, at)]
    if not named:
        return main
    best = max(named, key=lambda at: (prose[at], at))
    alone = all(page.holds(best, at) or page.holds(at, best) or prose[at] < RIVAL * prose[best] for at in named)
    return best if alone and prose[best] >= NAMED * prose[main] else main


def _with_at_least(measures: Measures, main: int, floor: int) -> Iterator[int]:
    """The places below `main` that hold so much prose; none below one that holds less does."""
    at, stop, end, prose = main + 1, measures.page.end[main], measures.page.end, measures.prose
    while at < stop:
        if prose[at] >= floor:
            yield at
            at += 1
        else:
            at = end[at]


def _is_named_article(measures: Measures, at: int) -> bool:
    page, node = measures.page, measures.page.nodes[at]
    if page.tags[at] == "article" or "articleBody" in (node.attr("itemprop") or ""):
        named = True
    else:
        named = _ARTICLE_NAME.search(f"{node.attr('class') or ''} {node.attr('id') or ''}"[:300]) is not None
    return named and not _is_below_foreign(measures, at)


def _is_below_foreign(measures: Measures, at: int) -> bool:
    while at > 0:
        if measures.foreign[at]:
            return True
        at = measures.page.parent[at]
    return False


def _first_of_several(measures: Measures, main: int) -> int:
    """Where articles follow one another, the one with the page's heading is the page."""
    page = measures.page
    headings = [
        at for at, tag in enumerate(page.tags) if tag == "h1" and measures.text[at] and not measures.foreign[at]
    ]
    if len(headings) != 1:
        return main
    at = headings[0]
    while at > 0 and page.tags[at] != "article":
        at = page.parent[at]
    if at <= 0 or page.holds(at, main) or measures.prose[at] < FIRST * measures.prose[main]:
        return main
    others = (other for other in page.children(page.parent[at]) if other != at and page.tags[other] == "article")
    return at if any(measures.prose[other] >= _SIBLING for other in others) else main
