"""Tavily: search made for models. Key: TAVILY_API_KEY; without one the vendor's keyless access, which is limited.

Traps: a country is its English name; the plan's limits are 432 and 433; the words of an error are at detail.error.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.providers.client import Client, Options, Request
from runvil.providers.codes import COUNTRY_NAMES, WORDS, country_code, language_tag
from runvil.providers.key import bearer
from runvil.providers.rows import domains, finished, row
from runvil.providers.support import heard, worded
from runvil.providers.vendor import Vendor, at, rows_at

ROOT = "https://api.tavily.com"

KEYLESS = {"X-Tavily-Access-Mode": "keyless"}


class TavilyProvider:
    """Asks Tavily. key: None for keyless access. base_url: of a private endpoint.

    Raises ConfigError for an unusable key or address.
    """

    name = "tavily"

    def __init__(self, key: str | None = None, *, base_url: str = ROOT, **options: Unpack[Options]) -> None:
        client = Client(base_url, None if key is None else bearer(key), **options)
        self._headers = KEYLESS if key is None else {}
        self._vendor = Vendor(self.name, client, _said)

    async def search(self, query: SearchQuery) -> SearchResults:
        """Raises SearchError."""
        body = _body(heard(self.name, query))
        data = await self._vendor.ask(Request("POST", "/search", body=body, headers=self._headers))
        return finished(query, map(_row, rows_at(self._vendor, data, "results", always=True)))

    async def aclose(self) -> None:
        await self._vendor.client.aclose()


def _body(asked: SearchQuery) -> dict[str, Any]:
    members = {
        "query": asked.query,
        "max_results": asked.count,
        "time_range": WORDS.get(asked.freshness or ""),
        "country": worded("tavily", "country", asked.country, _country(asked.country)),
        "language": worded("tavily", "search_lang", asked.search_lang, _language(asked.search_lang)),
        "include_domains": list(domains(asked.include_domains)),
        "exclude_domains": list(domains(asked.exclude_domains)),
    }
    return {name: value for name, value in members.items() if value}


def _country(text: str | None) -> str | None:
    """The English name; the name itself will do."""
    written = (text or "").strip().lower()
    return written if written in COUNTRY_NAMES.values() else COUNTRY_NAMES.get(country_code(text) or "")


def _language(text: str | None) -> str | None:
    tag = language_tag(text)
    return None if tag is None else tag[0]


def _said(told: Mapping[str, Any]) -> object:
    return at(told, "detail", "error") or at(told, "error", "message") or told.get("detail")


def _row(told: Mapping[str, Any]) -> SearchResult | None:
    date = told.get("published_date")
    return row(told.get("url"), told.get("title"), told.get("content"), age=date)
