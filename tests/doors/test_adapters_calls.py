"""What the adapters share: every outcome is a text, and a tool serves callers that wait, from any thread."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from runvil import ToolOutput, WebFetch
from runvil.doors.adapters.calls import Blocking, Outcome, outcome
from tests.doors.matrix import ROWS, by_library, network, tools

IN_TIME = 30.0


def started() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "runvil-tool"]


@pytest.fixture
def blocking() -> Any:
    before = len(started())
    made = Blocking(lambda: WebFetch(net=network()))
    yield made
    made.close()
    assert len(started()) == before


async def test_every_outcome_is_a_text_and_says_whether_it_failed() -> None:
    fetch, search = tools()
    async with fetch:
        for row in ROWS:
            said = await by_library(row)
            tool: Any = fetch if row.tool == "web_fetch" else search
            assert await outcome(tool, dict(row.arguments)) == Outcome(said.text, said.kind == "hard")


def test_many_threads_may_call_at_once(blocking: Blocking) -> None:
    rows = [row for row in ROWS if row.tool == "web_fetch"]
    expected = [asyncio.run(by_library(row)).text for row in rows]
    with ThreadPoolExecutor(len(rows)) as pool:
        assert list(pool.map(lambda row: blocking(**row.arguments), rows)) == expected
    assert len(started()) == 1


async def test_a_call_may_wait_inside_a_running_loop(blocking: Blocking) -> None:
    assert blocking(url="https://127.1/") == "ip literal host not allowed: 127.0.0.1"


def test_nothing_is_opened_before_the_first_call_and_a_call_after_the_end_opens_anew() -> None:
    opened: list[WebFetch] = []

    def opening() -> WebFetch:
        opened.append(WebFetch(net=network()))
        return opened[-1]

    blocking = Blocking(opening)
    blocking.close()
    assert opened == []
    for turn in (1, 2):
        blocking(url="https://example.com/flat")
        blocking(url="https://example.com/flat")
        assert len(opened) == turn
        blocking.close()
        blocking.close()


def test_a_caller_that_is_interrupted_cancels_its_call(monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()

    class Hanging:
        id = wire_name = description = "hanging"
        parameters: dict[str, Any] = {}  # noqa: RUF012  as the protocol has it

        async def call(self, arguments: Mapping[str, object]) -> ToolOutput:
            begun.set()
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                ended.set()
            raise AssertionError

    def interrupted(*_: object) -> None:
        assert begun.wait(IN_TIME)
        raise KeyboardInterrupt

    blocking = Blocking(Hanging)
    monkeypatch.setattr("concurrent.futures.Future.result", interrupted)
    with pytest.raises(KeyboardInterrupt):
        blocking()
    assert ended.wait(IN_TIME)
    monkeypatch.undo()
    blocking.close()
