"""The tools that `bench.comparison` asks, each in its own default form: URL in, text out, an exception for a refusal.

Peers are imported when they are asked; none is a dependency.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

Ask = Callable[[str], Awaitable[str]]

CONNECT, READ = 3.0, 10.0
"""Seconds, where a peer wants to be told."""


@dataclass(frozen=True)
class Peer:
    """package: what to install and whose version is shown. ask: one fetch. way: what is called, for the heading."""

    package: str
    ask: Ask
    way: str


async def _runvil(url: str) -> str:
    async with import_module("runvil").WebFetch() as fetch:
        return str(await fetch.fetch(url))


async def _pydantic_ai(url: str) -> str:
    tool: Any = import_module("pydantic_ai.common_tools.web_fetch").web_fetch_tool()
    found = await tool.function(url)
    return str(found["content"] if isinstance(found, Mapping) else found)


async def _mcp_server_fetch(url: str) -> str:
    content, prefix = await import_module("mcp_server_fetch.server").fetch_url(url, "bench")
    return f"{prefix}{content}"


async def _smolagents(url: str) -> str:
    tool: Any = import_module("smolagents").VisitWebpageTool()
    text = str(await asyncio.to_thread(tool.forward, url))
    if text.startswith(("Error fetching", "An unexpected error", "The request timed out")):
        raise ValueError(text)
    return text


async def _trafilatura(url: str) -> str:
    lib: Any = import_module("trafilatura")
    page = await asyncio.to_thread(lib.fetch_url, url)
    if page is None:
        raise ValueError("nothing fetched")
    return str(lib.extract(page, output_format="markdown") or "")


async def _ssrfguard(url: str) -> str:
    policy = import_module("ssrfguard").Policy()
    async with import_module("ssrfguard.httpx").AsyncClient(policy=policy, follow_redirects=True) as client:
        return str((await client.get(url)).text)


async def _drawbridge(url: str) -> str:
    """Its synchronous client: drawbridge 0.1.2's other one fails on every https URL with httpx 0.28.1."""

    def get() -> str:
        with import_module("drawbridge").SyncClient() as client:
            return str(client.get(url).text)

    return await asyncio.to_thread(get)


async def _safehttpx(url: str) -> str:
    return str((await import_module("safehttpx").get(url)).text)


async def _requests_hardened(url: str) -> str:
    lib: Any = import_module("requests_hardened")
    config = lib.Config(
        ip_filter_enable=True,
        ip_filter_allow_loopback_ips=False,
        never_redirect=False,
        default_timeout=(CONNECT, READ),
    )
    answer = await asyncio.to_thread(lib.Manager(config).send_request, "GET", url)
    return str(answer.text)


PEERS: Mapping[str, Peer] = {
    "runvil": Peer("runvil", _runvil, "WebFetch().fetch(url)"),
    "pydantic-ai": Peer("pydantic-ai-slim", _pydantic_ai, "common_tools.web_fetch.web_fetch_tool()"),
    "mcp-server-fetch": Peer("mcp-server-fetch", _mcp_server_fetch, "server.fetch_url(url, user_agent)"),
    "smolagents": Peer("smolagents", _smolagents, "VisitWebpageTool().forward(url)"),
    "trafilatura": Peer("trafilatura", _trafilatura, "fetch_url(url), extract(page)"),
    "ssrfguard": Peer("ssrfguard", _ssrfguard, "httpx.AsyncClient(policy=Policy(), follow_redirects=True).get(url)"),
    "drawbridge": Peer("drawbridge", _drawbridge, "SyncClient().get(url)"),
    "safehttpx": Peer("safehttpx", _safehttpx, "get(url)"),
    "requests-hardened": Peer("requests-hardened", _requests_hardened, "Manager(Config(ip_filter_enable=True, ...))"),
}
"""Tools that give a model a page first, then guards that such a tool could be built on."""

ALSO = ("markdownify", "beautifulsoup4")
"""What the tools above need beside their own packages."""


@dataclass(frozen=True)
class Feature:
    """What a peer has and runvil has not. module, text: where to see it: the text stands in the module's source."""

    what: str
    peer: str
    module: str
    text: str
    here: str


FEATURES = (
    Feature("a list of hosts that may be fetched", "pydantic-ai-slim", "pydantic_ai.common_tools.web_fetch",
            "allowed_domains", "a recipe, without redirects"),
    Feature("the same, in a guard", "drawbridge", "drawbridge._policy", "allow_domains", "the same recipe"),
    Feature("headers of one's own", "pydantic-ai-slim", "pydantic_ai.common_tools.web_fetch",
            "headers: dict[str, str]", "none, ever"),
    Feature("PDF and images, for models that read them", "pydantic-ai-slim", "pydantic_ai.common_tools.web_fetch",
            "BinaryContent(", "refused by name"),
    Feature("reading on where a page was cut", "mcp-server-fetch", "mcp_server_fetch.server", "start_index", "none"),
    Feature("robots.txt", "mcp-server-fetch", "mcp_server_fetch.server", "can_fetch", "not read"),
    Feature("a proxy", "mcp-server-fetch", "mcp_server_fetch", "--proxy-url", "none, ever"),
    Feature("author and date of an article", "trafilatura", "trafilatura.metadata", "def extract_metadata",
            "the title alone"),
    Feature("a charset found by looking", "trafilatura", "trafilatura.utils", "detect_encoding", "the header's alone"),
    Feature("a guard for requests, without a loop", "ssrfguard", "ssrfguard.requests", "class Session",
            "`fetch_sync`, no session"),
    Feature("an observer of each decision", "ssrfguard", "ssrfguard._observer", "Observer", "the debug log"),
)  # fmt: skip
"""Read in the installed source by `python -m bench.comparison --features`."""
