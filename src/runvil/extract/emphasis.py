"""Bold, italics and what is struck out: signs where a reader of markdown will see them as such, tags elsewhere.

Whether a sign opens or closes is a matter of the characters beside it (CommonMark 0.31, section 6.2), and those are
known once the markdown stands. So the tree gets a placeholder at each end, and the signs are chosen when they are taken
out again. The renderer would write `<strong>` for most of what holds a letter beyond ASCII.
"""

from __future__ import annotations

import re
import unicodedata
from enum import IntEnum
from typing import TYPE_CHECKING, NamedTuple

from turbohtml import Element, Text

from runvil.extract.kinds import INLINE, kinds
from runvil.extract.nested import outermost
from runvil.extract.raw import RAW
from runvil.extract.reserved import EMPHASIS, EMPHASIS_ENDS

if TYPE_CHECKING:
    from turbohtml import Node

MAX_EMPHASES = 50_000
"""Emphases that are marked; a page with more emphasizes nothing, and the renderer writes the others."""


class _Sign(NamedTuple):
    """sign: in markdown. tag: in HTML, where the sign would be read as text."""

    sign: str
    tag: str


_STRONG, _EMPHASIS, _STRUCK = _Sign("**", "strong"), _Sign("*", "em"), _Sign("~~", "s")
_TAGS = {
    _STRONG: frozenset({"b", "strong"}),
    _EMPHASIS: frozenset({"i", "em"}),
    _STRUCK: frozenset({"s", "del", "strike"}),
}
_BESIDE_OTHERS = "_"
"""The sign of emphasis that touches another: `***` would be read from the wrong end."""

_LEAD = EMPHASIS
"""What every placeholder begins with; the next character tells which it is."""

_OPENINGS = dict(zip(EMPHASIS_ENDS[:3], _TAGS, strict=True))
_CLOSINGS = dict(zip(EMPHASIS_ENDS[3:], _TAGS, strict=True))
_ENDS = frozenset({*_OPENINGS, *_CLOSINGS})
_OPENING = {sign: _LEAD + end for end, sign in _OPENINGS.items()}
_BOLD = _OPENING[_STRONG]
_CLOSING = {sign: _LEAD + end for end, sign in _CLOSINGS.items()}

_ALL_TAGS = frozenset().union(*_TAGS.values())
_MAY_HOLD = _ALL_TAGS | {"summary"}
_SUMMARIES = "details > summary"
_BOLD_OR_BLOCKS = "b, strong, h1, h2, h3, h4, h5, h6, p, div"
_CODE = frozenset({"pre", "code", "kbd", "samp"})
_ALL = ", ".join(sorted(_ALL_TAGS))
_IN_CODE = f":is({', '.join(sorted(_CODE))}) :is({_ALL})"
_SHOWN = frozenset({"img", RAW})
"""What an emphasis may hold in place of text."""

MAX_SPACE = 2_000
"""Characters of white space at an end of an emphasis that are moved: a line break, and what begins a line that is in
five hundred lists."""

_NO_END = ""
"""In the place of a placeholder that a page wrote, and not whole."""

_UNWRITTEN = "\\"
"""Stands for a neighbour that is not chosen yet: punctuation whatever it becomes, and no sign of ours."""

_LEADING = re.compile(rf"\s{{1,{MAX_SPACE}}}+(?!\s)")
_TRAILING = re.compile(r"(?<!\s)\s+\Z")
_BLANK_LINE = re.compile(r"\n[ >\t]*\n")


# --- the tree


class _Holds(IntEnum):
    """What is in an emphasis; the greatest counts."""

    NOTHING, PHRASES, BLOCKS = range(3)


