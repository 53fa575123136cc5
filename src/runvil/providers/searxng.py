"""SearXNG: a metasearch server of one's own. Address: SEARXNG_URL; it has no key.

Traps: an instance without the JSON format answers 403 or a page; when its engines failed it answers 200 and no rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from runvil.core.failures import SearchError
from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.providers.client import Client, Options, Request
from runvil.providers.codes import WORDS, country_code, language_tag
from runvil.providers.operators import with_sites
from runvil.providers.rows import domains, finished, plain, row
from runvil.providers.support import heard, worded
from runvil.providers.vendor import Vendor, VendorFailed, log, rows_at

PAGES = 2
"""Pages asked for while there are fewer rows than wanted: SearXNG has no count, a page is some ten rows an engine."""

SAFESEARCH: Mapping[str, str] = {"off": "0", "moderate": "1", "strict": "2"}

MAX_REASONS = 5
"""Engines whose reasons a failure names."""


class SearxngProvider:
    """Asks a SearXNG server. base_url: its root, such as http://127.0.0.1:8888.

    Raises ConfigError for an unusable address.
    """

    name = "searxng"

    def __init__(self, base_url: str, **options: Unpack[Options]) -> None:
        self._vendor = Vendor(self.name, Client(base_url, **options), lambda told: told.get("error"))

    async def search(self, query: SearchQuery) -> SearchResults:
        """Raises SearchError."""
        members = _members(heard(self.name, query))
        rows: list[Mapping[str, Any]] = []
        for page in range(1, PAGES + 1):
            new = await self._page(members, page, lenient=page > 1)
            rows += new
            results = finished(query, map(_row, _once(rows)))
            if not new or query.count is None or len(results.results) >= query.count:
                break
        return results

    async def _page(self, members: dict[str, str], page: int, *, lenient: bool) -> list[Mapping[str, Any]]:
        """The rows of a page. lenient: a further page may fail, the first one's rows are there already."""
        try:
            data = await self._vendor.ask(Request("GET", "/search", params=members | {"pageno": str(page)}))
            rows = rows_at(self._vendor, data, "results", always=True)
        except SearchError as error:
            if not lenient:
                raise
            log.info("searxng: page %d failed: %s", page, error)
            return []
        silent = _silent(data)
        if not rows and silent and not lenient:
            raise VendorFailed(f"searxng: no engine answered ({'; '.join(silent[:MAX_REASONS])})", 200)
        return rows

    async def aclose(self) -> None:
        await self._vendor.client.aclose()


def _members(asked: SearchQuery) -> dict[str, str]:
    members = {
        "q": with_sites(asked.query, domains(asked.include_domains), domains(asked.exclude_domains)),
        "format": "json",
        "time_range": WORDS.get(asked.freshness or "", ""),
        "language": _language(asked),
        "safesearch": SAFESEARCH.get(asked.safesearch or "", ""),
    }
    return {name: value for name, value in members.items() if value}


def _language(asked: SearchQuery) -> str:
    """SearXNG has one word for both: de, or de-CH."""
    tag = language_tag(asked.search_lang)
    country = country_code(asked.country) if tag else None
    worded("searxng", "country", asked.country, country)
    worded("searxng", "search_lang", asked.search_lang, tag and tag[0])
    region = country or (tag[1] if tag else "")
    return "" if tag is None else f"{tag[0]}-{region.upper()}" if region else tag[0]


def _silent(data: Mapping[str, Any]) -> list[str]:
    """The engines that did not answer, each with its reason."""
    told = data.get("unresponsive_engines")
    pairs = told if isinstance(told, list) else []
    return [": ".join(plain(word) for word in pair) if isinstance(pair, list) else plain(pair) for pair in pairs]


def _once(rows: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Pages overlap when the engines' answers shift: the first row of an address stays."""
    first: dict[str, Mapping[str, Any]] = {}
    for each in rows:
        first.setdefault(str(each.get("url")), each)
    return list(first.values())


def _row(told: Mapping[str, Any]) -> SearchResult | None:
    date = told.get("publishedDate") or told.get("pubdate")
    age = date[:10] if isinstance(date, str) else None
    return row(told.get("url"), told.get("title"), told.get("content"), age=age)
