"""What a fetch gives: the rendered text, the character cut, the provenance header (spec 1.13 to 1.15)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Extraction(StrEnum):
    """How the text was made, as the header's `extraction:` line says it (spec 1.15): the article, all, or verbatim."""

    READABILITY = "readability"
    RAW_HTML = "raw-html"
    PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Rendered:
    """HTML turned into markdown. extraction: `readability` or `raw-html`. title: "" when the page has none."""

    text: str
    extraction: Extraction
    title: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page; `str(page)` is exactly the tool's text (spec 1.15).

    url: the final one, query kept, no fragment. text: at most the characters asked for. truncated: the byte cut of flat
    text (spec 1.12) or the character cut (1.14) happened. extraction: how the text was made. status: HTTP's, 200 to
    299. content_type: the header's value, verbatim. title: of HTML, else "".
    """

    url: str
    text: str
    truncated: bool
    extraction: Extraction
    status: int
    content_type: str
    title: str = ""

    def __str__(self) -> str:
        truncated = "true" if self.truncated else "false"
        return f"url: {self.url}\ntruncated: {truncated}\nextraction: {self.extraction}\n\n{self.text}"


def cut(text: str, max_chars: int) -> tuple[str, bool]:
    """The first `max_chars` Unicode scalar values of `text`, and whether that left any out (spec 1.14)."""
    return text[:max_chars], len(text) > max_chars