def hold_emphases(root: Element, present: set[str]) -> None:
    """Leave a placeholder at both ends of each emphasis below `root` that is part of a line.

    present: the tags there are below `root`.
    """
    if present.isdisjoint(_MAY_HOLD):
        return
    found = root.select(_ALL)[:MAX_EMPHASES]
    in_code = set[Element]() if present.isdisjoint(_CODE) else set(root.select(_IN_CODE))
    judged = dict.fromkeys(in_code, _Holds.NOTHING)
    for element in reversed(found):  # the inner ones first: each node is looked at for the one around it only
        if element not in judged:
            judged[element] = _holds(element, judged)
    for sign, tags in _TAGS.items():
        _mark([element for element in found if element.tag in tags and judged[element] is _Holds.PHRASES], sign, tags)
    for element in found:
        if judged[element] is not _Holds.BLOCKS and element not in in_code:
            element.unwrap()
    if "summary" in present:
        _mark_summaries(root)


def _mark_summaries(root: Element) -> None:
    """Bold for what stands above what folds out."""
    for summary in outermost(root.select(_SUMMARIES)[:MAX_EMPHASES], "summary"):
        if summary.select_one(_BOLD_OR_BLOCKS) is None and _BOLD not in summary.text:
            summary.insert(0, Text(_BOLD))
            summary.append(Text(_CLOSING[_STRONG]))


def _mark(phrases: list[Element], sign: _Sign, tags: frozenset[str]) -> None:
    """Bold in bold is bold, and bold beside bold is one: no more placeholders than that takes."""
    outer = list(outermost(phrases, *tags))
    marked: set[Node | None] = set(outer)
    for element in outer:
        if element.previous_sibling not in marked:
            element.insert(0, Text(_OPENING[sign]))
        if element.next_sibling not in marked:
            element.append(Text(_CLOSING[sign]))


def _holds(element: Element, judged: dict[Element, _Holds]) -> _Holds:
    """What an emphasis holds, whose inner ones have been `judged`."""
    holds = _Holds.NOTHING
    below = list(element)
    while below:
        node = below.pop()
        if type(node) is Text:
            inner = _Holds.NOTHING if node.data.isspace() else _Holds.PHRASES
        elif type(node) is not Element:
            continue
        elif node in judged:
            inner = judged[node]
        elif node.tag in _SHOWN:
            inner = _Holds.PHRASES
        elif _is_in_a_line(node.tag):
            below.extend(node)
            continue
        else:
            inner = _Holds.BLOCKS
        holds = max(holds, inner)
    return holds


def _is_in_a_line(tag: str) -> bool:
    return tag == "br" or bool(kinds([tag])[0] & INLINE)


# --- the markdown


class _Pair(NamedTuple):
    """Places of an emphasis's two placeholders among the pieces, and what it is."""

    opens: int
    closes: int
    sign: _Sign


class _Beside(NamedTuple):
    """The character on one side of a sign, and whether it is another emphasis's sign."""

    character: str
    is_sign: bool


def write_emphases(markdown: str) -> str:
    """`markdown` with signs or tags for the placeholders; a placeholder that has no other end goes."""
    if _LEAD not in markdown:
        return markdown
    pieces = _split(markdown)
    if len(pieces) > 4 * MAX_EMPHASES + 1:  # then most are the page's own
        return "".join(pieces[::2])
    _move_spaces(pieces)
    pairs = _pairs(pieces)
    if 4 * len(pairs) + 1 < len(pieces):
        pieces = _without(pieces, {at for pair in pairs for at in (pair.opens, pair.closes)})
        pairs = _pairs(pieces)
    for pair in sorted(pairs):
        pieces[pair.opens], pieces[pair.closes] = _written(pair, pieces)
    return "".join(pieces)


def _split(markdown: str) -> list[str]:
    """Text and what follows it, the second character of a placeholder, in turns; text first and last."""
    first, *others = markdown.split(_LEAD)
    pieces = [first]
    for other in others:
        end, text = (other[0], other[1:]) if other[:1] in _ENDS else (_NO_END, other)
        pieces += [end, text]
    return pieces


