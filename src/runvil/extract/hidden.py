"""What no reader sees: by attribute, by style, and what of it a reader can unfold.

Hidden text is where instructions to models are planted, so every way of hiding that stands in the page itself is
known. Style sheets are not read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from turbohtml import Element

    from runvil.extract.survey import Survey

MAX_STYLE = 2_000
"""Characters of a style that are read; an honest one of 950 measured pages has at most some hundreds."""

FAR = {"px": 2_000.0, "pt": 1_500.0, "em": 100.0, "rem": 100.0, "ch": 200.0, "vw": 100.0, "vh": 100.0, "%": 100.0}
"""How far to the left or above something is on no screen. Slides wait beside theirs, at less than that."""

_IN_STYLES_THAT_HIDE = (
    "none", "hidden", "clip", "collapse", "opacity", "size:0", "size: 0", "size:1px", "size: 1px", "size:.", "size: .",
    "font:0", "font: 0", "scale", "transparent", "rgba(", "hsla(", "/0", "/ 0", ":-", " -", "(-", "/*",
)  # fmt: skip
TELLING = ", ".join(
    [
        '[hidden], [aria-hidden="true" i], noscript, [aria-controls], [role]',
        *(f'[style*="{phrase}" i]' for phrase in _IN_STYLES_THAT_HIDE),
        '[style*="background" i][style*="color:" i]',
    ]
)
"""One walk for all that attributes tell. Of styles only those that may hide: many pages have one on every element."""

_SIZED = '[style*="font-size" i]'

MAX_FRAMES = 200
"""Elements without a size of letters that are looked into for others that have one, and those looked at in each."""

_FOLD = re.compile(r"accordion|collaps|tab-?(?:pane|content)|panel|toggle|expand|disclos", re.IGNORECASE | re.ASCII)
"""What authors name that which a click unfolds."""

_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_LENGTH = re.compile(r"(-?[0-9]*\.?[0-9]+)([a-z%]*)")
_ZERO = re.compile(r"0*\.?0+(?:[a-z%]+)?")
_TINY = re.compile(r"0*(?:\.[0-9]+|[01](?:\.0*)?)(?:px|pt)")
_NO_COLOUR = re.compile(r"transparent|[a-z]+\((?:[^,)]*,){3}\s*0*\.?0+%?\s*\)|[a-z]+\([^,/)]*/\s*0*\.?0+%?\s*\)")
_COLOUR = re.compile(r"#[0-9a-f]+|rgba?\(.*\)|hsla?\(.*\)|white|black")
_RECTANGLE = re.compile(r"rect\(\s*[01](?:px)?(?:[\s,]+[01](?:px)?){3}\s*\)")
_NO_PATH = re.compile(r"inset\(\s*(?:[5-9][0-9]|100)%\s*\)|(?:circle|ellipse)\(\s*0[^1-9]*\)")
_MOVED = re.compile(r"translate(?:x|y|3d)?\(([^)]*)\)")
_SHRUNK = re.compile(r"scale(?:x|y|3d)?\(\s*0*\.?0+\s*[,)]")
_NO_FONT = re.compile(r"(?:^|\s)0+(?:[a-z%]+)?(?:/|\s)")
_PICTURES = frozenset({"img", "picture", "video", "iframe", "canvas", "object", "embed"})
_CUT = frozenset({"hidden", "clip"})
_LOOSE = frozenset({"absolute", "fixed", "relative"})


def hidden(page: Survey | None, telling: list[Element]) -> bytearray:
    """Mark what no reader sees, where that is less than what a reader does see.

    A page that streams its article into a hidden element, or hides everything until its scripts have run, has its only
    text there; so has one that keeps it in <noscript>.
    """
    if page is None:
        return bytearray()
    marks = bytearray(len(page.nodes))
    openers = {name for node in telling for name in (node.attr("aria-controls") or "").split()}
    found = {node for node in telling if _hides(node) and not _opens(node, openers)}
    found.difference_update(_frames(found))
    if not found:
        return marks
    for node in found:
        marks[page.place[node]] = 1
    marks[0] = 0
    text = page.sums(page.own)
    visible = text[0] - sum(text[at] for at in page.outermost(marks))
    for node in found:
        at = page.place[node]
        marks[at] = marks[at] and text[at] <= visible
    return marks


def _frames(found: Iterable[Element]) -> list[Element]:
    """Those that say that letters have no size and hold others that give theirs one: newsletters are made of them."""
    sizeless = [node for node in found if (style := node.attr("style")) and _is_without_letters(_declarations(style))]
    return [node for node in sizeless[:MAX_FRAMES] if any(map(_gives_size, node.select(_SIZED)[:MAX_FRAMES]))]


def _gives_size(node: Element) -> bool:
    return not _is_without_letters(_declarations(node.attr("style") or ""))


def _opens(node: Element, openers: set[str]) -> bool:
    """Whether a reader can open this: a tab, a fold of an accordion."""
    if node.tag == "noscript":
        return False
    id_ = node.attr("id") or ""
    names = f"{node.attr('class') or ''} {id_}"[:300]
    return id_ in openers or node.attr("role") == "tabpanel" or _FOLD.search(names) is not None


def _hides(node: Element) -> bool:
    if node.tag == "noscript" or node.attr("hidden") is not None:
        return True
    if (node.attr("aria-hidden") or "").lower() == "true":
        return True
    style = node.attr("style")
    return style is not None and is_unseen(style, of_letters=node.tag not in _PICTURES)


def is_unseen(style: str, *, of_letters: bool) -> bool:
    """Whether an element of this style shows nothing, whatever is around it, what hides letters only counting if it is
    made of such."""
    says = _declarations(style)
    if of_letters and (_is_without_letters(says) or _is_colourless(says)):
        return True
    return (
        says.get("display") == "none"
        or says.get("visibility") in ("hidden", "collapse")
        or says.get("content-visibility") == "hidden"
        or _is_zero(says.get("opacity"))
        or _is_off_screen(says)
        or _is_cut_away(says)
    )


def _declarations(style: str) -> dict[str, str]:
    """What a style says, by property: of two declarations the last counts, unless an earlier one is important."""
    says: dict[str, str] = {}
    important: set[str] = set()
    for declaration in _COMMENT.sub("", style[:MAX_STYLE].lower()).split(";"):
        name, _, value = declaration.partition(":")
        name, (value, mark, _) = name.strip(), value.partition("!")
        if mark or name not in important:
            says[name] = value.strip()
        if mark:
            important.add(name)
    return says


def _is_zero(value: str | None) -> bool:
    return value is not None and _ZERO.fullmatch(value) is not None


def _is_without_letters(says: dict[str, str]) -> bool:
    size = says.get("font-size", "")
    return _is_zero(size) or _TINY.fullmatch(size) is not None or _NO_FONT.search(says.get("font", "")) is not None


def _is_off_screen(says: dict[str, str]) -> bool:
    moved = [says.get(name, "") for name in ("margin-left", "margin-top", "margin")]
    if not _is_a_picture(says):
        moved.append(says.get("text-indent", ""))
    if says.get("position") in _LOOSE:
        moved += [says.get(name, "") for name in ("left", "top", "right", "bottom", "inset")]
    if (translated := _MOVED.search(says.get("transform", ""))) is not None:
        moved.append(translated[1].replace("%", "x"))  # of its own size: it comes in later
    return any(_is_far(number, unit) for value in moved if "-" in value for number, unit in _LENGTH.findall(value))


def _is_a_picture(says: dict[str, str]) -> bool:
    """Whether a ground of its own stands in the place of the letters, which say what it is."""
    return any(name.startswith("background") for name in says) and "width" in says and "height" in says


def _is_far(number: str, unit: str) -> bool:
    return float(number) <= -FAR.get(unit, float("inf"))


def _is_cut_away(says: dict[str, str]) -> bool:
    if _SHRUNK.search(says.get("transform", "")) is not None or _is_zero(says.get("scale")):
        return True
    if _RECTANGLE.fullmatch(says.get("clip", "")) or _NO_PATH.fullmatch(says.get("clip-path", "")):
        return True
    if not _CUT.intersection(says.get("overflow", "").split()):
        return False
    width, height = (says.get(name, "") or says.get(f"max-{name}", "") for name in ("width", "height"))
    return _is_zero(width) or _is_zero(height) or (width == height == "1px")


def _is_colourless(says: dict[str, str]) -> bool:
    """Whether letters have no colour, or their ground's; one that is cut out of a picture by its letters shows."""
    colour = says.get("color", "")
    if not colour or "text" in says.get("background-clip", "") or "text" in says.get("-webkit-background-clip", ""):
        return False
    ground = says.get("background-color", "") or says.get("background", "")
    return _NO_COLOUR.fullmatch(colour) is not None or (colour == ground and _COLOUR.fullmatch(colour) is not None)
