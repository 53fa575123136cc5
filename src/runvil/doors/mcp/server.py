"""The official SDK's low-level server over our tools: schemas and messages are ours to the letter.

A soft failure is an ordinary result, a hard one a result with `isError` and exactly the tool's message. Only a tool
that does not exist is a protocol error. A call that is cancelled is cancelled down to its socket.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from runvil import SearchProvider
from runvil.doors.mcp.offers import INSTRUCTIONS, Answer, Offer, offer_of
from runvil.tools import WebFetch, WebSearch

Context = Any  # the SDK's ServerRequestContext, whose type parameters say nothing here

TICK = 2.0
"""Seconds between two reports of progress: well under the minute that clients wait for a sign of life."""

WAITING = "waiting for the web"


def make_server(
    tools: Sequence[WebFetch | WebSearch],
    version: str,
    *,
    provider: SearchProvider | None = None,
    envelope: bool = False,
) -> Server[Any]:
    """A server that offers `tools`, and closes them, and the provider, when it ends. envelope: see `offer_of`."""
    return server_of([offer_of(tool, envelope=envelope) for tool in tools], version, closing=(*tools, provider))


def server_of(offers: Sequence[Offer], version: str, *, closing: Sequence[object] = ()) -> Server[Any]:
    """closing: what is closed when the server ends, as far as it can be."""
    desk = _Desk(offers)

    @asynccontextmanager
    async def lifespan(_: Server[Any]) -> AsyncIterator[dict[str, Any]]:
        try:
            yield {}
        finally:
            with anyio.CancelScope(shield=True):
                await _close(closing)

    return Server(
        "runvil",
        version=version,
        title="runvil",
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        get_tool_input_schema=desk.schema,
        on_list_tools=desk.list,
        on_call_tool=desk.call,
    )


async def _close(closing: Sequence[object]) -> None:
    for one in closing:
        aclose = getattr(one, "aclose", None)
        if aclose is not None:
            await aclose()


class _Desk:
    """Where requests arrive."""

    def __init__(self, offers: Sequence[Offer]) -> None:
        self._offers = {offer.tool.wire_name: offer for offer in offers}
        self._declared = types.ListToolsResult(tools=[_declared(offer) for offer in offers])

    def schema(self, name: str) -> Mapping[str, Any] | None:
        offer = self._offers.get(name)
        return None if offer is None else offer.tool.parameters

    async def list(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return self._declared

    async def call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        offer = self._offers.get(params.name)
        if offer is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        answer = await _with_progress(context, offer, params.arguments or {})
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=answer.structure,
            is_error=answer.failed,
        )


def _declared(offer: Offer) -> types.Tool:
    return types.Tool(
        name=offer.tool.wire_name,
        title=offer.title,
        description=offer.tool.description,
        input_schema=offer.tool.parameters,
        output_schema=offer.schema,
        annotations=types.ToolAnnotations(
            title=offer.title, read_only_hint=True, destructive_hint=False, open_world_hint=True
        ),
    )


async def _with_progress(context: Context, offer: Offer, arguments: Mapping[str, Any]) -> Answer:
    """Call, and tell a client that asked for it how many seconds have gone by, of how many at most."""
    await context.session.report_progress(0, offer.seconds, WAITING)
    ticking = _Ticking(context, offer.seconds)
    try:
        return await offer.answer(arguments)
    finally:
        ticking.stop()


class _Ticking:
    """Reports progress now and then until it is stopped. A call that ends before the first report costs a timer."""

    def __init__(self, context: Context, total: float | None) -> None:
        self._context = context
        self._total = total
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self._report: asyncio.Task[None] | None = None
        self._timer = self._loop.call_later(TICK, self._tick)

    def _tick(self) -> None:
        self._report = self._loop.create_task(self._say(round(self._loop.time() - self._began, 2)))
        self._timer = self._loop.call_later(TICK, self._tick)

    async def _say(self, gone: float) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the client has gone
            await self._context.session.report_progress(gone, self._total, WAITING)

    def stop(self) -> None:
        self._timer.cancel()
        if self._report is not None:
            self._report.cancel()
