"""Which part of a page is the page: find the element that holds the main content and take out what does not belong.

Plain arithmetic over a `Survey`. Four steps: mark what says that it is something else (names.py, tags, roles), weigh
the prose of what is left, walk down while one child has most of it, take out blocks of links. What kind of page it is
decides how: on a listing the links are the content. Nothing here knows any site.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from runvil.extract.choose import choose
from runvil.extract.measures import Measures, measure
from runvil.extract.shells import with_missing

if TYPE_CHECKING:
    from turbohtml import Element

    from runvil.extract.document import Document

LINK_DENSE = 0.4
"""Share of a block's text inside links above which it leads elsewhere instead of saying something."""

_PRUNED = frozenset({
    "div", "section", "ul", "ol", "p", "table", "dl", "header", "h2", "h3", "h4", "h5", "form", "figure",
})  # fmt: skip


def isolate(document: Document) -> Element | None:
    """The element that holds the main content, cleared of what does not belong. Changes the tree.

    None when the page is too large to be judged.
    """
    if document.page is None:
        return None
    measures = measure(document.page, document.hidden, document.claims)
    main = choose(measures)
    for at in _misfits(measures, main):
        document.page.nodes[at].decompose()
    return with_missing(document.page.nodes[main], document.claims)


def _misfits(measures: Measures, main: int) -> list[int]:
    """The elements below `main` to take out: the foreign ones, and blocks that are links more than text."""
    page = measures.page
    listing = measures.listing or not measures.has_prose(main)

    def foreign(at: int) -> bool:
        return bool(measures.foreign[at]) or (not listing and _is_links(measures, at))

    return page.clear(main, foreign, page.fullness(measures.foreign))


def _is_links(measures: Measures, at: int) -> bool:
    text, linked = measures.text[at], measures.linked[at]
    return measures.page.tags[at] in _PRUNED and linked > LINK_DENSE * text and not measures.prose[at]
