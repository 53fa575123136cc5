"""Text that stands in the markdown as it is, unescaped: our own marks, never a page's.

In the tree they are elements of our own. The renderer gets a placeholder for each, and the marks are put in their
places afterwards.
"""

from __future__ import annotations

import re

from turbohtml import Element, Text

from runvil.extract.reserved import MARK_CLOSES, MARK_OPENS

RAW = "x-runvil-raw"
"""The tag of a mark. A page's own elements of this name are renamed before."""

_PLACEHOLDER = re.compile(f"{MARK_OPENS}(\\d{{1,6}}){MARK_CLOSES}|[{MARK_OPENS}{MARK_CLOSES}]", re.ASCII)


def raw(text: str) -> Element:
    return Element(RAW, children=[Text(text)])


def disarm(root: Element) -> None:
    """A page that uses our tag means nothing by it."""
    for impostor in root.select(RAW):
        impostor.tag = "span"


def hold(root: Element) -> list[str]:
    """Leave a placeholder for each mark below `root`; returns the marks, as they must stand in the markdown."""
    marks = []
    for mark in root.select(RAW):
        text = mark.text
        marks.append(text.replace("|", "\\|") if "|" in text and mark.closest("td, th") is not None else text)
        mark.replace_with(Text(f"{MARK_OPENS}{len(marks) - 1}{MARK_CLOSES}"))
    return marks


def put_back(markdown: str, marks: list[str]) -> str:
    """`markdown` with the marks in the places that were held for them, each once.

    A page that wrote the placeholder of a long formula a million times would otherwise get it a million times.
    """
    if MARK_OPENS not in markdown and MARK_CLOSES not in markdown:
        return markdown
    left = dict(enumerate(marks))

    def mark(found: re.Match[str]) -> str:
        return left.pop(int(found[1]), "") if found[1] is not None else ""

    return _PLACEHOLDER.sub(mark, markdown)
