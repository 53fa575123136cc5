"""The pool of worker processes: what comes back, what is left when a worker is lost, and that nothing stays behind."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from runvil.core import frames
from runvil.core.page import Extraction, Rendered
from runvil.extract import worker
from runvil.net import process, workers
from runvil.net.workers import Workers
from tests.support.workers import REPORTS_ITSELF, boot, children
from tests.unit.extract.pages import ADDRESS, has_paragraphs, page, paragraphs

HTML = page(f"<nav>Menu</nav><article><h1>Ferries</h1>{paragraphs(3)}</article>").encode()
SOON = 30.0  # seconds; a guard against hanging, never waited for


@asynccontextmanager
async def pool(count: int = 1, boot: str | None = None) -> AsyncIterator[Workers]:
    made = Workers(count) if boot is None else Workers(count, boot)
    try:
        async with asyncio.timeout(SOON):
            yield made
    finally:
        async with asyncio.timeout(SOON):
            await made.aclose()


async def render(
    from_: Workers, html: bytes = HTML, *, raw: bool = False, limit: int = 40_000, within: float = SOON
) -> Rendered:
    until = asyncio.get_running_loop().time() + within
    return await from_.render(html, ADDRESS, raw=raw, limit=limit, until=until)


async def happens(condition: Callable[[], bool]) -> None:
    """Wait for what other threads do; the pool's own time is the bound."""
    while not condition():  # noqa: ASYNC110  # nothing tells of it
        await asyncio.sleep(0)


async def test_a_page_comes_back_as_markdown() -> None:
    async with pool() as renderer:
        rendered = await render(renderer)
        assert rendered.extraction is Extraction.READABILITY
        assert rendered.title == "Ferry report - Example News"
        assert rendered.text.startswith("# Ferries\n")
        assert has_paragraphs(rendered.text, 3)
        assert "Menu" not in rendered.text


async def test_raw_bad_bytes_and_the_address_reach_the_worker() -> None:
    async with pool() as renderer:
        rendered = await render(renderer, b"\xef\xbb\xbf<nav>Menu</nav><p>caf\xc3\xa9 \xff <a href=x>y</a>", raw=True)
        assert rendered == Rendered("Menu\n\ncafé \ufffd [y](https://news.example/dir/x)", Extraction.RAW_HTML, "")


@pytest.mark.parametrize(("limit", "characters"), [(1, 2), (4, 5), (5, 6), (6, 6), (40_000, 6)])
async def test_one_character_more_than_the_limit_comes_back(limit: int, characters: int) -> None:
    async with pool() as renderer:
        assert len((await render(renderer, "é漢😀def".encode(), raw=True, limit=limit)).text) == characters


async def test_one_worker_serves_many_pages_in_the_order_they_came() -> None:
    order: list[int] = []

    async def one(renderer: Workers, number: int) -> None:
        rendered = await render(renderer, f"<p>page {number}".encode())
        assert rendered.text == f"page {number}"
        order.append(number)

    async with pool() as renderer:
        async with asyncio.TaskGroup() as tasks:
            for number in range(50):
                tasks.create_task(one(renderer, number))
        assert order == list(range(50))
        assert len(children()) == 1


async def test_workers_are_started_as_pages_ask_for_them_and_no_more() -> None:
    async with pool(3) as renderer:
        assert children() == set()
        await render(renderer)
        await render(renderer)
        assert len(children()) == 1
        await asyncio.gather(*(render(renderer) for _ in range(20)))
        await happens(lambda: len(children()) == 3)
        await asyncio.gather(*(render(renderer) for _ in range(20)))
        assert len(children()) == 3


async def test_warming_starts_one_worker_once() -> None:
    async with pool(3) as renderer:
        for _ in range(5):
            renderer.warm()
        await render(renderer)
        assert len(children()) == 1


async def test_closing_leaves_no_process_and_no_thread() -> None:
    before = threading.active_count()
    async with pool(2) as renderer:
        await asyncio.gather(*(render(renderer) for _ in range(10)))
        assert threading.active_count() >= before + 2
    assert children() == set()
    assert threading.active_count() == before


