"""The routes as a client meets them: envelopes, codes, failover, limits, caps; and that no secret ever comes out."""

from __future__ import annotations

import asyncio
import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from runvil.core.failures import SearchError, ToolErrorKind
from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.gateway import app, search
from runvil.gateway import vendors as vending
from runvil.gateway.logs import JsonLines, start_logging
from runvil.gateway.refusals import CODES
from runvil.providers import VendorFailed
from tests.gateway.support import (
    BEARER,
    LOST,
    SEARCH,
    TOKEN,
    VENDOR_KEY,
    Scripted,
    bearer,
    client_table,
    config,
    found,
    opened,
    scripts,
    text,
)
from tests.support.vendors import DROP, FakeVendor, Told

FAILOVER = 'failover = ["tavily"]\n[tools.web_search.providers.tavily]\napi_key = "second-marker-key-1b2c"\n'


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What the process would write to stderr; the process's logging is put back."""
    root, stream = logging.getLogger(), io.StringIO()
    before = (root.handlers[:], root.level)
    for switch in ("_srcfile", "logThreads", "logProcesses", "logMultiprocessing"):
        monkeypatch.setattr(logging, switch, getattr(logging, switch))
    start_logging(JsonLines((VENDOR_KEY,)), stream)
    yield stream
    root.handlers[:], root.level = before


def lines(log: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


# --- the door ---


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": "Bearer "},
        {"X-Api-Key": TOKEN},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", SEARCH), ("GET", "/metrics"), ("GET", "/openapi.json"), ("GET", "/x"), ("PUT", SEARCH)],
)
async def test_without_a_key_there_is_nothing_but_health(method: str, path: str, headers: dict[str, str]) -> None:
    async with opened(text()) as gateway:
        answer = await gateway.http.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
        assert (await gateway.http.get("/health")).json() == {"status": "serving"}


async def test_two_authorization_headers_are_none() -> None:
    async with opened(text(), scripts(brave=Scripted())) as gateway:
        twice = [("Authorization", f"Bearer {TOKEN}"), ("Authorization", f"Bearer {TOKEN}")]
        answer = await gateway.http.post(SEARCH, json={"query": "q"}, headers=twice)
        assert answer.status_code == 401


async def test_the_scheme_is_read_in_any_case() -> None:
    async with opened(text(), scripts(brave=Scripted())) as gateway:
        assert (await gateway.search(headers={"authorization": f"bEARER {TOKEN}"})).status_code == 200


async def test_who_guesses_is_refused_and_who_holds_a_strong_key_is_not() -> None:
    key, table = client_table("agents")
    async with opened(text(server=table), scripts(brave=Scripted())) as gateway:
        for _ in range(10):
            assert (await gateway.search(headers=bearer("wrong"))).status_code == 401
        answer = await gateway.search(headers=BEARER)  # the right one, but one that could be guessed
        assert (answer.status_code, answer.json()["error"]["code"]) == (429, "too_many_attempts")
        assert int(answer.headers["retry-after"]) in range(1, 61)
        assert (await gateway.search(headers=bearer(key))).status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "not_found"),
        ("POST", SEARCH + "/", 404, "not_found"),
        ("GET", SEARCH, 405, "method_not_allowed"),
        ("DELETE", SEARCH, 405, "method_not_allowed"),
        ("POST", "/metrics", 405, "method_not_allowed"),
    ],
)
async def test_what_is_no_route_is_told_in_the_envelope(method: str, path: str, status: int, code: str) -> None:
    async with opened(text()) as gateway:
        answer = await gateway.http.request(method, path, headers=BEARER)
        assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
        assert status != 405 or answer.headers["allow"]


# --- the body ---


async def test_a_body_larger_than_the_cap_is_refused_and_one_at_the_cap_is_read() -> None:
    async with opened(text(), scripts(brave=Scripted())) as gateway:
        body = b'{"query":"q"}'
        for size, status in ((65_536, 200), (65_537, 413)):
            padded = body + b" " * (size - len(body))
            answer = await gateway.http.post(SEARCH, content=padded, headers=BEARER)
            assert answer.status_code == status


async def test_a_body_of_another_type_is_refused() -> None:
    async with opened(text(), scripts(brave=Scripted())) as gateway:
        for declared, status in (
            ("text/plain", 415),
            ("application/json; charset=utf-8", 200),
            ("APPLICATION/JSON", 200),
        ):
            headers = {**BEARER, "Content-Type": declared}
            assert (await gateway.http.post(SEARCH, content=b'{"query":"q"}', headers=headers)).status_code == status


