"""Exa: search by meaning. Key: EXA_API_KEY.

Traps: its two domain filters exclude each other; snippets come only when asked for; a title may be null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.providers.client import Client, Options, Request
from runvil.providers.codes import country_code, since, upper
from runvil.providers.key import Credential
from runvil.providers.rows import domains, finished, row
from runvil.providers.support import heard, worded
from runvil.providers.vendor import Vendor, at, rows_at

ROOT = "https://api.exa.ai"

PLENTY = 40
"""Rows asked for when some will be filtered out afterwards; Exa gives up to 100."""


class ExaProvider:
    """Asks Exa. key: the vendor's. base_url: of a private endpoint. Raises ConfigError for an unusable one."""

    name = "exa"

    def __init__(self, key: str, *, base_url: str = ROOT, **options: Unpack[Options]) -> None:
        client = Client(base_url, Credential("x-api-key", key), **options)
        self._vendor = Vendor(self.name, client, _said)

    async def search(self, query: SearchQuery) -> SearchResults:
        """Raises SearchError."""
        data = await self._vendor.ask(Request("POST", "/search", body=_body(heard(self.name, query))))
        return finished(query, map(_row, rows_at(self._vendor, data, "results", always=True)))

    async def aclose(self) -> None:
        await self._vendor.client.aclose()


def _body(asked: SearchQuery) -> dict[str, Any]:
    include, exclude = domains(asked.include_domains), domains(asked.exclude_domains)
    members: dict[str, Any] = {
        "query": asked.query,
        "numResults": PLENTY if include and exclude else asked.count,
        "startPublishedDate": f"{since(asked.freshness)}T00:00:00.000Z" if asked.freshness else None,
        "userLocation": worded("exa", "country", asked.country, upper(country_code(asked.country))),
        "includeDomains": list(include),
        "excludeDomains": [] if include else list(exclude),
        "contents": {"highlights": True},
    }
    members = {name: value for name, value in members.items() if value}
    return members if asked.safesearch is None else members | {"moderation": asked.safesearch != "off"}


def _said(told: Mapping[str, Any]) -> object:
    return at(told, "error", "message") or told.get("error") or told.get("message")


def _row(told: Mapping[str, Any]) -> SearchResult | None:
    told_lights = told.get("highlights")
    lights = told_lights if isinstance(told_lights, list) else []
    description = lights[0] if lights else told.get("summary") or told.get("text")
    date = told.get("publishedDate")
    age = date[:10] if isinstance(date, str) else None
    return row(told.get("url"), told.get("title"), description, age=age, snippets=lights[1:])
