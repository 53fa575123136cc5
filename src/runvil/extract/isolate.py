"""Which part of a page is the page: find the element that holds the main content and take out what does not belong.

Plain arithmetic over a `Survey`. Four steps: mark what says that it is something else (names.py, tags, roles), weigh
the prose of what is left, walk down while one child has most of it, take out blocks of links. What kind of page it is
decides how: on a listing the links are the content. Nothing here knows any site.
"""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from runvil.extract.choose import choose
from runvil.extract.kinds import LINK_BLOCK
from runvil.extract.measures import Measures, measure
from runvil.extract.shells import with_missing

if TYPE_CHECKING:
    from turbohtml import Element

    from runvil.extract.document import Document
    from runvil.extract.survey import Survey

LINK_DENSE = 0.4
"""Share of a block's text inside links above which it leads elsewhere instead of saying something."""

SAID_AGAIN = 80
"""Characters from which on a text that stands on a page twice was copied, and is no label or price."""

SAID_ALONE = 1.1
"""How much more text than the repeated one a block may hold and be taken out with it."""


def isolate(document: Document) -> Element | None:
    """The element that holds the main content, cleared of what does not belong. Changes the tree.

    None when the page is too large to be judged.
    """
    if document.page is None:
        return None
    measures = measure(document.page, document.hidden, document.claims, document.roles)
    main = choose(measures)
    for at in _misfits(measures, main):
        document.page.nodes[at].decompose()
    return with_missing(document.page.nodes[main], document.claims)


def _misfits(measures: Measures, main: int) -> list[int]:
    """The elements below `main` to take out: the foreign ones, and blocks that are links more than text."""
    page, unwanted = measures.page, bytearray(measures.foreign)
    if not measures.listing and measures.has_prose(main):
        for at in compress(range(main + 1, page.end[main]), page.marked(LINK_BLOCK)[main + 1 : page.end[main]]):
            unwanted[at] |= _is_links(measures, at)
    for at in _repeated(measures, main, unwanted):
        unwanted[at] = 1
    return list(page.clear(main, unwanted, page.fullness(unwanted)))


def _is_links(measures: Measures, at: int) -> bool:
    linked = measures.linked[at]
    return linked > 0 and linked > LINK_DENSE * measures.text[at] and not measures.prose[at]


def _repeated(measures: Measures, main: int, unwanted: bytearray) -> list[int]:
    """Blocks that say again what the page has said: a shop's, once for the phone and once for the desk; quotations."""
    page, gone = measures.page, measures.page.spread(unwanted)
    again: list[tuple[int, str]] = []
    said: set[str] = set()
    for place, text in page.texts:
        if len(text) >= SAID_AGAIN and page.holds(main, place) and not gone[place]:
            if text in said:
                again.append((place, text))
            said.add(text)
    if not again:
        return []
    block, quoted = page.blocks(), None if measures.claims.product else _quotations(page)
    blocks = ((block[place], len(text)) for place, text in again if quoted is None or quoted[place])
    return [at for at, length in blocks if at > main and measures.text[at] <= SAID_ALONE * length]


def _quotations(page: Survey) -> bytearray:
    """Mark what is quoted, by tag or name."""
    marks = bytearray(map("blockquote".__eq__, page.tags))
    for node in page.nodes[0].select('[class*="quote" i]'):
        marks[page.place[node]] = 1
    return page.spread(marks)
