"""Text that a page promises but does not show: the description of what it sells, the article scripts would have put in.

Only what the page itself says it holds (claims.py), only when it is missing from what was found, and as plain text.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import turbohtml
from turbohtml import Element, Text

if TYPE_CHECKING:
    from runvil.extract.claims import Claims

FEW_WORDS = 12
"""Words of a description that is worth having."""

FEW_BODY_WORDS = 20

MISSING = 0.6
"""Share of the words of a claimed text that, if found, make it one that is shown already."""

MAX_ADDED = 200_000
"""Characters added at most."""

_WORDS = re.compile(r"\w+")


def with_missing(main: Element, claims: Claims) -> Element:
    """`main`, with the text that the page says it has and that is not in it before or behind."""
    if not claims.bodies and not (claims.product and claims.wares):
        return main
    found = Counter(_WORDS.findall(main.text.lower()))
    before = _missing(claims.wares[:1], found, FEW_WORDS) if claims.product else []
    after = _missing(claims.bodies, found, max(FEW_BODY_WORDS, found.total() // 2))
    if not before and not after:
        return main
    return Element("div", children=[*before, main, *after])


def _missing(texts: list[str], found: Counter[str], least: int) -> list[Element]:
    paragraphs: list[Element] = []
    room = MAX_ADDED
    for text in texts:
        plain = _plain(text)[:room]
        words = Counter(_WORDS.findall(plain.lower()))
        if words.total() >= least and (words & found).total() < MISSING * words.total():
            found += words
            room -= len(plain)
            paragraphs += (Element("p", children=[Text(part)]) for part in plain.split("\n") if part.strip())
    return paragraphs


def _plain(text: str) -> str:
    """Claims hold markup now and then, escaped or not."""
    if "<" not in text and "&" not in text:
        return text
    root = turbohtml.parse(text).root
    if root is not None and "<" in root.text:
        root = turbohtml.parse(root.text).root
    if root is None:
        return ""
    root.remove("script, style, template")
    return root.to_text()
