"""MCP over streamable HTTP, stateless: every request stands alone, and a client that goes away cancels its call."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import ASGIApp

from runvil.core.config import ConfigError
from runvil.doors.mcp.gate import LOOPBACK, MAX_BODY, MIN_KEY, PATH, Gate
from runvil.gateway.wire import BoundedProtocol

GRACE = 5
"""Seconds for calls under way when the server is told to end."""

KEEP_ALIVE = 30
"""Seconds for an idle connection."""

MAX_HEAD = 16 * 1024
"""Bytes of a request's head."""


def application(server: Server[Any], *, key: str | None = None, hosts: Iterable[str] = ()) -> ASGIApp:
    """The ASGI application. hosts: names, beside those of loopback, by which clients reach it."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        max_request_body_size=MAX_BODY,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the gate's affair
    )
    return Gate(app, key=key, hosts=hosts)


def serve_http(server: Server[Any], host: str, port: int, *, key: str | None = None, hosts: Iterable[str] = ()) -> None:
    """Serve until SIGTERM or SIGINT. Raises ConfigError."""
    if host not in LOOPBACK and (key is None or len(key) < MIN_KEY):
        raise ConfigError(f"{host} is not loopback: RUNVIL_MCP_KEY must hold a key of at least {MIN_KEY} characters")
    config = uvicorn.Config(
        application(server, key=key, hosts=(host, *hosts)),
        host=host,
        port=port,
        loop="asyncio",
        http=BoundedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=MAX_HEAD,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
    )
    _Server(config).run()


class _Server(uvicorn.Server):
    """uvicorn that says where it serves."""

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        try:
            await super().startup()
        except SystemExit as error:  # uvicorn's, which has logged why; its status means something else here
            raise ConfigError(f"cannot serve at {self.config.host}:{self.config.port}") from error
        for server in self.servers:
            for listening in server.sockets:
                host, port = listening.getsockname()[:2]
                shown = f"[{host}]" if ":" in host else host
                print(f"runvil: serving http://{shown}:{port}{PATH}", file=sys.stderr, flush=True)  # noqa: T201
