"""What a page says of itself in its head: which kind of thing it is, what it is about, its text in a second copy.

A claim only tips decisions about what is on the page. Text that stands nowhere but in a claim is used where the page
itself is an empty shell that scripts would have filled.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from turbohtml import Element

MAX_SCRIPTS = 12
MAX_SCRIPT = 300_000
"""Characters of one block of JSON-LD; the largest of 1,000 pages that named its kind had some 100,000."""

MAX_VALUES = 5_000
"""Values looked at in one block."""

MAX_CLAIMS = 60
"""Texts kept of all of them."""

LEAST = 30
"""Characters of a description that can be told from a slogan."""

_ARTICLES = frozenset({
    "Article", "NewsArticle", "ReportageNewsArticle", "OpinionNewsArticle", "AnalysisNewsArticle", "BlogPosting",
    "TechArticle", "ScholarlyArticle", "Report",
})  # fmt: skip
_PRODUCTS = frozenset({"Product", "ProductGroup"})
_BODIES = _ARTICLES | {"DiscussionForumPosting", "SocialMediaPosting", "Question", "Comment"}
_GRAPH_PRODUCTS = frozenset({"product", "product.item", "og:product"})
_MOST_PRODUCTS = 2
_PRODUCT_TYPE = "schema.org/Product"
_MICRODATA = f'[itemtype*="{_PRODUCT_TYPE}"]'
_LINKED_DATA = "application/ld+json"


@dataclass(slots=True)
class Claims:
    """article, product: the page says that it is one. about: descriptions of it. wares: those of the thing for sale.

    bodies: texts that the page says it holds.
    """

    article: bool = False
    product: bool = False
    about: list[str] = field(default_factory=list)
    wares: list[str] = field(default_factory=list)
    bodies: list[str] = field(default_factory=list)


def read_claims(html: str, root: Element, scripts: list[Element], metas: list[Element]) -> Claims:
    """Read the metadata and every block of JSON-LD of the page below `root`, which was `html`, within bounds."""
    claims = Claims()
    kinds: Counter[str] = Counter()
    linked = (script for script in scripts if (script.attr("type") or "").lower() == _LINKED_DATA)
    for script in islice(linked, MAX_SCRIPTS):
        _read_linked_data(script.text, claims, kinds)
    claims.about += (meta.attr("content") or "" for meta in islice(filter(_is_description, metas), MAX_SCRIPTS))
    graph = next((meta for meta in metas if meta.attr("property") == "og:type"), None)
    declared = (graph.attr("content") or "").strip().lower() if graph is not None else ""
    claims.article = declared == "article" or not _ARTICLES.isdisjoint(kinds)
    claims.product = (
        0 < sum(kinds[name] for name in _PRODUCTS) <= _MOST_PRODUCTS
        or declared in _GRAPH_PRODUCTS
        or ("ItemList" not in kinds and _PRODUCT_TYPE in html and root.select_one(_MICRODATA) is not None)
    )
    claims.about = [" ".join(text.split()) for text in claims.about if len(text) >= LEAST]
    return claims


def _is_description(meta: Element) -> bool:
    name = meta.attr("name") or ""
    return name == "twitter:description" or name.lower() == "description" or meta.attr("property") == "og:description"


def _read_linked_data(script: str, claims: Claims, kinds: Counter[str]) -> None:
    if len(script) > MAX_SCRIPT:
        return
    try:
        values = [json.loads(script)]
    except (ValueError, RecursionError):
        return
    for value in values:  # grows while it is walked
        if isinstance(value, dict):
            _read_thing(value, claims, kinds)
            values += value.values()
        elif isinstance(value, list):
            values += value
        if len(values) > MAX_VALUES:
            return


def _read_thing(thing: dict[str, object], claims: Claims, kinds: Counter[str]) -> None:
    written = thing.get("@type")
    types = [name for name in (written if isinstance(written, list) else [written]) if isinstance(name, str)]
    kinds.update(types)
    description = thing.get("description")
    if isinstance(description, str) and len(claims.about) < MAX_CLAIMS:
        if not types or not _PRODUCTS.isdisjoint(types):
            claims.about.append(description)
        if not _PRODUCTS.isdisjoint(types):
            claims.wares.append(description)
    body = thing.get("articleBody") or thing.get("text")
    if isinstance(body, str) and not _BODIES.isdisjoint(types) and len(claims.bodies) < MAX_CLAIMS:
        claims.bodies.append(body)
