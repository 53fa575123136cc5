"""Text for an index of words: scripts without spaces are parted, and a query becomes quoted terms."""

from __future__ import annotations

import re

MAX_TERMS = 64
"""Words of a query that are looked up."""

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Thai, Lao, Burmese, Khmer, kana and Han: without spaces a sentence would be one word to the index."""

_ANY = rf"[{_UNSPACED}]"
_SEAM = rf"(?<=[{_UNSPACED}])(?=\S)|(?<=\S)(?=[{_UNSPACED}])"
_PARTED = rf"(?<=[{_UNSPACED}]) (?=[{_UNSPACED}])"
"""Compiled by `re` on first use, and kept there: it takes 6 ms, which every start of the MCP server would pay."""

_NOT_TEXT = r"[\x00\ud800-\udfff]"
"""What ends a text for SQLite, or cannot be stored."""


def spaced(text: str) -> str:
    """Each character of an unspaced script as a word of its own."""
    clean = re.sub(_NOT_TEXT, " ", text)
    return re.sub(_SEAM, " ", clean) if re.search(_ANY, clean) else clean  # looking for seams takes ten times as long


def joined(text: str) -> str:
    """The reverse, for showing."""
    return re.sub(_PARTED, "", text)


def match_of(query: str) -> tuple[str, ...]:
    """FTS5 match expressions to try in turn: all of the words, then any of them.

    Each word is a quoted string, so that nothing in it is syntax; a parted word is a phrase.
    """
    words = [f'"{spaced(word.replace(chr(34), " "))}"' for word in re.sub(_NOT_TEXT, " ", query).split()[:MAX_TERMS]]
    return (" AND ".join(words), " OR ".join(words)) if len(words) > 1 else tuple(words)
