"""Elements inside others of their kind: what is asked of all that is in one must not be asked again of each inner one.

The parser nests 512 levels; reading a page of eight million characters as often is what a page is made for to cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbohtml import Element


def outermost(elements: Iterable[Element], *tags: str) -> Iterator[Element]:
    """Those of `elements`, which are in document order and have one of `tags`, that are inside no other such one."""
    inside: set[Element] = set()
    for element in elements:
        if element not in inside:
            inside.update(element.iter_elements(tags))
            yield element
