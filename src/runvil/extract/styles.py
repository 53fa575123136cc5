"""What a style says of whether its element is seen, whatever is around it. Style sheets are not read."""

from __future__ import annotations

import re
from enum import Enum
from functools import lru_cache

MAX_STYLE = 10_000
"""Characters of a style that are read; honest ones of 950 measured pages have some hundreds."""

FAR = {"px": 2_000.0, "pt": 1_500.0, "em": 100.0, "rem": 100.0, "ch": 200.0, "vw": 100.0, "vh": 100.0, "%": 1_000.0}
"""How far to the left or above something is on no screen. Slides wait beside theirs, at less than that."""

_IN_STYLES_THAT_HIDE = (
    "none", "hidden", "clip", "collapse", "opacity", "size:0", "size: 0", "size:1px", "size: 1px", "size:.", "size: .",
    "font:0", "font: 0", "scale", "transparent", "a(", "/0", "/ 0", ":-", " -", "(-", "/*", "background",
)  # fmt: skip
"""One of them is in every style that hides, as styles are written; only such are taken apart."""

# no pattern may be read in two ways: pages are made of what takes the square of its length to refuse
_NONE = r"(?:0+(?:\.0*)?|\.0+)"
_LENGTH = re.compile(r"(-?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+))([a-z%]*)")
_ZERO = re.compile(rf"{_NONE}(?:[a-z%]+)?")
_TINY = re.compile(r"0*(?:\.[0-9]+|[01](?:\.0*)?)(?:px|pt)")
_NO_COLOUR = re.compile(rf"transparent|[a-z]+\((?:[^,)]*,){{3}}\s*{_NONE}%?\s*\)|[a-z]+\([^,/)]*/\s*{_NONE}%?\s*\)")
_COLOUR = re.compile(r"#[0-9a-f]+|rgba?\(.*\)|hsla?\(.*\)|white|black")
_RECTANGLE = re.compile(r"rect\(\s*[01](?:px)?(?:[\s,]+[01](?:px)?){3}\s*\)")
_NO_PATH = re.compile(r"inset\(\s*(?:[5-9][0-9]|100)%\s*\)|(?:circle|ellipse)\(\s*0[^1-9]*\)")
_MOVED = re.compile(r"translate(?:x|y|3d)?\(([^()]*)\)")
_SHRUNK = re.compile(rf"scale(?:x|y|3d)?\(\s*{_NONE}\s*[,)]")
_NO_FONT = re.compile(r"(?:^|\s)0+(?:[a-z%]+)?(?:/|\s)")
_CUT = frozenset({"hidden", "clip"})
_LOOSE = frozenset({"absolute", "fixed", "relative"})


class Hides(Enum):
    """What a style hides: letters by their size or their colour, or everything."""

    NOTHING, BY_SIZE, BY_COLOUR, ALL = range(4)


def hides(style: str) -> Hides:
    return _hides(style[:MAX_STYLE])


@lru_cache(maxsize=200)  # a page has few styles, each on many elements
def _hides(style: str) -> Hides:
    style = style.lower()
    if not any(map(style.__contains__, _IN_STYLES_THAT_HIDE)):
        return Hides.NOTHING
    says = _declarations(style)
    if _is_off(says) or _is_off_screen(says) or _is_cut_away(says):
        return Hides.ALL
    if _is_without_size(says):
        return Hides.BY_SIZE
    return Hides.BY_COLOUR if _is_without_colour(says) else Hides.NOTHING


def _is_off(says: dict[str, str]) -> bool:
    return (
        says.get("display") == "none"
        or says.get("visibility") in ("hidden", "collapse")
        or says.get("content-visibility") == "hidden"
        or _is_zero(says.get("opacity"))
    )


def _declarations(style: str) -> dict[str, str]:
    """What a style says, by property: of two declarations the last counts, unless an earlier one is important."""
    says: dict[str, str] = {}
    important: set[str] = set()
    for declaration in _without_comments(style).split(";"):
        name, _, value = declaration.partition(":")
        name, (value, mark, _) = name.strip(), value.partition("!")
        if mark or name not in important:
            says[name] = value.strip()
        if mark:
            important.add(name)
    return says


def _without_comments(style: str) -> str:
    before, *others = style.split("/*")
    return before + "".join(other.partition("*/")[2] for other in others)


def _is_zero(value: str | None) -> bool:
    return value is not None and _ZERO.fullmatch(value) is not None


def _is_without_size(says: dict[str, str]) -> bool:
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


def _is_without_colour(says: dict[str, str]) -> bool:
    """Whether letters have no colour, or their ground's; one that is cut out of a picture by its letters shows."""
    colour = says.get("color", "")
    if not colour or "text" in says.get("background-clip", "") or "text" in says.get("-webkit-background-clip", ""):
        return False
    ground = says.get("background-color", "") or says.get("background", "")
    return _NO_COLOUR.fullmatch(colour) is not None or (colour == ground and _COLOUR.fullmatch(colour) is not None)
