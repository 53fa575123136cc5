"""Kagi, version 1 of its interface. Key: KAGI_API_KEY.

Traps: safe search is on unless it is switched off; 403 is also an address that the key does not admit; what is empty is
left out of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.providers.client import Client, Options, Request
from runvil.providers.codes import country_code, since
from runvil.providers.key import bearer
from runvil.providers.rows import domains, finished, row
from runvil.providers.support import heard, worded
from runvil.providers.vendor import Vendor, at, rows_at

ROOT = "https://kagi.com/api/v1"


class KagiProvider:
    """Asks Kagi. key: the vendor's. base_url: of a private endpoint. Raises ConfigError for an unusable one."""

    name = "kagi"

    def __init__(self, key: str, *, base_url: str = ROOT, **options: Unpack[Options]) -> None:
        client = Client(base_url, bearer(key), **options)
        self._vendor = Vendor(self.name, client, lambda told: at(told, "error", 0, "message"))

    async def search(self, query: SearchQuery) -> SearchResults:
        """Raises SearchError."""
        data = await self._vendor.ask(Request("POST", "/search", body=_body(heard(self.name, query))))
        return finished(query, map(_row, rows_at(self._vendor, data, "data", "search")))

    async def aclose(self) -> None:
        await self._vendor.client.aclose()


def _body(asked: SearchQuery) -> dict[str, Any]:
    filters = {
        "region": worded("kagi", "country", asked.country, country_code(asked.country)),
        "after": str(since(asked.freshness)) if asked.freshness else None,
    }
    lens = {
        "sites_included": list(domains(asked.include_domains)),
        "sites_excluded": list(domains(asked.exclude_domains)),
    }
    members: dict[str, Any] = {
        "query": asked.query,
        "workflow": "search",
        "limit": asked.count,
        "filters": {name: value for name, value in filters.items() if value},
        "lens": {name: value for name, value in lens.items() if value},
    }
    members = {name: value for name, value in members.items() if value}
    return members if asked.safesearch is None else members | {"safe_search": asked.safesearch != "off"}


def _row(told: Mapping[str, Any]) -> SearchResult | None:
    date = told.get("time")
    age = date[:10] if isinstance(date, str) else None
    return row(told.get("url"), told.get("title"), told.get("snippet"), age=age)
