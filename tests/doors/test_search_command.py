"""`runvil search`, `runvil call web/search` and `--remember` as a person or a script uses them."""

from __future__ import annotations

import asyncio
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runvil import Page, assemble
from runvil.core.page import Extraction
from runvil.doors.cli import run
from runvil.doors.cli.search import HOW
from runvil.providers import LocalIndex
from runvil.providers.environment import VARIABLES
from runvil.testing import FakeNet, Reply
from tests.support.vendors import MARKER, FakeVendor, Told

IN_TIME = 30.0  # seconds; a guard against a hang

ROWS = [
    {
        "title": "A <b>title</b>",
        "url": "https://a.example/1",
        "content": "words " * 30,
        "publishedDate": "2026-11-01T00",
    },
    {"title": "", "url": "https://b.example/2", "content": "x\x1b[31my\x9bz"},
]
FOUND = Told({"query": "hi", "results": ROWS})
OPTIONS = [
    "--count", "5", "--freshness", "pw", "--country", "us", "--search-lang", "en", "--safesearch", "strict",
    "--include-domain", "a.example", "--include-domain", "b.example", "--exclude-domain", "c.example",
]  # fmt: skip


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """No provider in the environment, and a home of the test's own."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr("runvil.providers.index.sys.platform", "linux")
    return iter([None])


async def told(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = await asyncio.to_thread(run, list(arguments))
    out, err = capfd.readouterr()
    return status, out, err


async def test_a_pipe_gets_the_json_that_a_model_gets(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeVendor(FOUND) as vendor:
        monkeypatch.setenv("SEARXNG_URL", vendor.root)
        status, out, err = await told(capfd, "search", "hi")
    assert (status, err) == (0, "")
    assert out.startswith(
        '{"query":"hi","results":[{"title":"A title","url":"https://a.example/1","description":"words'
    )
    assert [row["url"] for row in json.loads(out)["results"]] == ["https://a.example/1", "https://b.example/2"]


async def test_every_option_is_an_argument_of_the_tool(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeVendor(Told({"results": []})) as vendor:
        monkeypatch.setenv("RUNVIL_GATEWAY_URL", f"{vendor.root}/v1")
        monkeypatch.setenv("RUNVIL_GATEWAY_API_KEY", f" {MARKER}\n")
        assert (await told(capfd, "search", "two", "words", *OPTIONS))[0] == 0
    assert vendor.asked[0].headers["authorization"] == f"Bearer {MARKER}"
    assert vendor.asked[0].json == {
        "query": "two words", "count": 5, "freshness": "pw", "country": "us", "search_lang": "en",
        "safesearch": "strict", "include_domains": ["a.example", "b.example"], "exclude_domains": ["c.example"],
    }  # fmt: skip


async def on_a_terminal(*arguments: str) -> str:
    """What the command shows there: a process of its own, whose stdout is a terminal from its start."""
    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "runvil", *arguments]
    await asyncio.to_thread(subprocess.run, command, check=True, stdout=terminal, timeout=IN_TIME)
    os.close(terminal)
    shown = b"".join(iter(lambda: _rest(controller), b""))
    os.close(controller)
    return shown.decode().replace("\r\n", "\n")


def _rest(controller: int) -> bytes:
    """More of what was written to a terminal that is closed by now."""
    try:
        return os.read(controller, 100_000)
    except OSError:  # EIO, Linux's end of a terminal
        return b""


async def test_a_terminal_gets_a_list_without_the_rows_control_characters(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "60")
    controlled = {"query": "hi", "results": [{"url": "https://a.example/\x1b]0;x", "title": "T\x1b[2J\nU"}]}
    async with FakeVendor(FOUND) as vendor, FakeVendor(Told(controlled)) as gateway:
        monkeypatch.setenv("SEARXNG_URL", vendor.root)
        shown = await on_a_terminal("search", "hi")
        monkeypatch.setenv("RUNVIL_GATEWAY_URL", gateway.root)
        monkeypatch.setenv("RUNVIL_GATEWAY_API_KEY", MARKER)
        second = await on_a_terminal("search", "hi")
    lines = shown.splitlines()
    assert lines[:3] == ["1. A title", "   a.example, 2026-11-01", "   https://a.example/1"]
    assert lines[3].startswith("   words words")
    assert max(map(len, lines)) <= 60
    assert "2. (no title)" in lines
    assert "\x1b" not in shown + second
    assert "1. T\ufffd[2J U" in second


async def test_colour_is_for_a_terminal_that_wants_it(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    async with FakeVendor(FOUND) as vendor:
        monkeypatch.setenv("SEARXNG_URL", vendor.root)
        assert (await on_a_terminal("search", "hi")).startswith("\x1b[1m1. A title\x1b[0m\n")
        assert (await on_a_terminal("search", "hi", "--json")).startswith('{"query":"hi"')


async def test_with_nothing_to_search_with_one_line_says_what_to_do(capfd: pytest.CaptureFixture[str]) -> None:
    assert await told(capfd, "search", "hi") == (1, "", f"runvil: {HOW}\n")
    named = set(re.findall(r"[A-Z_]{6,}", HOW))
    assert named == {name for name in VARIABLES if "GATEWAY" not in name}


async def test_a_provider_that_failed_is_status_one_and_its_words(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeVendor(Told({"error": "No query"}, status=400)) as vendor:
        monkeypatch.setenv("SEARXNG_URL", vendor.root)
        done = await told(capfd, "search", "hi")
    assert done == (1, "", "web_search: searxng refused the request (HTTP 400): No query\n")


WRONG = {
    "no query": ([], "Missing argument 'QUERY'"),
    "an empty query": ([""], "web_search: query must not be empty"),
    "a long query": (["x" * 401], "web_search: query exceeds 400 characters"),
    "too many": (["hi", "--count", "21"], "--count"),
    "none": (["hi", "--count", "0"], "--count"),
    "another freshness": (["hi", "--freshness", "PD"], "--freshness"),
    "no such provider": (["hi", "--provider", "bing"], "--provider"),
    "a provider without its key": (["hi", "--provider", "brave"], "needs BRAVE_SEARCH_API_KEY in the environment"),
    "a URL for a host": (["hi", "--include-domain", "https://a"], "include_domains contains an invalid hostname"),
}


@pytest.mark.parametrize("case", WRONG)
async def test_a_wrong_command_line_says_what_is_wrong(
    case: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments, words = WRONG[case]
    monkeypatch.setenv("SEARXNG_URL", "http://127.0.0.1:1")
    status, out, err = await told(capfd, "search", *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


async def test_an_unusable_key_is_told_without_it(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EXA_API_KEY", f"{MARKER} and more")
    status, _, err = await told(capfd, "search", "hi")
    assert status == 2
    assert "EXA_API_KEY: the key is empty, or holds what no header can carry" in err
    assert MARKER not in err


async def test_a_call_of_the_tool_is_what_a_model_makes(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeVendor(Told({"results": []}), Told(status=500)) as vendor:
        monkeypatch.setenv("SEARXNG_URL", vendor.root)
        done = await told(capfd, "call", "web/search", '{"query": "hi"}')
        failed = await told(capfd, "call", "web_search", '{"query": "hi"}', "--json")
        refused = await told(capfd, "call", "web_search", '{"query": 5}', "--json")
    assert done == (0, '{"query":"hi","results":[]}\n', "")
    assert (failed[0], json.loads(failed[1])["error_kind"]) == (1, "Backend")
    assert (refused[0], json.loads(refused[1])["text"]) == (3, "web_search: invalid arguments")


def kept(home: Path) -> bytes:
    return (home / "runvil" / "pages.sqlite3").read_bytes()


def scripted(_: object) -> FakeNet:
    page = Reply(headers=[("Content-Type", "text/html")], body=b"<title>Walruses</title><p>About the tusks.</p>")
    return FakeNet({"example.com": ["93.184.216.34"]}, {"https://example.com/w?session=secret": page})


async def test_a_page_is_remembered_when_that_is_asked_for_and_found_again(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(assemble, "network", scripted)
    url = "https://example.com/w?session=secret"
    assert (await told(capfd, "fetch", url))[0] == 0
    assert os.listdir(tmp_path) == []
    assert (await told(capfd, "fetch", url, "https://127.1/", "--remember"))[0] == 3
    status, out, _ = await told(capfd, "search", "tusks")
    (row,) = json.loads(out)["results"]
    assert status == 0
    assert (row["title"], row["url"]) == ("Walruses", "https://example.com/w")
    assert "About the tusks." in row["description"]
    assert b"session" not in kept(tmp_path)


async def test_a_page_that_cannot_be_remembered_is_printed_all_the_same(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(assemble, "network", scripted)
    (tmp_path / "runvil").write_text("in the way")
    status, out, err = await told(capfd, "fetch", "https://example.com/w?session=secret", "--remember")
    assert status == 1
    assert "About the tusks." in out
    assert err.startswith("runvil: not remembered: the local index cannot be used: ")


async def doctor(capfd: pytest.CaptureFixture[str]) -> Any:
    return json.loads((await told(capfd, "doctor", "--offline", "--json"))[1])["facts"]["search"]


async def test_doctor_says_who_would_be_asked_and_what_is_set(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert await doctor(capfd) == "no provider: no variable is set and no page is remembered"
    index = LocalIndex(tmp_path / "runvil")
    index.remember(Page("https://example.com/", "text", False, Extraction.PLAIN, 200, "text/plain"))
    assert (await doctor(capfd)).startswith("local (narrower: search_lang; emulated: freshness; ignored: country")
    monkeypatch.setenv("EXA_API_KEY", MARKER)
    monkeypatch.setenv("TAVILY_API_KEY", MARKER)
    shown = await doctor(capfd)
    assert shown.startswith("tavily (narrower: country, search_lang; ignored: safesearch)")
    assert shown.endswith("; set: TAVILY_API_KEY, EXA_API_KEY")
    assert MARKER not in shown
