"""docs/comparison.md: its tables are the benchmark's, and runvil's column is what the lab sees now."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest
from bench.comparison_cases import CASES, Case
from bench.comparison_peers import FEATURES, PEERS

from bench import comparison
from tests.docs.blocks import ROOT, text_of

IN_TIME = 300.0  # seconds; a guard against a hang

PAGE = "docs/comparison.md"


def tables(text: str) -> list[list[list[str]]]:
    """Tables as rows of cells; the rule below the heading left out."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, re.MULTILINE)
    lines = ([line for line in table.splitlines() if not set(line) <= set("|-: ")] for table in found)
    return [[[cell.strip() for cell in line.strip("|").split("|")] for line in table] for table in lines]


def headed(text: str, cell: str) -> list[list[str]]:
    """The table whose heading begins with that cell."""
    (found,) = (table for table in tables(text) if table[0][0] == cell)
    return found


def test_the_tables_have_the_benchmarks_rows_and_columns() -> None:
    head, *rows = headed(text_of(PAGE), "page")
    features = next(table for table in tables(text_of(PAGE)) if table[0][0] == "what")
    assert head == ["page", *PEERS]
    assert [row[0] for row in rows] == [case.what for case in CASES]
    known = {comparison.REFUSED, comparison.READ, comparison.READ_WRONG, comparison.DIALLED, comparison.SENT}
    assert {cell for row in rows for cell in row[1:]} <= known
    assert [row[0] for row in features[1:]] == [feature.what for feature in FEATURES]
    assert all(re.search(r"\d", row[1]) and "NOT FOUND" not in row[2] for row in features[1:])


def test_every_row_names_a_version_and_the_page_a_day() -> None:
    page = text_of(PAGE)
    assert [name for name in PEERS if not re.search(rf"\b{PEERS[name].package} \d", page)] == []
    assert re.search(r"\b2026-\d\d-\d\d\b", page)


@pytest.mark.slow
@pytest.mark.lab
@pytest.mark.skipif("RUNVIL_NO_LAB" in os.environ, reason="the lab is waived by RUNVIL_NO_LAB")
def test_runvils_column_is_what_the_lab_sees() -> None:
    command = [sys.executable, "-m", "bench.comparison", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=IN_TIME, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    if "not measured" in done.stdout and not os.environ.get("RUNVIL_LAB_REQUIRED"):
        pytest.skip(done.stdout)
    assert headed(done.stdout, "page") == [row[:2] for row in headed(text_of(PAGE), "page")]


INNER = Case("", inside=True)


@pytest.mark.parametrize(
    ("text", "inner", "sent", "outcome"),
    [
        (INNER.mark, False, False, comparison.READ),
        ("something else", False, False, comparison.READ_WRONG),
        ("", False, False, comparison.REFUSED),
        ("", True, False, comparison.DIALLED),
        (INNER.mark, True, True, comparison.SENT),
    ],
)
def test_an_outcome_is_what_was_seen_before_what_was_said(text: str, inner: bool, sent: bool, outcome: str) -> None:
    assert comparison.outcome(INNER, comparison.Said(text, ""), inner=inner, sent=sent) == outcome
