"""`python -m bench.markdown`: which constructs of HTML survive the way into markdown, and how fast that is.

Fidelity: every construct of constructs.toml is converted, rendered back and compared as a tree. A converter that takes
no base address cannot make links absolute; those rows count against it all the same, as they would in use. Speed: a
page that holds every construct a hundred times.
"""

from __future__ import annotations

import statistics
import time
from contextlib import suppress

import click

from bench.converters import Convert, present
from bench.fidelity import Construct, constructs
from bench.report import bar, heading, installed, table

OURS = "runvil"
LEAST = 80
ROUNDS = 5
COPIES = 100


@click.command()
@click.option("--wrong", is_flag=True, help="Name what each converter gets wrong.")
@click.option("--quick", is_flag=True, help="One round over one copy: shows that it runs, measures nothing.")
def main(wrong: bool, quick: bool) -> None:
    """Fidelity and speed of HTML to markdown."""
    if installed("markdown-it-py") is None:
        click.echo("not measured: markdown-it-py is not installed; to have it: pip install markdown-it-py")
        return
    rows = list(constructs())
    converters = present(click.echo)
    heading(
        "HTML to markdown and back",
        f"{len(rows)} constructs, each right when its markdown renders to the wanted tree. MB/s: a page of them all.",
        packages=("turbohtml", "html-to-markdown", "markdownify", "markdown-it-py"),
    )
    wrongs = {name: [row for row in rows if not _is_right(row, convert)] for name, convert in converters.items()}
    speeds = _speeds(rows, converters, *((1, 1) if quick else (ROUNDS, COPIES)))
    groups = list(dict.fromkeys(row.group for row in rows))
    table(
        ["converter", "right", *(f"{group} /{sum(row.group == group for row in rows)}" for group in groups), "MB/s"],
        [
            [
                name,
                str(len(rows) - len(wrongs[name])),
                *(str(sum(row.group == group and row not in wrongs[name] for row in rows)) for group in groups),
                f"{speeds[name]:.1f}",
            ]
            for name in converters
        ],
    )
    bar("constructs in the table", len(rows), LEAST, least=True)
    bar(f"constructs that {OURS} gets wrong", len(wrongs[OURS]), 0, least=False)
    if wrong:
        for name, missed in wrongs.items():
            click.echo(f"\n{name}: {', '.join(f'{row.name} ({row.group})' for row in missed) or 'nothing'}")


def _is_right(row: Construct, convert: Convert) -> bool:
    try:
        return row.is_right(convert(row.html))
    except Exception:  # a converter that fails has it wrong
        return False


def _speeds(rows: list[Construct], converters: dict[str, Convert], rounds: int, copies: int) -> dict[str, float]:
    """Megabytes a second of CPU, medians of rounds in which all take turns. 0 for one that fails or works elsewhere."""
    page = (
        "".join(f"<div>{row.html}</div>" for row in rows if "<base" not in row.html and "<head" not in row.html)
        * copies
    )
    spent: dict[str, list[float]] = {name: [] for name in converters}
    for _ in range(rounds):
        for name, convert in converters.items():
            before = time.process_time()
            with suppress(Exception):  # as above
                convert(page)
                spent[name].append(time.process_time() - before)
    size = len(page.encode()) / 1e6
    return {name: size / statistics.median(times) if times and min(times) > 0 else 0.0 for name, times in spent.items()}


if __name__ == "__main__":
    main()
