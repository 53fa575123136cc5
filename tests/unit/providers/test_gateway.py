"""The gateway provider beyond its vectors: what makes it unusable, and what an error's body may do to a message."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from runvil import SearchError, SearchQuery, SearchResult
from runvil.providers import GatewayProvider
from tests.support.vendors import DROP, HANG, MARKER, FakeVendor, Told
from tests.unit.providers.asking import EVERYTHING, QUERY, SHORT


async def failure(*script: Any, **options: Any) -> tuple[str, str]:
    async with FakeVendor(*script) as vendor:
        provider = GatewayProvider(f"{vendor.root}/v1", MARKER, **options)
        with pytest.raises(SearchError) as caught:
            await provider.search(QUERY)
        await provider.aclose()
    return str(caught.value.kind), caught.value.message


UNUSABLE = {
    "nothing": (None, None),
    "no key": ("https://gateway.example/v1", None),
    "an empty key": ("https://gateway.example/v1", ""),
    "a key with a line break": ("https://gateway.example/v1", f"{MARKER}\r\nX: y"),
    "a key beyond ASCII": ("https://gateway.example/v1", f"{MARKER}é"),
    "no address": (None, MARKER),
    "an empty address": ("", MARKER),
    "a bare host": ("gateway.example/v1", MARKER),
    "another scheme": ("ftp://gateway.example/v1", MARKER),
    "no host": ("https://", MARKER),
    "credentials": (f"https://user:{MARKER}@gateway.example/v1", MARKER),
    "a query": ("https://gateway.example/v1?a=b", MARKER),
    "an empty query": ("https://gateway.example/v1?", MARKER),
    "a fragment": ("https://gateway.example/v1#x", MARKER),
    "the clear": ("http://gateway.example/v1", MARKER),
    "an address in the clear": ("http://10.0.0.5/v1", MARKER),
    "no text": (5, MARKER),
    "no text for a key": ("https://gateway.example/v1", 5),
}


@pytest.mark.parametrize("case", UNUSABLE)
async def test_an_unusable_gateway_is_made_and_fails_when_it_is_asked(
    case: str, caplog: pytest.LogCaptureFixture
) -> None:
    root, key = UNUSABLE[case]
    with caplog.at_level(logging.DEBUG):
        provider = GatewayProvider(root, key)  # type: ignore[arg-type]
        with pytest.raises(SearchError) as caught:
            await provider.search(QUERY)
    await provider.aclose()
    assert (caught.value.kind, caught.value.message) == ("Transport", "request failed")
    assert "gateway" in caplog.text
    assert MARKER not in caplog.text
    assert MARKER not in repr(provider)


@pytest.mark.parametrize(
    "root", ["http://127.0.0.1:1/v1", "http://[::1]:1/v1", "http://localhost:1/v1", "https://g.example"]
)
async def test_the_clear_is_for_this_machine_alone(root: str, caplog: pytest.LogCaptureFixture) -> None:
    GatewayProvider(root, MARKER)
    assert caplog.text == ""


async def test_a_proxy_is_not_this_machine() -> None:
    provider = GatewayProvider("http://127.0.0.1:1/v1", MARKER, proxy="http://127.0.0.1:2")
    assert vars(provider)["_client"] is None


async def test_everything_that_is_set_is_sent_and_nothing_else() -> None:
    async with FakeVendor(Told({"results": []})) as vendor:
        provider = GatewayProvider(f"{vendor.root}/v1///", MARKER)
        await provider.search(EVERYTHING)
        await provider.aclose()
    (asked,) = vendor.asked
    assert asked.path == "/v1/tools/web_search"
    assert asked.json == {
        "query": "hi", "count": 7, "freshness": "pw", "country": "de", "search_lang": "de", "safesearch": "strict",
        "include_domains": ["a.example"], "exclude_domains": ["b.a.example"],
    }  # fmt: skip


async def test_a_row_comes_as_the_gateway_sent_it() -> None:
    row = {
        "url": "https://a.example/?utm_source=x", "title": "<b>A</b> &amp; B", "description": " two\nlines ",
        "age": "1 day ago", "site_name": "a.example", "extra_snippets": ["one", "two"], "rank": 1,
    }  # fmt: skip
    async with FakeVendor(Told({"query": "ran", "results": [row], "took": 5})) as vendor:
        provider = GatewayProvider(vendor.root, MARKER)
        found = await provider.search(QUERY)
        await provider.aclose()
    assert found.query == "ran"
    assert found.results == (
        SearchResult(
            "<b>A</b> &amp; B",
            "https://a.example/?utm_source=x",
            " two\nlines ",
            "1 day ago",
            "a.example",
            ("one", "two"),
        ),
    )


async def test_an_error_is_quoted_on_one_line_and_cut_at_two_thousand_bytes() -> None:
    body = b"a\nb\rc\td\x00\x1b\x7f\xc2\x85" + b"x" * 3000
    kind, message = await failure(Told(body, status=502))
    quoted = "a\\nb\\rc\\td\\u{0000}\\u{001b}\\u{007f}\\u{0085}" + "x" * (2000 - 12)
    assert (kind, message) == ("Backend", f"backend returned 502: {quoted}")


async def test_a_character_that_the_cut_splits_is_shown_as_lost() -> None:
    _, message = await failure(Told(b"x" * 1999 + "é".encode(), status=500))
    assert message.endswith("x\ufffd")


async def test_an_empty_error_says_so() -> None:
    assert await failure(Told(b"", status=503)) == ("Backend", "backend returned 503: (empty body)")


async def test_a_redirect_is_a_status_and_the_key_goes_nowhere_else() -> None:
    async with FakeVendor(Told({"results": []})) as other:
        away = Told(b"", status=307, headers=[("Location", f"{other.root}/v1/tools/web_search")])
        assert await failure(away) == ("Backend", "backend returned 307: (empty body)")
    assert other.asked == []


@pytest.mark.parametrize("status", [429, 503])
async def test_a_gateway_is_not_asked_again_it_did_that_already(status: int) -> None:
    busy = Told(b"busy", status=status, headers=[("Retry-After", "0")])
    async with FakeVendor(busy) as vendor:
        provider = GatewayProvider(vendor.root, MARKER)
        with pytest.raises(SearchError, match=f"backend returned {status}: busy"):
            await provider.search(QUERY)
        await provider.aclose()
    assert len(vendor.asked) == 1


@pytest.mark.parametrize(
    ("script", "kind", "message"),
    [
        (HANG, "Transport", "request failed"),
        (DROP, "Transport", "request failed"),
        (Told(hang=True), "Transport", "reading response failed"),
        (Told(cut=True), "Transport", "reading response failed"),
        (Told(b"no", status=500, hang=True), "Backend", "backend returned 500, and its error body could not be read"),
        (Told(b" " * 262_145), "Backend", "response body exceeded 262144 bytes"),
        (Told(b" " * 262_145, packed=True), "Backend", "response body exceeded 262144 bytes"),
        (Told(b"\xff" * 262_145), "Backend", "response body exceeded 262144 bytes"),
        (Told(b'{"results": [], "x": NaN}'), "Backend", "malformed search response"),
        (Told(b"[" * 100_000), "Backend", "malformed search response"),
        (Told({"results": [{"url": "\ud800"}]}), "Backend", "malformed search response"),
        (Told({"query": None, "results": []}), "Backend", "malformed search response"),
        (Told({"results": [{"url": "u", "age": 5}]}), "Backend", "malformed search response"),
        (Told({"results": [{"url": "u", "extra_snippets": None}]}), "Backend", "malformed search response"),
        (Told({"results": [{"url": "u", "extra_snippets": [1]}]}), "Backend", "malformed search response"),
        (Told({"results": ["u"]}), "Backend", "malformed search response"),
    ],
)
async def test_every_failure_has_its_sentence(script: Any, kind: str, message: str) -> None:
    assert await failure(script, deadline=SHORT) == (kind, message)


async def test_hosts_that_were_not_asked_for_stay_out_whatever_the_gateway_sends() -> None:
    rows = [{"url": "https://a.example/"}, {"url": "https://b.example/"}, {"url": " "}]
    async with FakeVendor(Told({"results": rows})) as vendor:
        provider = GatewayProvider(vendor.root, MARKER)
        found = await provider.search(SearchQuery("hi", include_domains=("a.example",)))
        await provider.aclose()
    assert [row.url for row in found.results] == ["https://a.example/", " "]
