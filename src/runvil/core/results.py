"""What is searched for and what is found, and the compact JSON that a model is given (spec 2.4, 2.5)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from runvil.core.failures import EmptyUrl, Unrenderable


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A checked search. query: as written, untrimmed. What was not asked for is None, or an empty tuple."""

    query: str
    count: int | None = None
    freshness: str | None = None
    country: str | None = None
    search_lang: str | None = None
    safesearch: str | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One row. title and description may be "". age, site_name: None when the provider has none."""

    title: str
    url: str
    description: str
    age: str | None = None
    site_name: str | None = None
    extra_snippets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResults:
    """query: the one the search ran, as the provider says. results: in the provider's order."""

    query: str
    results: tuple[SearchResult, ...]


def results_json(found: SearchResults) -> str:
    """Compact JSON, members in order, empty optional ones left out (spec 2.5).

    Raises EmptyUrl for the first row without a URL, Unrenderable for what is no text.
    """
    for index, row in enumerate(found.results):
        if isinstance(row.url, str) and not row.url.strip():
            raise EmptyUrl(index)
    shown = {"query": found.query, "results": [_row(row) for row in found.results]}
    try:
        text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text.encode()  # a lone surrogate is text to Python and to nobody else
    except (TypeError, ValueError) as error:
        raise Unrenderable from error
    return text


def _row(row: SearchResult) -> dict[str, Any]:
    if not all(isinstance(text, str) for text in (row.title, row.url, row.description)):
        raise Unrenderable
    members: dict[str, Any] = {"title": row.title, "url": row.url, "description": row.description}
    optional = {"age": row.age, "site_name": row.site_name, "extra_snippets": list(row.extra_snippets)}
    return members | {name: value for name, value in optional.items() if value}
