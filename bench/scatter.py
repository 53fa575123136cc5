"""One HTML file without anything outside it: the table, and a plot of quality against CPU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, MARGIN = 640, 400, 56
_STYLE = "body{font:15px system-ui;margin:2em auto;max-width:60em}td,th{padding:.2em .8em;text-align:right}" \
    "td:first-child,th:first-child{text-align:left}svg{max-width:100%}text{font:12px system-ui}"  # fmt: skip


@dataclass(frozen=True, slots=True)
class Point:
    name: str
    milliseconds: float
    score: float


def page(
    title: str, said: Sequence[str], plots: Sequence[tuple[str, Sequence[Point]]], table: Sequence[Sequence[str]]
) -> str:
    """The report. Logarithmic in time; up and to the left is better."""
    first, *rows = table
    head = "".join(f"<th>{escape(cell)}</th>" for cell in first)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    figures = "".join(f"<h2>{escape(name)}</h2>{_plot(points)}" for name, points in plots if points)
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{escape(title)}</title><style>{_STYLE}</style>"
        f"<h1>{escape(title)}</h1>{''.join(f'<p>{escape(line)}</p>' for line in said)}{figures}"
        f"<h2>All figures</h2><table><tr>{head}</tr>{body}</table></html>\n"
    )


def _plot(points: Sequence[Point]) -> str:
    left = math.floor(min(_log(point) for point in points) * 2) / 2 - 0.1
    right = math.ceil(max(_log(point) for point in points) * 2) / 2 + 0.4
    low = math.floor(min(point.score for point in points) * 20) / 20
    dots = "".join(
        _dot(point, (_log(point) - left) / (right - left), (point.score - low) / (1 - low or 1)) for point in points
    )
    lines = (
        f'<line x1="{MARGIN}" y1="{HEIGHT - MARGIN}" x2="{WIDTH}" y2="{HEIGHT - MARGIN}" stroke="#888"/>'
        f'<line x1="{MARGIN}" y1="0" x2="{MARGIN}" y2="{HEIGHT - MARGIN}" stroke="#888"/>'
        f'<text x="{MARGIN}" y="{HEIGHT - 12}">CPU ms per page, logarithmic: {10**left:.2g} to {10**right:.2g}</text>'
        f'<text x="4" y="14">1.0</text><text x="4" y="{HEIGHT - MARGIN}">{low:.2f}</text>'
    )
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img">{lines}{dots}</svg>'


def _log(point: Point) -> float:
    return math.log10(max(point.milliseconds, 0.01))


def _dot(point: Point, across: float, up: float) -> str:
    x = MARGIN + across * (WIDTH - MARGIN - 20)
    y = (HEIGHT - MARGIN) * (1 - up)
    label = f"{escape(point.name)} {point.score:.3f}, {point.milliseconds:.1f} ms"
    return f'<circle cx="{x:.0f}" cy="{y:.0f}" r="5"/><text x="{x + 9:.0f}" y="{y + 4:.0f}">{label}</text>'
