"""`python -m bench.local_index`: the local index beside tantivy: writing 20,000 pages, the file's size, one query.

Both hold the same made-up pages and answer the same two-word queries with snippets. tantivy has no filter by host, age
and language, so none is asked for. The process's CPU counts, threads included.
"""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from bench.report import cpu_seconds, heading, installed, table
from runvil.core.page import Extraction, Page
from runvil.core.results import SearchQuery
from runvil.providers import LocalIndex

PAGES, QUERIES, ROUNDS = 20_000, 200, 3
WORDS_A_PAGE, VOCABULARY = 300, 20_000
SEED = 20_261_130
MANY = 10  # rows asked for
MIB, MILLI = 1024 * 1024, 1000


@dataclass(frozen=True)
class Measured:
    """Seconds of CPU to write all, MiB on disk, milliseconds of CPU a query, rows that all queries gave."""

    write: float
    size: float
    query: float
    rows: int


@click.command()
@click.option("--quick", is_flag=True, help="Few pages and queries: shows that it runs, measures nothing.")
def main(quick: bool) -> None:
    """Index and query time of the local index, beside tantivy."""
    pages, queries = (200, 5) if quick else (PAGES, QUERIES)
    heading(
        "The local index: SQLite's FTS5 through runvil, and tantivy",
        f"{pages} pages of {WORDS_A_PAGE} words, {queries} queries of two words, {MANY} rows with snippets each;",
        f"the median of {1 if quick else ROUNDS} rounds, in which both take turns.",
        packages=("tantivy",),
    )
    made = list(_pages(pages))
    asked = list(_queries(queries))
    kinds: dict[str, Callable[[Path, Sequence[Page], Sequence[str]], Measured]] = {"runvil": _runvil}
    if installed("tantivy"):
        kinds["tantivy"] = _tantivy
    else:
        click.echo("without tantivy: pip install tantivy\n")
    rounds = [{name: _fresh(kind, made, asked) for name, kind in kinds.items()} for _ in range(1 if quick else ROUNDS)]
    table(
        ["index", "write, CPU s", "size, MiB", "query, CPU ms", "query / runvil", "rows"],
        [_row(name, rounds) for name in kinds],
    )


def _row(name: str, rounds: Sequence[dict[str, Measured]]) -> list[str]:
    mine = [each[name] for each in rounds]
    ratio = statistics.median(each[name].query / each["runvil"].query for each in rounds)
    write, size, query = (
        statistics.median(getattr(each, part) for each in mine) for part in ("write", "size", "query")
    )
    return [name, f"{write:.2f}", f"{size:.1f}", f"{query:.2f}", f"{ratio:.2f}", str(mine[0].rows)]


def _fresh(
    kind: Callable[[Path, Sequence[Page], Sequence[str]], Measured], pages: Sequence[Page], queries: Sequence[str]
) -> Measured:
    with tempfile.TemporaryDirectory() as folder:
        return kind(Path(folder), pages, queries)


def _runvil(folder: Path, pages: Sequence[Page], queries: Sequence[str]) -> Measured:
    index = LocalIndex(folder)
    before = cpu_seconds()
    index.remember_all(pages)
    write = cpu_seconds() - before
    before = cpu_seconds()
    rows = sum(len(index.find(SearchQuery(query, count=MANY))) for query in queries)
    return Measured(write, _size(folder), (cpu_seconds() - before) / len(queries) * MILLI, rows)


def _tantivy(folder: Path, pages: Sequence[Page], queries: Sequence[str]) -> Measured:
    import tantivy  # noqa: PLC0415  a peer, not a dependency

    builder = tantivy.SchemaBuilder()
    for name in ("title", "body", "url"):
        builder.add_text_field(name, stored=True)
    schema = builder.build()
    index = tantivy.Index(schema, path=str(folder))
    before = cpu_seconds()
    writer = index.writer()
    for page in pages:
        writer.add_document(tantivy.Document(title=page.title, body=page.text, url=page.url))
    writer.commit()
    writer.wait_merging_threads()
    write = cpu_seconds() - before
    index.reload()
    searcher = index.searcher()
    before = cpu_seconds()
    rows = sum(len(_found(tantivy, index, searcher, schema, query)) for query in queries)
    return Measured(write, _size(folder), (cpu_seconds() - before) / len(queries) * MILLI, rows)


def _found(tantivy: Any, index: Any, searcher: Any, schema: Any, query: str) -> list[tuple[str, str]]:
    parsed = index.parse_query(" AND ".join(query.split()), ["title", "body"])
    snippets = tantivy.SnippetGenerator.create(searcher, parsed, schema, "body")
    found = searcher.search(parsed, MANY).hits
    documents = [searcher.doc(address) for _, address in found]
    return [(document["url"][0], snippets.snippet_from_doc(document).fragment()) for document in documents]


def _size(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / MIB


def _pages(count: int) -> Iterator[Page]:
    """Words as frequent as in language, one in proportion to the inverse of its rank."""
    chance = random.Random(SEED)  # noqa: S311  the same pages in every run
    weights = [1 / (rank + 1) for rank in range(VOCABULARY)]
    for number in range(count):
        words = [f"word{rank}" for rank in chance.choices(range(VOCABULARY), weights, k=WORDS_A_PAGE)]
        yield Page(
            f"https://host{number % 97}.example/{number}", " ".join(words), False, Extraction.READABILITY, 200,
            "text/html", " ".join(words[:6]),
        )  # fmt: skip


def _queries(count: int) -> Iterator[str]:
    chance = random.Random(SEED + 1)  # noqa: S311
    for _ in range(count):
        yield f"word{chance.randrange(20, 400)} word{chance.randrange(20, 400)}"


if __name__ == "__main__":
    started = time.perf_counter()
    main(standalone_mode=False)
    click.echo(f"took {time.perf_counter() - started:.0f} s")
