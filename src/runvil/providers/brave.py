"""Brave Search: web search over Brave's own index. Key: BRAVE_SEARCH_API_KEY.

Traps: more than 50 words and unknown codes are a 422, as is a bad key; Japanese is `jp`; nothing found is no `web` key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from runvil.core.calls import MAX_QUERY, MAX_RESULTS
from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.providers.client import Client, Options, Request
from runvil.providers.codes import country_code, language_tag
from runvil.providers.key import Credential
from runvil.providers.operators import sayable
from runvil.providers.rows import domains, finished, row
from runvil.providers.support import heard, worded
from runvil.providers.vendor import Vendor, at, rows_at

ROOT = "https://api.search.brave.com/res/v1"

MAX_WORDS = 50

COUNTRIES = frozenset({
    "ar", "at", "au", "be", "br", "ca", "ch", "cl", "cn", "de", "dk", "es", "fi", "fr", "gb", "gr", "hk", "id", "in",
    "it", "jp", "kr", "mx", "my", "nl", "no", "nz", "ph", "pl", "pt", "ru", "sa", "se", "tr", "tw", "us", "za",
})  # fmt: skip

LANGUAGES = frozenset({
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "en-gb", "es", "et", "eu", "fi", "fr", "gl", "gu", "he", "hi",
    "hr", "hu", "is", "it", "jp", "kn", "ko", "lt", "lv", "ml", "mr", "ms", "nb", "nl", "pa", "pl", "pt-br", "pt-pt",
    "ro", "ru", "sk", "sl", "sr", "sv", "ta", "te", "th", "tr", "uk", "vi", "zh-hans", "zh-hant",
})  # fmt: skip

OTHERWISE: Mapping[str, str] = {
    "ja": "jp", "no": "nb", "pt": "pt-pt", "zh": "zh-hans", "zh-cn": "zh-hans", "zh-sg": "zh-hans",
    "zh-hk": "zh-hant", "zh-mo": "zh-hant", "zh-tw": "zh-hant",
}  # fmt: skip
"""Languages that Brave calls otherwise than BCP 47 does."""


class BraveProvider:
    """Asks Brave Search. key: the vendor's. base_url: of a private endpoint. Raises ConfigError for an unusable one."""

    name = "brave"

    def __init__(self, key: str, *, base_url: str = ROOT, **options: Unpack[Options]) -> None:
        client = Client(base_url, Credential("X-Subscription-Token", key), **options)
        self._vendor = Vendor(self.name, client, _said, _refused_key)

    async def search(self, query: SearchQuery) -> SearchResults:
        """Raises SearchError."""
        asked = heard(self.name, query)
        ran = " ".join(asked.query.split()[:MAX_WORDS]) if len(asked.query.split()) > MAX_WORDS else asked.query
        data = await self._vendor.ask(_request(asked, ran[:MAX_QUERY]))
        altered = at(data, "query", "altered")
        rows = map(_row, rows_at(self._vendor, data, "web", "results"))
        return finished(query, rows, altered if isinstance(altered, str) and altered else ran[:MAX_QUERY])

    async def aclose(self) -> None:
        await self._vendor.client.aclose()


def _request(asked: SearchQuery, ran: str) -> Request:
    """A GET; a POST with Goggles, which are too long for an address."""
    filtered = bool(asked.include_domains or asked.exclude_domains)
    members: dict[str, Any] = {
        "q": ran,
        "count": MAX_RESULTS if filtered else asked.count,  # rows are filtered once more, so ask for plenty
        "extra_snippets": True,
        "freshness": asked.freshness,
        "country": worded("brave", "country", asked.country, _country(asked.country)),
        "search_lang": worded("brave", "search_lang", asked.search_lang, _language(asked.search_lang)),
        "safesearch": asked.safesearch,
    }
    members = {name: value for name, value in members.items() if value is not None}
    if goggle := _goggle(sayable(domains(asked.include_domains)), sayable(domains(asked.exclude_domains))):
        return Request("POST", "/web/search", body={**members, "goggles": [goggle]})
    texts = {name: "true" if value is True else str(value) for name, value in members.items()}
    return Request("GET", "/web/search", params=texts)


def _goggle(include: list[str], exclude: list[str]) -> str:
    lines = ["$discard"] if include else []
    lines += [f"$site={domain}" for domain in include]
    lines += [f"$discard,site={domain}" for domain in exclude]
    return "\n".join(lines)


def _country(text: str | None) -> str | None:
    """As it was written, when Brave has the country."""
    code = country_code(text)
    return (text or "").strip() if code in COUNTRIES - {"gb"} else code if code == "gb" else None


def _language(text: str | None) -> str | None:
    language, region = language_tag(text) or ("", "")
    words = (OTHERWISE.get(word, word) for word in (f"{language}-{region}", language))
    return next((word for word in words if word in LANGUAGES), None)


def _row(told: Mapping[str, Any]) -> SearchResult | None:
    site = at(told, "meta_url", "hostname")
    snippets = told.get("extra_snippets")
    return row(
        told.get("url"), told.get("title"), told.get("description"), age=told.get("age"), site=site, snippets=snippets
    )


def _said(told: Mapping[str, Any]) -> object:
    return at(told, "error", "detail") or at(told, "error", "code")


def _refused_key(told: Mapping[str, Any]) -> bool:
    return bool(at(told, "error", "code") == "SUBSCRIPTION_TOKEN_INVALID")