async def test_a_body_that_does_not_arrive_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "BODY_TIME", 0.01)

    async def never() -> Any:
        yield b'{"que'
        await asyncio.Event().wait()

    async with opened(text()) as gateway:
        answer = await gateway.http.post(SEARCH, content=never(), headers=BEARER)
        assert (answer.status_code, answer.json()["error"]["code"]) == (408, "request_timeout")


# --- the vendor ---


@pytest.mark.parametrize(
    ("script", "status", "code"),
    [
        (Told(status=400), 400, "upstream_client_error"),
        (Told(status=401), 401, "upstream_client_error"),
        (Told(status=422), 422, "upstream_client_error"),
        (Told(status=429, headers=[("Retry-After", "9" * 400)]), 429, "upstream_client_error"),
        (Told(status=500), 502, "upstream_error"),
        (Told(status=503), 502, "upstream_error"),
        (Told(status=302, headers=[("Location", "http://192.0.2.1/")]), 502, "upstream_protocol"),
        (Told(b"<html>", kind="text/html"), 502, "upstream_protocol"),
        (Told(b"{"), 502, "upstream_protocol"),
        (Told({"web": {"results": "x"}}), 502, "upstream_protocol"),
        (Told({}, cut=True), 502, "upstream_transport"),
        (DROP, 502, "upstream_transport"),
    ],
)
async def test_a_vendors_failure_becomes_one_of_our_own_sentences(script: object, status: int, code: str) -> None:
    async with FakeVendor(script) as vendor, opened(text(vendor.root)) as gateway:
        answer = await gateway.search()
    assert answer.status_code == status
    error = answer.json()["error"]
    assert (error["code"], error["type"]) == (code, CODES[code].type)
    assert error["message"].startswith("the search vendor")


async def test_a_vendor_that_hangs_is_given_up_at_the_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    make = scripts(brave=Scripted(hold=asyncio.Event()))
    monkeypatch.setattr(vending, "DEADLINE", 0.02)
    async with opened(text(), make) as gateway:
        answer = await gateway.search()
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_transport")


async def test_a_vendors_time_to_come_back_is_passed_on() -> None:
    for seconds, told in ((7.2, "8"), (0.0, "1"), (float("inf"), str(366 * 86_400))):
        limited = Scripted(VendorFailed("slow down", 429, seconds))
        async with opened(text(), scripts(brave=limited)) as gateway:
            answer = await gateway.search()
        assert (answer.status_code, answer.headers["retry-after"]) == (429, told)


@pytest.mark.parametrize("error", [ValueError("secret words"), KeyError("q"), RecursionError()])
async def test_an_adapter_that_breaks_is_no_defect_of_the_clients(error: Exception, log: io.StringIO) -> None:
    async with opened(text(), scripts(brave=Scripted(error))) as gateway:
        answer = await gateway.search()
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_error")
    told = next(line for line in lines(log) if line["event"] == "vendor failed")
    assert told["error"] == type(error).__name__
    assert told["where"]
    assert "secret words" not in log.getvalue()


async def test_the_next_vendor_answers_when_the_first_fails() -> None:
    first, second = Scripted(LOST), Scripted(found("https://e.com/"))
    async with opened(text(tool=FAILOVER), scripts(brave=first, tavily=second)) as gateway:
        answer = await gateway.search()
        metrics = (await gateway.http.get("/metrics", headers=BEARER)).text
    assert [row["url"] for row in answer.json()["results"]] == ["https://e.com/"]
    assert 'vendor_searches_total{outcome="upstream_transport",vendor="brave"} 1.0' in metrics
    assert 'vendor_searches_total{outcome="ok",vendor="tavily"} 1.0' in metrics


async def test_when_all_fail_the_first_ones_failure_is_told() -> None:
    first, second = Scripted(VendorFailed("no", 402)), Scripted(LOST)
    async with opened(text(tool=FAILOVER), scripts(brave=first, tavily=second)) as gateway:
        assert (await gateway.search()).status_code == 402
    assert (len(first.asked), len(second.asked)) == (1, 1)


async def test_a_vendor_that_hangs_leaves_the_next_its_part_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vending, "DEADLINE", 0.2)
    first, second = Scripted(hold=asyncio.Event()), Scripted(found("https://e.com/"))
    async with opened(text(tool=FAILOVER), scripts(brave=first, tavily=second)) as gateway:
        assert (await gateway.search()).status_code == 200


