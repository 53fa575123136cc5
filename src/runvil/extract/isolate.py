"""Which part of a page is the page: find the element that holds the main content and take out what does not belong.

Plain arithmetic over a `Survey`: how much prose is below each element, how much of its text is links, what its author
named it. Three steps: mark what says that it is something else, walk down while one child has most of the prose, then
take out the blocks of links. Nothing here knows any site.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runvil.extract.survey import survey

if TYPE_CHECKING:
    from turbohtml import Element

    from runvil.extract.survey import Survey

DOMINANT = 0.7
"""Share of an element's prose that one child must hold to be gone into."""

FEW_PROSE = 400
"""Weight below which a page is taken for a listing, whose blocks of links are the content."""

PARAGRAPH = 60
"""Characters of unlinked text that make a block prose rather than a label."""

MUCH = 0.45
"""Share of the page's prose that an element may hold and still be believed when its name says it is no content."""

LINK_DENSE = 0.4
"""Share of a block's text inside links above which it leads elsewhere instead of saying something."""

# fmt: off
_INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "nobr", "q", "ruby", "rt", "rp", "s", "samp", "small", "span", "strike", "strong", "sub",
    "sup", "time", "tt", "u", "var", "wbr",
})
_FOREIGN_TAGS = frozenset({"nav", "footer", "aside", "select", "menu", "dialog", "button", "input", "textarea"})
_FOREIGN_ROLES = frozenset({
    "navigation", "contentinfo", "complementary", "search", "dialog", "alertdialog", "banner", "menu", "menubar",
    "toolbar",
})
_NEVER_FOREIGN = frozenset({
    "html", "body", "main", "article", "h1", "h2", "h3", "h4", "h5", "h6", "p", "pre", "table", "tbody", "tr", "td",
})
_CONTAINERS = frozenset({
    "html", "body", "main", "article", "section", "div", "form", "center", "table", "tbody", "tr", "td", "font", "span",
    "header", "fieldset",
})
_TABLE_PARTS = frozenset({"tbody", "tr"})
_PRUNED = frozenset({
    "div", "section", "ul", "ol", "p", "table", "dl", "header", "h2", "h3", "h4", "h5", "form", "figure",
})
# fmt: on
_NAMES = re.compile(
    r"""(?:^|[\s_-])(?:
        nav(?:bar|igation)?|menu|breadcrumbs?|side-?bar|foot(?:er)?|masthead|
        comments?(?:-?list|-?section|-?area)?|disqus\w*|respond|
        shar(?:e|ing)(?:-?\w+)?|social(?:-?\w+)?|follow-?us|
        relate[ds]?(?:-?\w+)?|recommend(?:ed|ations?)|also-?like|read-?more|more-?(?:stories|news|from)|
        trending|most-?(?:read|popular)|popular|
        newsletter(?:-?\w+)?|subscri(?:be|ption)(?:-?\w+)?|sign-?up|
        cookies?(?:-?\w+)?|consent|gdpr|pop-?up|modal|
        advert(?:s|isement|ising)?|ads?|sponsor(?:ed|s)?|promo(?:tion|s)?|outbrain|taboola|
        pagination|pager|skip-?link|sr-only|screen-reader(?:-text)?|visually-?hidden|print-?only|no-?print
    )(?:$|[\s_-])""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)


@dataclass(slots=True)
class _Measures:
    """Per element of a survey, foreign parts left out: text, the part of it inside links, weight of prose."""

    page: Survey
    foreign: bytearray
    text: list[int]
    linked: list[int]
    prose: list[int]


def isolate(root: Element) -> Element | None:
    """The element below `root` that holds the main content, cleared of what does not belong. Changes the tree.

    None when the page is too large to be judged.
    """
    page = survey(root)
    if page is None:
        return None
    measures = _measure(page)
    main = _descend(measures)
    for at in _misfits(measures, main):
        page.nodes[at].decompose()
    return page.nodes[main]


def _measure(page: Survey) -> _Measures:
    inside = page.spread(bytearray(node.tag == "a" for node in page.nodes))
    linked = [own if link else 0 for own, link in zip(page.own, inside, strict=True)]
    weights = _weights(page, [own - link for own, link in zip(page.own, linked, strict=True)])
    foreign = _foreign(page, page.sums(weights))
    return _Measures(
        page, foreign, page.sums(page.own, foreign), page.sums(linked, foreign), page.sums(weights, foreign)
    )


def _foreign(page: Survey, prose: list[int]) -> bytearray:
    """Mark the elements that say they are no content, unless they hold much of the page's prose."""
    most = int(prose[0] * MUCH)
    return bytearray(at > 0 and prose[at] <= most and _says_foreign(node) for at, node in enumerate(page.nodes))


def _says_foreign(node: Element) -> bool:
    tag = node.tag
    if tag in _FOREIGN_TAGS:
        return True
    if tag in _NEVER_FOREIGN:
        return False
    if (node.attr("role") or "") in _FOREIGN_ROLES:
        return True
    names = f"{node.attr('class') or ''} {node.attr('id') or ''}"
    return len(names) > 1 and _NAMES.search(names) is not None


def _weights(page: Survey, unlinked: list[int]) -> list[int]:
    """Each block's unlinked text, its inline elements' included, where that is enough to be prose."""
    block = list(range(len(page.nodes)))
    weights = list(unlinked)
    for at in range(1, len(block)):
        if page.nodes[at].tag in _INLINE:
            block[at] = block[page.parent[at]]
            weights[block[at]] += weights[at]
            weights[at] = 0
    return [weight if weight >= PARAGRAPH else 0 for weight in weights]


def _descend(measures: _Measures) -> int:
    """From the root, go on into the child that holds most of the prose, as long as there is one."""
    page = measures.page
    mass = [
        4 * prose + text - linked
        for prose, text, linked in zip(measures.prose, measures.text, measures.linked, strict=True)
    ]
    heaviest = [0] * len(mass)
    for at in range(1, len(mass)):
        above = page.parent[at]
        if not measures.foreign[at] and (not heaviest[above] or mass[at] > mass[heaviest[above]]):
            heaviest[above] = at
    main = 0
    while (child := heaviest[main]) and page.nodes[child].tag in _CONTAINERS and mass[child] >= DOMINANT * mass[main]:
        main = child
    while page.nodes[main].tag in _TABLE_PARTS:  # rows without their table are a line of words
        main = page.parent[main]
    return main


def _misfits(measures: _Measures, main: int) -> list[int]:
    """The elements below `main` to take out: the foreign ones, and blocks that are links more than text."""
    page = measures.page
    listing = measures.prose[main] < FEW_PROSE
    out: list[int] = []
    state = bytearray(len(page.nodes))  # 1: inside main and kept so far
    state[main] = 1
    for at in range(main + 1, len(state)):
        if not state[page.parent[at]]:
            continue
        if measures.foreign[at] or (not listing and _is_links(measures, at)):
            out.append(at)
        else:
            state[at] = 1
    return out


def _is_links(measures: _Measures, at: int) -> bool:
    text, linked = measures.text[at], measures.linked[at]
    return measures.page.nodes[at].tag in _PRUNED and linked > LINK_DENSE * text and not measures.prose[at]
