"""The benchmarks of extraction run on pages made for them, and their arithmetic is that of the sets' authors."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from bench.hostile_pages import BOTTOM, CAP, PAGES
from bench.scoring import Overlap

from bench import evaluation, gate, scatter, scoring
from tests.unit.extract.pages import page, paragraphs

ROOT = Path(__file__).parents[2]
LIMIT = 120


def ran(name: str, *arguments: str, data: Path | None = None) -> str:
    environment = {key: value for key, value in os.environ.items() if key != evaluation.VARIABLE}
    if data is not None:
        environment[evaluation.VARIABLE] = str(data)
    command = [sys.executable, "-m", f"bench.{name}", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def first_column(output: str) -> list[str]:
    return [line.split("|")[1].strip() for line in output.splitlines() if line.startswith("| ")]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A directory as RUNVIL_EVAL_DATA names it, with one set of two pages."""
    root = tmp_path / "scrapinghub"
    (root / "html").mkdir(parents=True)
    truths = {}
    for key in ("a", "b"):
        html = page(f"<nav>Menu</nav><article><p>{key}</p>{paragraphs(4)}</article>")
        (root / f"html/{key}.html.gz").write_bytes(gzip.compress(html.encode()))
        truths[key] = {"url": "https://news.example/", "articleBody": scoring.text_of_html(paragraphs(4))}
    (root / "ground-truth.json").write_text(json.dumps(truths))
    return tmp_path


def needs(*modules: str) -> None:
    for module in modules:
        pytest.importorskip(module)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("markdown", ["--quick"], ["converter", "runvil", "turbohtml, as it comes"]),
        ("hostile", ["--quick"], ["kind", *list(PAGES)[:2]]),
    ],
)
def test_a_benchmark_prints_its_table(name: str, arguments: Sequence[str], expected: Sequence[str]) -> None:
    needs("markdown_it")
    assert set(expected) <= set(first_column(ran(name, *arguments)))


def test_without_the_sets_extraction_says_so() -> None:
    assert ran("extraction", "--no-peers").startswith("not measured: ")


def test_extraction_is_measured_on_what_is_there(data: Path, tmp_path: Path) -> None:
    needs("markdown_it", "html_text")
    report = tmp_path / "report.html"
    output = ran("extraction", "--no-peers", "--html", str(report), data=data)
    assert "scrapinghub, runvil" in first_column(output)
    assert "mozilla is left out" in output
    html = report.read_text(encoding="utf-8")
    assert "<svg" in html
    assert "http" not in html.lower().replace("http-equiv", "")  # nothing from elsewhere


def test_a_page_is_in_the_same_half_whenever_it_is_read() -> None:
    halves = [evaluation.Sample("s", str(key), "", "", "", "").half for key in range(1_000)]
    assert 400 < halves.count("seen") < 600
    assert halves == [evaluation.Sample("s", str(key), "x", "y", "z", "k").half for key in range(1_000)]


@pytest.mark.parametrize(
    ("truth", "found", "expected"),
    [
        ("a b c d e", "a b c d e", Overlap(1, 0, 0)),
        ("a b c d", "x y z w", Overlap(0, 0.5, 0.5)),
        ("a b c d e", "a b c d", Overlap(0.5, 0, 0.5)),
        ("a b", "a b", Overlap(1, 0, 0)),
        ("", "", Overlap(0, 0, 0)),
    ],
)
def test_shingles_overlap(truth: str, found: str, expected: Overlap) -> None:
    assert scoring.overlap(truth, found) == expected


def test_the_score_of_a_set_is_of_the_means() -> None:
    assert scoring.shingle_f1([Overlap(1, 0, 0), Overlap(0.5, 0.5, 0)]) == pytest.approx(2 * 0.75 * 1 / 1.75)
    assert scoring.shingle_f1([]) == 0


@pytest.mark.parametrize(
    ("truth", "found", "score"), [("a b", "B a", 1), ("", "", 1), ("", "a", 0), ("a", "", 0), ("a a b", "a", 0.5)]
)
def test_words_are_counted_without_case(truth: str, found: str, score: float) -> None:
    assert scoring.word_f1(truth, found) == pytest.approx(score)


def test_a_floor_holds_for_its_pages_alone() -> None:
    floors = {"s": gate.Floor(0.9, "d")}
    assert gate.judge("s", 0.9, "d", floors) == ""
    assert "comes to 0.8999" in gate.judge("s", 0.8999, "d", floors)
    assert "other pages" in gate.judge("s", 1.0, "e", floors)
    assert "no floor" in gate.judge("t", 1.0, "d", floors)


def test_floors_rise_by_themselves_and_fall_for_a_reason(tmp_path: Path) -> None:
    path = tmp_path / "floors.toml"
    path.write_text("# head\n")
    floors = gate.raised({}, {"s": (0.95, "d")})
    assert floors == {"s": gate.Floor(0.949, "d")}
    assert gate.raised(floors, {"s": (0.90, "d")}) == floors
    assert gate.raised(floors, {"s": (0.90, "other")}) == {"s": gate.Floor(0.899, "other")}
    gate.write(gate.lowered(floors, "s", 0.9, 'a "reason"'), path)
    assert gate.read(path) == {"s": gate.Floor(0.9, "d", 'a "reason"')}
    assert path.read_text().startswith("# head\n")


def test_lowering_a_floor_takes_a_reason() -> None:
    command = [sys.executable, "-m", "bench.extraction", "--lower", "scrapinghub", "0.1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 2
    assert "--reason" in done.stderr


def test_a_plot_is_escaped() -> None:
    html = scatter.page("<t>", [], [("<s>", [scatter.Point("<p>", 1.0, 0.9)])], [["<c>"], ["<v>"]])
    assert all(f"<{tag}>" not in html.replace("<p>", "<p>", 1) for tag in "tscv")
    assert "&lt;p&gt; 0.900, 1.0 ms" in html


def test_there_are_hostile_pages_of_fifty_kinds_within_a_fetchs_cap() -> None:
    assert len(PAGES) >= 50
    for kind in ("nested div", "links", "tables side by side", "comments"):
        html = PAGES[kind]()
        assert BOTTOM in html
        assert len(html.encode()) <= CAP


@pytest.mark.skipif(evaluation.directory() is None, reason=f"{evaluation.VARIABLE} names no test sets")
@pytest.mark.slow
def test_no_set_is_below_its_floor() -> None:
    ran("extraction", "--no-peers", "--gate", data=evaluation.directory())
