"""What each provider makes of the eight arguments, as data: it drives the mapping, the documents and `runvil doctor`.

An argument that a provider ignores never reaches its mapping (`heard`), and the log says so. Facts and their sources:
the vendors' own pages and clients as of 2026-11.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from runvil.core.results import SearchQuery

log = logging.getLogger("runvil.providers")


class Level(StrEnum):
    NATIVE = "native"
    NARROWER = "narrower"
    EMULATED = "emulated"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Support:
    """level, and how it is done or what is missing."""

    level: Level
    how: str = ""


ARGUMENTS = (
    "query", "count", "freshness", "country", "search_lang", "safesearch", "include_domains", "exclude_domains",
)  # fmt: skip

N = Support(Level.NATIVE)


def _narrower(how: str) -> Support:
    return Support(Level.NARROWER, how)


def _emulated(how: str) -> Support:
    return Support(Level.EMULATED, how)


def _ignored(how: str) -> Support:
    return Support(Level.IGNORED, how)


def _row(*supports: Support) -> Mapping[str, Support]:
    return dict(zip(ARGUMENTS, supports, strict=True))


_OPERATORS = _emulated("site: in the query, and the rows")
_A_SWITCH = _narrower("on or off: moderate is strict")

SUPPORT: Mapping[str, Mapping[str, Support]] = {
    "gateway": _row(N, N, N, N, N, N, N, N),
    "brave": _row(
        _narrower("the first 50 words"), N, N, _narrower("its 37 countries"), _narrower("its 51 languages"), N,
        _emulated("a Goggle, and the rows"), _emulated("a Goggle, and the rows"),
    ),
    "searxng": _row(
        N, _emulated("rows cut, a second page"), N, _emulated("with search_lang alone"), N, N, _OPERATORS, _OPERATORS,
    ),
    "tavily": _row(
        N, N, N, _narrower("raises a country's pages"), _narrower("a preference"), _ignored("no such parameter"), N, N,
    ),
    "exa": _row(
        N, N, _emulated("by publication date; undated pages are left out"), N, _ignored("no such parameter"), _A_SWITCH,
        N, _narrower("by the rows alone beside include_domains"),
    ),
    "kagi": _row(N, N, _emulated("a date"), N, _ignored("no such parameter"), _A_SWITCH, N, N),
    "serper": _row(
        N, _narrower("above 10 it may give fewer"), N, N, _narrower("the language of the interface"),
        _ignored("no such parameter"), _OPERATORS, _OPERATORS,
    ),
    "local": _row(
        N, N, _emulated("by the time of the fetch"), _ignored("not known of a page"),
        _narrower("pages whose language is known to be another are left out"), _ignored("no classifier"), N, N,
    ),
}  # fmt: skip
"""provider -> argument -> support. Both domain lists are also enforced on the rows, everywhere."""


def heard(provider: str, query: SearchQuery) -> SearchQuery:
    """The query without what the provider ignores; the log names what was asked for in vain."""
    ignored = [name for name, support in SUPPORT[provider].items() if support.level is Level.IGNORED]
    in_vain = [name for name in ignored if getattr(query, name)]
    if in_vain:
        log.info("%s ignores %s", provider, ", ".join(in_vain))
    nothing: dict[str, Any] = dict.fromkeys(in_vain)
    return replace(query, **nothing)


def worded(provider: str, argument: str, asked: str | None, word: str | None) -> str | None:
    """The provider's word for what was asked, or None; the log says when it has none and the argument is left out."""
    if asked is not None and word is None:
        log.info("%s has no word for this %s: left out", provider, argument)
    return word


def summary(provider: str) -> str:
    """What is not native, in one line."""
    found = SUPPORT[provider]
    parts = (
        (level, [name for name in ARGUMENTS if found[name].level is level])
        for level in (Level.NARROWER, Level.EMULATED, Level.IGNORED)
    )
    return "; ".join(f"{level}: {', '.join(names)}" for level, names in parts if names) or "all arguments native"


def table() -> str:
    """The table of the documents, in markdown."""
    head = "| | " + " | ".join(f"`{name}`" for name in ARGUMENTS) + " |"
    rule = "|---" * (len(ARGUMENTS) + 1) + "|"
    lines = [f"| {name} | " + " | ".join(_cell(row[a]) for a in ARGUMENTS) + " |" for name, row in SUPPORT.items()]
    return "\n".join((head, rule, *lines)) + "\n"


def _cell(support: Support) -> str:
    return f"{support.level}: {support.how}" if support.how else str(support.level)
