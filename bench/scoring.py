"""How alike two texts are: the metrics that the test sets' authors use.

scrapinghub: precision and recall of 4-word shingles, averaged over pages, then F1. The others: F1 of the bags of words,
averaged over pages. Markdown is rendered to text first, so that its marks and addresses count for nobody.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from bench.fidelity import rendered

NEEDED = ("markdown-it-py", "html-text")

SHINGLE = 4

_WORDS = re.compile(r"\w+")
_FRONT_MATTER = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Overlap:
    """Shares of true positives, false positives and false negatives."""

    both: float
    extra: float
    missing: float

    @property
    def precision(self) -> float:
        return _ratio(self.both, self.extra, self.missing)

    @property
    def recall(self) -> float:
        return _ratio(self.both, self.missing, self.extra)


def text_of_markdown(markdown: str) -> str:
    body = _FRONT_MATTER.sub("", markdown)
    return text_of_html(rendered(body)) if body.strip() else ""


def text_of_html(html: str) -> str:
    return str(_html_text().extract_text(html) or "")


@cache
def _html_text() -> Any:
    import html_text  # noqa: PLC0415  optional

    return html_text


def overlap(truth: str, found: str) -> Overlap:
    a, b = _shingles(truth), _shingles(found)
    both, extra, missing = (a & b).total(), (b - a).total(), (a - b).total()
    total = both + extra + missing
    return Overlap(both / total, extra / total, missing / total) if total else Overlap(0.0, 0.0, 0.0)


def shingle_f1(overlaps: Sequence[Overlap]) -> float:
    """The official score of a whole set."""
    precision = _mean([each.precision for each in overlaps if each.both + each.extra > 0])
    recall = _mean([each.recall for each in overlaps if each.both + each.missing > 0])
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def word_f1(truth: str, found: str) -> float:
    wanted, got = Counter(_WORDS.findall(truth.lower())), Counter(_WORDS.findall(found.lower()))
    if not wanted or not got:
        return 1.0 if wanted == got else 0.0
    both = (wanted & got).total()
    if both == 0:
        return 0.0
    precision, recall = both / got.total(), both / wanted.total()
    return 2 * precision * recall / (precision + recall)


def _shingles(text: str) -> Counter[tuple[str, ...]]:
    words = _WORDS.findall(text)
    starts = range(max(1, len(words) - SHINGLE + 1))
    return Counter(tuple(words[at : at + SHINGLE]) for at in starts if words[at : at + SHINGLE])


def _ratio(both: float, against: float, other: float) -> float:
    if against == other == 0:
        return 1.0
    return both / (both + against) if both + against else 0.0


def _mean(values: Sequence[float]) -> float:
    return statistics.mean(values) if values else 0.0
