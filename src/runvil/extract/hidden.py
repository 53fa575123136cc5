"""What no reader sees, by attribute and by style, and what of it a reader can unfold.

Hidden text is where instructions to models are planted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runvil.extract.styles import Hides, hides

if TYPE_CHECKING:
    from turbohtml import Element

    from runvil.extract.survey import Survey

TELLING = '[hidden], [aria-hidden="true" i], noscript, [aria-controls], [role]'
"""One walk for what attributes tell, but for styles."""

STYLED = "[style]"
_SIZED = '[style*="font-size" i]'

MAX_FRAMES = 200
"""Elements without a size of letters that are looked into for others that have one, and those looked at in each."""

_FOLD = re.compile(r"accordion|collaps|tab-?(?:pane|content)|panel|toggle|expand|disclos", re.IGNORECASE | re.ASCII)
"""What authors name that which a click unfolds."""

_PICTURES = frozenset({"img", "picture", "video", "iframe", "canvas", "object", "embed"})


def hidden(page: Survey | None, telling: list[Element], styled: list[Element]) -> bytearray:
    """Mark what no reader sees, where that is less than what a reader does see.

    A page that streams its article into a hidden element, or hides everything until its scripts have run, has its only
    text there; so has one that keeps it in <noscript>.
    """
    if page is None:
        return bytearray()
    marks = bytearray(len(page.nodes))
    openers = {name for node in telling for name in (node.attr("aria-controls") or "").split()}
    found = {node for node in (*filter(_is_hidden, telling), *_by_style(styled)) if not _opens(node, openers)}
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


def _is_hidden(node: Element) -> bool:
    if node.tag == "noscript" or node.attr("hidden") is not None:
        return True
    return (node.attr("aria-hidden") or "").lower() == "true"


def _by_style(styled: list[Element]) -> list[Element]:
    """Those that a style hides; pictures are not made of letters."""
    found, sizeless = [], []
    for node in styled:
        what = hides(node.attr("style") or "")
        if what is Hides.BY_SIZE:
            sizeless.append(node)
        elif what is Hides.ALL or (what is Hides.BY_COLOUR and node.tag not in _PICTURES):
            found.append(node)
    frames = {node for node in sizeless[:MAX_FRAMES] if any(map(_gives_size, node.select(_SIZED)[:MAX_FRAMES]))}
    return [*found, *(node for node in sizeless if node not in frames and node.tag not in _PICTURES)]


def _gives_size(node: Element) -> bool:
    """Whether letters have a size in it that have none around it: newsletters are made of such."""
    return hides(node.attr("style") or "") is not Hides.BY_SIZE


def _opens(node: Element, openers: set[str]) -> bool:
    """Whether a reader can open this: a tab, a fold of an accordion."""
    if node.tag == "noscript":
        return False
    id_ = node.attr("id") or ""
    names = f"{node.attr('class') or ''} {id_}"[:300]
    return id_ in openers or node.attr("role") == "tabpanel" or _FOLD.search(names) is not None
