"""Blocks and phrases in the shape that the renderer writes right: breaks, lists, definitions, formulas, ruby."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from turbohtml import Element, Text

from runvil.extract.code import prepare_white_space
from runvil.extract.edges import BLOCKS, MAX_AROUND, is_unseen, is_within, prepare_breaks
from runvil.extract.raw import RAW, disarm, raw
from runvil.extract.survey import MAX_ELEMENTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from turbohtml import Node

_BLANK_TEXT = re.compile(r"\s*", re.ASCII)
_TEX_IMAGE = re.compile(r"(?:^|[\s_-])(?:math|tex|latex)(?:$|[\s_-])|mwe-math", re.IGNORECASE | re.ASCII)


_PHRASES = frozenset({"span", "font", "label", "ins", "u"})
_NEIGHBOURS = ":is(span, a, strong, b, time) + span, :is(span, a) + a, span + :is(strong, b)"
_CODE_BESIDE_CODE = ":is(code, kbd, samp) + :is(code, kbd, samp)"
_TWO = 2
_LEVELS = 4
_DEPTH = 8
_BLOCKS_IN_PHRASES = (
    ":is(span, font, label, ins, u) > :is(div, p, ul, ol, table, h2, h3, h4, section, article, pre, dl)"
)


MAX_SHAPED = 50_000
"""Boxes, indices, items ... of each sort that are put right; a page with more says nothing in them."""

_KNOWN = {
    **dict.fromkeys(("center", "dialog", "fieldset", "form", "hgroup", "legend", "search"), "div"),
    **dict.fromkeys(("optgroup", "option"), "div"),
    **dict.fromkeys(("listing", "plaintext", "xmp"), "pre"),
    **dict.fromkeys(("dir", "menu"), "ul"),
}
"""Blocks (HTML 15.3) that the renderer takes for parts of a line, or for no list, and what it knows them as."""

_BOXES = frozenset({"button", "label"})
_PLAIN = frozenset({"div", "p", "section"})
"""Blocks that the first line of a definition may be in."""

_LISTS_OF_LISTS = ":is(ul, ol):has(> :is(ul, ol)):not(:has(> li))"
_LIST_IN_LIST = ":is(ul, ol) > :is(ul, ol)"
_ITEM = frozenset({"li"})


def prepare_shapes(root: Element, present: set[str]) -> None:
    """Put into shape what is `present` below `root`, by tag. Changes both."""
    prepare_white_space(root, present)
    for tag in present & _KNOWN.keys():
        for block in root.select(tag):
            block.tag = _KNOWN[tag]
        present.add(_KNOWN[tag])
    if any("-" in tag for tag in present) or not _BOXES.isdisjoint(present):
        _prepare_boxes(root)
    for tags, prepare in _SHAPES:
        if not tags.isdisjoint(present):
            prepare(root)


def _prepare_spans(root: Element) -> None:
    """A phrase that holds blocks is a block: the renderer would begin it with an empty line."""
    for block in root.select(_BLOCKS_IN_PHRASES):
        around = block.parent
        while isinstance(around, Element) and around.tag in _PHRASES:
            around.tag = "div"
            around = around.parent


def _prepare_neighbours(root: Element) -> None:
    """Phrases that only a style sheet sets apart ("Seats" beside "120") get a space, where they would grow together.

    Not where one letter or a half of a word is set off: it takes two characters on both sides, and a change from small
    to capital or from letter to digit, or the same class.
    """
    for after in root.select(_NEIGHBOURS)[:MAX_SHAPED]:
        before = after.previous_sibling
        if type(before) is Element and _grow_together(before, after) and after.closest("pre, code") is None:
            after.insert_before(Text(" "))


def _grow_together(before: Element, after: Element) -> bool:
    left, right = _edge(before, -1), _edge(after, 0)
    if not _touch(left, right):
        return False
    if left[-1].isdigit() != right[0].isdigit() or (left[-1].islower() and right[0].isupper()):
        return True
    class_ = after.attr("class")
    return class_ is not None and class_ == before.attr("class")


def _edge(node: Node, at: int) -> str:
    """The text that a node begins or ends with."""
    inner = node
    for _ in range(_LEVELS):
        if type(inner) is Text:
            return inner.data
        children = inner.children
        if not children:
            return ""
        inner = children[at]
    return inner.data if type(inner) is Text else ""


def _prepare_boxes(root: Element) -> None:
    """Buttons, labels and elements of a page's own stand apart on a screen: a space, where they would grow together."""
    elements = islice(root.iter_elements(), MAX_ELEMENTS)
    boxes = (box for box in elements if "-" in box.tag or box.tag in _BOXES)
    for box in list(islice(boxes, MAX_SHAPED)):
        for before, after in ((box.previous_sibling, box), (box, box.next_sibling)):
            if before is not None and after is not None and _touch(_edge(before, -1), _edge(after, 0)):
                after.insert_before(Text(" "))


def _touch(left: str, right: str) -> bool:
    """Whether two pieces of text, each more than a letter, would be read as one word."""
    return min(len(left), len(right)) >= _TWO and left[-1].isalnum() and right[0].isalnum()


def _prepare_code_phrases(root: Element) -> None:
    """Code beside code ("Ctrl" "C", each in its frame) gets a space: the signs between would be read as code."""
    for after in root.select(_CODE_BESIDE_CODE)[:MAX_SHAPED]:
        if type(after.previous_sibling) is Element and after.closest("pre") is None:
            after.insert_before(Text(" "))


