"""Text that stands in the markdown as it is, unescaped: our own marks, never a page's.

In the tree they are elements of our own. The renderer gets a placeholder for each, of characters that Unicode keeps for
such use within a program (noncharacters, section 23.7); the marks are put in their places afterwards. A page that
writes such a character says nothing by it: it is lost, or a mark of the same page stands there and not in its place.
"""

from __future__ import annotations

import re

from turbohtml import Element, Text

RAW = "x-runvil-raw"
"""The tag of a mark. A page's own elements of this name are renamed before."""

_OPEN, _CLOSE = "\ufdd0", "\ufdd1"
_PLACEHOLDER = re.compile(f"{_OPEN}(\\d{{1,6}}){_CLOSE}|[{_OPEN}{_CLOSE}]", re.ASCII)


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
        mark.replace_with(Text(f"{_OPEN}{len(marks) - 1}{_CLOSE}"))
    return marks


def put_back(markdown: str, marks: list[str]) -> str:
    """`markdown` with the marks in the places that were held for them, each once.

    A page that wrote the placeholder of a long formula a million times would otherwise get it a million times.
    """
    if _OPEN not in markdown and _CLOSE not in markdown:
        return markdown
    left = dict(enumerate(marks))

    def mark(found: re.Match[str]) -> str:
        return left.pop(int(found[1]), "") if found[1] is not None else ""

    return _PLACEHOLDER.sub(mark, markdown)
