"""Elements -> markdown: the tree is put into the shape that turbohtml's renderer writes well, then rendered.

What each construct becomes, and whose work it is, stands in docs/extraction.md. Every step visits each element a
bounded number of times and adds a bounded number of nodes.
"""

from __future__ import annotations

import re

from turbohtml import Element, Markdown, Text

from runvil.extract.addresses import prepare_addresses
from runvil.extract.code import prepare_code
from runvil.extract.edges import hold_spaces, put_back_spaces, texts_outside, without_repeated_blank_lines
from runvil.extract.emphasis import hold_emphases, write_emphases
from runvil.extract.kinds import INLINE, kinds
from runvil.extract.raw import RAW, hold, put_back
from runvil.extract.reserved import has_reserved, take_out_reserved
from runvil.extract.shapes import prepare_shapes
from runvil.extract.signs import hold_signs, put_back_signs
from runvil.extract.tables import prepare_tables

_STYLE = Markdown(
    links=Markdown.Links(autolink=False),
    tables=Markdown.Tables(cell_blocks="text", header="detect"),
)
"""No converters: with one the renderer writes `<strong>Note:</strong>` for `**Note:**`."""

_VERBATIM = ("pre", "code", "kbd", "samp", RAW)

NUMBERED = 9
"""Digits of an item's number at most (CommonMark 5.2). The renderer looks back over all that a line began with, at each
piece of text: of a million pieces of one digit each, for minutes. Pieces beyond these are made one."""

STRIDE = 100
"""Every so many characters a text is looked at for digits; sixteen in a row and it may begin such a line."""

_BAD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]+")
_SEPARATORS = ("\u2028", "\u2029")
_MEANT = {
    **dict.fromkeys((*range(0x09), *range(0x0B, 0x20), 0x7F)),
    **{code: bytes([code]).decode("cp1252", "ignore") for code in range(0x80, 0xA0)},
}
"""What stands for a control character. Those of C1 are letters of windows-1252 that somebody took for Latin-1 on the
way to the page, and HTML reads references to them so too (13.2.5.80): `we&#146;re`."""

_DIGITS = re.compile(r"[0-9]{16}")


def markdown(root: Element, base: str) -> str:
    """Render what is below `root`, whose links are relative to `base`. Changes the tree."""
    present = {node.tag for node in root.iter_elements(include_self=True)}
    prepare_shapes(root, present)
    if "pre" in present:
        prepare_code(root)
    prepare_addresses(root, base)
    if "table" in present:
        prepare_tables(root)
    words = root.text
    if has_reserved(words):
        take_out_reserved(root)
    texts = texts_outside(root, *_VERBATIM)
    signs, spaces = hold_signs(texts, words), hold_spaces(texts, words)
    if _DIGITS.search(words[::STRIDE]) is not None:
        _merge_digits(root)
    hold_emphases(root, present)
    marks = hold(root)
    text = put_back(root.to_markdown(_STYLE), marks)
    if _is_bad(text):
        _clean(root)
        text = without_controls(put_back(root.to_markdown(_STYLE), marks))
    text = put_back_spaces(put_back_signs(text) if signs else text, spaces)
    return without_repeated_blank_lines(write_emphases(text))


def _merge_digits(root: Element) -> None:
    """Make one piece of the pieces of digits alone that follow each other within a block, but for the first few."""
    run: list[Text] = []
    runs = [run]
    for node in root.descendants:
        if type(node) is Text and node.data.isdecimal():
            run.append(node)
        elif type(node) is Text or (type(node) is Element and not kinds([node.tag])[0] & INLINE):
            run = []
            runs.append(run)
    for long in (run for run in runs if len(run) > NUMBERED):
        long[NUMBERED].data = "".join(node.data for node in long[NUMBERED:])
        for node in long[NUMBERED + 1 :]:
            node.decompose()


def _clean(root: Element) -> None:
    """Control characters go before rendering: what stands behind one would not be escaped."""
    for node in root.descendants:
        if type(node) is Text and _is_bad(node.data):
            node.data = without_controls(node.data)


def _is_bad(text: str) -> bool:
    return _BAD.search(text) is not None or any(separator in text for separator in _SEPARATORS)


def without_controls(text: str) -> str:
    """`text` without C0 characters but tab and line feed, with what is meant by C1 characters, and with spaces for
    Unicode's line separators.

    They could rewrite the terminal of whoever looks, or begin a line where a reader of lines trusts what it finds.
    """
    for separator in _SEPARATORS:
        text = text.replace(separator, " ")
    return _BAD.sub(lambda bad: bad[0].translate(_MEANT), text)
