"""What each tag is to those who judge a page: one byte of flags.

The tags of a page are looked up once, and what is asked of all its elements is then a translation of bytes.
"""

from __future__ import annotations

from collections.abc import Mapping

LINK, INLINE, FOREIGN_TAG, NEVER_FOREIGN, EMPTYABLE, SHOWN, LINK_BLOCK, CODE = (1 << bit for bit in range(8))
"""a; part of a line; never content; content whatever its name; dropped when empty; seen without text; dropped when it
is links more than text; where an empty element is a line."""

# fmt: off
_TAGS: Mapping[int, frozenset[str]] = {
    LINK: frozenset({"a"}),
    INLINE: frozenset({
        "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i",
        "ins", "kbd", "label", "mark", "nobr", "q", "ruby", "rt", "rp", "s", "samp", "small", "span", "strike",
        "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    }),
    FOREIGN_TAG: frozenset({"nav", "footer", "aside", "select", "menu", "dialog", "button", "textarea"}),
    NEVER_FOREIGN: frozenset({
        "html", "body", "main", "article", "h1", "h2", "h3", "h4", "h5", "h6", "p", "pre", "table", "tbody", "tr",
        "td",
    }),
    EMPTYABLE: frozenset({
        "div", "p", "section", "article", "header", "main", "figure", "figcaption", "center", "ul", "ol", "li", "dl",
        "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "table", "blockquote", "form", "fieldset", "details",
        "summary",
    }),
    SHOWN: frozenset({"img", "picture", "video", "audio", "iframe", "math", "hr", "input"}),
    LINK_BLOCK: frozenset({
        "div", "section", "ul", "ol", "p", "table", "dl", "header", "h2", "h3", "h4", "h5", "form", "figure",
    }),
    CODE: frozenset({"pre"}),
}
# fmt: on


def _flags(tag: str) -> int:
    return sum(flag for flag, tags in _TAGS.items() if tag in tags)


class _Kinds(dict[str, int]):
    """Of any other tag nothing is known."""

    def __missing__(self, tag: str) -> int:
        return 0


_KINDS = _Kinds((tag, _flags(tag)) for tag in frozenset().union(*_TAGS.values()))
_MARKS = {flag: bytes(bool(kind & flag) for kind in range(256)) for flag in range(256)}
"""Translations of kinds: 1 where any of the flags is set."""


def kinds(tags: list[str]) -> bytes:
    """The flags of each tag."""
    return bytes(map(_KINDS.__getitem__, tags))


def marks(of: bytes, flags: int) -> bytes:
    """1 for each kind that has any of `flags`, 0 for the others."""
    return of.translate(_MARKS[flags])
