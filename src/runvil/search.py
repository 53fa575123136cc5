"""The short walk: a checked query through a provider to the text a model is given (spec 2)."""

from __future__ import annotations

import logging

from runvil.core.failures import SearchError, SearchFailed, ToolErrorKind
from runvil.core.results import SearchQuery, results_json
from runvil.ports import SearchProvider

log = logging.getLogger("runvil.search")


async def search(query: SearchQuery, provider: SearchProvider) -> str:
    """Search and render. Raises SearchFailure."""
    try:
        found = await provider.search(query)
    except SearchError as error:
        raise SearchFailed(error.kind, error.message) from error
    except Exception as error:
        log.exception("a provider raised what is no SearchError")
        raise SearchFailed(ToolErrorKind.BACKEND, "the search provider failed") from error
    return results_json(found)
