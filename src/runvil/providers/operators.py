"""Domain lists as search operators, for the vendors that have no parameter for them."""

from __future__ import annotations

import re
from collections.abc import Sequence

MAX_WORDS = 32
"""Google reads so many words of a query, operators included, and drops the rest."""

_HOST = re.compile(r"[a-z0-9_.-]+")
"""What can stand behind `site:` or in a Goggle without meaning something else."""


def sayable(domains: Sequence[str]) -> list[str]:
    return [domain for domain in domains if _HOST.fullmatch(domain)]


def with_sites(query: str, include: Sequence[str], exclude: Sequence[str]) -> str:
    """The query with as many operators as fit. An include list goes whole or not at all: half of it would lose rows."""
    room = MAX_WORDS - len(query.split())
    wanted, unwanted = sayable(include), sayable(exclude)
    if len(wanted) > room:
        wanted = []
    parts = [query]
    if wanted:
        either = " OR ".join(f"site:{domain}" for domain in wanted)
        parts.append(f"({either})" if len(wanted) > 1 else either)
    parts += [f"-site:{domain}" for domain in unwanted[: max(0, room - len(wanted))]]
    return " ".join(parts)
