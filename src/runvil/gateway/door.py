"""The door: who is asking, how it ended. Every request passes it, and every answer, of any kind, leaves by it.

It is ASGI and nothing more, so that no answer escapes its headers, its log line and its counters.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from runvil.gateway.attempts import Attempts
from runvil.gateway.keys import Client, Keys
from runvil.gateway.metrics import Metrics
from runvil.gateway.refusals import Refusal, wait
from runvil.gateway.spans import request_span

log = logging.getLogger("runvil.gateway")

SEARCH, HEALTH, METRICS, OPENAPI = "/v1/tools/web_search", "/health", "/metrics", "/openapi.json"
ROUTES = frozenset({SEARCH, HEALTH, METRICS, OPENAPI})

OTHER = "other"
"""What logs and metrics call any path that is no route: a path may hold anything."""

SCHEME = "bearer "

INTERNAL = Refusal("internal_error", "the gateway failed")


@dataclass(slots=True)
class Visit:
    """One request, as the log will tell it. said: what a route adds. code: "ok" or a refusal's."""

    route: str
    id: str = field(default_factory=lambda: os.urandom(16).hex())
    client: Client | None = None
    status: int = 0
    code: str = "ok"
    begun: bool = False
    said: dict[str, Any] = field(default_factory=dict)


def visit_of(scope: Scope) -> Visit:
    visit: Visit = scope["runvil.visit"]
    return visit


class Door:
    """keys: those in force now."""

    def __init__(self, app: ASGIApp, keys: Callable[[], Keys], metrics: Metrics, attempts: Attempts) -> None:
        self._app = app
        self._keys = keys
        self._metrics = metrics
        self._attempts = attempts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"]
        scope["runvil.visit"] = visit = Visit(path if path in ROUTES else OTHER)
        started = perf_counter()
        self._metrics.begun()
        try:
            with request_span(scope["method"], visit.route, scope["headers"]) as span:
                await self._answered(scope, receive, _marked(send, visit), visit)
                if span is not None:
                    span.set_attribute("http.response.status_code", visit.status)
        finally:
            self._tell(visit, perf_counter() - started)

    async def _answered(self, scope: Scope, receive: Receive, send: Send, visit: Visit) -> None:
        """Let the request in, and turn what it raises into an answer."""
        try:
            if visit.route != HEALTH:
                visit.client = self._who(scope)
            await self._app(scope, receive, send)
        except ClientDisconnect:
            visit.code = "client_gone"
        except Refusal as refusal:
            await _refused(refusal, send, visit)
        except Exception:
            log.exception("request failed", extra={"fields": {"request_id": visit.id}})
            await _refused(INTERNAL, send, visit)

    def _who(self, scope: Scope) -> Client:
        """The client whose key was sent. Raises Refusal."""
        peer = scope["client"][0] if scope.get("client") else ""
        client = self._keys().find(_bearer(scope))
        left = None if client is not None and client.strong else self._attempts.wait(peer)
        if left is not None:
            raise Refusal("too_many_attempts", "too many wrong keys; wait", headers=wait(left))
        if client is None:
            self._attempts.failed(peer)
            raise Refusal("unauthorized", "unauthorized", headers={"WWW-Authenticate": "Bearer"})
        return client

    def _tell(self, visit: Visit, seconds: float) -> None:
        client = visit.client.name if visit.client else ""
        self._metrics.ended(visit.route, visit.status, visit.code, client, seconds)
        if visit.route == HEALTH and visit.code == "ok":
            return  # asked every few seconds, for ever
        fields = {
            "request_id": visit.id,
            "client": client,
            "route": visit.route,
            "status": visit.status,
            "code": visit.code,
            "ms": round(seconds * 1000, 1),
            **visit.said,
        }
        log.info("request", extra={"fields": fields})


def _bearer(scope: Scope) -> str:
    """The key that was sent, or ""; also when there are two headers, which is nobody's reading."""
    sent: list[str] = [value.decode("latin-1") for name, value in scope["headers"] if name == b"authorization"]
    if len(sent) != 1 or not sent[0].lower().startswith(SCHEME):
        return ""
    return sent[0][len(SCHEME) :].strip()


def _marked(send: Send, visit: Visit) -> Send:
    """Every answer names its request, and the visit learns its status."""
    mark = (b"x-request-id", visit.id.encode())

    async def marked(message: Message) -> None:
        if message["type"] == "http.response.start":
            visit.status, visit.begun = message["status"], True
            message = {**message, "headers": [*message["headers"], mark]}
        await send(message)

    return marked


async def _refused(refusal: Refusal, send: Send, visit: Visit) -> None:
    """Send the envelope; an answer that has begun can only be broken off, which its length will show."""
    visit.code = refusal.code
    if visit.begun:
        raise refusal
    body = refusal.body()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), **refusal.headers}
    encoded = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
