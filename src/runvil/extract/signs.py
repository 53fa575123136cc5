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

_HARMLESS = {
    # each begins with the sign itself, which is looked for faster than what stands before it
    "_": re.compile(r"_(?<=[^\W_]_)_*(?=[^\W_])"),  # within a word it neither opens nor closes (6.2)
    "*": re.compile(r"\*(?<=\S \*)(?= \S)"),  # between spaces neither (6.2)
    "~": re.compile(r"~(?<=\S ~)(?= \S)"),
    "\\": re.compile(r"\\(?=[^\W_])"),  # only before ASCII punctuation it escapes (2.4)
}
_AT_THE_START = frozenset("-+#0123456789")
_START = re.compile(
    r"\s*(?:[-+](?=[^\s\-+*_=])|[0-9]{1,9}[.)](?=\S)|\#{1,6}(?=[^\s#]))"  # items and headings take a space (5.2, 4.2)
)
_BRACKETS = re.compile(r"\[(?![\sxX]\]|\^)([^\[\]]+)\](?![(\[:])")
"""No link without a target, and the markdown defines none (6.3); no task, no footnote, no definition (4.7)."""


def hold_signs(texts: Iterable[Text], words: str) -> bool:
    """Leave placeholders for the signs in `texts` that mean nothing; tells whether there are any.

    texts: those that are not in code. words: all of them.
    """
    held = False
    present = [sign for sign in ("[", *_HARMLESS) if sign in words]
    for text in texts:
        data = text.data
        if data.lstrip()[:1] not in _AT_THE_START and not any(map(data.__contains__, present)):
            continue
        written = _START.sub(_placeholders, data, 1) if _START.match(data) is not None else data
        for sign in present:
            if sign in written:
                written = _HARMLESS[sign].sub(_placeholders, written) if sign != "[" else _brackets(written, text)
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


def _brackets(data: str, text: Text) -> str:
    def pair(found: re.Match[str]) -> str:
        if found.end() == len(data) and not ends_a_line(text):
            return found[0]
        return f"{_HELD['[']}{found[1]}{_HELD[']']}"

    return _BRACKETS.sub(pair, data)
