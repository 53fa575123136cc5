"""The documents as data: every page with its fenced blocks. Imports nothing but the standard library."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = (
    *sorted(DOCS.rglob("*.md")),
    *(ROOT / name for name in ("README.md", "SECURITY.md", "CONTRIBUTING.md", "bench/README.md")),
)
"""Every document that is published, in the site or beside it."""

FENCE = re.compile(r"^(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<text>.*?)^(?P=fence) *$", re.MULTILINE | re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """A fenced block. page: its path from the repository's root. title: the file that it is, or "".

    output: what a program prints, the block after it, or None when the document does not say.
    """

    page: str
    line: int
    language: str
    title: str
    text: str
    output: str | None = None

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def text_of(name: str) -> str:
    """A document by its path from the root."""
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def blocks(name: str) -> Sequence[Block]:
    """The blocks of a document, in order."""
    return list(read(name, text_of(name)))


def read(name: str, source: str) -> Iterator[Block]:
    """The blocks of a document's text."""
    found = list(FENCE.finditer(source))
    for block, after in zip(found, [*found, None][1:], strict=True):
        language, _, more = block["info"].strip().partition(" ")
        titled = TITLE.search(more)
        said = after["text"] if after is not None and after["info"].strip() == "output" else None
        line = source.count("\n", 0, block.start()) + 1
        yield Block(name, line, language, titled[1] if titled else "", block["text"], said)


def stray_fences(source: str) -> list[str]:
    """Lines that begin or end a fence which the reader above does not see, such as an indented one."""
    return [line for line in FENCE.sub("", source).splitlines() if re.match(r"\s*(```|~~~)", line)]
