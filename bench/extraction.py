"""`python -m bench.extraction`: how well and how fast articles are found, on public test sets, beside other extractors.

All extractors see every page in turn in one process and one run, so ratios are of the same moment. A failure counts as
an empty text. The sets are looked for where RUNVIL_EVAL_DATA says.
"""

from __future__ import annotations

import statistics
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import click

from bench import evaluation, gate, scatter
from bench.evaluation import Sample
from bench.extractors import MAKERS, Extract, present
from bench.report import bar, heading, installed, table
from bench.scoring import NEEDED, Overlap, overlap, shingle_f1, text_of_markdown, word_f1

OURS, PEER = "runvil", "trafilatura"
BARS = {"scrapinghub": 0.965, "wcxb-dev": 0.84, "mozilla": 0.965}
TYPE_BAR = 0.65
MEDIAN_BAR, P95_BAR, PEER_BAR = 3.0, 10.0, 0.2
TIMED = ("scrapinghub", "wcxb-dev")
"""The sets whose pages the bars of time are about: whole pages as sites send them."""

COLUMNS = ("set, extractor", "pages", "score", "word F1", "under 0.1", "failed", "CPU ms median", "p95")


@dataclass(slots=True)
class Result:
    """What one extractor made of one set."""

    overlaps: list[Overlap] = field(default_factory=list)
    words: list[float] = field(default_factory=list)
    kinds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    milliseconds: list[float] = field(default_factory=list)
    failures: int = 0

    def add(self, page: Sample, extract: Extract, rounds: int) -> None:
        spent = []
        for _ in range(rounds):
            before = time.process_time()
            try:
                markdown = extract(page.html, page.url)
            except Exception:  # whatever a peer raises is its answer
                markdown = ""
                self.failures += 1
            spent.append(time.process_time() - before + getattr(extract, "outside", 0.0))
        self.milliseconds.append(min(spent) * 1000)
        text = text_of_markdown(markdown)
        self.overlaps.append(overlap(page.truth, text))
        self.words.append(word_f1(page.truth, text))
        self.kinds[page.kind].append(self.words[-1])

    def score(self, name: str) -> float:
        """By the metric of the set's authors."""
        return shingle_f1(self.overlaps) if name == "scrapinghub" else self.word_f1

    @property
    def word_f1(self) -> float:
        return statistics.mean(self.words)


Results = dict[str, dict[str, Result]]
"""Set -> extractor -> result."""


@click.command()
@click.option("--sets", default=",".join(evaluation.DIRECTORIES), show_default=True)
@click.option("--peers/--no-peers", default=True, help="The other extractors that are installed.")
@click.option("--half", type=click.Choice(["all", "seen", "unseen"]), default="all", show_default=True)
@click.option("--limit", type=int, default=None, help="At most so many pages of each set.")
@click.option("--rounds", default=1, show_default=True, help="Times each page is extracted, for the CPU.")
@click.option("--html", "report", type=click.Path(path_type=Path), default=None, help="Write a report with a plot.")
@click.option("--gate", "gated", is_flag=True, help="Fail when a set is below its floor.")
@click.option("--raise", "raising", is_flag=True, help="Raise the floors to what is reached now.")
@click.option("--lower", nargs=2, type=(str, float), default=None, metavar="SET SCORE", help="Lower a floor.")
@click.option("--reason", default="", help="Why; --lower needs it.")
@click.option("--quick", is_flag=True, help="Three pages of each set: shows that it runs, measures nothing.")
def main(
    *,
    sets: str,
    peers: bool,
    half: str,
    limit: int | None,
    rounds: int,
    report: Path | None,
    gated: bool,
    raising: bool,
    lower: tuple[str, float] | None,
    reason: str,
    quick: bool,
) -> None:
    """Quality and speed of extraction."""
    if lower is not None:
        _lower(*lower, reason)
        return
    data = _data()
    if data is None:
        return
    extractors = present(list(MAKERS) if peers else [OURS], click.echo)
    pages = {name: _pages(name, data, half, 3 if quick else limit) for name in sets.split(",")}
    results = measure(pages, extractors, rounds)
    said = (
        "Score: 4-word shingle F1 for scrapinghub (its authors' metric), mean word F1 for the others.",
        f"Pages: {half}. CPU of one page: the least of {rounds} times; all extractors take a page before the next one.",
    )
    heading("Finding the content of pages", *said, packages=(*NEEDED, "turbohtml", PEER, "readability-lxml"))
    rows = _rows(results)
    table(COLUMNS, rows)
    _print_kinds(results)
    _print_bars(results)
    if report is not None:
        _write_report(report, results, said, rows)
    if gated or raising:
        _apply_gate(pages, results, raising=raising)


