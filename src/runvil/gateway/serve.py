"""The process: reads the configuration, serves, notices a changed file, and ends only when its requests have ended."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Callable
from pathlib import Path

import uvicorn

from runvil.core.config import ConfigError
from runvil.gateway.app import Gateway, application
from runvil.gateway.config import MAX_FILE, Config, VendorConfig, read_config
from runvil.gateway.logs import JsonLines, start_logging
from runvil.gateway.vendors import DEADLINE, Vendor, make_vendor
from runvil.gateway.wire import BoundedProtocol

log = logging.getLogger("runvil.gateway")

LOOK = 1.0
"""Seconds between two looks at the configuration's file: a revoked key is good for no longer."""

GRACE = DEADLINE + 5.0
"""Seconds at most for what is under way when it is told to end: the vendors' deadline, and time to write."""

KEEP_ALIVE = 30
"""Seconds for an idle connection."""

MAX_HEAD = 16 * 1024
"""Bytes of a request's head."""

Make = Callable[[VendorConfig], Vendor]


def load(path: Path) -> Config:
    """The configuration in a file. Raises ConfigError."""
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError as error:
        raise ConfigError(f"cannot read the configuration {path}: {error.strerror}") from error
    return read_config(data, os.environ)


def check(path: Path, make: Make = make_vendor) -> Config:
    """A configuration that can be served: all but the network was tried. Raises ConfigError."""
    config = load(path)
    Gateway(config, make)
    return config


def serve(path: Path, make: Make = make_vendor) -> None:
    """Serve until SIGTERM or SIGINT. Raises ConfigError."""
    config = load(path)
    formatter = JsonLines(config.hidden)
    start_logging(formatter)
    gateway = Gateway(config, make)
    watch = Watch(path, formatter)
    server = Server(settings(config, gateway, watch))
    # until uvicorn listens for signals itself, and when it raises one again after it has ended
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: setattr(server, "should_exit", True))
    server.run()


def settings(config: Config, gateway: Gateway, watch: Watch) -> uvicorn.Config:
    return uvicorn.Config(
        application(gateway, watch.run),
        host=config.host,
        port=config.port,
        http=BoundedProtocol,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        proxy_headers=bool(config.trusted_proxies),
        forwarded_allow_ips=list(config.trusted_proxies),
        h11_max_incomplete_event_size=MAX_HEAD,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=int(GRACE),
    )


class Server(uvicorn.Server):
    """uvicorn that says in the log where it serves."""

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        await super().startup()
        for server in self.servers:
            for listening in server.sockets:
                host, port = listening.getsockname()[:2]
                log.info("serving", extra={"fields": {"host": host, "port": port}})

    async def shutdown(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        log.info("ending", extra={"fields": {"requests": len(self.server_state.tasks)}})
        await super().shutdown()
        log.info("ended")


class Watch:
    """Puts a changed configuration in force. One that cannot be read changes nothing, and the log says so."""

    def __init__(self, path: Path, formatter: JsonLines) -> None:
        self._path = path
        self._formatter = formatter
        self._seen = _stamp(path)

    async def run(self, gateway: Gateway) -> None:
        """Look at the file now and then, and at once after SIGHUP."""
        told = asyncio.Event()
        with contextlib.suppress(NotImplementedError, AttributeError):  # Windows has neither
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, told.set)
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(told.wait(), LOOK)
            stamp = _stamp(self._path)
            if told.is_set() or stamp != self._seen:
                self._seen = stamp
                told.clear()
                self._reload(gateway)

    def _reload(self, gateway: Gateway) -> None:
        old = gateway.state.config
        try:
            config = load(self._path)
            self._formatter.hide((*old.hidden, *config.hidden))  # both may still be spoken of
            gateway.apply(config)
        except ConfigError as error:
            gateway.metrics.reloaded("refused")
            log.error("configuration refused, the old one stays", extra={"fields": {"reason": str(error)}})
            return
        gateway.metrics.reloaded("ok")
        log.info("configuration read", extra={"fields": {"clients": len(config.clients)}})
        if (config.host, config.port, config.trusted_proxies) != (old.host, old.port, old.trusted_proxies):
            log.warning("server.bind and server.trusted_proxies take effect at the next start")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written or replaced."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
