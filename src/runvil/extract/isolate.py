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

_FOREIGN_TAGS = frozenset({"nav", "footer", "aside", "select", "menu", "dialog", "button", "input", "textarea"})
_FOREIGN_ROLES = frozenset(
    {
        "navigation",
        "contentinfo",
        "complementary",
        "search",
        "dialog",
        "alertdialog",
        "banner",
        "menu",
        "menubar",
        "toolbar",
    }
)
_NAMES = re.compile(
    r"""(?:^|[\s_-])(?:
        nav(?:bar|igation)?|menu|breadcrumbs?|side-?bar|foot(?:er)?|masthead|
        comments?(?:-?list|-?section|-?area)?|disqus\w*|respond|
        shar(?:e|ing)(?:-?\w+)?|social(?:-?\w+)?|follow-?us|
        relate[ds]?(?:-?\w+)?|recommend(?:ed|ations?)|also-?like|read-?more|more-?(?:stories|news|from)|trending|most-?(?:read|popular)|popular|
        newsletter(?:-?\w+)?|subscri(?:be|ption)(?:-?\w+)?|sign-?up|
        cookies?(?:-?\w+)?|consent|gdpr|pop-?up|modal|
        advert(?:s|isement|ising)?|ads?|sponsor(?:ed|s)?|promo(?:tion|s)?|outbrain|taboola|
        pagination|pager|skip-?link|sr-only|screen-reader(?:-text)?|visually-?hidden|print-?only|no-?print
    )(?:$|[\s_-])""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_NEVER_FOREIGN = frozenset(
    {"html", "body", "main", "article", "h1", "h2", "h3", "h4", "h5", "h6", "p", "pre", "table", "tbody", "tr", "td"}
)
_CONTAINERS = frozenset(
    {
        "html",
        "body",
        "main",
        "article",
        "section",
        "div",
        "form",
        "center",
        "table",
        "tbody",
        "tr",
        "td",
        "font",
        "span",
        "header",
        "fieldset",
    }
)
_PRUNED = frozenset(
    {"div", "section", "ul", "ol", "p", "table", "dl", "header", "h2", "h3", "h4", "h5", "form", "figure"}
)


@dataclass(slots=True)
class _Measures:
    """Per element of a survey, foreign parts left out: text, the part of it inside links, weight of prose."""

    page: Survey
    text: list[int]
    linked: list[int]
    prose: list[int]


def isolate(body: Element, title: str) -> Element | None:
    """The element of `body` that holds the main content, cleared of what does not belong. Changes the tree.

    None when the page is too large to be judged.
    """
    page = survey(body)
    if page is None:
        return None
    foreign = _foreign(page)
    measures = _measure(page, foreign)
    main = _descend(measures)
    listing = measures.prose[main] < FEW_PROSE
    for at in _misfits(measures, foreign, main, listing):
        page.nodes[at].decompose()
    return page.nodes[main]


def _foreign(page: Survey) -> bytearray:
    """Mark the elements that say they are no content, unless they hold most of the page's text."""
    marks = bytearray(len(page.nodes))
    text = page.sums(page.own)
    most = text[0] // 2
    for at, node in enumerate(page.nodes):
        if text[at] <= most and _says_foreign(node):
            marks[at] = 1
    return marks


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


def _measure(page: Survey, foreign: bytearray) -> _Measures:
    text = page.sums(page.own, foreign)
    links = bytearray(node.tag == "a" for node in page.nodes)
    inside = page.spread(links)
    linked = page.sums([own if link else 0 for own, link in zip(page.own, inside, strict=True)], foreign)
    weights = [0] * len(page.nodes)
    for at, node in enumerate(page.nodes):
        if node.tag not in _CONTAINERS or page.own[at]:
            weights[at] = _own_prose(page, at, inside)
    return _Measures(page, text, linked, page.sums(weights, foreign))
