"""How a benchmark speaks: what it measured, on what, and one table."""

from __future__ import annotations

import os
import platform
import resource
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import click


def heading(title: str, *said: str, packages: Sequence[str] = ()) -> None:
    """What is measured and how, and the machine and versions it was measured with."""
    click.echo(f"# {title}\n")
    for line in (*said, machine(), _versions(("runvil", *packages))):
        click.echo(line)
    click.echo()


def machine() -> str:
    when = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    processor = f"{_processor()} x {os.cpu_count()}, load {os.getloadavg()[0]:.1f}"
    python = f"{platform.python_implementation()} {platform.python_version()}"
    return "; ".join((when, processor, f"{platform.system()} {platform.release()}", python, ssl.OPENSSL_VERSION))


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A markdown table whose columns line up on a terminal; the first holds text, the others numbers."""
    widths = [max(len(row[at]) for row in (columns, *rows)) for at in range(len(columns))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for first, *rest in (columns, rule, *rows):
        numbers = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        click.echo(f"| {' | '.join((first.ljust(widths[0]), *numbers))} |")
    click.echo()


def bar(what: str, value: float, limit: float, *, least: bool) -> None:
    """One line: whether a bar of the project's plan is met. A missed one ends no run: machines differ."""
    met = value >= limit if least else value <= limit
    click.echo(
        f"{'met' if met else 'MISSED'}: {what}: {value:.3g}, the bar is at {'least' if least else 'most'} {limit:g}"
    )


def cpu_seconds() -> float:
    """User and system time of this process with all its threads."""
    return _cpu(resource.RUSAGE_SELF)


def children_cpu() -> float:
    """The same of the processes that it started and that have ended."""
    return _cpu(resource.RUSAGE_CHILDREN)


def _cpu(who: int) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _versions(packages: Sequence[str]) -> str:
    return ", ".join(f"{name} {installed(name) or '(absent)'}" for name in packages)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
