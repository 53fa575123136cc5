"""A network and a renderer whose Nth call to the outside goes wrong, whatever that call is."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence

from runvil.core.addresses import Address
from runvil.core.admission import Route
from runvil.core.content import Head
from runvil.core.page import Rendered
from runvil.core.url import Name
from runvil.testing import FakeNet, FakeResponse
from tests.support.rendering import InProcess

Trouble = Callable[[], None]
"""What happens at the chosen call: it raises, or cancels the task and lets the call go on."""


class Outside:
    """Counts the calls to the outside; the chosen one meets its trouble.

    at: which call, from 0; None for none. calls: the names of all calls made, in order. open: responses not closed.
    """

    def __init__(self, net: FakeNet, trouble: Trouble, at: int | None) -> None:
        self.net = net
        self.calls: list[str] = []
        self.open = 0
        self._trouble = trouble
        self._at = at

    @property
    def met(self) -> str | None:
        """The name of the call that met the trouble."""
        return self.calls[self._at] if self._at is not None and self._at < len(self.calls) else None

    async def call(self, name: str) -> None:
        self.now(name)
        await asyncio.sleep(0)  # a real call gives the loop a turn; this is where a cancellation lands

    def now(self, name: str) -> None:
        self.calls.append(name)
        if len(self.calls) - 1 == self._at:
            self._trouble()


class FaultyNet:
    def __init__(self, outside: Outside) -> None:
        self._outside = outside

    async def lookup(self, name: Name) -> Sequence[Address]:
        await self._outside.call("lookup")
        return await self._outside.net.lookup(name)

    async def open(self, route: Route) -> FaultyResponse:
        await self._outside.call("open")
        return FaultyResponse(self._outside, await self._outside.net.open(route))

    async def aclose(self) -> None:
        await self._outside.net.aclose()


class FaultyResponse:
    def __init__(self, outside: Outside, response: FakeResponse) -> None:
        self._outside = outside
        self._response = response
        self.head: Head = response.head
        outside.open += 1

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        async for chunk in self._response.chunks():
            await self._outside.call("chunk")
            yield chunk
        await self._outside.call("end of the body")

    async def aclose(self) -> None:
        self._outside.open -= 1
        await self._response.aclose()
        self._outside.now("aclose")


class FaultyRenderer(InProcess):
    def __init__(self, outside: Outside) -> None:
        super().__init__()
        self._outside = outside

    def warm(self) -> None:
        self._outside.now("warm")

    async def render(self, html: bytes, address: str, *, raw: bool, limit: int, until: float) -> Rendered:
        await self._outside.call("render")
        return await super().render(html, address, raw=raw, limit=limit, until=until)