async def test_two_dates_go_only_to_a_vendor_that_knows_them() -> None:
    first, second = Scripted(LOST), Scripted()
    asked = {"query": "q", "freshness": "2024-01-01to2024-02-01"}
    async with opened(text(tool=FAILOVER), scripts(brave=first, tavily=second)) as gateway:
        assert (await gateway.search(asked)).status_code == 502
    assert second.asked == []
    only = text().replace('"brave"', '"tavily"')
    async with opened(only, scripts(tavily=second)) as gateway:
        answer = await gateway.search(asked)
    assert answer.json()["error"]["message"] == (
        "malformed request: web_search: no vendor here knows a freshness of two dates"
    )


async def test_an_empty_answer_is_an_answer() -> None:
    async with opened(text(tool=FAILOVER), scripts(brave=Scripted(), tavily=Scripted(LOST))) as gateway:
        assert (await gateway.search()).content == b'{"query":"hi","results":[]}'


async def test_more_searches_at_once_than_there_may_be_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MAX_AT_ONCE", 2)
    slow = Scripted(hold=asyncio.Event())
    async with opened(text(), scripts(brave=slow)) as gateway:
        waiting = [asyncio.ensure_future(gateway.search({"query": f"q{at}"})) for at in range(2)]
        for _ in waiting:
            await slow.began.get()
        answer = await gateway.search({"query": "one more"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "queue_full")
        assert slow.hold is not None
        slow.hold.set()
        assert {one.status_code for one in await asyncio.gather(*waiting)} == {200}
        assert (await gateway.search({"query": "one more"})).status_code == 200


# --- cache and limits, from outside ---


async def test_a_question_is_asked_once_and_a_failure_again() -> None:
    vendor = Scripted(LOST)
    async with opened(text(), scripts(brave=vendor)) as gateway:
        assert (await gateway.search()).status_code == 502
        vendor.answer = found("https://e.com/")
        first = await gateway.search()
        second = await gateway.search({"query": " hi ", "count": 10})
        metrics = (await gateway.http.get("/metrics", headers=BEARER)).text
    assert first.content == second.content
    assert len(vendor.asked) == 2
    assert 'runvil_gateway_cache_total{source="hit"} 1.0' in metrics
    assert 'runvil_gateway_cache_total{source="miss"} 1.0' in metrics


async def test_each_client_has_its_limit_and_what_is_malformed_costs_none_of_it() -> None:
    one, table = client_table("one", rate="2/minute")
    other, second_table = client_table("other", quota="1/day")
    async with opened(text(server=table + second_table), scripts(brave=Scripted())) as gateway:
        for _ in range(5):
            assert (await gateway.search({"query": ""}, bearer(one))).status_code == 400
        statuses = [(await gateway.search(headers=bearer(one))).status_code for _ in range(3)]
        assert statuses == [200, 200, 429]
        assert (await gateway.search(headers=bearer(other))).status_code == 200
        answer = await gateway.search(headers=bearer(other))
        assert (answer.json()["error"]["code"], answer.headers["retry-after"]) == ("quota_exceeded", "86400")
        assert (await gateway.search()).status_code == 200


# --- a changed configuration ---


async def test_a_revoked_key_is_worth_nothing_and_the_windows_stay() -> None:
    one, first_table = client_table("one", rate="1/minute")
    other, second_table = client_table("other")
    make = scripts(brave=Scripted())
    async with opened(text(server=first_table + second_table), make) as gateway:
        assert (await gateway.search(headers=bearer(one))).status_code == 200
        kept = gateway.gateway.state.search
        gateway.gateway.apply(config(text(server=first_table)))
        assert (await gateway.search(headers=bearer(other))).status_code == 401
        assert (await gateway.search(headers=bearer(one))).status_code == 429
        assert gateway.gateway.state.search is kept


async def test_what_is_under_way_ends_with_the_vendor_it_began_with() -> None:
    slow = Scripted(found("https://old.com/"), hold=asyncio.Event())
    made = [slow, Scripted(found("https://new.com/"))]
    async with opened(text(), lambda one: vending.Vendor(one.name, made.pop(0))) as gateway:
        waiting = asyncio.ensure_future(gateway.search())
        await slow.began.get()
        gateway.gateway.apply(config(text(tool="max_per_host = 1")))
        assert (await gateway.search()).json()["results"][0]["url"] == "https://new.com/"
        assert slow.closed == 0
        assert slow.hold is not None
        slow.hold.set()
        assert (await waiting).json()["results"][0]["url"] == "https://old.com/"
    assert slow.closed == 1


# --- secrets and logs ---

LEAKS = [
    Told(
        {"web": {"results": [{"title": VENDOR_KEY, "url": f"https://e.com/{VENDOR_KEY}", "description": VENDOR_KEY}]}}
    ),
    Told(b'{"web":{"results":[{"title":"\\u0070lanted-marker-key-7f3a9","url":"https://e.com/"}]}}'),
    Told({"error": {"detail": VENDOR_KEY, "code": VENDOR_KEY}}, status=422),
    Told(VENDOR_KEY.encode(), status=500),
    Told(VENDOR_KEY.encode()),
    Told({}, headers=[("X-Echo", VENDOR_KEY)]),
    DROP,
]


@pytest.mark.parametrize("script", LEAKS)
async def test_the_vendors_key_is_in_no_answer_no_line_no_metric_and_no_repr(script: object, log: io.StringIO) -> None:
    async with FakeVendor(script) as vendor, opened(text(vendor.root)) as gateway:
        answers = [
            await gateway.search(),
            await gateway.http.get("/metrics", headers=BEARER),
            await gateway.http.get("/openapi.json", headers=BEARER),
        ]
        state = gateway.gateway.state
        assert state.search is not None
        inner = state.search._vendors.vendors
        shown = [repr(state), repr(vars(gateway.gateway)), repr(inner), repr(state.config.search), log.getvalue()]
        assert vendor.asked[0].headers["x-subscription-token"] == VENDOR_KEY
    shown += [f"{answer.headers!r} {answer.text}" for answer in answers]
    assert [text for text in shown if VENDOR_KEY in text] == []


async def test_a_query_is_in_no_line_unless_it_is_asked_for(log: io.StringIO) -> None:
    async with FakeVendor(DROP) as vendor, opened(text(vendor.root)) as gateway:
        await gateway.search({"query": "private words"})
        await gateway.search({"query": "private words", "country": "private"})
        await gateway.http.get("/private", headers=BEARER)
    assert "private" not in log.getvalue()
    async with opened(text(server="log_queries = true"), scripts(brave=Scripted())) as gateway:
        await gateway.search({"query": "private words"})
    assert lines(log)[-1]["query"] == "private words"


async def test_every_request_has_one_line_that_names_it(log: io.StringIO) -> None:
    key, table = client_table("agents")
    async with opened(text(server=table), scripts(brave=Scripted(found("https://e.com/")))) as gateway:
        answer = await gateway.search(headers=bearer(key))
    (line,) = lines(log)
    expected = {
        "event": "request", "client": "agents", "route": SEARCH, "status": 200, "code": "ok", "source": "miss",
        "vendor": "brave", "rows": 1,
    }  # fmt: skip
    assert {name: line[name] for name in expected} == expected
    assert line["request_id"] == answer.headers["x-request-id"]
    assert key not in log.getvalue()


async def test_a_defect_of_ours_is_one_sentence_and_a_line_with_its_place(
    log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> SearchQuery:
        raise RuntimeError("private words")

    monkeypatch.setattr(app, "read_request", broken)
    async with opened(text()) as gateway:
        answer = await gateway.search()
    assert (answer.status_code, answer.json()["error"]) == (
        500,
        {"message": "the gateway failed", "type": "server_error", "code": "internal_error"},
    )
    told = next(line for line in lines(log) if line["event"] == "request failed")
    assert (told["error"], bool(told["where"])) == ("RuntimeError", True)
    assert "private" not in log.getvalue()


async def test_a_row_that_is_no_text_is_a_defect_and_no_answer() -> None:
    wrong = SearchResults("q", (SearchResult("t", "https://e.com/", "d", age=5),))  # type: ignore[arg-type]
    async with opened(text(), scripts(brave=Scripted(wrong))) as gateway:
        assert (await gateway.search()).json()["error"]["code"] == "internal_error"


# --- the document ---


async def test_the_document_names_every_code_and_every_route() -> None:
    async with opened(text()) as gateway:
        document = (await gateway.http.get("/openapi.json", headers=BEARER)).json()
    assert set(document["paths"]) == {SEARCH, "/health", "/metrics", "/openapi.json"}
    responses = document["paths"][SEARCH]["post"]["responses"]
    told = " ".join(response["description"] for response in responses.values())
    assert [code for code in CODES if code not in told] == ["method_not_allowed"]
    assert document["components"]["schemas"]["Error"]["properties"]["error"]["properties"]["code"]["enum"] == list(
        CODES
    )


def test_a_vendor_that_says_no_status_is_not_understood() -> None:
    refusal = vending._refusal(SearchError(ToolErrorKind.BACKEND, "no"))
    assert (refusal.status, refusal.code) == (502, "upstream_protocol")
