"""The local index: pages that this machine was told to remember, for search without a vendor. SQLite's FTS5, one file.

It is written by `runvil fetch --remember` and by nothing else. Queries of addresses are not kept, the file is its
owner's alone, what a user types never reaches the match syntax unquoted. Everything here blocks: call it in a thread.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from runvil.core.calls import MAX_RESULTS
from runvil.core.page import Page
from runvil.core.results import SearchQuery, SearchResult
from runvil.core.url import parse
from runvil.providers.codes import DAYS, language_tag
from runvil.providers.rows import MAX_TITLE, domains, row
from runvil.providers.terms import joined, match_of, spaced

MAX_PAGES = 50_000
MAX_TEXT = 200_000
MAX_TOTAL = 400_000_000
"""Pages, characters of one, characters of all: about a gigabyte of disk at most. The oldest make room."""

LOCK_SECONDS = 5.0
"""How long another process that writes is waited for."""

QUERY_SECONDS = 5.0
"""A search of a full index takes milliseconds; what takes longer is stopped."""

STEPS = 10_000
"""Virtual machine steps between looks at the clock."""

VERSION = 1

_SCHEMA = (
    """CREATE TABLE pages (
    id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, host TEXT NOT NULL, title TEXT NOT NULL,
    language TEXT, fetched REAL NOT NULL, size INTEGER NOT NULL)""",
    "CREATE VIRTUAL TABLE words USING fts5(title, body, tokenize='porter unicode61 remove_diacritics 2')",
    f"PRAGMA user_version = {VERSION}",
)

_FIND = """
SELECT pages.url, pages.title, snippet(words, 1, '', '', '…', 40), pages.fetched
FROM words JOIN pages ON pages.id = words.rowid
WHERE words MATCH :match AND pages.fetched >= :since
AND (:language IS NULL OR pages.language IS NULL OR pages.language = :language)
"""

_BEST = " ORDER BY bm25(words, 5.0, 1.0), pages.id LIMIT :count"
"""A word of the title counts for five of the text."""

_SURPLUS = """
SELECT id FROM (SELECT id, row_number() OVER newest AS place, sum(size) OVER newest AS total
FROM pages WINDOW newest AS (ORDER BY fetched DESC, id DESC)) WHERE place > ? OR total > ?
"""


NOTHING = "no pages are remembered on this machine"


class IndexUnusable(Exception):
    """The index is not there, damaged, locked, or from another version. The text is for the user."""


class LocalIndex:
    """The pages that this machine was told to remember: one SQLite file, its owner's alone. Its methods block.

    directory: where the file is; by default the user's data directory for runvil.
    """

    def __init__(self, directory: Path | None = None) -> None:
        self.path = (directory or data_directory()).absolute() / "pages.sqlite3"

    def exists(self) -> bool:
        return self.path.is_file()

    def remember(self, page: Page, *, language: str | None = None) -> None:
        """Add a page, or replace what is kept of its address. language: its code, if known. Raises IndexUnusable."""
        self.remember_all([page], language=language)

    def remember_all(self, pages: Iterable[Page], *, language: str | None = None) -> None:
        """Add pages in one transaction. Raises IndexUnusable."""
        tag = language_tag(language)
        with self._opened(create=True) as connection:
            for page in pages:
                _add(connection, page, tag[0] if tag else None)
            _make_room(connection)

    def find(self, query: SearchQuery) -> list[SearchResult]:
        """The best pages, at most `query.count`, 20 when that is None. Raises IndexUnusable."""
        sql, values = _filters(query)
        until = time.monotonic() + QUERY_SECONDS
        with self._opened(create=False) as connection:
            connection.set_progress_handler(lambda: time.monotonic() > until, STEPS)
            for match in match_of(query.query):
                found = connection.execute(_FIND + sql + _BEST, values | {"match": match}).fetchall()
                if found:
                    return [each for each in map(_row, found) if each is not None]
        return []

    @contextmanager
    def _opened(self, *, create: bool) -> Iterator[sqlite3.Connection]:
        try:
            if create:
                self._create()
            elif not self.exists():
                raise IndexUnusable(NOTHING)
            address = f"{self.path.as_uri()}?mode=rw"
            with closing(sqlite3.connect(address, uri=True, timeout=LOCK_SECONDS)) as connection, connection:
                if create:
                    _make(connection)
                _check(connection)
                yield connection
        except (sqlite3.Error, OSError) as error:
            raise IndexUnusable(f"the local index cannot be used: {error}") from error

    def _create(self) -> None:
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        self.path.chmod(0o600)


def data_directory(env: Mapping[str, str] = os.environ, platform: str = sys.platform) -> Path:
    """runvil's part of the user's data directory."""
    if platform == "win32":
        return Path(env.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "runvil"
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "runvil"
    data = env.get("XDG_DATA_HOME", "")
    return (Path(data) if os.path.isabs(data) else Path.home() / ".local" / "share") / "runvil"


def _make(connection: sqlite3.Connection) -> None:
    """The tables, if this is the first write: one of several at once makes them, under the write lock."""
    connection.execute("BEGIN IMMEDIATE")
    if _version(connection) == 0:
        for statement in _SCHEMA:
            connection.execute(statement)


def _check(connection: sqlite3.Connection) -> None:
    version = _version(connection)
    if version == 0:
        raise IndexUnusable(NOTHING)
    if version != VERSION:
        raise IndexUnusable("the local index was made by another version of runvil")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _add(connection: sqlite3.Connection, page: Page, language: str | None) -> None:
    url = parse(page.url)
    text, title = page.text[:MAX_TEXT], page.title[:MAX_TITLE]
    known = connection.execute("SELECT id FROM pages WHERE url = ?", (url.shown,)).fetchall()
    _forget(connection, known)
    made = connection.execute(
        "INSERT INTO pages (url, host, title, language, fetched, size) VALUES (?, ?, ?, ?, ?, ?)",
        (url.shown, url.host_text.removesuffix("."), title, language, time.time(), len(text)),
    )
    connection.execute(
        "INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)", (made.lastrowid, spaced(title), spaced(text))
    )


def _make_room(connection: sqlite3.Connection) -> None:
    count, total = connection.execute("SELECT count(*), total(size) FROM pages").fetchone()
    if count <= MAX_PAGES and total <= MAX_TOTAL:
        return
    _forget(connection, connection.execute(_SURPLUS, (MAX_PAGES, MAX_TOTAL)).fetchall())


def _forget(connection: sqlite3.Connection, ids: Sequence[tuple[int]]) -> None:
    connection.executemany("DELETE FROM words WHERE rowid = ?", ids)
    connection.executemany("DELETE FROM pages WHERE id = ?", ids)


def _filters(query: SearchQuery) -> tuple[str, dict[str, Any]]:
    """More conditions, every value of them bound and never part of the text."""
    tag = language_tag(query.search_lang)
    values: dict[str, Any] = {
        "since": time.time() - DAYS[query.freshness] * 86_400 if query.freshness else 0.0,
        "language": tag[0] if tag else None,
        "count": query.count or MAX_RESULTS // 2,
    }
    sql = ""
    for word, listed in (("", query.include_domains), ("NOT", query.exclude_domains)):
        hosts = domains(listed)
        names = [f"{word or 'IN'}_{place}" for place in range(len(hosts))]
        values |= dict(zip(names, hosts, strict=True))
        any_of = " OR ".join(f"pages.host = :{n} OR substr(pages.host, -length(:{n}) - 1) = '.' || :{n}" for n in names)
        if listed:
            sql += f" AND {word} ({any_of or 'FALSE'})"
    return sql, values


def _row(found: tuple[str, str, str, float]) -> SearchResult | None:
    url, title, snippet, fetched = found
    day = datetime.fromtimestamp(fetched, UTC).date()
    return row(url, title, joined(snippet), age=f"fetched {day}")