def _prepare_formulas(root: Element) -> None:
    """A formula is shown as the TeX it was written in, where the page holds it."""
    for formula in root.select("math"):
        tex = formula.attr("alttext") or _annotation(formula)
        if tex.strip():
            formula.replace_with(_tex(tex, block=formula.attr("display") == "block"))
    for image in root.select('img[alt*="\\\\"]'):
        if _TEX_IMAGE.search(image.attr("class") or "") is not None:
            image.replace_with(_tex(image.attr("alt") or "", block=False))


def _tex(tex: str, *, block: bool) -> Element:
    mark = "$$" if block else "$"
    return raw(f"{mark}{' '.join(tex.split())}{mark}")


def _annotation(formula: Element) -> str:
    note = formula.select_one('annotation[encoding="application/x-tex"]')
    return note.text if note is not None else ""


def _prepare_tasks(root: Element) -> None:
    """A list's boxes are ticked or not; other controls mean nothing on paper."""
    for box in root.select('input[type="checkbox" i]')[:MAX_SHAPED]:
        if is_within(box, _ITEM):
            ticked = box.attr("checked") is not None
            box.insert_after(Text(" "))
            box.replace_with(raw("[x]" if ticked else "[ ]"))
    root.remove("input")


def _prepare_items(root: Element) -> None:
    """Items that stand in no list make one with their neighbours."""
    for item in root.select(":not(ul):not(ol):not(menu):not(dir) > li")[:MAX_SHAPED]:
        before, blanks = item.previous_sibling, []
        while type(before) is Text and _BLANK_TEXT.fullmatch(before.data):
            blanks.append(before)
            before = before.previous_sibling
        if type(before) is Element and before.attr("data-runvil") is not None:
            before.append(item)
            for blank in blanks:  # or the next item would go back over them again
                blank.decompose()
        else:
            item.wrap(Element("ul", {"data-runvil": ""}))


def _prepare_lists(root: Element) -> None:
    """A list whose first item is a list, without an item around it, has that one's items: four columns more would be
    code."""
    for outer in root.select(_LISTS_OF_LISTS):
        outer.tag = "div"
    for inner in root.select(_LIST_IN_LIST)[:MAX_SHAPED]:
        if _is_first(inner):
            inner.unwrap()


def _is_first(node: Element) -> bool:
    before = node.previous_sibling
    for _ in range(MAX_AROUND):
        if before is None or not is_unseen(before):
            break
        before = before.previous_sibling
    return before is None


def _prepare_quotes(root: Element) -> None:
    """Quotations that follow each other in an item are one: no empty line would part them."""
    for quote in root.select("li > blockquote + blockquote")[:MAX_SHAPED]:
        before = quote.previous_sibling
        while type(before) is Text and _BLANK_TEXT.fullmatch(before.data):
            before.decompose()
            before = quote.previous_sibling
        if type(before) is Element and before.tag == "blockquote":
            quote.tag = "div"
            before.append(quote)


def _says_something(node: Element) -> bool:
    """Whether there is text in it; the text of each of many nested ones would be their number times its length."""
    return next(iter(node.stripped_strings), None) is not None


def _prepare_definitions(root: Element) -> None:
    """`: ` before a definition, as markdown's extension has it."""
    for definition in root.select("dd")[:MAX_SHAPED]:
        _mark_definition(definition)


def _mark_definition(definition: Element) -> None:
    """Put the mark before the first text; where a list, a table or code is first, it would stand alone or be in it."""
    around = definition
    for _ in range(_DEPTH):
        first = next((node for node in islice(around, MAX_AROUND) if not is_unseen(node)), None)
        if type(first) is Text:
            first.data = first.data.lstrip()
        if type(first) is not Element or first.tag not in _PLAIN:
            break
        around = first
    if first is not None and not (type(first) is Element and first.tag in BLOCKS):
        first.insert_before(Text(": "))


def _prepare_indices(root: Element) -> None:
    """Indices and powers keep their tags: GFM has no sign for them, and `~` would strike them out."""
    for index in root.select("sub, sup")[:MAX_SHAPED]:
        if _says_something(index):
            index.insert_before(raw(f"<{index.tag}>"))
            index.insert_after(raw(f"</{index.tag}>"))
        index.unwrap()


def _prepare_ruby(root: Element) -> None:
    """How a character is read stands behind it in parentheses, as the page's own fallback has it."""
    for reading in root.select("ruby > rt")[:MAX_SHAPED]:
        if reading.select_one("*") is None and reading.text.strip():
            reading.replace_with(Text(f"({reading.text.strip()})"))


_SHAPES: tuple[tuple[frozenset[str], Callable[[Element], None]], ...] = (
    # what a page must hold for the step to be taken; the first comes before the others make such elements
    (frozenset({RAW}), disarm),
    (_PHRASES, _prepare_spans),
    (frozenset({"span", "a"}), _prepare_neighbours),
    (frozenset({"code", "kbd", "samp"}), _prepare_code_phrases),
    (frozenset({"math", "img"}), _prepare_formulas),
    (frozenset({"br"}), prepare_breaks),
    (frozenset({"input"}), _prepare_tasks),
    (frozenset({"li"}), _prepare_items),
    (frozenset({"ul", "ol"}), _prepare_lists),
    (frozenset({"blockquote"}), _prepare_quotes),
    (frozenset({"dd"}), _prepare_definitions),
    (frozenset({"sub", "sup"}), _prepare_indices),
    (frozenset({"ruby"}), _prepare_ruby),
)
