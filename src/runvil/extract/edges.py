"""The edges of lines: breaks and white space that show nothing there, and blank lines in the markdown.

A browser shows no line for a break or a no-break space where a block begins or ends; the renderer writes one, of a
lone `\\` or an entity. Within a line both stay what they are.
"""

from __future__ import annotations

import re
import string
from itertools import islice, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING

from turbohtml import Element, Text
from turbohtml.traverse import NodeFilter, NodeIterator

from runvil.extract.nested import outermost
from runvil.extract.raw import RAW
from runvil.extract.reserved import SPACES

if TYPE_CHECKING:
    from collections.abc import Callable

    from turbohtml import Node

MAX_AROUND = 16
"""Nodes beside and around one, from the inside, that are looked at for the edge, heading, link or item it is in."""

MAX_BREAKS = 50_000
"""Line breaks of a page that are put right; a page with more says nothing in them."""

MAX_EXAMINED = 100_000
"""Line breaks of a page that stay, if there is something to see beside them."""

MAX_LOOSE = 20
"""Line breaks of a page with nothing to see beside them. The renderer looks on from each for what follows, so more of
them are none."""

_LEVELS = 4
"""Elements in elements that are looked into for what stands beside a break."""

_SEEN = frozenset({"img", "svg", "math", "video", "audio", "iframe", RAW})

MAX_TEXTS = 200_000
"""Texts of a page whose white space and signs are put right; in one of more they stand as the renderer has them."""

_HARD = "\xa0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000"
_SPACES = f"\t\n\v\f\r {_HARD}\u1680\u2000\u2001\u205f"
_INVISIBLE = "\u200b\u2060\ufeff"
"""Zero width space, word joiner, byte order mark. Joiners (U+200C, U+200D) belong to the letter before them."""

_TRIMMED = _SPACES + "\u2028\u2029" + _INVISIBLE
_NOTHING = re.compile(rf"[{_TRIMMED}\u200c\u200d\xad]*")
_ODD = "".join(sorted({*_TRIMMED} - {*string.whitespace})) + "\u200c\u200d"
"""What the renderer would not trim itself."""

_HELD = dict(zip(_HARD, SPACES, strict=True))
"""The renderer writes these as entities in headings."""

_INSTEAD = str.maketrans({**_HELD, "\u2028": " ", "\u2029": " "})
_BREAK = "br"
# fmt: off
BLOCKS = frozenset({
    "html", "body", "div", "p", "section", "article", "header", "footer", "main", "aside", "nav", "figure",
    "figcaption", "ul", "ol", "menu", "li", "dl", "dt", "dd", "h1", "h2", "h3", "h4", "h5", "h6", "table", "caption",
    "thead", "tbody", "tfoot", "tr", "td", "th", "blockquote", "details", "summary", "address", "pre", "hr",
})
# fmt: on
"""What the renderer, or a table's cell, begins a line for."""

_ONE_LINE = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "a"})

_BEFORE: Callable[[Node], Node | None] = attrgetter("previous_sibling")
_AFTER: Callable[[Node], Node | None] = attrgetter("next_sibling")

_REPEATED_BLANK = re.compile(r"\n([> ]*)\n\1\n")
_FENCE = re.compile(r"(?:[ >]|[-*+] |[0-9]{1,9}[.)] )*(`{3,})")


# --- breaks


def prepare_breaks(root: Element) -> None:
    """Two line breaks and more are how old pages part paragraphs; one in a heading or a link is a space; one at the
    edge of a block is nothing."""
    in_code = {line_break for code in outermost(root.select("pre"), "pre") for line_break in code.select("br")}
    breaks = [line_break for line_break in root.select("br") if line_break not in in_code]
    if len(breaks) <= MAX_BREAKS:
        _shape_breaks(breaks)
    left = [line_break for line_break in breaks if line_break.parent is not None]
    loose = [line_break for line_break in left[:MAX_EXAMINED] if not _is_beside_something(line_break)]
    for line_break in (*loose[MAX_LOOSE:], *left[MAX_EXAMINED:]):
        line_break.decompose()


def _shape_breaks(breaks: list[Element]) -> None:
    for line_break in breaks:
        if is_within(line_break, _ONE_LINE):
            line_break.replace_with(Text(" "))
        elif _is_at_edge(line_break, _BEFORE) or _is_at_edge(line_break, _AFTER):
            line_break.decompose()
    for run in _runs([line_break for line_break in breaks if line_break.parent is not None]):
        if run[0].parent is not None:
            run[0].insert_after(Element("div"))  # the break stays: in a table's cell it is what parts the words
            for other in run[1:]:
                other.decompose()


def _is_beside_something(node: Element) -> bool:
    return _is_seen(_BEFORE(node), -1) or _is_seen(_AFTER(node), 0)


def _is_seen(node: Node | None, at: int) -> bool:
    """Whether there is something to see where a node begins or ends."""
    for _ in range(_LEVELS):
        if type(node) is Text:
            return not is_nothing(node.data)
        if type(node) is not Element or node.tag in _SEEN:
            return type(node) is Element
        children = node.children
        node = children[at] if children else None
    return False


