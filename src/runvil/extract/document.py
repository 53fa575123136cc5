"""HTML text -> a parsed document without what nobody reads: scripts, styles, comments, text hidden from readers.

The parser is turbohtml (HTML5, C, no recursion); this is the only file that calls it to parse.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import turbohtml
from turbohtml import Namespace

from runvil.core import url as urls
from runvil.core.failures import InvalidUrl
from runvil.extract.survey import survey

if TYPE_CHECKING:
    from turbohtml import Element

MAX_REOPENED = 3_000_000
"""HTML5 reopens every unclosed formatting element in every new paragraph, so 1 MB of tags can ask for 10^9 elements
(research B4, note 6). Tags times unclosed formatting tags bounds that number; three million elements take a second."""

MAX_TITLE = 500
"""Characters of a title: search engines show 60, and the longest honest one of 1,900 measured pages has under 300."""

_FORMATTING = "b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u"
_OPENED = re.compile(
    rf"""<({_FORMATTING})(?:\s+[\w-]+="[^"<>]*")*\s*>[^<]*</\1[\s/>]   # closed at once: harmless, whatever is around it
      | <(?P<open>{_FORMATTING})[\s/>]""",
    re.IGNORECASE | re.ASCII | re.VERBOSE,
)
_RENAMED = re.compile(rf"<(/?)({_FORMATTING})(?=[\s/>])", re.IGNORECASE | re.ASCII)

_UNREAD = (
    "head, script, style, link, meta, template, object, embed, applet, canvas, svg, dialog:not([open]), .katex-html"
)
_HIDING = '[hidden], [aria-hidden="true" i], [style], noscript'
_HIDING_STYLE = re.compile(
    r"(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|(?:font-size|opacity)\s*:\s*0+(?:\.0+)?(?:[a-z%]+)?\s*(?:;|!|$))",
    re.IGNORECASE | re.ASCII,
)


@dataclass(slots=True)
class Document:
    """root: the whole page, its head taken out. base: the absolute address that its links are relative to.

    The root and not the body: the parser stops nesting at 512 levels, and what a page has below that it puts after the
    body.
    """

    root: Element
    base: str
    title: str


def parse(html: str, url: str) -> Document | None:
    """Parse and clean a page; None when nothing of it is an element."""
    tree = turbohtml.parse(_defused(html), positions=False, allow_declarative_shadow_roots=False)
    root = tree.root
    if root is None:
        return None
    document = Document(root, _base(tree, url), _title(tree))
    _keep_math(root)
    _open_shadow_roots(root)
    root.remove(_UNREAD)
    _drop_hidden(root)
    return document


def _defused(html: str) -> str:
    """`html`, its formatting tags renamed to unknown ones when there are enough unclosed ones to be a bomb."""
    tags = html.count("<")
    limit = MAX_REOPENED // (tags + 1)
    unclosed = (match for match in _OPENED.finditer(html) if match["open"])
    if tags <= limit or next(islice(unclosed, limit, None), None) is None:
        return html
    return _RENAMED.sub(r"<\1x-\2", html)


def _base(tree: turbohtml.Document, url: str) -> str:
    """The first <base href> resolved against the page's own address (HTML 4.2.3), else that address."""
    element = tree.select_one("base[href]")
    if element is None:
        return url
    try:
        base = urls.parse(element.attr("href") or "", urls.parse(url))
    except InvalidUrl:
        return url
    return base.full if base.scheme in ("https", "http") else url


def _title(tree: turbohtml.Document) -> str:
    """The first title's text in one line; an <svg> has titles of its own."""
    title = next((element for element in tree.select("title") if element.namespace is Namespace.HTML), None)
    return " ".join(title.text.split())[:MAX_TITLE] if title is not None else ""


def _keep_math(root: Element) -> None:
    """MathJax keeps its formulas in scripts, which go."""
    for script in root.select('script[type^="math/tex"]'):
        formula = turbohtml.Element("math", {"alttext": script.text})
        script.replace_with(formula)


def _open_shadow_roots(root: Element) -> None:
    """A declarative shadow root is on the screen, although its content stands in a <template>."""
    for template in root.select("template[shadowrootmode]"):
        content = template.children[0]
        template.replace_with(*content.children)


def _drop_hidden(root: Element) -> None:
    """Take out what no reader sees, where that is less than what a reader does see.

    Hidden text is where instructions to models are planted, but a page that streams its article into a hidden element,
    or hides everything until its scripts have run, has its only text there; so has one that keeps it in <noscript>.
    """
    hidden = {node for node in root.select(_HIDING) if _hides(node)}
    if not hidden:
        return
    found = survey(root)
    if found is None:
        return
    marks = bytearray(node in hidden for node in found.nodes)
    marks[0] = 0
    below = found.spread(marks)
    text = found.sums(found.own)
    visible = found.sums(found.own, without=marks)[0]
    for at in range(1, len(marks)):
        if marks[at] and not below[found.parent[at]] and text[at] <= visible:
            found.nodes[at].decompose()


def _hides(node: Element) -> bool:
    style = node.attr("style")
    plain = node.tag == "noscript" or node.attr("hidden") is not None or node.attr("aria-hidden") is not None
    return plain or (style is not None and _HIDING_STYLE.search(style) is not None)
