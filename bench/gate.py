"""The quality gate: the least score each test set may come to, kept in extraction_floors.toml beside this file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

FLOORS = Path(__file__).with_name("extraction_floors.toml")

STEP = 0.001
"""A floor is set this much below what was measured: the last digit moves with the machine's libraries."""


@dataclass(frozen=True, slots=True)
class Floor:
    """digest: of the pages that it was measured on. reason: why it was lowered, if it was."""

    score: float
    digest: str
    reason: str = ""


def read(path: Path = FLOORS) -> dict[str, Floor]:
    rows = tomllib.loads(path.read_text(encoding="utf-8"))
    return {name: Floor(row["score"], row["digest"], row.get("reason", "")) for name, row in rows.items()}


def write(floors: Mapping[str, Floor], path: Path = FLOORS) -> None:
    head = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    lines = [*head]
    for name, floor in sorted(floors.items()):
        lines += ["", f'["{name}"]', f"score = {floor.score:.4f}", f'digest = "{floor.digest}"']
        if floor.reason:
            lines.append(f"reason = {json.dumps(floor.reason, ensure_ascii=False)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def judge(name: str, score: float, digest: str, floors: Mapping[str, Floor]) -> str:
    """What is wrong with a set's score; "" for nothing."""
    floor = floors.get(name)
    if floor is None:
        return f"{name} has no floor yet; --raise sets it"
    if floor.digest != digest:
        return f"{name}: these are other pages than the floor was set on ({digest}, not {floor.digest})"
    if score < floor.score:
        return f"{name} comes to {score:.4f}, its floor is {floor.score:.4f}"
    return ""


def raised(floors: Mapping[str, Floor], measured: Mapping[str, tuple[float, str]]) -> dict[str, Floor]:
    """`floors` with every set's at what it now reaches, where that is higher or the pages are others."""
    new = dict(floors)
    for name, (score, digest) in measured.items():
        old = floors.get(name)
        if old is None or old.digest != digest or score - STEP > old.score:
            new[name] = Floor(round(score - STEP, 4), digest)
    return new


def lowered(floors: Mapping[str, Floor], name: str, score: float, reason: str) -> dict[str, Floor]:
    return {**floors, name: Floor(score, floors[name].digest, reason)}
