"""Text that stands in the markdown as it is, unescaped: our own marks, never a page's."""

from __future__ import annotations

from turbohtml import Element, Text

RAW = "x-runvil-raw"
"""The tag that the renderer writes as it is. A page's own elements of this name are renamed before."""


def raw(text: str) -> Element:
    return Element(RAW, children=[Text(text)])


def disarm(root: Element) -> None:
    """A page that uses our tag means nothing by it."""
    for impostor in root.select(RAW):
        impostor.tag = "span"
