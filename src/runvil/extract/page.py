"""The rules of rendering (spec 1.13): which text a page gives and what it is called. Fails for no page."""

from __future__ import annotations

from runvil.core.page import Extraction, Rendered
from runvil.extract.document import cleared, parse
from runvil.extract.isolate import isolate
from runvil.extract.markdown import markdown

ENOUGH_BYTES = 100
"""A shorter article is taken for a failure to find it (spec 1.13, C-4: bytes, not characters)."""


def render(html: str, url: str, raw: bool = False) -> Rendered:
    """Render a page whose address is `url`: its article if it has one, else, or if `raw`, all of it."""
    article, title = ("", "") if raw else _attempt(html, url, whole=False)
    if is_enough(article):
        return Rendered(article, Extraction.READABILITY, title)
    page, whole_title = _attempt(html, url, whole=True)
    return Rendered(page or article, Extraction.RAW_HTML, whole_title or title)


def is_enough(article: str) -> bool:
    """Whether `article` is one."""
    return len(article.strip().encode("utf-8", "replace")) >= ENOUGH_BYTES


def _attempt(html: str, url: str, *, whole: bool) -> tuple[str, str]:
    """The markdown and title of the page or its article; no text when it cannot be had."""
    title = ""
    try:
        document = parse(html, url)
        if document is None:
            return "", ""
        title = document.title
        part = cleared(document) if whole else isolate(document)
        return ("" if part is None else markdown(part, document.base)), title
    except Exception:  # RecursionError and MemoryError among them: no page is refused for what it holds
        return "", title