def measure(pages: Mapping[str, list[Sample]], extractors: Mapping[str, Extract], rounds: int = 1) -> Results:
    results: Results = {}
    for name, samples in pages.items():
        if samples:
            results[name] = {extractor: Result() for extractor in extractors}
        for page in samples:
            for extractor, extract in extractors.items():
                results[name][extractor].add(page, extract, rounds)
    return results


def _data() -> Path | None:
    """Where the sets are; None, having said so, when something is missing."""
    for package in NEEDED:
        if installed(package) is None:
            click.echo(f"not measured: {package} is not installed; to have it: pip install {package}")
            return None
    data = evaluation.directory()
    if data is None:
        click.echo(f"not measured: {evaluation.VARIABLE} names no directory with the test sets (docs/extraction.md)")
    return data


def _pages(name: str, data: Path, half: str, limit: int | None) -> list[Sample]:
    found: Iterable[Sample] = evaluation.samples(name, data)
    pages = list(islice((page for page in found if half in ("all", page.half)), limit))
    if not pages:
        click.echo(f"{name} is left out: it is not in {evaluation.VARIABLE}")
    return pages


def _rows(results: Results) -> list[list[str]]:
    return [
        [
            f"{name}, {extractor}",
            str(len(each.words)),
            f"{each.score(name):.4f}",
            f"{each.word_f1:.4f}",
            str(sum(value < 0.1 for value in each.words)),  # noqa: PLR2004  as good as nothing
            str(each.failures),
            f"{statistics.median(each.milliseconds):.2f}",
            f"{percentile(each.milliseconds):.2f}",
        ]
        for name, extractors in results.items()
        for extractor, each in extractors.items()
    ]


def percentile(values: list[float], share: float = 0.95) -> float:
    return sorted(values)[int(len(values) * share)]


def _print_kinds(results: Results) -> None:
    """Word F1 by type of page, where a set has several."""
    for name, extractors in results.items():
        kinds = sorted({kind for each in extractors.values() for kind in each.kinds})
        if len(kinds) > 1:
            rows = [
                [extractor, *(f"{statistics.mean(each.kinds[kind]):.3f}" for kind in kinds)]
                for extractor, each in extractors.items()
            ]
            table([f"{name}, word F1", *kinds], rows)


def _print_bars(results: Results) -> None:
    for name, extractors in results.items():
        ours = extractors[OURS]
        if name in BARS:
            bar(f"{name}, score", ours.score(name), BARS[name], least=True)
        if len(ours.kinds) > 1:
            means = {kind: statistics.mean(values) for kind, values in ours.kinds.items()}
            kind, score = min(means.items(), key=lambda row: row[1])
            bar(f"{name}, weakest type of page ({kind})", score, TYPE_BAR, least=True)
    times = {who: _times(results, who) for who in (OURS, PEER)}
    if times[OURS]:
        bar("CPU ms per page, median", statistics.median(times[OURS]), MEDIAN_BAR, least=False)
        bar("CPU ms per page, p95", percentile(times[OURS]), P95_BAR, least=False)
    if times[PEER]:
        ratio = statistics.median(times[OURS]) / statistics.median(times[PEER])
        bar(f"CPU beside {PEER}'s markdown, medians", ratio, PEER_BAR, least=False)


def _times(results: Results, who: str) -> list[float]:
    return [spent for name in TIMED if who in results.get(name, {}) for spent in results[name][who].milliseconds]


def _write_report(path: Path, results: Results, said: tuple[str, ...], rows: list[list[str]]) -> None:
    plots = [
        (
            name,
            [
                scatter.Point(extractor, statistics.median(each.milliseconds), each.score(name))
                for extractor, each in extractors.items()
            ],
        )
        for name, extractors in results.items()
    ]
    path.write_text(scatter.page("Finding the content of pages", said, plots, [COLUMNS, *rows]), encoding="utf-8")
    click.echo(f"wrote {path}")


def _apply_gate(pages: Mapping[str, list[Sample]], results: Results, *, raising: bool) -> None:
    measured = {name: (each[OURS].score(name), evaluation.digest(pages[name])) for name, each in results.items()}
    if raising:
        gate.write(gate.raised(gate.read(), measured))
    complaints = [gate.judge(name, *found, gate.read()) for name, found in measured.items()]
    for complaint in filter(None, complaints):
        click.echo(f"BELOW THE FLOOR: {complaint}")
    if any(complaints):
        raise SystemExit(1)


def _lower(name: str, score: float, reason: str) -> None:
    floors = gate.read()
    if not reason.strip():
        raise click.UsageError("a floor is lowered for a --reason")
    if name not in floors or score >= floors[name].score:
        raise click.UsageError(f"{name} has no floor above {score}")
    gate.write(gate.lowered(floors, name, score, reason))


if __name__ == "__main__":
    main()