def _move_spaces(pieces: list[str]) -> None:
    """White space at the ends of an emphasis goes out of it: no sign is read beside white space."""
    for at in range(len(pieces) - 2, 0, -2):
        before, inner = pieces[at - 1], pieces[at + 1]
        if not inner[:1].isspace() or pieces[at] not in _OPENINGS:
            continue
        if (space := _LEADING.match(inner)) is not None:
            pieces[at + 1] = inner[space.end() :]
            begins_document = at == 1 and not before
            pieces[at - 1] += "" if begins_document or before[-1:].isspace() else space[0]
    for at in range(1, len(pieces), 2):
        inner, after = pieces[at - 1], pieces[at + 1]
        if not inner[-1:].isspace() or pieces[at] not in _CLOSINGS:
            continue
        if (space := _TRAILING.search(inner, len(inner) - MAX_SPACE)) is not None:
            pieces[at - 1] = inner[: space.start()]
            ends_document = at == len(pieces) - 2 and not after
            pieces[at + 1] = after if ends_document or after[:1].isspace() else space[0] + after


def _pairs(pieces: list[str]) -> list[_Pair]:
    """The emphases that have both ends, hold something and stay within a block."""
    pairs: list[_Pair] = []
    opened: list[tuple[int, _Sign, int, int]] = []
    blanks = texts = 0
    for at in range(1, len(pieces), 2):
        blanks += _BLANK_LINE.search(pieces[at - 1]) is not None
        texts += bool(pieces[at - 1])
        if (opening := _OPENINGS.get(pieces[at])) is not None:
            opened.append((at, opening, blanks, texts))
        elif opened and opened[-1][1] is _CLOSINGS.get(pieces[at]):
            start, sign, *before = opened.pop()
            if before[0] == blanks and before[1] < texts:
                pairs.append(_Pair(start, at, sign))
    return pairs


def _without(pieces: list[str], kept: set[int]) -> list[str]:
    """The pieces with the placeholders at `kept` only."""
    left, text = [], [pieces[0]]
    for at in range(1, len(pieces), 2):
        if at in kept:
            left += ["".join(text), pieces[at]]
            text = []
        text.append(pieces[at + 1])
    return [*left, "".join(text)]


def _written(pair: _Pair, pieces: list[str]) -> tuple[str, str]:
    """What stands at the two ends."""
    before, first = _beside(pieces, pair.opens, -1), _beside(pieces, pair.opens, 1)
    last, after = _beside(pieces, pair.closes, -1), _beside(pieces, pair.closes, 1)
    sign, tag = pair.sign
    if pair.sign is _EMPHASIS and any(beside.is_sign for beside in (before, first, last, after)):
        sign = _BESIDE_OTHERS
    if _can_stand(sign, before, first) and _can_stand(sign, after, last):
        return sign, sign
    return f"<{tag}>", f"</{tag}>"


def _beside(pieces: list[str], at: int, step: int) -> _Beside:
    text = pieces[at + step]
    if text:
        return _Beside(text[-1 if step < 0 else 0], is_sign=False)
    if 0 < at + 2 * step < len(pieces):
        written = pieces[at + 2 * step]
        return _Beside(_UNWRITTEN if written in _ENDS else written[-1 if step < 0 else 0], is_sign=True)
    return _Beside("", is_sign=False)


def _can_stand(sign: str, outside: _Beside, inside: _Beside) -> bool:
    """Whether a sign with these beside it is read as one: it opens to the right as it closes to the left."""
    if outside.is_sign and outside.character == sign[0]:
        return False
    if _is_space(inside.character):
        return False
    if sign != _BESIDE_OTHERS and not _may_be_punctuation(inside.character):
        return True
    return _is_space(outside.character) or _is_punctuation(outside.character)


def _is_space(character: str) -> bool:
    return not character or character.isspace()


def _is_punctuation(character: str) -> bool:
    return not character.isalnum() if character.isascii() else unicodedata.category(character)[0] == "P"


def _may_be_punctuation(character: str) -> bool:
    """Symbols are punctuation since CommonMark 0.31."""
    return _is_punctuation(character) or unicodedata.category(character)[0] == "S"
