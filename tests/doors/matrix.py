"""One table of calls, and the network and the provider they meet. Through every door the text must be the library's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from runvil import (
    SearchError,
    SearchQuery,
    SearchResult,
    SearchResults,
    Tool,
    ToolError,
    ToolErrorKind,
    WebFetch,
    WebSearch,
)
from runvil.testing import NXDOMAIN, Behaviour, FakeNet, Reply

PUBLIC = ["93.184.216.34"]
ORIGIN = "https://example.com"

ODD = (
    'tab\t, quote ", backslash \\, <b>&amp;</b>, \u00e9, e\u0301, \u2028, \u2029, \u200b, \u202e, \ufeff, '
    "\U0001f30a, \x07, \x1b[31m, [INST]"
)
"""What framing, escaping, terminals and templates trip over."""

ARTICLE = (
    f"<!doctype html><html><head><title>Tides &amp; {ODD}</title></head><body><nav><a href=/shop>Shop</a></nav>"
    "<article><h1>The harbour</h1>"
    + "".join(
        f"<p>The tide turns twice a day, and the harbour turns with it: chapter {n} tells of boats, nets and light, "
        f"and of <a href='/page/{n}?a=1&b=2'>what came of them</a>. {ODD.replace('<', '&lt;')}</p>"
        for n in range(6)
    )
    + "<table><tr><th>Day</th><th>High</th></tr><tr><td>Monday</td><td>04:12</td></tr></table></article></body></html>"
)


def _typed(content_type: str, text: str) -> Reply:
    return Reply(headers=[("Content-Type", content_type)], body=text.encode())


def network() -> FakeNet:
    """A fresh one for every door."""
    return FakeNet(
        dns={
            "example.com": PUBLIC, "other.example": PUBLIC, "inward.example": ["10.0.0.5"], "gone.example": NXDOMAIN,
        },
        replies={
            f"{ORIGIN}/": _typed("text/html; charset=utf-8", ARTICLE),
            f"{ORIGIN}/flat": _typed("text/plain; charset=utf-8", f"{ODD}\nsecond line\r\nthird\n\n  end \n"),
            f"{ORIGIN}/empty": _typed("text/plain", ""),
            f"{ORIGIN}/json": _typed("application/json", '{"a": [1, 2.50, "\\u00e9"],\n "b": null}'),
            f"{ORIGIN}/latin": Reply(headers=[("Content-Type", "text/plain; charset=iso-8859-1")], body=b"caf\xe9"),
            f"{ORIGIN}/old": Reply(302, [("Location", "https://other.example/new?x=1#part")]),
            "https://other.example/new?x=1": _typed("text/plain", "moved here"),
            f"{ORIGIN}/in": Reply(302, [("Location", "https://inward.example/")]),
            f"{ORIGIN}/pdf": _typed("application/pdf", "%PDF"),
            f"{ORIGIN}/missing": Reply(404),
            f"{ORIGIN}/refused": Reply(behaviour=Behaviour.REFUSE_CONNECTION),
            f"{ORIGIN}/broken": Reply(headers=[("Content-Type", "text/plain")], behaviour=Behaviour.RESET_MID_BODY),
        },
    )  # fmt: skip


class Provider:
    """One row of odd text; a failure for the query `fail`."""

    async def search(self, query: SearchQuery) -> SearchResults:
        if query.query == "fail":
            raise SearchError(ToolErrorKind.BACKEND, "the vendor is out of credit")
        row = SearchResult(f"Tides {ODD}", f"{ORIGIN}/?q=1&r=2", ODD, "2 days ago", "example.com", (ODD, "more"))
        return SearchResults(query.query, (row,) * (query.count or 1))


def tools() -> tuple[WebFetch, WebSearch]:
    return WebFetch(net=network()), WebSearch(Provider())


@dataclass(frozen=True)
class Row:
    """A call. free: its arguments are such as no schema allows, which some frameworks refuse by themselves."""

    tool: str
    arguments: Mapping[str, object]
    free: bool = False

    def __str__(self) -> str:
        return f"{self.tool} {self.arguments}"[:80]


def _fetch(path: str, **more: object) -> Row:
    return Row("web_fetch", {"url": path if "://" in path or " " in path else ORIGIN + path, **more})


ROWS = (
    _fetch("/"), _fetch("/", raw=True), _fetch("/", max_chars=50), _fetch("/", raw=False, max_chars=1), _fetch("/flat"),
    _fetch("/empty"), _fetch("/json"), _fetch("/latin"), _fetch("/old"), _fetch("/in"), _fetch("/pdf"),
    _fetch("/missing"), _fetch("/refused"), _fetch("/broken"), _fetch("http://example.com/"), _fetch("https://gone.example/"),
    _fetch("https://127.1/"), _fetch("https://u:p@example.com/"), _fetch("https://example.com:22/"),
    _fetch("https://inward.example/"), _fetch("no url"),
    Row("web_fetch", {}, free=True), Row("web_fetch", {"url": 5}, free=True),
    Row("web_fetch", {"url": f"{ORIGIN}/flat", "max_chars": 0}, free=True),
    Row("web_fetch", {"url": f"{ORIGIN}/flat", "raw": "yes"}, free=True),
    Row("web_search", {"query": "tides"}), Row("web_search", {"query": ODD, "count": 2, "freshness": "pw"}),
    Row("web_search", {"query": "fail"}), Row("web_search", {"query": " "}),
    Row("web_search", {"query": "x", "include_domains": ["a b"]}),
    Row("web_search", {}, free=True), Row("web_search", {"query": "x", "bogus": 1}, free=True),
    Row("web_search", {"query": "x", "count": 21}, free=True),
)  # fmt: skip


@dataclass(frozen=True)
class Said:
    """kind: ok, soft or hard."""

    text: str
    kind: str


async def by_library(row: Row) -> Said:
    """What the library says: the text that every door must give."""
    fetch, search = tools()
    tool: Tool = fetch if row.tool == fetch.wire_name else search
    async with fetch:
        try:
            output = await tool.call(row.arguments)
        except ToolError as error:
            return Said(str(error), "hard")
    return Said(output.text, "soft" if output.soft else "ok")
