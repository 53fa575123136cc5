"""Links, images and embedded pages: absolute addresses, no payloads, and text that can stand between brackets."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from turbohtml import Element, Text

from runvil.extract.edges import stripped
from runvil.extract.nested import outermost
from runvil.extract.reserved import has_reserved, without_reserved

if TYPE_CHECKING:
    from collections.abc import Iterator

    from turbohtml import Node

LINK_SCHEMES = frozenset({"http", "https", "mailto", "tel", "ftp"})
"""Where a link may lead. Others (javascript:, data:, blob: ...) are payloads or mean nothing outside a browser."""

MAX_ADDRESS = 2_000
"""Characters of an address in the text. Longer ones carry state, not a place, and would fill the reader's budget."""

MAX_RESOLVED = 32 * 1024 * 1024
"""Characters that making links absolute may add: links times the base's length. Beyond it they stay relative."""

_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)
_IGNORED = re.compile(r"[\x00-\x20]+")
_HOSTS = re.compile(r"[/\\]{2}([^/\\?#]*)")
_AROUND = "".join(map(chr, range(0x21)))
_ANCHOR_TEXT = frozenset({"", "#", "¶", "§", "🔗", "\uf0c1"})
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src", "data-url")
_SRCSETS = ("srcset", "data-srcset", "data-lazy-srcset")
_HEADINGS = "h1, h2, h3, h4, h5, h6"
_HEADINGS_AND_BLOCKS = f"{_HEADINGS}, ul, ol, dl, table, pre, blockquote, hr"

MAX_IMAGES = 100_000
"""Images of a page; nobody looks at more, and each is asked eleven times for its address."""

MAX_FRAMES = 50_000
"""Films and frames of a page."""


def prepare_addresses(root: Element, base: str) -> None:
    _prepare_images(root)
    _resolve(root, base)
    _prepare_links(root)
    _prepare_frames(root)


def is_place(address: str) -> bool:
    """Whether `address` is one a reader could open."""
    if len(address) > MAX_ADDRESS or _is_broken(address):
        return False
    scheme = _SCHEME.match(_IGNORED.sub("", address))  # as browsers read it: "java\nscript:" has one
    return scheme is None or scheme[1].lower() in LINK_SCHEMES


def _cleaned(address: str) -> str:
    """`address` without what a browser skips in one: line ends and tabs, and controls and spaces around it."""
    bare = address.strip(_AROUND)
    if bare.isprintable():
        return bare
    return without_reserved(bare.replace("\t", "").replace("\n", "").replace("\r", ""))


def _resolve(root: Element, base: str) -> None:
    links = len(root.select("[href], [src], [srcset]"))
    if links * len(base) > MAX_RESOLVED:
        return
    try:
        root.resolve_links(base)
    except ValueError:
        _drop_broken(root)
        with suppress(ValueError):  # a base that is none: links stay as they are written
            root.resolve_links(base)


def _drop_broken(root: Element) -> None:
    """Addresses that cannot be joined, `//[x`, lead nowhere; the parser would leave all others of the page relative."""
    for element in root.iter_elements(include_self=True):
        broken = [name for name, value in element.attrs.items() if isinstance(value, str) and _is_broken(value)]
        for name in broken:
            del element.attrs[name]


def _is_broken(address: str) -> bool:
    if "[" not in address and "]" not in address:
        return False
    return any(("[" in host) != ("]" in host) for host in _HOSTS.findall(address))


def _prepare_links(root: Element) -> None:
    links = root.select("a")
    outer = set(outermost(links, "a"))
    for link in links:
        if link not in outer:
            link.unwrap()  # a link in a link: tables can hold one, markdown has none
            continue
        written = link.attr("href") or ""
        href = _cleaned(written)
        if stripped(link.text) in _ANCHOR_TEXT and link.select_one("img, math") is None:
            link.decompose()
        elif not href or not is_place(href):
            link.unwrap()
        else:
            if href != written:
                link.attrs["href"] = href
            _clean_title(link)
            if link.select_one(_HEADINGS_AND_BLOCKS) is not None:
                _narrow(link)


def _clean_title(element: Element) -> None:
    title = element.attr("title")
    if title is not None and has_reserved(title):
        element.attrs["title"] = without_reserved(title)


def _narrow(link: Element) -> None:
    """A link around blocks becomes one of its heading, or else of its first text."""
    target = link.select_one(_HEADINGS)
    if target is not None and target.text.strip():
        target.wrap_children(Element("a", {"href": link.attr("href")}))
    else:
        first = next((node for node in link.descendants if type(node) is Text and node.data.strip()), None)
        if first is not None:
            first.wrap(Element("a", {"href": link.attr("href")}))
    link.unwrap()


def _prepare_images(root: Element) -> None:
    offered: dict[Node | None, str | None] = {picture: _offered(picture) for picture in root.select("picture")}
    images = root.select("img")
    for image in images[MAX_IMAGES:]:
        image.decompose()
    for image in images[:MAX_IMAGES]:
        alt = without_reserved(" ".join((image.attr("alt") or "").split()))
        _clean_title(image)
        source = next(_sources(image), None) or offered.get(image.parent)
        if source is not None:
            image.attrs["src"] = source
            image.attrs["alt"] = alt
        elif alt:
            image.replace_with(Text(alt))
        else:
            image.decompose()


def _sources(image: Element) -> Iterator[str]:
    """Addresses of an image, those that lazy loading holds back first: its src is a placeholder then."""
    for name in (*_LAZY, "src"):
        address = _cleaned(image.attr(name) or "")
        if address and is_place(address):
            yield address
    yield from _candidates(image)


def _offered(picture: Element) -> str | None:
    """The first address that a <picture> has for the image in it."""
    sources = (child for child in picture.children if type(child) is Element and child.tag == "source")
    return next((address for source in sources for address in _candidates(source)), None)


def _candidates(element: Element) -> Iterator[str]:
    for name in _SRCSETS:
        first = (element.attr(name) or "")[: MAX_ADDRESS * 2].split(",")[0].split()
        if first and is_place(first[0]):
            yield first[0]


def _prepare_frames(root: Element) -> None:
    """A film or an embedded page becomes a link to it."""
    frames = list(outermost(root.select("iframe, video, audio"), "iframe", "video", "audio"))
    for frame in frames[MAX_FRAMES:]:
        frame.decompose()
    for frame in frames[:MAX_FRAMES]:
        sources = (each.attr("src") for each in frame.iter_elements(("source",)))
        source = frame.attr("src") or next(filter(None, sources), "")
        if source.startswith(("https:", "http:")) and is_place(source):
            label = frame.attr("title") or frame.attr("aria-label") or frame.tag
            frame.replace_with(Element("p", children=[Element("a", {"href": source}, [Text(label)])]))
        else:
            frame.decompose()
