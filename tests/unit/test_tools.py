"""`WebFetch` and `fetch_sync`: what a program gets to hold."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import pickle

import pytest

import runvil
from runvil import FetchConfig, FetchFailure, Page, Tool, ToolError, ToolErrorKind, ToolOutput, WebFetch
from runvil.core.admission import Route
from runvil.core.failures import LookupFailed, StatusFailed
from runvil.testing import NXDOMAIN, Behaviour, FakeNet, FakeResponse, Reply
from tests.support.rendering import InProcess

URL = "https://example.com/p?q=1#part"
NET = {"example.com": ["93.184.216.34"]}
TEXT = [("Content-Type", "text/plain")]
REPLY = Reply(headers=TEXT, body=b"hello")
UNFINISHED = "web_fetch: the fetch task did not finish"


def web_fetch(reply: Reply = REPLY, config: FetchConfig | None = None) -> WebFetch:
    return WebFetch(config, net=FakeNet(NET, {"https://example.com/p?q=1": reply}), renderer=InProcess())


async def test_a_page_is_typed_and_prints_as_the_tools_text() -> None:
    async with web_fetch() as fetch:
        page = await fetch.fetch(URL)
        output = await fetch.call({"url": URL})
    assert page == Page(
        "https://example.com/p?q=1", "hello", False, runvil.core.page.Extraction.PLAIN, 200, "text/plain"
    )
    assert str(page) == output.text == "url: https://example.com/p?q=1\ntruncated: false\nextraction: plain\n\nhello"
    assert output == ToolOutput(output.text, untrusted=True, soft=False)


async def test_a_failure_tells_its_code_its_softness_and_a_redacted_url() -> None:
    async with web_fetch(Reply(status=404)) as fetch:
        with pytest.raises(FetchFailure) as caught:
            await fetch.fetch(URL)
    failure = caught.value
    assert (failure.code, failure.soft, failure.url, failure.status) == (
        "http-status", True, "https://example.com/p", 404,
    )  # fmt: skip


async def test_even_the_sentence_that_keeps_the_query_has_a_redacted_url_beside_it() -> None:
    async with web_fetch(Reply(behaviour=Behaviour.REFUSE_CONNECTION)) as fetch:
        with pytest.raises(FetchFailure) as caught:
            await fetch.fetch(URL)
    assert "?q=1" in str(caught.value)
    assert caught.value.url == "https://example.com/p"


async def test_a_hard_failure_is_a_tool_error_with_its_kind() -> None:
    async with web_fetch() as fetch:
        with pytest.raises(ToolError) as caught:
            await fetch.call({})
    assert (caught.value.kind, str(caught.value)) == (
        ToolErrorKind.INVALID_ARGUMENTS,
        "web_fetch: missing url argument",
    )


class Crashing(FakeNet):
    async def open(self, route: Route) -> FakeResponse:
        raise ZeroDivisionError("an internal secret")


async def test_what_nobody_expected_becomes_one_fixed_sentence(caplog: pytest.LogCaptureFixture) -> None:
    async with WebFetch(net=Crashing(NET), renderer=InProcess()) as fetch:
        with pytest.raises(ToolError) as caught:
            await fetch.call({"url": URL})
    assert (caught.value.kind, str(caught.value)) == (ToolErrorKind.OTHER, UNFINISHED)
    assert [record.exc_info is not None for record in caplog.records] == [True]


def test_both_kinds_of_tool_name_their_parts() -> None:
    fetch = web_fetch()
    assert isinstance(fetch, Tool)
    assert (fetch.id, fetch.wire_name) == ("web/fetch", "web_fetch")
    assert "additionalProperties" not in fetch.parameters
    assert json.loads(json.dumps(fetch.parameters)) == fetch.parameters


def test_results_and_policies_cannot_be_changed() -> None:
    for value, name in ((ToolOutput("x"), "text"), (FetchConfig(), "timeout")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, None)


def test_a_policy_can_be_hashed_and_compared() -> None:
    assert len({FetchConfig(), FetchConfig(), FetchConfig(timeout=3)}) == 2


@pytest.mark.parametrize("failure", [LookupFailed("a.example"), StatusFailed("https://a.example/", 404)])
def test_a_failure_survives_a_trip_between_processes(failure: FetchFailure) -> None:
    copy = pickle.loads(pickle.dumps(failure))
    assert (str(copy), copy.code, copy.url, copy.status) == (str(failure), failure.code, failure.url, failure.status)


async def test_a_tool_that_was_closed_opens_again() -> None:
    fetch = web_fetch()
    async with fetch:
        await fetch.fetch(URL)
    assert (await fetch.fetch(URL)).text == "hello"
    await fetch.aclose()


async def test_a_lookup_that_fails_is_soft_and_a_name_without_addresses_is_hard() -> None:
    net = FakeNet({"gone.example": NXDOMAIN, "bare.example": []})
    async with WebFetch(net=net, renderer=InProcess()) as fetch:
        output = await fetch.call({"url": "https://gone.example/"})
        with pytest.raises(ToolError, match=r"^host bare\.example has no allowed address$"):
            await fetch.call({"url": "https://bare.example/"})
    assert output == ToolOutput("dns resolution failed for gone.example", soft=True)


async def test_more_fetches_than_slots_wait_and_all_arrive() -> None:
    config = FetchConfig(max_concurrent=2)
    async with web_fetch(config=config) as fetch:
        pages = await asyncio.gather(*(fetch.fetch(URL) for _ in range(20)))
    assert {page.text for page in pages} == {"hello"}


async def test_a_fetch_that_gets_no_slot_in_time_has_timed_out() -> None:
    config = FetchConfig(max_concurrent=1, timeout=0.2)
    async with web_fetch(Reply(behaviour=Behaviour.HANG_BEFORE_HEADERS), config) as fetch:
        outputs = await asyncio.gather(*(fetch.call({"url": URL}) for _ in range(2)))
    assert [output.text for output in outputs] == [
        "request to https://example.com/p timed out; try again or use a different URL"
    ] * 2


async def test_bodies_that_do_not_fit_together_wait_for_each_other() -> None:
    config = FetchConfig(max_bytes=1 << 20, max_inflight_bytes=1 << 20, max_chars=10)
    async with web_fetch(Reply(headers=TEXT, body=b"x" * (1 << 20)), config) as fetch:
        pages = await asyncio.gather(*(fetch.fetch(URL) for _ in range(8)))
    assert [page.text for page in pages] == ["x" * 10] * 8


@pytest.mark.usefixtures("own_background")
def test_fetch_sync_refuses_what_the_tool_refuses() -> None:
    with pytest.raises(FetchFailure) as caught:
        runvil.fetch_sync("https://user@example.com/")
    assert caught.value.code == "userinfo-refused"


@pytest.mark.usefixtures("own_background")
async def test_fetch_sync_works_inside_a_running_loop() -> None:
    with pytest.raises(FetchFailure) as caught:
        runvil.fetch_sync("https://127.0.0.1/", config=FetchConfig(allow_ip_literals=True))
    assert str(caught.value) == "host 127.0.0.1 is not fetchable"
