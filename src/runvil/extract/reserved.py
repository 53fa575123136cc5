"""Characters that Unicode reserves for use within a program (noncharacters U+FDD0 to U+FDEF, section 23.7).

What the renderer would write otherwise than we want stands in its tree as one of these and is put back afterwards. What
a page has of them says nothing and is taken out before, or it could put back what was never there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from turbohtml import Text
from turbohtml.traverse import NodeFilter, NodeIterator

if TYPE_CHECKING:
    from turbohtml import Element

_ALL = [chr(code) for code in range(0xFDD0, 0xFDF0)]

MARK_OPENS, MARK_CLOSES = _ALL[0:2]
EMPHASIS = _ALL[2]
EMPHASIS_ENDS = _ALL[3:9]
SPACES = _ALL[9:21]
SIGNS = _ALL[21:32]

_NOTHING = str.maketrans(dict.fromkeys(_ALL))


def without_reserved(text: str) -> str:
    return text.translate(_NOTHING) if has_reserved(text) else text


def has_reserved(text: str) -> bool:
    return not text.isascii() and any(character in text for character in _ALL)


def take_out_reserved(root: Element) -> None:
    for text in NodeIterator(root, NodeFilter.SHOW_TEXT):
        if type(text) is Text and has_reserved(text.data):
            text.data = without_reserved(text.data)
