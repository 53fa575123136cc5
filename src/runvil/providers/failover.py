"""Several providers as one: the next is asked when one fails. An empty list is an answer, not a failure."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from runvil.core.failures import SearchError, ToolErrorKind
from runvil.core.results import SearchQuery, SearchResults
from runvil.ports import SearchProvider
from runvil.providers.client import DEADLINE

log = logging.getLogger("runvil.providers")


class FailoverProvider:
    """Asks one provider after another until one answers; an empty list is an answer.

    providers: in the order to ask them, at least one, else ValueError. deadline: seconds for all; each gets a fair
    part of what is left.
    """

    name = "failover"

    def __init__(self, providers: Sequence[SearchProvider], *, deadline: float = DEADLINE) -> None:
        if not providers:
            raise ValueError("no provider to fail over to")
        self._providers = tuple(providers)
        self._deadline = deadline

    async def search(self, query: SearchQuery) -> SearchResults:
        """The first answer; the log says whose it is. Raises SearchError when all failed."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._deadline
        failures: list[SearchError] = []
        for place, provider in enumerate(self._providers):
            part = (until - loop.time()) / (len(self._providers) - place)
            try:
                found = await _within(part, provider, query)
            except SearchError as error:
                log.warning("%s failed: %s", name_of(provider), error)
                failures.append(error)
            else:
                log.info("%s answered, after %d failed", name_of(provider), len(failures))
                return found
        raise _all(failures)

    async def aclose(self) -> None:
        for provider in self._providers:
            await close(provider)


async def _within(seconds: float, provider: SearchProvider, query: SearchQuery) -> SearchResults:
    try:
        async with asyncio.timeout(seconds):
            return await provider.search(query)
    except TimeoutError as error:
        raise SearchError(ToolErrorKind.TRANSPORT, f"{name_of(provider)} did not answer in time") from error


def _all(failures: Sequence[SearchError]) -> SearchError:
    """Transport when nobody was reached, else Backend."""
    if len(failures) == 1:
        return failures[0]
    lost = all(failure.kind is ToolErrorKind.TRANSPORT for failure in failures)
    kind = ToolErrorKind.TRANSPORT if lost else ToolErrorKind.BACKEND
    failure = SearchError(kind, "every provider failed: " + "; ".join(each.message for each in failures))
    failure.__cause__ = failures[-1]
    return failure


def name_of(provider: SearchProvider) -> str:
    return str(getattr(provider, "name", type(provider).__name__))


async def close(provider: SearchProvider) -> None:
    """Close a provider that can be closed."""
    if (aclose := getattr(provider, "aclose", None)) is not None:
        await aclose()
