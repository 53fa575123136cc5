"""The servers of bench.gateway: ours, and the same route in bare Starlette and in FastAPI, each a process of its own.

The peers check a key, read and check the body, ask the vendor, process the rows and render: with our own pure
functions, so that the frame around them is what differs. They have no limits, cache, counters, log or time limit.
"""

from __future__ import annotations

import hmac
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.gateway import serve as gateway
from runvil.gateway.keys import digest
from runvil.gateway.refusals import Refusal
from runvil.gateway.request import Defaults, read_request, vendor_query
from runvil.gateway.rows import RowRules, post_process, rendered
from runvil.gateway.vendors import Vendor
from runvil.ports import SearchProvider
from runvil.providers import BraveProvider

KEY = "rv_bench_" + "0" * 64
SEARCH = "/v1/tools/web_search"
ROWS = 20

CONFIGURATION = """
[server]
bind = "127.0.0.1:{port}"
api_key = "{key}"
[server.limits]
rate = "1000000/minute"
quota = "1000000/day"
[server.cache]
ttl = "{ttl}"
[tools.web_search]
provider = "brave"
api_key = "vendor-key"
base_url = "{root}"
"""


def rows() -> list[dict[str, Any]]:
    """A vendor's rows of ordinary size."""
    words = "a result &amp; what it says, in some more words than a title has, as results do " * 2
    return [
        {"title": f"Result {at}", "url": f"https://site{at}.example/page?utm_source=x&id={at}", "description": words}
        for at in range(ROWS)
    ]


class Instant:
    """A vendor that takes no time: what is left is the server alone."""

    def __init__(self) -> None:
        self._rows = tuple(SearchResult(row["title"], row["url"], row["description"]) for row in rows())

    async def search(self, query: SearchQuery) -> SearchResults:
        return SearchResults(query.query, self._rows)


def provider(root: str) -> SearchProvider:
    return BraveProvider("vendor-key", base_url=root) if root else Instant()


def ours(port: int, root: str, ttl: str = "0") -> None:
    path = Path(sys.argv[4])
    path.write_text(CONFIGURATION.format(port=port, key=KEY, root=root or "http://127.0.0.1:9", ttl=ttl))
    gateway.serve(path, lambda one: Vendor(one.name, provider(root)))


def cached(port: int, root: str) -> None:
    ours(port, root, ttl="10m")


def _known(header: str | None) -> bool:
    return hmac.compare_digest(digest((header or "").removeprefix("Bearer ")), digest(KEY))


def starlette(port: int, root: str) -> None:
    vendor, defaults = provider(root), Defaults()

    async def search(request: Request) -> Response:
        if not _known(request.headers.get("authorization")):
            return JSONResponse({"error": {"message": "unauthorized"}}, 401)
        try:
            query = read_request(await request.body(), defaults)
        except Refusal as refusal:
            return Response(refusal.body(), refusal.status, media_type="application/json")
        found = await vendor.search(vendor_query(query, defaults))
        return Response(rendered(query, found, RowRules())[1], media_type="application/json")

    _run(Starlette(routes=[Route(SEARCH, search, methods=["POST"])]), port)


def fastapi(port: int, root: str) -> None:
    from bench.gateway_fastapi import application  # noqa: PLC0415  needs a package that may be absent

    defaults = Defaults()

    async def found(vendor: SearchProvider, query: SearchQuery) -> dict[str, Any]:
        answer = await vendor.search(vendor_query(query, defaults))
        return {
            "query": query.query,
            "results": [asdict(row) for row in post_process(answer.results, query, RowRules())],
        }

    _run(application(provider(root), found, _known), port)


def _run(app: Any, port: int) -> None:
    uvicorn.run(app, host="127.0.0.1", port=port, log_config=None, access_log=False, server_header=False)


SERVERS: dict[str, Callable[[int, str], None]] = {
    "runvil gateway": ours,
    "runvil gateway, from its cache": cached,
    "bare starlette": starlette,
    "fastapi": fastapi,
}

if __name__ == "__main__":  # NAME PORT ROOT CONFIGURATION
    SERVERS[sys.argv[1]](int(sys.argv[2]), sys.argv[3])
