"""THE WALK: from a checked call to a page, hop by hop, under one deadline (spec 1.2).

    text --parse--> Url --admit--> Admitted --lookup, vet--> Route --open--> Head --follow--> Admitted (again)
         Head --plan--> Plan --read--> body --render--> Page

Each step turns what it was handed into something better; none asks an earlier one again. This file holds the only loop
over hops, and the only place where what the network did becomes a sentence.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import aclosing
from dataclasses import dataclass, field

from runvil.budget import Budget, Lease
from runvil.core.addresses import Address, address_text
from runvil.core.admission import Admitted, Route, admit, follow, resolvable, vet
from runvil.core.calls import FetchCall
from runvil.core.codings import ENCODED_SLACK, BadCoding, decoder
from runvil.core.config import FetchConfig
from runvil.core.content import Head, Kind, Overflow, Plan, content_codings, decode, is_utf8, plan
from runvil.core.failures import BodyUnreadable, FetchFailure, Hard, LookupFailed, NetworkFailed, TimedOut, TooLarge
from runvil.core.page import Extraction, Page, Rendered, cut
from runvil.core.url import Url, parse
from runvil.ports import Broken, LookupBroken, Net, Renderer, Response

log = logging.getLogger("runvil.fetch")

LARGEST_WINDOW = 16 * 1024 * 1024
"""The most a decoder holds beside the body: brotli's largest window (RFC 7932 9.1)."""


@dataclass(frozen=True, slots=True)
class Got:
    """A final response read to its end, or to the flat-text cap. body: decoded bytes. short: the cap cut it."""

    url: Url
    head: Head
    plan: Plan
    body: bytes
    short: bool


@dataclass(slots=True)
class _Walk:
    """Where one fetch stands, for the sentence to use when the deadline or the network ends it."""

    requested: Url
    lease: Lease
    reading: Url | None = field(default=None)  # the final URL, once its body is being read

    def broken(self) -> FetchFailure:
        """The exchange broke (spec 1.10, C-11)."""
        if self.reading is not None:
            return BodyUnreadable(self.reading.shown)
        return NetworkFailed(self.requested.full, shown=self.requested.shown)

    def timed_out(self) -> FetchFailure:
        """A time limit ran out (spec 1.9)."""
        return BodyUnreadable(self.reading.shown) if self.reading is not None else TimedOut(self.requested.shown)


