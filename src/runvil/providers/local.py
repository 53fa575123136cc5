"""Search over the pages that this machine remembers: no key, no server, no network."""

from __future__ import annotations

import asyncio

from runvil.core.failures import SearchError, ToolErrorKind
from runvil.core.results import SearchQuery, SearchResults
from runvil.providers.index import IndexUnusable, LocalIndex
from runvil.providers.rows import finished
from runvil.providers.support import heard


class LocalProvider:
    """Asks the pages that this machine was told to remember. index: the user's own by default."""

    name = "local"

    def __init__(self, index: LocalIndex | None = None) -> None:
        self.index = index or LocalIndex()

    async def search(self, query: SearchQuery) -> SearchResults:
        """Raises SearchError."""
        try:
            found = await asyncio.to_thread(self.index.find, heard(self.name, query))
        except IndexUnusable as error:
            raise SearchError(ToolErrorKind.BACKEND, str(error)) from error
        return finished(query, found)