async def test_closing_while_a_worker_starts_leaves_nothing_either() -> None:
    before = threading.active_count()
    renderer = Workers(2)
    renderer.warm()
    await renderer.aclose()
    await renderer.aclose()
    assert children() == set()
    assert threading.active_count() == before


async def test_whoever_waits_when_the_pool_closes_gets_the_text() -> None:
    async with pool(1, boot("worker.render = lambda *_: worker._read(1)")) as renderer:
        waiting = [asyncio.create_task(render(renderer)) for _ in range(3)]
        await asyncio.sleep(0)
        await renderer.aclose()
        for rendered in await asyncio.gather(*waiting):
            assert rendered.extraction is Extraction.RAW_HTML
            assert has_paragraphs(rendered.text, 3)
    assert children() == set()


async def test_a_closed_pool_starts_anew() -> None:
    before = threading.active_count()
    renderer = Workers(1)
    seen: set[int] = set()
    for _ in range(3):
        assert (await render(renderer)).extraction is Extraction.READABILITY
        seen |= children()
        await renderer.aclose()
        assert children() == set()
        assert threading.active_count() == before
    assert len(seen) == 3


async def test_closing_a_pool_that_was_never_used_does_not_close_it() -> None:
    async with pool() as renderer:
        await renderer.aclose()
        assert (await render(renderer)).extraction is Extraction.READABILITY


async def test_two_that_close_at_once_both_come_back() -> None:
    async with pool(2) as renderer:
        await asyncio.gather(*(render(renderer) for _ in range(10)))
        await asyncio.gather(renderer.aclose(), renderer.aclose())
        assert children() == set()
        assert (await render(renderer)).extraction is Extraction.READABILITY


def test_one_pool_serves_one_event_loop_after_another() -> None:
    renderer = Workers(1)
    seen: set[int] = set()

    async def once() -> None:
        assert has_paragraphs((await render(renderer)).text, 3)
        seen.update(children())

    for _ in range(3):
        asyncio.run(once())
    assert len(seen) == 1
    asyncio.run(renderer.aclose())
    assert children() == set()


def test_a_loop_that_ends_before_its_page_does_no_harm() -> None:
    renderer = Workers(1)

    async def leave() -> None:
        task = asyncio.create_task(render(renderer))
        await asyncio.sleep(0)
        task.cancel()

    asyncio.run(leave())

    async def stay() -> None:
        assert has_paragraphs((await render(renderer)).text, 3)
        await renderer.aclose()

    asyncio.run(stay())


REPLIES = {
    "no frame": "b'x' * 50",
    "a label that is none": "bytes([9]) + bytes(50)",
    "a vast text": "bytes(4) + b'\\xff' * 40",
    "a vast title": "bytes(2) + b'\\xff' * 40",
    "no UTF-8": "bytes(7) + b'\\x02\\xff\\xff'",
    "half a frame": "bytes(7) + b'\\x09abc'",
    "a character too many": "bytes(4) + (40_002).to_bytes(4) + b'x' * 40_002",
}
DEATHS = {
    "exits": "os._exit(3)",
    "raises": "1 / 0",
    "crashes in C": "ctypes.string_at(0)",
} | {f"answers {name}": f"os.write(1, {reply}) and os._exit(0)" for name, reply in REPLIES.items()}


@pytest.mark.parametrize("death", DEATHS.values(), ids=DEATHS)
async def test_a_lost_worker_costs_one_page_its_shape(death: str, caplog: pytest.LogCaptureFixture) -> None:
    inside = (
        f"good = worker.render\nworker.render = lambda html, *more: {death} if 'DIE' in html else good(html, *more)"
    )
    async with pool(1, boot(inside)) as renderer:
        for _ in range(2):
            rendered = await render(renderer, HTML.replace(b"Menu", b"DIE"))
            assert rendered.extraction is Extraction.RAW_HTML
            assert has_paragraphs(rendered.text, 3)
            assert "<" not in rendered.text
            assert (await render(renderer)).extraction is Extraction.READABILITY
    assert caplog.records == []  # losing a worker to a page is no event


