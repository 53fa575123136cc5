"""Cards: the teasers, comments and pictures that stand in long rows on a page, each with some prose of its own.

Beside an article they are other things, however many they are; a page of nothing else is a list.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from runvil.extract.survey import Sums, Survey

MANY = 6
"""Items of one list from which on they are a row of cards, where there is enough prose outside of it."""

LIGHTER = 10
"""Of how many characters of prose in a row of cards one counts beside an article."""

MANY_ARTICLES, MOST = 5, 0.5
"""Short articles side by side, and the share of the prose they hold, from which on a page is a list of articles,
whatever it says of itself."""


def is_list_of_articles(page: Survey, prose: Sums, short: int) -> bool:
    """Whether much of a page's `prose` is in articles of fewer than `short` characters that stand side by side."""
    many: Counter[int] = Counter()
    amount: Counter[int] = Counter()
    for at in page.tagged("article"):
        if prose[at] < short:
            many[page.parent[at]] += 1
            amount[page.parent[at]] += prose[at]
    return any(number >= MANY_ARTICLES and amount[at] > MOST * prose[0] for at, number in many.items())


def lightened(page: Survey, blocks: list[int], least: int) -> list[int]:
    """The prose of each block, less of it in rows of cards, if outside them there are at least `least` characters."""
    rows = bytearray(len(blocks))
    for at, number in Counter(page.parent[at] for at in page.tagged("li")).items():
        rows[at] = number >= MANY
    lighter = list(blocks)
    for at in page.outermost(rows):
        end = page.end[at]
        lighter[at:end] = [amount // LIGHTER for amount in blocks[at:end]]
    outside = sum(blocks) - sum(sum(blocks[at : page.end[at]]) for at in page.outermost(rows))
    return lighter if outside >= least else blocks
