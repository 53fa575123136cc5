"""`python -m bench.hostile`: CPU and memory of rendering pages made to hang, swell or crash a renderer.

Each page is rendered in a process of its own with a limit on its address space and CPU, so that a crash is a row of the
table and not the end of it. What counts: that it ends in time, within memory, and with the text at the page's bottom.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import dataclass

import click

from bench.hostile_pages import PAGES
from bench.report import bar, heading, table

CPU_BAR, MEMORY_BAR, KINDS_BAR = 3.0, 1000, 50
LIMIT_SECONDS, LIMIT_BYTES = 30, 4 * 1024**3

_CHILD = """
import json, resource, sys, time
from bench.hostile_pages import BOTTOM, PAGES
from bench.extractors import MAKERS
html = PAGES[sys.argv[1]]()
extract = MAKERS[sys.argv[2]]()
extract('<p>warm', 'https://a.example/')
base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = time.process_time()
text = extract(html, 'https://a.example/')
spent = time.process_time() - before
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps([len(html.encode()) / 1e6, spent, peak / 1024, BOTTOM in text, len(text) / 1e6]))
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """seconds: of CPU. peak: MB of resident memory, the page itself and the interpreter included."""

    size: float
    seconds: float
    peak: float
    bottom: bool
    text: float
    failure: str = ""


@click.command()
@click.option("--only", default="", help="The kinds whose name holds this.")
@click.option("--extractor", default="runvil", show_default=True, help="A peer of bench.extraction instead.")
@click.option("--quick", is_flag=True, help="Two kinds: shows that it runs, measures nothing.")
def main(only: str, extractor: str, quick: bool) -> None:
    """Hostile pages: time, memory, and whether the text survives."""
    kinds = [kind for kind in PAGES if only in kind][: 2 if quick else None]
    heading(
        f"Hostile pages, {extractor}",
        f"{len(kinds)} kinds, each in a fresh process of at most {LIMIT_SECONDS} s and {LIMIT_BYTES // 1024**3} GB.",
        packages=("turbohtml",),
    )
    outcomes = {kind: outcome(kind, extractor) for kind in kinds}
    table(
        ["kind", "page MB", "CPU s", "peak MB", "text MB", "bottom", "failure"],
        [
            [
                kind,
                f"{each.size:.1f}",
                f"{each.seconds:.2f}",
                f"{each.peak:.0f}",
                f"{each.text:.1f}",
                "kept" if each.bottom else "LOST",
                each.failure,
            ]
            for kind, each in outcomes.items()
        ],
    )
    bar("kinds", len(kinds), KINDS_BAR, least=True)
    bar("slowest, CPU s", max(each.seconds for each in outcomes.values()), CPU_BAR, least=False)
    bar("most memory, MB", max(each.peak for each in outcomes.values()), MEMORY_BAR, least=False)
    bar("kinds that lose the text at the bottom", sum(not each.bottom for each in outcomes.values()), 0, least=False)


def outcome(kind: str, extractor: str) -> Outcome:
    done = subprocess.run(  # noqa: S603  our own interpreter and text
        [sys.executable, "-c", _CHILD, kind, extractor],
        capture_output=True, text=True, check=False, preexec_fn=_limit, timeout=10 * LIMIT_SECONDS,
    )  # fmt: skip
    if done.returncode != 0 or not done.stdout:
        why = f"signal {-done.returncode}" if done.returncode < 0 else done.stderr.strip().rpartition("\n")[2][:60]
        return Outcome(0.0, float(LIMIT_SECONDS), 0.0, bottom=False, text=0.0, failure=why)
    size, seconds, peak, bottom, text = json.loads(done.stdout)
    return Outcome(size, seconds, peak, bottom, text)


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_SECONDS, LIMIT_SECONDS))


if __name__ == "__main__":
    main()