async def test_a_worker_killed_between_pages_is_replaced() -> None:
    async with pool() as renderer:
        await render(renderer)
        (process,) = children()
        os.kill(process, signal.SIGKILL)
        assert has_paragraphs((await render(renderer)).text, 3)
        assert (await render(renderer)).extraction is Extraction.READABILITY


async def test_a_worker_that_burns_its_budget_dies_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PAGE_SECONDS", 2 * SOON)  # so that it is not this process that ends it
    burn = "def burn(*_):\n    while True: pass\nworker.PAGE_SECONDS = 0.05\nworker.render = burn"
    async with pool(1, boot(burn)) as renderer:
        assert has_paragraphs((await render(renderer, within=2 * SOON)).text, 3)


async def test_a_worker_that_sleeps_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PAGE_SECONDS", 0.2)
    async with pool(1, boot("worker.render = lambda *_: worker._read(1)")) as renderer:
        assert has_paragraphs((await render(renderer)).text, 3)


async def test_the_deadline_brings_the_text_whatever_the_worker_does() -> None:
    async with pool(1, boot("worker.render = lambda *_: worker._read(1)")) as renderer:
        in_flight = asyncio.create_task(render(renderer, within=workers.SALVAGE_SECONDS + 0.2))
        queued = asyncio.create_task(render(renderer, within=workers.SALVAGE_SECONDS + 0.2))
        for rendered in await asyncio.gather(in_flight, queued):
            assert rendered.extraction is Extraction.RAW_HTML
            assert has_paragraphs(rendered.text, 3)


async def test_a_deadline_that_has_passed_still_brings_some_text() -> None:
    async with pool() as renderer:
        assert has_paragraphs((await render(renderer, within=-1.0)).text, 3)


async def test_one_watchdog_guards_all_workers() -> None:
    before = threading.active_count()
    async with pool(2) as renderer:
        await asyncio.gather(*(render(renderer) for _ in range(20)))
        assert threading.active_count() <= before + 3


def test_a_watchdog_ends_what_takes_too_long_and_only_that() -> None:
    watchdog = process.Watchdog()
    ended = threading.Event()
    with watchdog.guard(SOON, lambda: pytest.fail("it was in time")):
        with watchdog.guard(SOON, lambda: pytest.fail("it was in time")):
            pass
        with watchdog.guard(0.01, ended.set):
            assert ended.wait(SOON)
    watchdog.stop()
    ended.clear()
    with watchdog.guard(0.01, ended.set):
        assert ended.wait(SOON)
    watchdog.stop()


async def test_cancelling_a_page_leaves_the_worker_to_the_next() -> None:
    async with pool() as renderer:
        await render(renderer)
        before = children()
        tasks = [asyncio.create_task(render(renderer, HTML * 50)) for _ in range(5)]
        await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        assert all(
            isinstance(each, asyncio.CancelledError) for each in await asyncio.gather(*tasks, return_exceptions=True)
        )
        assert (await render(renderer)).extraction is Extraction.READABILITY
        assert children() == before


async def test_pages_beyond_the_queues_bound_are_salvaged_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MOST_WAITING", 2)
    async with pool() as renderer:
        found = await asyncio.gather(*(render(renderer) for _ in range(10)))
        labels = [rendered.extraction for rendered in found]
        assert Extraction.READABILITY in labels
        assert Extraction.RAW_HTML in labels
        assert all(has_paragraphs(rendered.text, 3) for rendered in found)


async def test_a_page_over_the_frames_bound_is_salvaged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "MAX_HTML", len(HTML) - 1)
    async with pool() as renderer:
        assert (await render(renderer)).extraction is Extraction.RAW_HTML


