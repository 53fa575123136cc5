"""For every N, the Nth call to the outside fails: always a sentence of the contract, always closed, nothing kept."""

from __future__ import annotations

import asyncio
import gzip
import logging
import ssl
from collections.abc import Callable, Mapping

import h11
import pytest

from runvil import FetchConfig, ToolError, WebFetch
from runvil.ports import Broken, LookupBroken
from runvil.testing import FakeNet, Reply
from tests.faults.outside import FaultyNet, FaultyRenderer, Outside, Trouble
from tests.support.sentences import HARD, PAGE, SOFT, UNFINISHED

IN_TIME = 10.0  # seconds; a guard against a hang, not a measure
SECRET = "10.1.2.3:6379 WRONGPASS of user root"  # what a library might say

START, MIDDLE, END = "https://a.example/start?q=1", "https://b.example/middle", "https://c.example/end"
HTML = b"<html><body>" + b"<p>Eleven herons stood in the shallows and waited for the tide to turn.</p>" * 6


def network(content_type: str, *, packed: bool = False) -> FakeNet:
    """A walk over two redirects to a body in three pieces."""
    body = gzip.compress(HTML) if packed else HTML
    pieces = [body[at : at + len(body) // 3 + 1] for at in range(0, len(body), len(body) // 3 + 1)]
    fields = [("Content-Type", content_type), *([("Content-Encoding", "gzip")] if packed else [])]
    return FakeNet(
        {"a.example": ["1.1.1.1", "127.0.0.1"], "b.example": ["8.8.8.8"], "c.example": ["93.184.216.34"]},
        {
            START: Reply(302, [("Location", MIDDLE)]),
            MIDDLE: Reply(307, [("Location", END)]),
            END: Reply(200, fields, pieces),
        },
    )


WALKS: Mapping[str, Callable[[], FakeNet]] = {
    "html": lambda: network("text/html"),
    "packed html": lambda: network("text/html", packed=True),
    "flat text": lambda: network("text/plain; charset=shift_jis"),
}


class Rude(BaseException):
    """As rude as KeyboardInterrupt, which would take the test runner's loop with it."""


ERRORS: list[Callable[[], BaseException]] = [
    lambda: OSError(5, SECRET),
    lambda: ConnectionResetError(SECRET),
    lambda: ssl.SSLError(1, SECRET),
    lambda: Broken(SECRET),
    lambda: LookupBroken(SECRET),
    lambda: TimeoutError(SECRET),
    lambda: MemoryError(SECRET),
    lambda: ValueError(SECRET),
    lambda: UnicodeDecodeError("utf-8", SECRET.encode(), 0, 1, SECRET),
    lambda: KeyError(SECRET),
    lambda: RuntimeError(SECRET),
    lambda: RecursionError(SECRET),
    lambda: AssertionError(SECRET),
    lambda: h11.RemoteProtocolError(SECRET),
    lambda: EOFError(SECRET),
    lambda: ExceptionGroup(SECRET, [OSError(SECRET), ValueError(SECRET)]),
    lambda: asyncio.InvalidStateError(SECRET),
    lambda: StopAsyncIteration(SECRET),
]


def raising(make: Callable[[], BaseException]) -> Trouble:
    def trouble() -> None:
        raise make()

    return trouble


async def outcome(fetch: WebFetch) -> tuple[str, str]:
    """(ok, soft or the error's kind; text). Any other exception passes through."""
    try:
        output = await asyncio.wait_for(fetch.call({"url": START}), IN_TIME)
    except ToolError as error:
        return str(error.kind), str(error)
    return ("soft" if output.soft else "ok"), output.text


def verify_sentence(kind: str, text: str) -> None:
    match kind:
        case "ok":
            assert PAGE.fullmatch(text)
        case "soft":
            assert SOFT.fullmatch(text)
        case "InvalidArguments":
            assert HARD.fullmatch(text)
        case _:
            assert (kind, text) == ("Other", UNFINISHED)


def verify_nothing_is_held(fetch: WebFetch, outside: Outside) -> None:
    assert outside.open == 0
    assert outside.net.open_connections == 0
    assert fetch._fetcher is not None
    assert fetch._fetcher._budget.held == 0
    assert not fetch._fetcher._budget._leases


async def calls_of(walk: str) -> list[str]:
    outside = Outside(WALKS[walk](), raising(AssertionError), None)
    fetch = WebFetch(net=FaultyNet(outside), renderer=FaultyRenderer(outside))
    kind, text = await outcome(fetch)
    assert kind == "ok"
    assert "herons" in text
    verify_nothing_is_held(fetch, outside)
    return outside.calls


async def test_an_untroubled_walk_makes_every_sort_of_call() -> None:
    calls = await calls_of("html")
    assert [calls.count(name) for name in ("lookup", "open", "aclose", "chunk")] == [3, 3, 3, 3]
    assert {"warm", "render", "end of the body"} <= set(calls)


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("make", ERRORS, ids=lambda make: type(make()).__name__)
async def test_whatever_the_nth_call_raises_a_sentence_is_told_and_all_is_closed(
    walk: str, make: Callable[[], BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    for at, name in enumerate(await calls_of(walk)):
        outside = Outside(WALKS[walk](), raising(make), at)
        fetch = WebFetch(net=FaultyNet(outside), renderer=FaultyRenderer(outside))
        kind, text = await outcome(fetch)
        assert outside.met == name
        verify_sentence(kind, text)
        assert SECRET not in text
        assert "herons" not in text
        verify_nothing_is_held(fetch, outside)


WHAT_IT_MEANS: list[tuple[str, Callable[[], BaseException], str]] = [
    ("lookup", LookupBroken, "dns resolution failed for {host}"),
    ("lookup", TimeoutError, "request to https://a.example/start timed out; try again or use a different URL"),
    ("open", Broken, f"fetch failed for {START}: network error; try a different URL"),
    ("open", TimeoutError, "request to https://a.example/start timed out; try again or use a different URL"),
    ("chunk", Broken, f"the response body from {END} could not be read; try again or use a different URL"),
    ("chunk", TimeoutError, f"the response body from {END} could not be read; try again or use a different URL"),
    ("end of the body", Broken, f"the response body from {END} could not be read; try again or use a different URL"),
]


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize(("call", "make", "sentence"), WHAT_IT_MEANS)
async def test_what_a_port_promises_to_raise_has_its_own_sentence(
    walk: str, call: str, make: Callable[[], BaseException], sentence: str
) -> None:
    hosts = iter(("a.example", "b.example", "c.example"))
    for at, name in enumerate(await calls_of(walk)):
        if name != call:
            continue
        outside = Outside(WALKS[walk](), raising(make), at)
        told = await outcome(WebFetch(net=FaultyNet(outside), renderer=FaultyRenderer(outside)))
        assert told == ("soft", sentence.format(host=next(hosts, "")))


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("make", [asyncio.CancelledError, Rude])
async def test_what_is_no_failure_passes_through_and_all_is_closed(
    walk: str, make: Callable[[], BaseException]
) -> None:
    for at, name in enumerate(await calls_of(walk)):
        outside = Outside(WALKS[walk](), raising(make), at)
        fetch = WebFetch(net=FaultyNet(outside), renderer=FaultyRenderer(outside))
        with pytest.raises((asyncio.CancelledError, Rude)):
            await fetch.call({"url": START})
        assert outside.met == name
        verify_nothing_is_held(fetch, outside)


@pytest.mark.parametrize("walk", WALKS)
async def test_a_task_cancelled_at_the_nth_call_ends_there_and_all_is_closed(walk: str) -> None:
    def cancel() -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()

    for at, name in enumerate(await calls_of(walk)):
        outside = Outside(WALKS[walk](), cancel, at)
        fetch = WebFetch(net=FaultyNet(outside), renderer=FaultyRenderer(outside))
        task = asyncio.create_task(fetch.call({"url": START}))
        (ended,), _ = await asyncio.wait({task}, timeout=IN_TIME)
        assert outside.met == name
        if not ended.cancelled():  # the call after which nothing is waited for any more
            assert name in ("aclose", "end of the body")
            verify_sentence("ok", ended.result().text)
        verify_nothing_is_held(fetch, outside)


@pytest.mark.parametrize("make", ERRORS, ids=lambda make: type(make()).__name__)
async def test_a_failed_fetch_gives_its_slot_back(
    make: Callable[[], BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    """One slot and one body's bytes in all: a fetch that kept either would hold up every later one."""
    caplog.set_level(logging.CRITICAL)
    config = FetchConfig(max_concurrent=1, max_bytes=1024, max_inflight_bytes=1024)
    outside = Outside(WALKS["html"](), raising(make), None)
    fetch = WebFetch(config, net=FaultyNet(outside), renderer=FaultyRenderer(outside))
    for at in range(len(await calls_of("html"))):
        outside.calls.clear()
        outside._at = at
        verify_sentence(*await outcome(fetch))
    outside.calls.clear()
    outside._at = None
    kind, text = await outcome(fetch)
    assert (kind, text.partition("\n")[0]) == ("ok", f"url: {END}")
