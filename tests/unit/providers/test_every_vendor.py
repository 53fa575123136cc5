"""What holds for every provider over HTTP: the request, the rows, and that no failure looks like an empty list."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from runvil import SearchError, SearchQuery
from runvil.providers import VendorFailed
from tests.support.vendors import DROP, HANG, MARKER, FakeVendor, Told
from tests.unit.providers.asking import IN_TIME, KINDS, QUERY, ROWS, SHORT, VENDORS, urls

every_kind = pytest.mark.parametrize("name", KINDS)
every_vendor = pytest.mark.parametrize("name", VENDORS)


async def answered(name: str, *script: Any, query: SearchQuery = QUERY, **options: Any) -> list[str]:
    async with FakeVendor(*script) as vendor:
        provider = KINDS[name].provider(vendor.root, **options)
        try:
            async with asyncio.timeout(IN_TIME):
                return await urls(provider, query)
        finally:
            await provider.aclose()


async def failed(name: str, *script: Any, **options: Any) -> SearchError:
    with pytest.raises(SearchError) as caught:
        await answered(name, *script, **options)
    assert MARKER not in str(caught.value)
    return caught.value


@every_kind
async def test_a_search_is_one_request_as_the_vendor_documents_it(name: str) -> None:
    async with FakeVendor(Told(KINDS[name].answer(ROWS))) as vendor:
        provider = KINDS[name].provider(vendor.root)
        found = await provider.search(QUERY)
        await provider.aclose()
    (asked,) = vendor.asked
    KINDS[name].checks(asked)
    assert found.query == "hi"
    assert [(row.title, row.url, row.description) for row in found.results] == ROWS


@every_kind
async def test_what_was_not_asked_for_is_not_sent(name: str) -> None:
    always = {
        "gateway": {"query": "hi"},
        "brave": {"q": "hi", "extra_snippets": "true"},
        "searxng": {"q": "hi", "format": "json", "pageno": "1"},
        "tavily": {"query": "hi"},
        "exa": {"query": "hi", "contents": {"highlights": True}},
        "kagi": {"query": "hi", "workflow": "search"},
        "serper": {"q": "hi"},
    }
    async with FakeVendor(Told(KINDS[name].answer([]))) as vendor:
        provider = KINDS[name].provider(vendor.root)
        assert await urls(provider) == []
        await provider.aclose()
    (asked,) = vendor.asked
    assert (asked.json if asked.body else asked.params) == always[name]


@every_kind
async def test_a_packed_answer_is_read(name: str) -> None:
    assert await answered(name, Told(KINDS[name].answer(ROWS), packed=True)) == [url for _, url, _ in ROWS]


@every_kind
async def test_rows_of_other_hosts_are_left_out_whatever_the_vendor_sends(name: str) -> None:
    rows = [(str(n), url, "") for n, url in enumerate((
        "https://a.example/1", "https://A.EXAMPLE./2", "https://sub.a.example/3", "https://nota.example/4",
        "https://a.example.evil.example/5", "https://bad.a.example/6", "https://a.example@evil.example/7",
    ))]  # fmt: skip
    query = SearchQuery("hi", include_domains=("A.Example.",), exclude_domains=("BAD.a.example",))
    found = await answered(name, Told(KINDS[name].answer(rows)), query=query)
    assert found == ["https://a.example/1", "https://A.EXAMPLE./2", "https://sub.a.example/3"]
    without = await answered(
        name, Told(KINDS[name].answer(rows)), query=SearchQuery("hi", exclude_domains=("example",))
    )
    assert without == []


@every_kind
async def test_hosts_are_compared_as_they_are_looked_up(name: str) -> None:
    rows = [("1", "https://xn--bcher-kva.example/", ""), ("2", "https://BÜCHER.example/x", "")]
    query = SearchQuery("hi", include_domains=("bücher.example",))
    assert len(await answered(name, Told(KINDS[name].answer(rows)), query=query)) == 2


@every_kind
@pytest.mark.parametrize("entry", ["a.example:80", "user@a.example", "a.example?x", "a.example#", "*", "[::1]", '" OR'])
async def test_an_entry_that_is_no_host_name_lets_nothing_through(name: str, entry: str) -> None:
    query = SearchQuery("hi", include_domains=(entry.replace(" ", ""),))
    assert await answered(name, Told(KINDS[name].answer(ROWS)), query=query) == []


@every_vendor
async def test_no_more_rows_than_were_asked_for(name: str) -> None:
    rows = [(str(n), f"https://a.example/{n}", "") for n in range(30)]
    assert len(await answered(name, Told(KINDS[name].answer(rows)), query=SearchQuery("hi", count=3))) == 3
    assert len(await answered(name, Told(KINDS[name].answer(rows)))) == 20


@every_vendor
async def test_markup_and_entities_are_cleaned_once(name: str) -> None:
    row = ("A &amp; <strong>B</strong>", "https://a.example/", "x&lt;b&gt; &amp;amp;\n y\x07<br>z a < b and <div>")
    async with FakeVendor(Told(KINDS[name].answer([row]))) as vendor:
        provider = KINDS[name].provider(vendor.root)
        (found,) = (await provider.search(QUERY)).results
        await provider.aclose()
    assert found.title == "A & B"
    assert found.description == "x<b> &amp; y z a < b and <div>"
    assert found.site_name == "a.example"


@every_vendor
async def test_rows_that_no_model_could_fetch_are_left_out(name: str) -> None:
    rows = [("1", "javascript:alert(1)", ""), ("2", "https://a.example/" + "x" * 2048, ""), ("3", "no address", "")]
    assert await answered(name, Told(KINDS[name].answer(rows))) == []


@every_vendor
async def test_an_address_of_blanks_reaches_the_tool_which_fails_the_search(name: str) -> None:
    assert await answered(name, Told(KINDS[name].answer([("1", "  ", "")]))) == [""]


NO_RESULTS: dict[str, tuple[Told, str]] = {
    "a challenge": (Told(b"<!doctype html><title>Just a moment", status=202, kind="text/html"), "(HTTP 202)"),
    "a block page": (Told(b"<html>blocked</html>", status=403, kind="text/html"), "a block or a challenge"),
    "a rate limit in HTML": (Told(b"<html>slow down", status=429, kind="text/html"), "rate limit is reached"),
    "a rate limit": (Told({"x": 1}, status=429), "rate limit is reached (HTTP 429)"),
    "a rate limit without a body": (Told(b"", status=429), "rate limit is reached (HTTP 429)"),
    "HTML for JSON": (Told(b"<html>hello", kind="text/html; charset=utf-8"), "a web page instead of results"),
    "HTML that says it is JSON": (Told(b"  <html>hello"), "a web page instead of results"),
    "nothing": (Told(b""), "an empty answer"),
    "no content": (Told(b"", status=204), "gave no results (HTTP 204)"),
    "a redirect": (Told(b"", status=302, headers=[("Location", "https://evil.example/")]), "(HTTP 302)"),
    "text": (Told(b"not json"), "malformed"),
    "a list": (Told([]), "malformed"),
    "deep JSON": (Told(b"[" * 100_000), "malformed"),
    "a refused key": (Told({}, status=401), "refused the key"),
    "an outage": (Told(b"", status=503), "overloaded or down (HTTP 503)"),
    "a huge answer": (Told(b" " * (2 * 1024 * 1024 + 1)), "too large"),
    "a bomb": (Told(b" " * (64 * 1024 * 1024), packed=True), "too large"),
}


@every_vendor
@pytest.mark.parametrize("case", NO_RESULTS)
async def test_what_is_no_answer_is_a_failure_that_says_so(name: str, case: str) -> None:
    told, words = NO_RESULTS[case]
    error = await failed(name, told)
    assert error.kind == "Backend"
    assert words in error.message
    assert error.message.startswith(name)
    assert isinstance(error, VendorFailed)
    assert error.status == told.status


@every_vendor
async def test_a_vendor_that_is_not_there_is_a_transport_failure(name: str) -> None:
    async with FakeVendor() as gone:
        root = gone.root
    with pytest.raises(SearchError, match="could not be reached") as caught:
        await KINDS[name].provider(root).search(QUERY)
    assert caught.value.kind == "Transport"


@every_vendor
@pytest.mark.parametrize("script", [HANG, Told(hang=True)], ids=["no answer", "half an answer"])
async def test_a_vendor_that_hangs_is_left_at_the_deadline(name: str, script: object) -> None:
    assert (await failed(name, script, deadline=SHORT)).kind == "Transport"


@every_vendor
@pytest.mark.parametrize("packed", [False, True])
async def test_a_body_that_was_cut_is_never_taken_for_whole(name: str, packed: bool) -> None:
    whole = Told(KINDS[name].answer(ROWS), packed=True).data()
    told = (
        Told(whole[:-12], headers=[("Content-Encoding", "gzip")])
        if packed
        else Told(KINDS[name].answer(ROWS), cut=True)
    )
    error = await failed(name, told)
    assert (error.kind, error.message) == ("Transport", f"{name} broke off its answer")


@every_kind
async def test_a_connection_that_breaks_before_an_answer_is_tried_once_more(name: str) -> None:
    assert await answered(name, DROP, Told(KINDS[name].answer(ROWS))) == [url for _, url, _ in ROWS]


@every_vendor
async def test_it_is_tried_once_more_and_not_for_ever(name: str) -> None:
    async with FakeVendor(DROP) as vendor:
        provider = KINDS[name].provider(vendor.root)
        with pytest.raises(SearchError, match="could not be reached"):
            await provider.search(QUERY)
        await provider.aclose()
    assert len(vendor.asked) == 2


@every_vendor
@pytest.mark.parametrize("status", [429, 503])
async def test_a_vendor_that_says_when_to_come_back_is_asked_again(name: str, status: int) -> None:
    busy = Told({}, status=status, headers=[("Retry-After", "0")])
    assert await answered(name, busy, busy, Told(KINDS[name].answer(ROWS))) == [url for _, url, _ in ROWS]
    error = await failed(name, busy)
    assert error.message.endswith("; try again in 0 s")


@every_vendor
async def test_a_time_to_come_back_beyond_the_deadline_is_told_at_once(name: str) -> None:
    busy = Told({}, status=429, headers=[("Retry-After", "3600")])
    error = await failed(name, busy, Told(KINDS[name].answer(ROWS)))
    assert error.message.endswith("(HTTP 429); try again in 3600 s")
    assert isinstance(error, VendorFailed)
    assert error.retry_after == 3600


@every_vendor
@pytest.mark.parametrize("status", [500, 502, 400])
async def test_no_other_status_is_tried_again(name: str, status: int) -> None:
    async with FakeVendor(Told({}, status=status, headers=[("Retry-After", "0")])) as vendor:
        provider = KINDS[name].provider(vendor.root)
        with pytest.raises(SearchError):
            await provider.search(QUERY)
        await provider.aclose()
    assert len(vendor.asked) == 1


@every_kind
async def test_searches_share_a_connection_and_no_cookie(name: str) -> None:
    told = Told(KINDS[name].answer([]), headers=[("Set-Cookie", "track=me; Path=/")])
    async with FakeVendor(told) as vendor:
        provider = KINDS[name].provider(vendor.root)
        for _ in range(3):
            await provider.search(QUERY)
        await provider.aclose()
    assert vendor.connections == 1
    assert not any("cookie" in asked.headers for asked in vendor.asked)


@every_kind
async def test_many_searches_run_at_once(name: str) -> None:
    async with FakeVendor(Told(KINDS[name].answer(ROWS))) as vendor:
        provider = KINDS[name].provider(vendor.root)
        found = await asyncio.gather(*(urls(provider) for _ in range(20)))
        await provider.aclose()
    assert found == [[url for _, url, _ in ROWS]] * 20


@every_kind
def test_a_provider_serves_one_loop_after_another(name: str) -> None:
    made: list[Any] = []

    async def search(port: int) -> int:
        async with FakeVendor(Told(KINDS[name].answer(ROWS), headers=[("Connection", "close")]), port=port) as vendor:
            if not made:
                made.append(KINDS[name].provider(vendor.root))
            assert await urls(made[0]) == [url for _, url, _ in ROWS]
            return vendor.port

    port = asyncio.run(search(0))
    assert asyncio.run(search(port)) == port


@every_kind
async def test_a_query_that_no_encoding_can_carry_is_asked_all_the_same(name: str) -> None:
    query = SearchQuery("half \ud83d a \x00 character & more=1#x", search_lang="d\ud800", country="\ud800")
    assert await answered(name, Told(KINDS[name].answer(ROWS)), query=query) == [url for _, url, _ in ROWS]


@every_vendor
async def test_half_a_character_in_a_row_does_not_reach_the_model(name: str) -> None:
    body = json.dumps(KINDS[name].answer([("T\ud83d", "https://a.example/", "")])).encode()
    async with FakeVendor(Told(body)) as vendor:
        provider = KINDS[name].provider(vendor.root)
        (row,) = (await provider.search(QUERY)).results
        await provider.aclose()
    assert row.title == "T"


@every_vendor
@pytest.mark.parametrize(
    "error", ["Slow down", {"detail": "Slow down", "message": "Slow down"}, [{"message": "Slow down"}]]
)
async def test_an_error_object_is_a_failure_whatever_its_status(name: str, error: object) -> None:
    failure = await failed(name, Told({"error": error, "message": "Slow down"}))
    assert failure.message in (f"{name} failed: Slow down", f"{name} failed: it does not say why")


WRONG_SHAPES: dict[str, list[object]] = {
    "brave": [{"web": []}, {"web": {"results": {}}}, {"web": {"results": [1]}}],
    "searxng": [{}, {"results": {}}, {"results": ["x"]}],
    "tavily": [{}, {"results": 1}, {"results": [None]}],
    "exa": [{"results": None}, {"results": "x"}, {"results": [[]]}],
    "kagi": [{"data": "x"}, {"data": {"search": {}}}, {"data": {"search": [0]}}],
    "serper": [{"organic": {}}, {"organic": [True]}],
}


@pytest.mark.parametrize(("name", "body"), [(name, body) for name, bodies in WRONG_SHAPES.items() for body in bodies])
async def test_a_wrong_shape_is_malformed(name: str, body: object) -> None:
    assert (await failed(name, Told(body))).message == f"{name} sent a malformed search response"


@pytest.mark.parametrize("name", VENDORS)
async def test_members_of_another_type_are_taken_for_absent(name: str) -> None:
    text = json.dumps(KINDS[name].answer([("TITLE", "https://a.example/", "TEXT")]))
    body = text.replace('"TITLE"', "null").replace('"TEXT"', "5").encode()
    assert await answered(name, Told(body)) == ["https://a.example/"]