BROKEN_STARTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "no interpreter": lambda patch: patch.setattr(sys, "executable", "/nowhere/python"),
    "an interpreter that is no path": lambda patch: patch.setattr(sys, "executable", None),
    "no package": lambda patch: patch.setattr(process, "BOOT", "import runvil_that_is_not_there"),
    "another greeting": lambda patch: patch.setattr(process, "BOOT", "import os; os.write(1, b'hello' * 100)"),
}


@pytest.mark.parametrize("broken", BROKEN_STARTS.values(), ids=BROKEN_STARTS)
async def test_without_workers_there_is_still_text(
    broken: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken(monkeypatch)
    with caplog.at_level(logging.WARNING, "runvil.workers"):
        async with pool(2, process.BOOT) as renderer:
            for rendered in await asyncio.gather(*(render(renderer) for _ in range(4))):
                assert rendered.extraction is Extraction.RAW_HTML
                assert has_paragraphs(rendered.text, 3)
    assert len(caplog.records) == 1
    assert children() == set()


async def test_without_threads_there_is_still_text(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_more(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async with pool() as renderer:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", no_more)
            assert has_paragraphs((await render(renderer)).text, 3)
        assert (await render(renderer)).extraction is Extraction.READABILITY
    assert len(caplog.records) == 1


async def test_a_page_that_rendered_to_nothing_is_looked_through_once_more() -> None:
    async with pool(1, boot("worker.render = lambda *_: Rendered(' ', Extraction.RAW_HTML)")) as renderer:
        assert has_paragraphs((await render(renderer)).text, 3)
        assert (await render(renderer, b"<p></p>")).text == ""


async def test_a_worker_ends_after_its_share_of_pages() -> None:
    async with pool(1, boot(REPORTS_ITSELF + "worker.MAX_PAGES = 2")) as renderer:
        first, second, third, fourth = [(await render(renderer)).text for _ in range(4)]
    assert first == second != third == fourth


async def test_a_worker_ends_after_its_share_of_time() -> None:
    async with pool(1, boot(REPORTS_ITSELF + "worker.LIFE_SECONDS = 0")) as renderer:
        assert len({(await render(renderer)).text for _ in range(3)}) == 3


async def test_a_worker_whose_parent_is_another_ends() -> None:
    async with pool(1, boot(before="sys.argv[1] = '1'")) as renderer:
        assert (await render(renderer)).extraction is Extraction.RAW_HTML


async def test_every_lock_of_this_platform_holds() -> None:
    async with pool() as renderer:
        assert renderer.locks == ()
        await render(renderer)
        if sys.platform == "linux":
            assert set(renderer.locks) == {
                "parent-death", "no-new-privileges", "memory", "cpu", "core-dump", "file-size", "descriptors",
                "processes", "cpu-timer", "system-calls",
            }  # fmt: skip


@pytest.mark.slow
async def test_a_thousand_pages_leave_memory_as_it_was() -> None:
    def resident(process: int) -> int:
        fields = Path(f"/proc/{process}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    async with pool() as renderer:
        for _ in range(100):
            await render(renderer)
        (process,) = children()
        here, there = resident(os.getpid()), resident(process)
        for _ in range(worker.MAX_PAGES - 200):
            await render(renderer)
        assert children() == {process}
        assert resident(os.getpid()) - here < 4 * 1024 * 1024
        assert resident(process) - there < 4 * 1024 * 1024


async def test_the_worker_runs_the_same_house_as_its_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed with PYTHONPATH or --target: the parent's order of places counts, not the interpreter's own."""
    other = tmp_path / "runvil" / "extract"
    other.mkdir(parents=True)
    (tmp_path / "runvil" / "__init__.py").touch()
    (other / "__init__.py").touch()
    (other / "worker.py").write_text(
        "import os\ndef main(parent):\n    os.write(1, b'runvil-worker-1\\0\\4here')\n    os.read(0, 1)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    async with pool() as renderer:
        renderer.warm()
        await happens(lambda: renderer.locks == ("here",))
