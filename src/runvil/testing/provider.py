"""A search provider that is a script."""

from __future__ import annotations

from collections.abc import Sequence

from runvil.core.failures import SearchError
from runvil.core.results import SearchQuery, SearchResult, SearchResults


class FakeProvider:
    """`runvil.SearchProvider` that answers with `results`, or raises `error`; `asked` records what it was asked.

    query: what it says the search ran; by default the one it was given.
    """

    def __init__(
        self, results: Sequence[SearchResult] = (), *, query: str | None = None, error: SearchError | None = None
    ) -> None:
        self._results = tuple(results)
        self._query = query
        self._error = error
        self.asked: list[SearchQuery] = []

    async def search(self, query: SearchQuery) -> SearchResults:
        self.asked.append(query)
        if self._error is not None:
            raise self._error
        return SearchResults(query.query if self._query is None else self._query, self._results)
