"""What the walk needs from the outside, as Protocols.

`assemble` brings the real ones, `runvil.testing` the fake ones.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Protocol

from runvil.core.addresses import Address
from runvil.core.admission import Route
from runvil.core.content import Head
from runvil.core.page import Rendered
from runvil.core.results import SearchQuery, SearchResults
from runvil.core.url import Name


class Broken(Exception):
    """The exchange with a server broke: refused, reset, bad TLS, bad HTTP, an early end. The cause is `__cause__`."""


class LookupBroken(Exception):
    """A name could not be looked up: no such name, server failure, time-out, malformed (spec 1.6)."""


class Response(Protocol):
    """An answer whose head has arrived and whose body has not been read."""

    @property
    def head(self) -> Head: ...

    def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body's bytes as sent, before any content coding. Raises Broken when it breaks off."""
        ...

    async def aclose(self) -> None:
        """Give the connection back if the body was read to its end, else close it at once. Never raises."""
        ...


class Resolver(Protocol):
    async def lookup(self, name: Name) -> Sequence[Address]:
        """Ask for a name's addresses; nothing is cached (spec 1.6). Empty: the name exists and has none.

        Raises LookupBroken.
        """
        ...

    async def aclose(self) -> None: ...


class Net(Resolver, Protocol):
    async def open(self, route: Route) -> Response:
        """Connect to one of the route's vetted addresses and send one GET.

        Raises TimeoutError when no connection opened within the connect limit, Broken for anything else.
        """
        ...

    async def aclose(self) -> None:
        """Close every idle connection."""
        ...


class Renderer(Protocol):
    def warm(self) -> None:
        """HTML is on its way: start what rendering it will need. Returns at once."""
        ...

    async def render(self, html: bytes, address: str, *, raw: bool, limit: int, until: float) -> Rendered:
        """Render UTF-8 `html` (bad sequences are replaced) of the page at `address`. Fails for no page (spec 1.13).

        limit: characters wanted; one more is returned when there are more, so that a cut shows.
        until: the loop time by which an answer must be there, whatever it is worth.
        """
        ...

    async def aclose(self) -> None:
        """End the worker processes and threads."""
        ...


class SearchProvider(Protocol):
    """Who answers a search: any object with this method. It has its own deadline and keeps its own key (spec 2.4)."""

    async def search(self, query: SearchQuery) -> SearchResults:
        """The results, at most as many as `query.count`. Raises SearchError, with a message for the model."""
        ...
