"""The application: four routes over what one configuration gave, which may be replaced while requests are under way."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from runvil.gateway.attempts import Attempts
from runvil.gateway.cache import Cache, MemoryStore, RedisStore
from runvil.gateway.config import MEMORY, Config, VendorConfig
from runvil.gateway.door import HEALTH, METRICS, OPENAPI, SEARCH, Door, visit_of
from runvil.gateway.keys import Keys
from runvil.gateway.limiter import Limiter, MemoryWindows, RedisWindows
from runvil.gateway.metrics import CONTENT_TYPE, Metrics
from runvil.gateway.openapi import document
from runvil.gateway.refusals import Refusal
from runvil.gateway.request import MAX_BODY, Defaults, read_request
from runvil.gateway.search import Search
from runvil.gateway.store import Redis
from runvil.gateway.vendors import DEADLINE, Vendor, Vendors, make_vendor

BODY_TIME = 10.0
"""Seconds for a request's body to arrive: it is 64 KiB at most."""

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class State:
    """All that a configuration decides."""

    config: Config
    keys: Keys
    limiter: Limiter
    search: Search | None


class Gateway:
    """The state in force and what outlives it: counters, windows, connections.

    make: how a vendor is made. Raises ConfigError for a configuration that cannot be used.
    """

    def __init__(self, config: Config, make: Callable[[VendorConfig], Vendor] = make_vendor) -> None:
        self.metrics = Metrics()
        self.attempts = Attempts()
        self._make = make
        self._redis: dict[str, Redis] = {}
        self._memory_windows = MemoryWindows()
        self._memory_store = MemoryStore()
        self._closing: set[asyncio.Task[None]] = set()
        self.state = self._state(config, None)

    def apply(self, config: Config) -> None:
        """Put another configuration in force; what is under way ends under the old one. Raises ConfigError."""
        old = self.state
        self.state = self._state(config, old)
        if old.search is not None and old.search is not self.state.search:
            task = asyncio.ensure_future(_close_late(old.search))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    def _state(self, config: Config, old: State | None) -> State:
        same = old is not None and _of_search(old.config) == _of_search(config)
        search = old.search if old is not None and same else self._search(config)
        windows = self._memory_windows if config.limits == MEMORY else RedisWindows(self._redis_at(config.limits))
        return State(config, Keys(config.clients), Limiter(windows), search)

    def _search(self, config: Config) -> Search | None:
        if config.search is None:
            return None
        vendors = Vendors([self._make(one) for one in config.search.vendors], self.metrics.vendor)
        store = self._memory_store if config.cache == MEMORY else RedisStore(self._redis_at(config.cache))
        return Search(config.search, vendors, Cache(store, config.cache_ttl), config.hidden)

    def _redis_at(self, address: str) -> Redis:
        if address not in self._redis:
            self._redis[address] = Redis(address)
        return self._redis[address]

    async def aclose(self) -> None:
        for task in self._closing:
            task.cancel()
        await asyncio.gather(*self._closing, return_exceptions=True)
        if self.state.search is not None:
            await self.state.search.aclose()
        for redis in self._redis.values():
            await redis.aclose()


def _of_search(config: Config) -> tuple[object, ...]:
    """What a Search is made of."""
    return config.search, config.cache, config.cache_ttl, config.hidden


async def _close_late(search: Search) -> None:
    """Close a search that is no longer in force, once nobody can be using it."""
    try:
        await asyncio.sleep(DEADLINE)
    finally:
        await search.aclose()


Background = Callable[[Gateway], Awaitable[None]]


def application(gateway: Gateway, background: Background | None = None) -> Starlette:
    """The ASGI application. background: runs as long as it serves."""

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        task = asyncio.ensure_future(background(gateway)) if background else None
        yield
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await gateway.aclose()

    door = Middleware(Door, keys=lambda: gateway.state.keys, metrics=gateway.metrics, attempts=gateway.attempts)
    routes = Routes(gateway)
    app = Starlette(
        routes=[
            Route(SEARCH, routes.search, methods=["POST"]),
            Route(HEALTH, routes.health),
            Route(METRICS, routes.metrics),
            Route(OPENAPI, routes.openapi),
        ],
        middleware=[door],
        exception_handlers={HTTPException: _no_route},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app


async def _no_route(_: Request, error: Exception) -> Response:
    """What the router raises: no route, or another method."""
    assert isinstance(error, HTTPException)
    code = "method_not_allowed" if error.status_code == METHOD_NOT_ALLOWED else "not_found"
    raise Refusal(code, code.replace("_", " "), headers=error.headers)


METHOD_NOT_ALLOWED = 405


class Routes:
    """What each route does."""

    def __init__(self, gateway: Gateway) -> None:
        self._gateway = gateway

    async def search(self, request: Request) -> Response:
        state, visit = self._gateway.state, visit_of(request.scope)
        if state.search is None or state.config.search is None:
            raise Refusal("not_found", "tool not configured: web_search")
        query = read_request(await _body(request), state.config.search.defaults)
        if state.config.log_queries:
            visit.said["query"] = query.query
        assert visit.client is not None  # the door let it in
        await state.limiter.admit(visit.client)
        answer, source = await state.search.answer(query)
        self._gateway.metrics.cached(source)
        visit.said |= {"source": source, "vendor": answer.vendor, "rows": answer.rows}
        return Response(answer.body, media_type=JSON)

    async def health(self, _: Request) -> Response:
        return Response(b'{"status":"serving"}', media_type=JSON)

    async def metrics(self, _: Request) -> Response:
        return Response(self._gateway.metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    async def openapi(self, _: Request) -> Response:
        search = self._gateway.state.config.search
        return Response(document(search.defaults if search else Defaults()), media_type=JSON)


async def _body(request: Request) -> bytes:
    """The request's body, in time and in bounds. Raises Refusal."""
    declared = request.headers.get("content-type", JSON).partition(";")[0].strip().lower()
    if declared != JSON:
        raise Refusal("unsupported_media_type", f"the body is not declared as {JSON}")
    body = bytearray()
    try:
        async with asyncio.timeout(BODY_TIME):
            async for chunk in request.stream():
                body += chunk
                if len(body) > MAX_BODY:
                    raise Refusal("request_too_large", f"the body is larger than {MAX_BODY} bytes")
    except TimeoutError as error:
        raise Refusal("request_timeout", "the body did not arrive in time") from error
    return bytes(body)
