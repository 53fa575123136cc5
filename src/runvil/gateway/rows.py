"""What is done to a vendor's rows before a client sees them (spec 2.8), in this order: text, address, domains, hosts.

Pure functions; a step never looks at what a later one will do.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from runvil.core.failures import InvalidUrl
from runvil.core.results import SearchQuery, SearchResult, SearchResults, results_json
from runvil.core.url import parse

MAX_TITLE = 512
MAX_DESCRIPTION = 4096
MAX_SNIPPET = 1024
MAX_SNIPPETS = 8
MAX_AGE = 64
MAX_URL = 2048
"""Characters, or entries (spec 2.8)."""

MAX_ANSWER = 256 * 1024
"""Bytes of a whole answer: a client refuses a larger one (spec 2.7), so the last rows go rather than all of them."""

READ_AHEAD = 8
"""How many times the cap is looked at: cleaning only shortens, and a hostile text must not cost more than that."""

ENTITIES = (("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&#39;", "'"), ("&apos;", "'"))
"""In this order, so that a doubly encoded text comes out plain (spec 2.8)."""

TRACKERS = frozenset({"fbclid", "gclid", "mc_cid", "mc_eid"})
TRACKER_PREFIX = "utm_"

_DROPPED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
"""Controls but for newline and tab, which are white space; and halves of characters, which no encoding can carry."""

_NOT_IN_A_URL = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class RowRules:
    """What the configuration says about rows."""

    max_per_host: int = 2
    strip_tracking: bool = True


def rendered(query: SearchQuery, found: SearchResults, rules: RowRules) -> tuple[int, bytes]:
    """How many rows, and the answer's body: what was found, processed, as compact JSON of at most MAX_ANSWER bytes."""
    rows = post_process(found.results, query, rules)
    while True:
        body = results_json(SearchResults(query.query, rows)).encode()
        if len(body) <= MAX_ANSWER:
            return len(rows), body
        rows = rows[:-1]


def post_process(rows: Iterable[SearchResult], query: SearchQuery, rules: RowRules) -> tuple[SearchResult, ...]:
    """The rows that are left, at most `query.count`."""
    cleaned = _cleaned(rows, rules)
    wanted = (pair for pair in cleaned if _is_wanted(pair[0], query.include_domains, query.exclude_domains))
    return tuple(_diverse(wanted, rules.max_per_host, query.count or 0))


def _cleaned(rows: Iterable[SearchResult], rules: RowRules) -> Iterator[tuple[str, SearchResult]]:
    """(host, row) for each row that has an address a client can use."""
    for row in rows:
        url = strip_tracking_params(row.url) if rules.strip_tracking else row.url
        host = host_of(url)
        if host is not None:
            yield host, _clean(row, url, site_of(host))


def _clean(row: SearchResult, url: str, site: str) -> SearchResult:
    snippets = (sanitize_text(text, MAX_SNIPPET) for text in row.extra_snippets[:MAX_SNIPPETS])
    return SearchResult(
        title=sanitize_text(row.title, MAX_TITLE),
        url=url,
        description=sanitize_text(row.description, MAX_DESCRIPTION),
        age=sanitize_text(row.age, MAX_AGE) if row.age else None,
        site_name=site,
        extra_snippets=tuple(text for text in snippets if text),
    )


def sanitize_text(text: str, max_chars: int) -> str:
    """One line of plain text, cut after `max_chars` characters."""
    line = " ".join(_DROPPED.sub("", text[: max_chars * READ_AHEAD]).split())
    if "&" in line:
        for entity, character in ENTITIES:
            line = line.replace(entity, character)
    return line[:max_chars]


def strip_tracking_params(url: str) -> str:
    """The address without the parameters that only say who sent the reader."""
    rest, hash_mark, fragment = url.partition("#")
    base, question_mark, query = rest.partition("?")
    if not question_mark:
        return url
    kept = [pair for pair in query.split("&") if pair and not _is_tracker(pair.partition("=")[0])]
    return base + ("?" if kept else "") + "&".join(kept) + hash_mark + fragment


def _is_tracker(name: str) -> bool:
    return name in TRACKERS or name.startswith(TRACKER_PREFIX)


def host_of(url: str) -> str | None:
    """The host of a web address as a client would dial it, or None when no client could."""
    if len(url) > MAX_URL or _NOT_IN_A_URL.search(url):
        return None
    try:
        parsed = parse(url)
    except InvalidUrl:
        return None
    if parsed.scheme not in ("http", "https"):
        return None
    return parsed.host_text.removesuffix(".") or None


def site_of(host: str) -> str:
    """The host as people call it; also the group that max_per_host counts."""
    return host.removeprefix("www.")


def _is_wanted(host: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    return (not include or _is_in(host, include)) and not _is_in(host, exclude)


def _is_in(host: str, domains: Sequence[str]) -> bool:
    """On label boundaries: notexample.com is not in example.com."""
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _diverse(pairs: Iterable[tuple[str, SearchResult]], max_per_host: int, count: int) -> Iterator[SearchResult]:
    """In order, at most `max_per_host` rows of a host and `count` of all."""
    taken: Counter[str] = Counter()
    for host, row in pairs:
        site = site_of(host)
        if taken[site] < max_per_host:
            taken[site] += 1
            yield row
            if taken.total() == count:
                return
