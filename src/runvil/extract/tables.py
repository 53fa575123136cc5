"""Tables -> grids: layout tables are taken apart, cells that span several places are padded, within a budget."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turbohtml import Element

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_NESTING = 40
"""Elements looked at above a table for another one around it; layout tables nest within a few."""

MAX_SPAN = 100
"""Columns or rows that one cell may take up: spreadsheets' title rows span some dozens."""

MAX_TABLES = 10_000
"""A page with more has none that is worth reading as one: all of them come apart."""

MAX_PADDING = 20_000
"""Empty cells added to all tables of a page, so that one cell cannot ask for 1,000 x 65,534 (HTML 4.9.11)."""

_NUMBER = re.compile(r"\s*([0-9]{1,6})")
_SECTIONS = frozenset({"thead", "tbody", "tfoot"})
_CELLS = frozenset({"td", "th"})
_BLOCKS = "h1, h2, h3, h4, h5, h6, pre, blockquote, hr, article, section"
_PARTS = "table, caption, thead, tbody, tfoot, tr, td, th"
_LAYOUT_ROLES = frozenset({"presentation", "none"})


def prepare_tables(root: Element) -> None:
    """Make `root`, if it is a table, and every table below it a plain grid, or no table at all."""
    tables = [root] if root.tag == "table" else []
    tables += root.select("table")
    if len(tables) > MAX_TABLES:
        for part in root.select(_PARTS):
            part.tag = "div"
        return
    outer = {around for table in tables if (around := _around(table)) is not None}
    budget = MAX_PADDING
    for table in tables:
        if table in outer or _is_layout(table):
            _take_apart(table)
        else:
            _order(table)
            if table.select_one("[colspan], [rowspan]") is not None:
                budget = _pad(table, budget)
            budget = _level(table, budget)


def _around(table: Element) -> Element | None:
    node = table.parent
    for _ in range(MAX_NESTING):
        if not isinstance(node, Element) or node.tag == "table":
            return node if isinstance(node, Element) else None
        node = node.parent
    return None


def _is_layout(table: Element) -> bool:
    """Whether a table without tables in it only places things: one column, or headings or other blocks in cells."""
    if (table.attr("role") or "") in _LAYOUT_ROLES or table.select_one(_BLOCKS) is not None:
        return True
    return not any(len(list(_cells(row))) > 1 for row in _rows(table))


def _order(table: Element) -> None:
    """A footer comes last, wherever it is written, and only a row of nothing but headers heads the table."""
    parts = list(_elements(table))
    for part in parts:
        if part.tag == "tfoot" and part is not parts[-1]:
            table.append(part)
    for row in _rows(table):
        cells = list(_cells(row))
        if any(cell.tag == "td" for cell in cells):
            for cell in cells:
                cell.tag = "td"


def _take_apart(table: Element) -> None:
    """Turn a table's own parts into plain blocks; tables inside keep theirs."""
    for row in list(_rows(table)):
        for part in (*_cells(row), row):
            part.tag = "div"
    for part in list(_elements(table)):
        if part.tag in _SECTIONS or part.tag == "caption":
            part.tag = "div"
    table.tag = "div"


def _pad(table: Element, budget: int) -> int:
    """Give every row a cell in every column its neighbours span; returns what is left of the budget."""
    waiting: dict[int, int] = {}  # column -> rows below that a cell above still covers
    for row in _rows(table):
        column = 0
        for cell in list(_cells(row)):
            while budget > 0 and waiting.get(column):
                cell.insert_before(Element("td"))
                waiting[column] -= 1
                column, budget = column + 1, budget - 1
            width, height = (_span(cell, name) if budget > 0 else 1 for name in ("colspan", "rowspan"))
            for covered in range(column, column + width):
                waiting[covered] = height - 1
            if width > 1:
                cell.insert_after(*(Element("td") for _ in range(width - 1)))
            _forget_spans(cell)
            column, budget = column + width, budget - width + 1
        while budget > 0 and waiting.get(column):
            row.append(Element("td"))
            waiting[column] -= 1
            column, budget = column + 1, budget - 1
    return budget


def _level(table: Element, budget: int) -> int:
    """Give every row as many cells as the longest has, or take the table apart if that is more than the budget.

    turbohtml writes a ragged table as HTML.
    """
    widths = [(row, sum(1 for _ in _cells(row))) for row in _rows(table)]
    longest = max((width for _, width in widths), default=0)
    missing = sum(longest - width for _, width in widths)
    if missing > budget:
        _take_apart(table)
        return budget
    for row, width in widths:
        for _ in range(longest - width):
            row.append(Element("td"))
    return budget - missing


def _forget_spans(cell: Element) -> None:
    for name in ("colspan", "rowspan"):
        if cell.attr(name) is not None:
            del cell.attrs[name]


def _span(cell: Element, name: str) -> int:
    written = _NUMBER.match(cell.attr(name) or "")
    return min(max(int(written[1]), 1), MAX_SPAN) if written is not None else 1


def _rows(table: Element) -> Iterator[Element]:
    for child in _elements(table):
        if child.tag == "tr":
            yield child
        elif child.tag in _SECTIONS:
            yield from (row for row in _elements(child) if row.tag == "tr")


def _cells(row: Element) -> Iterator[Element]:
    return (cell for cell in _elements(row) if cell.tag in _CELLS)


def _elements(parent: Element) -> Iterator[Element]:
    return (child for child in parent.children if isinstance(child, Element))
