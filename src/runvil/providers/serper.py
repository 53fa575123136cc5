"""Serper: Google's results. Key: SERPER_API_KEY.

Traps: an address is `link`; more than ten rows may not be honoured; domain filters are operators of the query.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from runvil.core.calls import MAX_RESULTS
from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.providers.client import Client, Options, Request
from runvil.providers.codes import WORDS, country_code, language_tag
from runvil.providers.key import Credential
from runvil.providers.operators import with_sites
from runvil.providers.rows import domains, finished, row
from runvil.providers.support import heard, worded
from runvil.providers.vendor import Vendor, rows_at

ROOT = "https://google.serper.dev"


class SerperProvider:
    """Asks Serper, which resells Google's results. key: the vendor's. base_url: of a private endpoint.

    Raises ConfigError for an unusable key or address.
    """

    name = "serper"

    def __init__(self, key: str, *, base_url: str = ROOT, **options: Unpack[Options]) -> None:
        client = Client(base_url, Credential("X-API-KEY", key), **options)
        self._vendor = Vendor(self.name, client, lambda told: told.get("message") or told.get("error"))

    async def search(self, query: SearchQuery) -> SearchResults:
        """Raises SearchError."""
        data = await self._vendor.ask(Request("POST", "/search", body=_body(heard(self.name, query))))
        return finished(query, map(_row, rows_at(self._vendor, data, "organic")))

    async def aclose(self) -> None:
        await self._vendor.client.aclose()


def _body(asked: SearchQuery) -> dict[str, Any]:
    filtered = bool(asked.include_domains or asked.exclude_domains)
    members = {
        "q": with_sites(asked.query, domains(asked.include_domains), domains(asked.exclude_domains)),
        "num": MAX_RESULTS if filtered else asked.count,
        "gl": worded("serper", "country", asked.country, country_code(asked.country)),
        "hl": worded("serper", "search_lang", asked.search_lang, _language(asked.search_lang)),
        "tbs": f"qdr:{WORDS[asked.freshness][0]}" if asked.freshness else None,
    }
    return {name: value for name, value in members.items() if value}


def _language(text: str | None) -> str | None:
    """Google's interface languages are two letters, but for Chinese and Portuguese, which have a region."""
    tag = language_tag(text)
    if tag is None:
        return None
    return f"{tag[0]}-{tag[1]}" if tag[1] and tag[0] in ("zh", "pt") else tag[0]


def _row(told: Mapping[str, Any]) -> SearchResult | None:
    return row(told.get("link"), told.get("title"), told.get("snippet"), age=told.get("date"))
