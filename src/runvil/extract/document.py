"""HTML text -> a parsed document without what nobody reads: scripts, styles, comments, text hidden from readers.

The parser is turbohtml (HTML5, C, no recursion); this is the only file that calls it to parse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING

import turbohtml
from turbohtml import Namespace

from runvil.core import url as urls
from runvil.core.failures import InvalidUrl
from runvil.extract.claims import read_claims
from runvil.extract.hidden import STYLED, TELLING, hidden
from runvil.extract.markdown import without_controls
from runvil.extract.survey import MAX_ELEMENTS, survey

if TYPE_CHECKING:
    from turbohtml import Element

    from runvil.extract.claims import Claims
    from runvil.extract.survey import Survey

MAX_REOPENED = 3_000_000
"""HTML5 reopens every unclosed formatting element in every new paragraph, so 1 MB of tags can ask for 10^9 elements
(research B4, note 6). Tags times unclosed formatting tags bounds that number; three million elements take a second."""

MAX_TITLE = 500
"""Characters of a title: search engines show 60, and the longest honest one of 1,900 measured pages has under 300."""

_FORMATTING = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_OPENED = re.compile(
    # sets of what the first two characters can be: they turn most tags away sooner than names without case do
    rf"<(?=[bceifnstuBCEIFNSTU][iomtIOMT\s/>])(?i:{_FORMATTING})[\s/>]",
    re.ASCII,
)
_CLOSED = re.compile(
    rf"""<({_FORMATTING})(?:\s+[\w-]+="[^"<>]*")*\s*>[^<]*</\1[\s/>]""",
    re.IGNORECASE | re.ASCII,
)
"""One that is closed at once: harmless, whatever is around it."""

_RENAMED = tuple(
    (re.compile(rf"{opening}(?=(?i:{_FORMATTING})[\s/>])", re.ASCII), f"{opening}x-") for opening in ("<", "</")
)
"""What becomes what; a constant replacement, which costs a third of one with groups."""


_SAYING = ("base", "title", "script", "meta", "template")
_UNREAD = (
    "head, script, style, link, meta, template, object, embed, applet, canvas, svg, dialog:not([open]), .katex-html"
)
_UNREAD_BESIDE = (
    f"{_UNREAD}, select, textarea, nav:not(nav nav):not(:has(article, main, h1)), "
    "footer:not(footer footer):not(:has(p, article, main, h1))"
)
"""What nobody reads beside an article either: over a fifth of the measured pages' elements need not be judged one by
one. Only the outermost are asked what they hold: what is in them is walked once."""


@dataclass(slots=True)
class Document:
    """root: the whole page, its head taken out. base: the absolute address that its links are relative to.

    The root and not the body: the parser stops nesting at 512 levels, and what a page has below that it puts after the
    body.
    """

    root: Element
    base: str
    title: str
    page: Survey | None
    hidden: bytearray
    claims: Claims
    roles: list[Element]


def parse(html: str, url: str, *, whole: bool) -> Document | None:
    """Parse and clean a page, of which all is wanted if `whole`; None when nothing of it is an element."""
    tags = html.count("<")
    tree = turbohtml.parse(_defused(html, tags), positions=False, allow_declarative_shadow_roots=False)
    root = tree.root
    if root is None:
        return None
    said = _said(root)
    base, title = _base(said["base"], url), _title(said["title"])
    claims = read_claims(html, root, said["script"], said["meta"])
    if any("math/tex" in (script.attr("type") or "").lower() for script in said["script"]):
        _keep_math(root)
    if said["template"]:
        _open_shadow_roots(root)
    root.remove(_UNREAD if whole or tags > MAX_ELEMENTS else _UNREAD_BESIDE)
    page = survey(root)
    telling = root.select(TELLING)
    roles = [element for element in telling if element.attr("role") is not None]
    return Document(root, base, title, page, hidden(page, telling, root.select(STYLED)), claims, roles)


def cleared(document: Document) -> Element:
    """The whole page without its hidden parts and empty blocks. Changes the tree."""
    page, hidden = document.page, document.hidden
    if page is not None:
        for at in page.clear(0, hidden, page.fullness(hidden)):
            page.nodes[at].decompose()
    return document.root


def _defused(html: str, tags: int) -> str:
    """`html` of so many tags, the formatting ones renamed to unknown ones when enough are unclosed to be a bomb."""
    limit = MAX_REOPENED // (tags + 1)
    if tags <= limit:
        return html
    opened = _OPENED.finditer(html)
    first = list(islice(opened, limit + 1))
    if len(first) <= limit:
        return html  # not that many, closed or not: what nearly every page is
    unclosed = (match for match in chain(first, opened) if _CLOSED.match(html, match.start()) is None)
    if next(islice(unclosed, limit, None), None) is None:
        return html
    for tag, renamed in _RENAMED:
        html = tag.sub(renamed, html)
    return html


def _said(root: Element) -> dict[str, list[Element]]:
    """By tag, in document order, the elements that say something of the page.

    One walk instead of one for each question: a large tree is in no cache.
    """
    said: dict[str, list[Element]] = {tag: [] for tag in _SAYING}
    for element in root.iter_elements(_SAYING):
        said[element.tag].append(element)
    return said


def _base(elements: list[Element], url: str) -> str:
    """The first <base href> resolved against the page's own address (HTML 4.2.3), else that address."""
    href = next((href for element in elements if (href := element.attr("href")) is not None), None)
    if href is None:
        return url
    try:
        base = urls.parse(href, urls.parse(url) if url else None)
    except InvalidUrl:
        return url
    return base.full if base.scheme in ("https", "http") else url


def _title(elements: list[Element]) -> str:
    """The first title's text in one line; an <svg> has titles of its own."""
    title = next((element for element in elements if element.namespace is Namespace.HTML), None)
    return without_controls(" ".join(title.text.split()))[:MAX_TITLE] if title is not None else ""


def _keep_math(root: Element) -> None:
    """MathJax keeps its formulas in scripts, which go."""
    for script in root.select('script[type^="math/tex"]'):
        display = {"display": "block"} if "mode=display" in (script.attr("type") or "") else {}
        formula = turbohtml.Element("math", {"alttext": script.text, **display})
        script.replace_with(formula)


def _open_shadow_roots(root: Element) -> None:
    """A declarative shadow root is on the screen, although its content stands in a <template>."""
    for template in root.select("template[shadowrootmode]"):
        content = template.children[0]
        template.replace_with(*content.children)
