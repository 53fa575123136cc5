"""Rows as a model is given them: cleaned once, of the hosts that were asked for, no more than were asked for."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Sequence

from runvil.core.calls import MAX_RESULTS
from runvil.core.failures import InvalidUrl
from runvil.core.results import SearchQuery, SearchResult, SearchResults
from runvil.core.url import parse

MAX_TITLE, MAX_DESCRIPTION, MAX_SNIPPET, MAX_AGE, MAX_URL = 512, 4096, 1024, 64, 2048
"""Characters (spec 2.8). A longer text is cut, a row with a longer URL is left out."""

MAX_SNIPPETS = 8

_BREAK = re.compile(r"<(?:br|p)\s*/?>|</p>", re.IGNORECASE)
_EMPHASIS = re.compile(r"</?(?:b|strong|em|i|mark|u|span|wbr|sup|sub|font)(?:\s[^<>]*)?/?>", re.IGNORECASE)
"""What vendors mark hits with. Other tags stay: a page about the <div> tag is called that."""

_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff]")
"""Controls that are no white space, and halves of characters, which no encoding can carry."""


def plain(text: object) -> str:
    """One line of text: markup off, character references resolved once, white space collapsed, no controls."""
    if not isinstance(text, str):
        return ""
    unmarked = html.unescape(_EMPHASIS.sub("", _BREAK.sub(" ", text)))
    return " ".join(_CONTROL.sub("", unmarked).split())


def row(
    url: object,
    title: object,
    description: object,
    *,
    age: object = None,
    site: object = None,
    snippets: object = (),
) -> SearchResult | None:
    """A vendor's members as a row; what is no text is taken for absent. None when no model could use its address."""
    if not isinstance(url, str) or (url.strip() and host_of(url) is None):
        return None
    more = [plain(text)[:MAX_SNIPPET] for text in snippets] if isinstance(snippets, list | tuple) else []
    return SearchResult(
        title=plain(title)[:MAX_TITLE],
        url=url.strip(),
        description=plain(description)[:MAX_DESCRIPTION],
        age=plain(age)[:MAX_AGE] or None,
        site_name=plain(site)[:MAX_TITLE] or host_of(url),
        extra_snippets=tuple(text for text in more if text)[:MAX_SNIPPETS],
    )


def finished(query: SearchQuery, rows: Iterable[SearchResult | None], ran: str | None = None) -> SearchResults:
    """The answer to a query. ran: the query the vendor says it ran, when that is another."""
    usable = within(query, [each for each in rows if each is not None])
    return SearchResults(query.query if ran is None else ran, tuple(usable[: query.count or MAX_RESULTS]))


def within(query: SearchQuery, rows: Sequence[SearchResult]) -> list[SearchResult]:
    """The rows of the hosts asked for, whatever the vendor made of the two lists.

    A row without an address stays: it fails the whole search later (spec 2.6).
    """
    include, exclude = domains(query.include_domains), domains(query.exclude_domains)
    if not query.include_domains and not query.exclude_domains:
        return list(rows)
    kept = []
    for each in rows:
        host = host_of(each.url)
        wanted = not query.include_domains or (host is not None and _is_in(host, include))
        if not each.url.strip() or (wanted and (host is None or not _is_in(host, exclude))):
            kept.append(each)
    return kept


def domains(listed: Iterable[str]) -> tuple[str, ...]:
    """The entries as hosts are written: lower case, punycode, no trailing dot. What is no host name falls away."""
    hosts = (host_of(f"https://{entry}/") if _BARE.fullmatch(entry) else None for entry in listed)
    return tuple(dict.fromkeys(host for host in hosts if host))


_BARE = re.compile(r"[^\s/?#@:\\%\[\]]+")
"""An entry of a domain list that is a host name and nothing more."""


def host_of(url: str) -> str | None:
    """The host of a web address, or None when a model could not fetch it."""
    try:
        parsed = parse(url.strip()) if len(url) <= MAX_URL else None
    except InvalidUrl:
        return None
    if parsed is None or parsed.scheme not in ("http", "https"):
        return None
    return parsed.host_text.removesuffix(".")


def _is_in(host: str, listed: Iterable[str]) -> bool:
    """On label boundaries: notexample.com is not in example.com."""
    return any(host == domain or host.endswith(f".{domain}") for domain in listed)
