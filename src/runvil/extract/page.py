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
    label, article, title = _attempt(html, url, whole=raw)
    if label is Extraction.RAW_HTML or is_enough(article):
        return Rendered(article, label, title)
    _, page, whole_title = _attempt(html, url, whole=True)
    return Rendered(page or article, Extraction.RAW_HTML, whole_title or title)


def is_enough(article: str) -> bool:
    """Whether `article` is one."""
    return len(article.strip().encode("utf-8", "replace")) >= ENOUGH_BYTES


def _attempt(html: str, url: str, *, whole: bool) -> tuple[Extraction, str, str]:
    """The markdown and title of the page or its article, and which of the two it is; no text when it cannot be had.

    A page too large to be judged is given whole at once.
    """
    label = Extraction.RAW_HTML if whole else Extraction.READABILITY
    title = ""
    try:
        document = parse(html, url, whole=whole)
        if document is None:
            return label, "", ""
        title = document.title
        part = None if whole else isolate(document)
        if part is None:
            return Extraction.RAW_HTML, markdown(cleared(document), document.base), title
        return label, markdown(part, document.base), title
    except Exception:  # RecursionError and MemoryError among them: no page is refused for what it holds
        return label, "", title
