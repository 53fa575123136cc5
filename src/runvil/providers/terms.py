"""Text for an index of words: scripts without spaces are parted, and a query becomes quoted terms."""

from __future__ import annotations

import re

MAX_TERMS = 64
"""Words of a query that are looked up."""

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana and Han: without spaces a sentence would be one word to the index."""

_ANY = re.compile(rf"[{_UNSPACED}]")
_SEAM = re.compile(rf"(?<=[{_UNSPACED}])(?=\S)|(?<=\S)(?=[{_UNSPACED}])")
_PARTED = re.compile(rf"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])")

_NOT_TEXT = re.compile(r"[\x00\ud800-\udfff]")
"""What ends a text for SQLite, or cannot be stored."""


def spaced(text: str) -> str:
    """Each character of an unspaced script as a word of its own."""
    clean = _NOT_TEXT.sub(" ", text)
    return _SEAM.sub(" ", clean) if _ANY.search(clean) else clean  # looking for seams takes ten times as long


def joined(text: str) -> str:
    """The reverse, for showing."""
    return _PARTED.sub("", text)


def match_of(query: str) -> tuple[str, ...]:
    """FTS5 match expressions to try in turn: all of the words, then any of them.

    Each word is a quoted string, so that nothing in it is syntax; a parted word is a phrase.
    """
    words = [f'"{spaced(word.replace(chr(34), " "))}"' for word in _NOT_TEXT.sub(" ", query).split()[:MAX_TERMS]]
    return (" AND ".join(words), " OR ".join(words)) if len(words) > 1 else tuple(words)
