"""One walk over a page's elements into flat lists, so that every later question is arithmetic on numbers.

Parents come before their children, so a sum over subtrees is one loop from the end. Nothing here recurses: a page of
100,000 nested elements is a list like any other.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from turbohtml import Element, Text

MAX_ELEMENTS = 200_000
"""More than this is no page anybody wrote: it is rendered whole, unjudged (research note E, guard 3: isolation needed
6 s for 1.6 million elements, rendering under one)."""


@dataclass(slots=True)
class Survey:
    """nodes[0] is the root. parent: the place of each node's parent. own: characters of text directly inside it."""

    nodes: list[Element]
    parent: list[int] = field(default_factory=lambda: [-1])
    own: list[int] = field(default_factory=list)

    def sums(self, amounts: list[int], without: bytearray | None = None) -> list[int]:
        """Each node's amount with those of everything below it, leaving out the subtrees marked in `without`."""
        total = list(amounts)
        for at in range(len(total) - 1, 0, -1):
            if without is not None and without[at]:
                total[at] = 0
            else:
                total[self.parent[at]] += total[at]
        return total

    def spread(self, marks: bytearray) -> bytearray:
        """`marks` with everything below a marked node marked too."""
        below = bytearray(marks)
        for at in range(1, len(below)):
            if below[self.parent[at]]:
                below[at] = 1
        return below


def survey(root: Element) -> Survey | None:
    """Survey everything below `root`; None when there are more than MAX_ELEMENTS."""
    found = Survey([root])
    nodes, parent, own = found.nodes, found.parent, found.own
    for at, node in enumerate(nodes):  # grows while it is walked
        characters = 0
        for child in node.children:
            if type(child) is Text:
                characters += len(child.data.strip())
            elif type(child) is Element:
                nodes.append(child)
                parent.append(at)
        own.append(characters)
        if len(nodes) > MAX_ELEMENTS:
            return None
    return found
