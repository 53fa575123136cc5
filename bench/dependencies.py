"""`python -m bench.dependencies`: what each dependency weighs on disk and costs to import. For docs/dependencies.md."""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
from collections.abc import Iterable
from importlib.metadata import Distribution, distribution
from itertools import chain

import click
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from bench.report import children_cpu, heading, table

ROUNDS = 9
LIMIT = 60.0
MIB, MILLI = 1024 * 1024, 1000
STANDARD = "import asyncio, ssl"
"""What a fetch needs of the standard library in any case, and several of the libraries import first."""

MODULES = {"ada-url": "ada_url"}
"""Where the module is not named as the package is."""

CLASSIFIER = re.compile(r"License :: OSI Approved :: (.*)")


@click.command()
@click.option("--quick", is_flag=True, help="One round: shows that it runs, measures nothing.")
def main(quick: bool) -> None:
    """Licence, size and import time of every dependency."""
    rounds = 1 if quick else ROUNDS
    direct = sorted(required("runvil"))
    heading(
        "Dependencies",
        "Size: files as pip left them, compiled ones included, in MiB; second, with all that it needs.",
        f"Import: CPU ms, medians of {rounds} fresh processes that took turns, above a bare Python,",
        f"and above one that has done `{STANDARD}`.",
    )
    rows = [_row(name, _import_times(name, rounds)) for name in direct]
    rows += [_row(name, None) for name in indirect(direct)]
    table(["package", "version", "licence", "MiB", "with its own", "import", "beside asyncio, ssl"], rows)
    everything = {*direct, *indirect(direct)}
    click.echo(f"{len(everything)} distributions, {sum(map(size, everything)) / MIB:.1f} MiB in all")


def required(name: str) -> set[str]:
    """What a distribution needs here, its extras left out."""
    needed = [Requirement(text) for text in distribution(name).requires or ()]
    return {canonicalize_name(one.name) for one in needed if one.marker is None or one.marker.evaluate({"extra": ""})}


def closure(name: str) -> set[str]:
    """It and all that it needs."""
    return {name}.union(*map(closure, required(name)))


def indirect(direct: Iterable[str]) -> list[str]:
    """What nobody here asked for by name."""
    return sorted(set(chain.from_iterable(map(closure, direct))) - set(direct))


def size(name: str) -> int:
    files = distribution(name).files or ()
    places = (file.locate() for file in files)
    return sum(place.stat().st_size for place in places if place.exists())  # type: ignore[attr-defined, unused-ignore]


def licence(one: Distribution) -> str:
    """The packages say it in three ways; the newest first."""
    for key in ("License-Expression", "License"):
        if key in one.metadata:
            return one.metadata[key]
    classifiers = one.metadata.get_all("Classifier") or ()
    return ", ".join(found[1] for text in classifiers if (found := CLASSIFIER.match(text))) or "?"


def _row(name: str, times: tuple[float, float] | None) -> list[str]:
    one = distribution(name)
    whole = sum(map(size, closure(name)))
    cost = [_milliseconds(seconds) for seconds in times] if times else ["", ""]
    return [name, one.version, licence(one), f"{size(name) / MIB:.2f}", f"{whole / MIB:.2f}", *cost]


def _import_times(name: str, rounds: int) -> tuple[float, float]:
    module = MODULES.get(name, name)
    return _above("pass", f"import {module}", rounds), _above(STANDARD, f"{STANDARD}, {module}", rounds)


def _above(less: str, more: str, rounds: int) -> float:
    pairs = [(_cpu_seconds(less), _cpu_seconds(more)) for _ in range(rounds + 1)][1:]  # the first one reads the disk
    return statistics.median(b for _, b in pairs) - statistics.median(a for a, _ in pairs)


def _cpu_seconds(program: str) -> float:
    before = children_cpu()
    subprocess.run([sys.executable, "-c", program], check=True, timeout=LIMIT)  # noqa: S603  our own interpreter
    return children_cpu() - before


def _milliseconds(seconds: float) -> str:
    return f"{seconds * MILLI:.0f}" if seconds * MILLI >= 1 else "< 1"


if __name__ == "__main__":
    main()
