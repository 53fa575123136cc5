"""Signs of markdown that mean nothing where they stand: `snake_case`, `[66]`, `1.0`, `-30%`, `C:\\Users`.

The renderer escapes every sign that could mean something somewhere. Those that cannot where they stand, by the
characters beside them in one piece of text, are kept from it by placeholders. The sections are CommonMark 0.31's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runvil.extract.edges import ends_a_line
from runvil.extract.reserved import SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turbohtml import Text

_HELD = dict(zip("_[]\\*~-+#.)", SIGNS, strict=True))
_INSTEAD = str.maketrans(_HELD)

_ANYWHERE = ("_", "[", "\\", "*", "~")
_AT_THE_START = frozenset("-+#0123456789")

_HARMLESS = re.compile(
    r"(?<=[^\W_])_+(?=[^\W_])"  # within a word it neither opens nor closes (6.2)
    r"|\\(?=[^\W_])"  # only before ASCII punctuation it escapes (2.4)
    r"|(?<=\S )[*~](?= \S)"  # between spaces they neither open nor close (6.2)
    r"|\A\s*(?:[-+](?=[^\s\-+*_=])|[0-9]{1,9}[.)](?=\S))"  # an item takes a space (5.2)
    r"|\A\s*\#{1,6}(?=[^\s#])"  # so does a heading (4.2)
)
_BRACKETS = re.compile(r"\[(?![\sxX]\]|\^)([^\[\]]+)\](?![(\[:])")
"""No link without a target, and the markdown defines none (6.3); no task, no footnote, no definition (4.7)."""


def hold_signs(texts: Iterable[Text], words: str) -> bool:
    """Leave placeholders for the signs in `texts` that mean nothing; tells whether there are any.

    texts: those that are not in code. words: all of them.
    """
    held = False
    anywhere = any(sign in words for sign in _ANYWHERE)
    for text in texts:
        data = text.data
        if not (anywhere and any(sign in data for sign in _ANYWHERE)) and data.lstrip()[:1] not in _AT_THE_START:
            continue
        written = _HARMLESS.sub(_placeholders, data)
        if "[" in data:
            written = _without_brackets(written, text)
        if written != data:
            text.data = written
            held = True
    return held


def put_back_signs(markdown: str) -> str:
    for sign, placeholder in _HELD.items():
        markdown = markdown.replace(placeholder, sign)
    return markdown


def _placeholders(found: re.Match[str]) -> str:
    return found[0].translate(_INSTEAD)


def _without_brackets(data: str, text: Text) -> str:
    def brackets(found: re.Match[str]) -> str:
        if found.end() == len(data) and not ends_a_line(text):
            return found[0]
        return f"{_HELD['[']}{found[1]}{_HELD[']']}"

    return _BRACKETS.sub(brackets, data)
