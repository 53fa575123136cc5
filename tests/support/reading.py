"""What a reader sees of HTML: each block's characters, and how each is set. Two documents that read alike are equal.

White space collapses, is not bold or italic, and does not count at the ends of a block.
"""

from __future__ import annotations

import turbohtml
from turbohtml import Element, Text

Set = frozenset[str]
"""How a character is set: strong, em, s, code, pre, and where it leads."""

Block = tuple[tuple[str, ...], tuple[tuple[str, Set], ...]]
"""The lists, quotations ... that it is in, from outside; its characters."""

_SETS = {"strong": "strong", "b": "strong", "em": "em", "i": "em", "s": "s", "del": "s", "code": "code", "kbd": "code"}
_AROUND = frozenset({"ul", "ol", "li", "blockquote", "pre", "h1", "h2", "h3", "table", "tr", "td", "th"})
_IN_A_LINE = frozenset({"span", "sub", "sup"})
_LITERAL = frozenset({"code", "pre"})


def reading(html: str) -> list[Block]:
    body = turbohtml.parse(html).select_one("body")
    reader = _Reader()
    if body is not None:
        reader.read(body, (), frozenset())
        reader.end(())
    return reader.blocks


class _Reader:
    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._line: list[tuple[str, Set]] = []

    def read(self, parent: Element, around: tuple[str, ...], how: Set) -> None:
        for node in parent:
            if isinstance(node, Text):
                self._write(node.data, how)
            elif isinstance(node, Element):
                self._read_element(node, around, how)

    def end(self, around: tuple[str, ...]) -> None:
        line: list[tuple[str, Set]] = []
        for character, how in self._line:
            if character in " \n":
                while line and line[-1][0] == " ":
                    line.pop()
                if line and (line[-1][0] != "\n" or character == "\n"):
                    line.append((character, how & _LITERAL))
            else:
                line.append((character, how))
        while line and line[-1][0] in " \n":
            line.pop()
        if line:
            self.blocks.append((around, tuple(line)))
        self._line.clear()

    def _write(self, text: str, how: Set) -> None:
        for character in text:
            self._line.append((character if "pre" in how or not character.isspace() else " ", how))

    def _read_element(self, element: Element, around: tuple[str, ...], how: Set) -> None:
        tag = element.tag
        if tag == "br":
            self._line.append(("\n", how))
        elif tag == "a":
            self.read(element, around, how | {f"to {element.attr('href')}"})
        elif tag in _SETS:
            self.read(element, around, how if how & _LITERAL else how | {_SETS[tag]})
        elif tag in _IN_A_LINE:
            self.read(element, around, how)
        else:
            self.end(around)
            inner = (*around, tag) if tag in _AROUND else around
            self.read(element, inner, how | {tag} if tag == "pre" else how)
            self.end(inner)
