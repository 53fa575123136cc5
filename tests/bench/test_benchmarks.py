"""Every benchmark runs, in its tiny form, and prints its table. What the numbers are is nobody's test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from bench import clients, fetch, report, servers

ROOT = Path(__file__).parents[2]
LIMIT = 120


def first_column(name: str) -> list[str]:
    """The table's first column, heading and rows. Skips or fails as the lab does where there is no network to have."""
    command = [sys.executable, "-m", f"bench.{name}", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for line in done.stdout.splitlines():
        if line.startswith("not measured") and not os.environ.get("RUNVIL_LAB_REQUIRED"):
            pytest.skip(line)
    rows = [line.split("|")[1].strip() for line in done.stdout.splitlines() if line.startswith("|")]
    return [row for row in rows if row.strip("-")]


@pytest.mark.slow
@pytest.mark.lab
@pytest.mark.skipif("RUNVIL_NO_LAB" in os.environ, reason="the lab is waived by RUNVIL_NO_LAB")
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fetch", ["requests per CPU-second", *(cell.text for cell in fetch.CELLS)]),
        ("guard", ["guard", "one URL parse, ada-url (the unit)", "parse", "admit", "first hop, 2 addresses"]),
        ("memory", ["case", "8 MiB of text", "8 MiB of HTML", "gzip bombs", "brotli bombs"]),
        ("mcp_server", ["server", "runvil mcp", "bare low-level SDK server", "the library alone"]),
        ("runtime", ["what", "a host call", "a run in process"]),
        ("startup", ["process", "python -c pass", "import click", "import runvil", "runvil --help"]),
    ],
)
def test_a_benchmark_prints_its_table(name: str, expected: Sequence[str]) -> None:
    assert set(expected) <= set(first_column(name))


@pytest.mark.slow
def test_the_table_of_indexes_holds_ours() -> None:
    assert "runvil" in first_column("local_index")


@pytest.mark.slow
def test_the_table_of_dependencies_names_each_of_them() -> None:
    assert {"ada-url", "h11", "pycares", "turbohtml", "cffi"} <= set(first_column("dependencies"))


def test_an_absent_peer_is_named_with_the_way_to_have_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fetch, "installed", lambda _: None)
    assert fetch.present() == ["runvil"]
    assert capsys.readouterr().out.splitlines() == [
        "aiohttp is left out; to have it: pip install aiohttp aiodns",
        "httpx2 is left out; to have it: pip install httpx2",
    ]


def test_every_client_says_what_it_needs() -> None:
    assert clients.CLIENTS.keys() == clients.NEEDED.keys()


def test_the_name_server_answers_a_questions_with_the_address_and_others_with_nothing() -> None:
    question = b"\x12\x34\x01\x00\0\x01\0\0\0\0\0\0\x04page\x07example\0%b\0\x01"
    a, aaaa = (servers.answer(question % kind) for kind in (b"\0\x01", b"\0\x1c"))
    assert a.startswith(b"\x12\x34\x81\x80\0\x01\0\x01")
    assert a.endswith(servers.ADDRESS.packed)
    assert aaaa.startswith(b"\x12\x34\x81\x80\0\x01\0\0")
    assert aaaa[12:] == (question % b"\0\x1c")[12:]


def test_a_table_lines_up(capsys: pytest.CaptureFixture[str]) -> None:
    report.table(["what", "ms"], [["a longer name", "7"], ["b", "1234"]])
    assert capsys.readouterr().out.splitlines() == [
        "| what          |   ms |",
        "| ------------- | ---: |",
        "| a longer name |    7 |",
        "| b             | 1234 |",
        "",
    ]


def test_a_missed_bar_is_said_and_ends_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    report.bar("speed", 0.5, 0.9, least=True)
    report.bar("size", 0.5, 0.9, least=False)
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == ["MISSED", "met"]
