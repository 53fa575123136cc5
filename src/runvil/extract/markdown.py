"""Elements -> markdown: the tree is put into the shape that turbohtml's renderer writes well, then rendered.

Links become absolute, payloads in addresses go, lazy images get their address, tables become grids. Every step visits
each element a bounded number of times and adds a bounded number of nodes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turbohtml import Element, Markdown, Text

from runvil.extract.tables import prepare_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

LINK_SCHEMES = frozenset({"http", "https", "mailto", "tel", "ftp"})
"""Where a link may lead. Others (javascript:, data:, blob: ...) are payloads or mean nothing outside a browser."""

MAX_ADDRESS = 2_000
"""Characters of an address in the text. Longer ones carry state, not a place, and would fill the reader's budget."""

MAX_RESOLVED = 32 * 1024 * 1024
"""Characters that making links absolute may add: links times the base's length. Beyond it they stay relative."""

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_IGNORED = re.compile(r"[\x00-\x20]+")
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|brush:|sourceCode|hljs)[-\s]*([\w+#]+)", re.IGNORECASE
)
_ANCHOR_TEXT = frozenset({"", "#", "¶", "§", "🔗", "\uf0c1"})
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src", "data-url")
_SRCSETS = ("srcset", "data-srcset", "data-lazy-srcset")

_RAW = "x-runvil-raw"
_STYLE = Markdown(
    inline=Markdown.Inline(sub="~", sup="^"),
    links=Markdown.Links(autolink=False),
    tables=Markdown.Tables(cell_blocks="text"),
    converters={_RAW: lambda element, _: element.text},
)


def markdown(root: Element, base: str) -> str:
    """Render what is below `root`, whose links are relative to `base`. Changes the tree."""
    _prepare_images(root)
    _resolve(root, base)
    _prepare_links(root)
    _prepare_frames(root)
    _prepare_math(root)
    _prepare_code(root)
    prepare_tables(root)
    return root.to_markdown(_STYLE)


def _resolve(root: Element, base: str) -> None:
    links = len(root.select("[href], [src], [srcset]"))
    if links * len(base) <= MAX_RESOLVED:
        root.resolve_links(base)


def is_place(address: str) -> bool:
    """Whether `address` is one a reader could open."""
    if len(address) > MAX_ADDRESS:
        return False
    scheme = _SCHEME.match(_IGNORED.sub("", address))  # as browsers read it: "java\nscript:" has one
    return scheme is None or scheme[1].lower() in LINK_SCHEMES


def _prepare_links(root: Element) -> None:
    for link in root.select("a"):
        href = link.attr("href")
        text = link.text.strip()
        if text in _ANCHOR_TEXT and link.select_one("img, math") is None:
            link.decompose()
        elif href is None or not is_place(href):
            link.unwrap()


def _prepare_images(root: Element) -> None:
    for image in root.select("img"):
        source = next(_sources(image), None)
        if source is not None:
            image.attrs["src"] = source
        elif alt := (image.attr("alt") or "").strip():
            image.replace_with(Text(alt))
        else:
            image.decompose()


def _sources(image: Element) -> Iterator[str]:
    """Addresses of an image, those that lazy loading holds back first: its src is a placeholder then."""
    for name in (*_LAZY, "src"):
        address = image.attr(name)
        if address and is_place(address):
            yield address
    for name in _SRCSETS:
        first = (image.attr(name) or "")[: MAX_ADDRESS * 2].split(",")[0].split()
        if first and is_place(first[0]):
            yield first[0]


def _prepare_frames(root: Element) -> None:
    """A film or an embedded page becomes a link to it."""
    for frame in root.select("iframe, video, audio"):
        source = frame.attr("src") or next((s.attr("src") or "" for s in frame.select("source[src]")), "")
        if source.startswith(("https:", "http:")) and is_place(source):
            label = frame.attr("title") or frame.attr("aria-label") or frame.tag
            frame.replace_with(Element("p", children=[Element("a", {"href": source}, [Text(label)])]))
        else:
            frame.decompose()


def _prepare_math(root: Element) -> None:
    """A formula is shown as the TeX it was written in, where the page holds it."""
    for formula in root.select("math"):
        tex = formula.attr("alttext") or _annotation(formula)
        if tex:
            mark = "$$" if formula.attr("display") == "block" else "$"
            shown = Element(_RAW, children=[Text(f"{mark}{' '.join(tex.split())}{mark}")])
            formula.replace_with(shown)


def _annotation(formula: Element) -> str:
    note = formula.select_one('annotation[encoding="application/x-tex"]')
    return note.text if note is not None else ""


def _prepare_code(root: Element) -> None:
    """Tell the renderer a block's language, wherever the page's highlighter wrote it down."""
    for block in root.select("pre"):
        code = block.select_one("code")
        around = block.parent if isinstance(block.parent, Element) else block
        language = next(filter(None, map(_language, (code or block, block, around))), "")
        if language and code is not None:
            code.attrs["class"] = f"language-{language}"
        elif language:
            block.attrs["class"] = f"language-{language}"


def _language(element: Element) -> str:
    written = element.attr("data-lang") or element.attr("data-language") or ""
    if re.fullmatch(r"[\w+#-]{1,20}", written):
        return written
    found = _LANGUAGE.search(element.attr("class") or "")
    return found[1] if found else ""
