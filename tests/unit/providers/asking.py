"""One search at a fake vendor, for every provider: how each is made, and what a good answer of each looks like."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from runvil import SearchProvider, SearchQuery
from runvil.providers import (
    BraveProvider,
    ExaProvider,
    GatewayProvider,
    KagiProvider,
    SearxngProvider,
    SerperProvider,
    TavilyProvider,
)
from tests.support.vendors import MARKER, Asked

IN_TIME = 10.0  # seconds; a guard against a hang
SHORT = 0.3  # seconds; the deadline of tests whose server never answers


@dataclass(frozen=True)
class Kind:
    """made: from a root. answer: the vendor's object around rows of (title, url, text). path, method: where it asks."""

    made: Callable[..., Any]
    answer: Callable[..., Any]
    method: str
    path: str
    credential: tuple[str, str] | None

    def provider(self, root: str, **options: Any) -> Any:
        return self.made(root, **options)

    def checks(self, asked: Asked) -> None:
        assert (asked.method, asked.path) == (self.method, self.path)
        assert asked.headers["accept"] == "application/json"
        assert asked.headers["accept-encoding"] == "gzip"
        if self.credential is not None:
            assert asked.headers[self.credential[0]] == self.credential[1]
        carriers = [name for name, value in asked.headers.items() if MARKER in value]
        assert carriers == ([self.credential[0]] if self.credential else [])
        assert MARKER not in asked.target
        assert MARKER.encode() not in asked.body


def _rows(*names: str) -> Callable[..., list[dict[str, Any]]]:
    return lambda rows: [dict(zip(names, each, strict=True)) for each in rows]


_brave, _searxng = _rows("title", "url", "description"), _rows("title", "url", "content")
_kagi, _serper, _gateway = _rows("title", "url", "snippet"), _rows("title", "link", "snippet"), _brave


def _exa(rows: Any) -> list[dict[str, Any]]:
    return [{"title": title, "url": url, "highlights": [text]} for title, url, text in rows]


KINDS: Mapping[str, Kind] = {
    "gateway": Kind(
        lambda root, **o: GatewayProvider(f"{root}/v1", MARKER, **o),
        lambda rows: {"query": "hi", "results": _gateway(rows)},
        "POST",
        "/v1/tools/web_search",
        ("authorization", f"Bearer {MARKER}"),
    ),
    "brave": Kind(
        lambda root, **o: BraveProvider(MARKER, base_url=f"{root}/res/v1", **o),
        lambda rows: {"type": "search", "query": {"original": "hi"}, "web": {"results": _brave(rows)}},
        "GET",
        "/res/v1/web/search",
        ("x-subscription-token", MARKER),
    ),
    "searxng": Kind(
        SearxngProvider,
        lambda rows: {"query": "hi", "results": _searxng(rows), "unresponsive_engines": []},
        "GET",
        "/search",
        None,
    ),
    "tavily": Kind(
        lambda root, **o: TavilyProvider(MARKER, base_url=root, **o),
        lambda rows: {"query": "hi", "results": _searxng(rows), "response_time": 0.1},
        "POST",
        "/search",
        ("authorization", f"Bearer {MARKER}"),
    ),
    "exa": Kind(
        lambda root, **o: ExaProvider(MARKER, base_url=root, **o),
        lambda rows: {"requestId": "r", "results": _exa(rows)},
        "POST",
        "/search",
        ("x-api-key", MARKER),
    ),
    "kagi": Kind(
        lambda root, **o: KagiProvider(MARKER, base_url=f"{root}/api/v1", **o),
        lambda rows: {"meta": {"trace": "t"}, "data": {"search": _kagi(rows)} if rows else {}},
        "POST",
        "/api/v1/search",
        ("authorization", f"Bearer {MARKER}"),
    ),
    "serper": Kind(
        lambda root, **o: SerperProvider(MARKER, base_url=root, **o),
        lambda rows: {"organic": _serper(rows), "credits": 1},
        "POST",
        "/search",
        ("x-api-key", MARKER),
    ),
}

VENDORS = tuple(name for name in KINDS if name != "gateway")

ROWS = [("One", "https://a.example/1", "first"), ("Two", "https://b.example/2", "second")]

QUERY = SearchQuery("hi")

EVERYTHING = SearchQuery(
    "hi",
    count=7,
    freshness="pw",
    country="de",
    search_lang="de",
    safesearch="strict",
    include_domains=("a.example",),
    exclude_domains=("b.a.example",),
)


async def urls(provider: SearchProvider, query: SearchQuery = QUERY) -> list[str]:
    return [row.url for row in (await provider.search(query)).results]