def is_unseen(node: Node) -> bool:
    """Whether a node is no element and shows nothing."""
    return type(node) is not Element and (type(node) is not Text or is_nothing(node.data))


def stripped(text: str) -> str:
    """`text` without what shows nothing at its ends."""
    return text.strip(_TRIMMED)


def is_nothing(text: str) -> bool:
    """Whether a text shows nothing."""
    return _NOTHING.fullmatch(text) is not None


def is_within(node: Element, tags: frozenset[str]) -> bool:
    """Whether one of the nearest elements around a node has one of these tags.

    A selector would ask all of them: five hundred, for every break of a page made for it.
    """
    around = node.parent
    for _ in range(MAX_AROUND):
        if type(around) is not Element:
            return False
        if around.tag in tags:
            return True
        around = around.parent
    return False


def _runs(breaks: list[Element]) -> list[list[Element]]:
    """Those of `breaks` that follow each other with nothing that shows between."""
    runs: list[list[Element]] = [breaks[:1]]
    for before, after in pairwise(breaks):
        if _next(before) is after:
            runs[-1].append(after)
        else:
            runs.append([after])
    return [run for run in runs if len(run) > 1]


def _next(node: Element) -> Node | None:
    after = node.next_sibling
    while type(after) is Text and is_nothing(after.data):
        after = after.next_sibling
    return after


def _is_at_edge(node: Node, beside: Callable[[Node], Node | None]) -> bool:
    """Whether nothing shows between a node and the beginning or end of its line."""
    for _ in range(MAX_AROUND):
        neighbour = beside(node)
        if neighbour is None:
            around = node.parent
            if type(around) is not Element or around.tag in BLOCKS:
                return True
            node = around
        elif type(neighbour) is Element:
            return neighbour.tag in BLOCKS
        elif is_unseen(neighbour):
            node = neighbour
        else:
            return False
    return False


# --- white space


def hold_spaces(texts: list[Text], words: str) -> list[str]:
    """Take away white space that shows nothing, and leave a placeholder for each other space that is no plain one.

    texts: those that are not in code. words: all of them. Returns the spaces there are placeholders for.
    """
    present = [] if words.isascii() else [space for space in _ODD if space in words]
    if not present:
        return []
    for text in texts:
        data = text.data
        if not data.isascii() and any(map(data.__contains__, present)):
            _trim(text)
    return [space for space in _HELD if space in words]


def put_back_spaces(markdown: str, held: list[str]) -> str:
    for space in held:
        markdown = markdown.replace(_HELD[space], space)
    return markdown


def ends_a_line(text: Text) -> bool:
    """Whether nothing comes after a text that could be one with it: in its line, or in the link it ends."""
    after = text.next_sibling
    if after is None:
        return _is_in_link(text) or _is_at_edge(text, _AFTER)
    return type(after) is Element and after.tag in (RAW, *BLOCKS)


def _is_in_link(text: Text) -> bool:
    return type(text.parent) is Element and text.parent.tag == "a"


def _is_before_break(text: Text) -> bool:
    after = text.next_sibling
    return type(after) is Element and after.tag == _BREAK


def texts_outside(root: Element, *tags: str) -> list[Text]:
    """The texts below `root` that are in no element of these tags, in document order; none of a page of too many."""
    texts, apart = _texts(root), root.select(", ".join(tags))
    if max(len(texts), len(apart)) > MAX_TEXTS:
        return []
    skipped = [inner for each in outermost(apart, *tags) if (inner := _texts(each))]
    if not skipped:
        return texts
    outside, at, skips = list[Text](), 0, iter([*skipped, []])
    skip = next(skips)
    while at < len(texts):
        if skip and texts[at] == skip[0]:  # no set: nodes of our own all have one hash
            at, skip = at + len(skip), next(skips)
        else:
            outside.append(texts[at])
            at += 1
    return outside


def _texts(root: Element) -> list[Text]:
    nodes = islice(NodeIterator(root, NodeFilter.SHOW_TEXT), MAX_TEXTS + 1)
    return [node for node in nodes if type(node) is Text]


def _trim(text: Text) -> None:
    data = text.data
    if is_nothing(data):
        data = "" if _is_at_edge(text, _BEFORE) or _is_at_edge(text, _AFTER) else data
    if data[:1] in _TRIMMED and _is_at_edge(text, _BEFORE):
        data = data.lstrip(_TRIMMED)
    if data[-1:] in _TRIMMED and (_is_at_edge(text, _AFTER) or _is_before_break(text)):
        data = data.rstrip(_TRIMMED)
    if data:
        text.data = data.translate(_INSTEAD)
    else:
        text.decompose()


# --- blank lines


def without_repeated_blank_lines(markdown: str) -> str:
    """`markdown` with one blank line where there are several alike, but for code."""
    if _REPEATED_BLANK.search(markdown) is None:
        return markdown
    lines: list[str] = []
    fence = ""
    for line in markdown.split("\n"):
        bare = line.strip(" >")
        if fence:
            fence = "" if bare.startswith(fence) and not bare.strip("`") else fence
        elif (opening := _FENCE.match(line)) is not None:
            fence = opening[1]
        elif not bare and lines and line == lines[-1]:
            continue
        lines.append(line)
    return "\n".join(lines)