class Fetcher:
    """The walk over one network, for one event loop."""

    def __init__(self, config: FetchConfig, net: Net, renderer: Renderer, loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self._config = config
        self._net = net
        self._renderer = renderer
        self._budget = Budget(config.max_concurrent, config.max_inflight_bytes, config.max_bytes + LARGEST_WINDOW)

    async def page(self, call: FetchCall) -> Page:
        """Fetch and render. Raises a FetchFailure; closes its connection however it ends."""
        admitted = admit(parse(call.url), self._config)
        until = self.loop.time() + self._config.timeout
        lease = self._budget.lease()
        try:
            got = await self.get(admitted, lease, until)
            return await self._page(got, call, until)
        finally:
            lease.release()

    async def get(self, admitted: Admitted, lease: Lease, until: float) -> Got:
        """The guarded fetch below rendering: every hop admitted, vetted and dialled anew, the last one's body read.

        until: the loop time at which it ends in a sentence. Raises a FetchFailure.
        """
        walk = _Walk(admitted.url, lease)
        try:
            async with asyncio.timeout_at(until):
                return await self._hops(admitted, walk)
        except TimeoutError as error:
            raise walk.timed_out() from _bare(error)
        except (Broken, BadCoding) as error:
            raise walk.broken() from _bare(error)

    async def _hops(self, admitted: Admitted, walk: _Walk) -> Got:
        for hops in range(self._config.max_redirects + 1):
            route = await self._route(admitted)
            await walk.lease.enter()
            response = await self._net.open(route)
            try:
                following = follow(admitted.url, response.head, hops, self._config)
                if following is None:
                    return await self._read(admitted.url, response, walk)
            finally:
                await response.aclose()
            admitted = following
        raise AssertionError("follow() refuses the hop after the last one")

    async def _route(self, admitted: Admitted) -> Route:
        verdict, dropped = vet(admitted, await self._answers(admitted.url), self._config)
        for blocked in dropped:
            log.debug(
                "host %s resolved to blocked address %s in range %s",
                admitted.url.host_text,
                address_text(blocked.address),
                blocked.range.text,
            )
        if isinstance(verdict, Hard):
            raise verdict
        return verdict

    async def _answers(self, url: Url) -> tuple[Address, ...]:
        if not isinstance(url.host, str):
            return (url.host,)
        try:
            if not resolvable(url.host):
                raise LookupBroken("malformed name")
            async with self._budget.lookups:
                return tuple(await self._net.lookup(url.host))
        except LookupBroken as error:
            raise LookupFailed(url.host) from error

    async def _read(self, url: Url, response: Response, walk: _Walk) -> Got:
        planned = plan(url, response.head, self._config.max_bytes)
        walk.reading = url
        if planned.kind is Kind.HTML:
            self._renderer.warm()
        body, over = await _body(response, planned, walk.lease)
        if over and planned.overflow is Overflow.REFUSE:
            raise TooLarge(url.shown, planned.limit)
        return Got(url, response.head, planned, body, over)

    async def _page(self, got: Got, call: FetchCall, until: float) -> Page:
        rendered = await self._rendered(got, call, until)
        text, longer = cut(rendered.text, call.max_chars)
        return Page(
            url=got.url.full,
            text=text,
            truncated=got.short or longer,
            extraction=rendered.extraction,
            status=got.head.status,
            content_type=got.plan.content_type,
            title=rendered.title,
        )

    async def _rendered(self, got: Got, call: FetchCall, until: float) -> Rendered:
        if got.plan.kind is not Kind.HTML:
            return Rendered(await _text(got, call.max_chars), Extraction.PLAIN)
        html = got.body if is_utf8(got.plan.charset) else (await _text(got, len(got.body))).encode()
        return await self._renderer.render(html, got.url.full, raw=call.raw, limit=call.max_chars, until=until)


async def _text(got: Got, enough: int) -> str:
    """The body decoded to more than `enough` characters or to its end, with a breath for the event loop in between."""
    pieces: list[str] = []
    length = 0
    for piece in decode(got.body, got.plan.charset, got.url):
        pieces.append(piece)
        length += len(piece)
        if length > enough:
            break
        await asyncio.sleep(0)
    return "".join(pieces)


async def _body(response: Response, planned: Plan, lease: Lease) -> tuple[bytes, bool]:
    """Read and decode a body within its cap; says whether there was more (spec 1.12). Raises Broken, BadCoding.

    Of a body that is to be refused whole, nothing is returned.
    """
    undo = decoder(content_codings(response.head))
    body, encoded = bytearray(), 0
    async with aclosing(response.chunks()) as chunks:
        async for chunk in chunks:
            encoded += len(chunk)
            await lease.grow(undo.window(chunk))
            for piece in undo.feed(chunk):
                await lease.grow(len(piece))
                body += piece
                if len(body) > planned.limit:
                    return _cut(body, planned), True
            if encoded > planned.limit + ENCODED_SLACK:
                return _cut(body, planned), True
    undo.finish()
    return bytes(body), False


def _cut(body: bytearray, planned: Plan) -> bytes:
    return b"" if planned.overflow is Overflow.REFUSE else bytes(memoryview(body)[: planned.limit])


def _bare(error: BaseException) -> BaseException:
    """The error and its causes without their tracebacks, whose frames would keep a refused body alive with it."""
    cause: BaseException | None = error
    seen: set[int] = set()  # an exception can be made its own cause
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        cause.__traceback__ = None
        cause = cause.__cause__ or cause.__context__
    return error
