"""Whether markdown says what the HTML said: rendered back by another program and compared as a tree.

Needs markdown-it-py, which the project itself does without.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import turbohtml
from turbohtml import Element, Text

ADDRESS = "https://a.example/dir/page"
CONSTRUCTS = Path(__file__).with_name("constructs.toml")

Tree = list[Any]
"""Texts and (tag, attributes, children)."""

_ATTRIBUTES = ("href", "src", "alt", "title", "start", "class")
# fmt: off
_BLOCKS = frozenset({
    "p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "table", "thead", "tbody", "tr",
    "td", "th", "hr", "br",
})
"""What trims white space beside it."""
# fmt: on
_SPACE = re.compile(r"[ \t\n\r]+")


@dataclass(frozen=True, slots=True)
class Construct:
    """One row of the table. want: the HTML that the markdown of `html` must render to."""

    group: str
    name: str
    html: str
    want: str

    def is_right(self, markdown: str) -> bool:
        return tree(rendered(markdown)) == tree(self.want)


def constructs() -> Iterator[Construct]:
    groups = tomllib.loads(CONSTRUCTS.read_text(encoding="utf-8"))
    for group, rows in groups.items():
        for name, (html, want) in rows.items():
            yield Construct(group, name, html, want)


def rendered(markdown: str) -> str:
    """The HTML that GitHub-flavoured markdown stands for."""
    return str(_renderer()(markdown))


@cache
def _renderer() -> Callable[[str], str]:
    from markdown_it import MarkdownIt  # noqa: PLC0415  optional

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    return parser.render


def tree(html: str) -> Tree:
    """The body of `html` as nested lists; white space around blocks, and whether items are loose, do not matter."""
    body = turbohtml.parse(html).select_one("body")
    return _children(body, code=False) if body is not None else []


def _children(parent: Element, *, code: bool) -> Tree:
    found: Tree = []
    for child in parent:
        if isinstance(child, Text):
            found.append(child.data if code else _SPACE.sub(" ", child.data))
        elif isinstance(child, Element):
            below = _children(child, code=code or child.tag == "pre")
            if child.tag == "p" and parent.tag == "li":
                found += (" ", *below, " ")
            else:
                found.append((child.tag, _attributes(child), below))
    return _joined(found) if code else _trimmed(_joined(found))


def _attributes(element: Element) -> dict[str, str]:
    return {name: value for name in _ATTRIBUTES if (value := element.attr(name)) is not None}


def _joined(children: Tree) -> Tree:
    joined: Tree = []
    for child in children:
        if isinstance(child, str) and joined and isinstance(joined[-1], str):
            joined[-1] = _SPACE.sub(" ", joined[-1] + child) if "\n" not in child else joined[-1] + child
        else:
            joined.append(child)
    return joined


def _trimmed(children: Tree) -> Tree:
    trimmed = list(children)
    for at, child in enumerate(trimmed):
        if isinstance(child, str):
            if at == 0 or _is_block(trimmed[at - 1]):
                child = child.lstrip(" ")  # noqa: PLW2901
            if at == len(trimmed) - 1 or _is_block(trimmed[at + 1]):
                child = child.rstrip(" ")  # noqa: PLW2901
            trimmed[at] = child
    return [child for child in trimmed if child != ""]


def _is_block(child: Any) -> bool:
    return not isinstance(child, str) and child[0] in _BLOCKS
