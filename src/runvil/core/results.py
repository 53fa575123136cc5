"""What is searched for and what is found, and the compact JSON that a model is given (spec 2.4, 2.5)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from runvil.core.failures import EmptyUrl, Unrenderable


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A checked search (spec 2.2). What was not asked for is None, or an empty tuple.

    query: 1 to 400 characters, as written. count: results, 1 to 20. freshness: pd, pw, pm or py, the past day to year.
    country, search_lang: codes such as us and en. safesearch: off, moderate or strict. include_domains,
    exclude_domains: host names, at most 20 of each; a host's subdomains are its own.
    """

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
    """One row. title, description: plain text, may be "". url: never empty.

    age: when the page is from, in the provider's words. site_name: of the site. Both None when the provider has none.
    extra_snippets: further pieces of the page.
    """

    title: str
    url: str
    description: str
    age: str | None = None
    site_name: str | None = None
    extra_snippets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SearchResults:
    """What a search found. query: the one that was run, as the provider says. results: in the provider's order."""

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
