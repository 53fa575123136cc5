"""The public test sets of extraction, by path: they are other people's pages, so none of them is in this project.

RUNVIL_EVAL_DATA names the directory that holds them (docs/extraction.md says where each comes from). Each set is a
directory: scrapinghub, wcxb-dev, mozilla-readability, defuddle-fixtures.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from bench.scoring import text_of_html, text_of_markdown

VARIABLE = "RUNVIL_EVAL_DATA"

MOZILLA_ADDRESS = "http://fakehost/test/page.html"
"""The address that Mozilla's own test runner gives its pages."""

_FRONT = re.compile(r"\A```json\n.*?\n```\n", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sample:
    """One page. truth: the text that its set's authors hold for its content. kind: the type of page, or the set."""

    set: str
    key: str
    html: str
    url: str
    truth: str
    kind: str

    @property
    def half(self) -> str:
        """`seen` or `unseen`: rules were made looking at the pages of one half only."""
        digest = hashlib.sha256(f"h{self.set}{self.key}".encode()).digest()
        return "unseen" if digest[0] & 1 else "seen"


def directory() -> Path | None:
    """Where the sets are, or None when nobody said."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named and Path(named).is_dir() else None


def samples(name: str, data: Path) -> Iterator[Sample]:
    """The pages of a set; none when it is not there."""
    root = data / DIRECTORIES[name]
    return _READERS[name](root) if root.is_dir() else iter(())


def digest(pages: list[Sample]) -> str:
    """A name for exactly these pages and truths, so that a floor means something."""
    total = hashlib.sha256()
    for page in pages:
        for part in (page.key, page.html, page.truth):
            total.update(hashlib.sha256(part.encode("utf-8", "replace")).digest())
    return total.hexdigest()[:16]


def _unzipped(path: Path) -> str:
    return gzip.decompress(path.read_bytes()).decode("utf-8", "replace")


def _scrapinghub(root: Path) -> Iterator[Sample]:
    truths = json.loads((root / "ground-truth.json").read_text(encoding="utf-8"))
    for key, row in truths.items():
        html = _unzipped(root / f"html/{key}.html.gz")
        yield Sample("scrapinghub", key, html, row.get("url", ""), row.get("articleBody", ""), "article")


def _wcxb(root: Path) -> Iterator[Sample]:
    types = json.loads((root / "types.json").read_text(encoding="utf-8"))
    for path in sorted(root.glob("ground-truth/*.json")):
        html = root / f"html/{path.stem}.html.gz"
        if html.exists():
            row = json.loads(path.read_text(encoding="utf-8"))
            truth = row["ground_truth"].get("main_content") or ""
            kind = types[path.stem]["page_type"]
            yield Sample("wcxb-dev", path.stem, _unzipped(html), row.get("url", ""), truth, kind)


def _mozilla(root: Path) -> Iterator[Sample]:
    for path in sorted(root.glob("*/source.html.gz")):
        truth = text_of_html((path.parent / "expected.html").read_text(encoding="utf-8"))
        yield Sample("mozilla", path.parent.name, _unzipped(path), MOZILLA_ADDRESS, truth, "reader view")


def _defuddle(root: Path) -> Iterator[Sample]:
    for path in sorted(root.glob("expected/*.md")):
        truth = text_of_markdown(_FRONT.sub("", path.read_text(encoding="utf-8")))
        html = _unzipped(root / f"fixtures/{path.stem}.html.gz")
        yield Sample("defuddle", path.stem, html, "https://example.com/", truth, "fixture")


DIRECTORIES: Mapping[str, str] = {
    "scrapinghub": "scrapinghub",
    "wcxb-dev": "wcxb-dev",
    "mozilla": "mozilla-readability",
    "defuddle": "defuddle-fixtures",
}
_READERS: Mapping[str, Callable[[Path], Iterator[Sample]]] = {
    "scrapinghub": _scrapinghub,
    "wcxb-dev": _wcxb,
    "mozilla": _mozilla,
    "defuddle": _defuddle,
}
