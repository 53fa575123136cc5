"""Bytes into the real transport: each connection is a socket pair whose far end says the same thing and hangs up."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Sequence
from ipaddress import ip_address

from runvil import FetchConfig, ToolError, WebFetch, assemble
from runvil.core.addresses import Address
from runvil.core.url import Name
from runvil.net.transport import Dialled
from tests.support.rendering import InProcess

IN_TIME = 10.0  # seconds; a guard against a hang, not a measure
URL = "http://example.com/a?q=1"
CONFIG = FetchConfig(allow_http=True, max_bytes=20_000, max_redirects=2)


class Anywhere:
    """A resolver for which every name is a public host."""

    async def lookup(self, name: Name) -> Sequence[Address]:
        return (ip_address("93.184.216.34"),)

    async def aclose(self) -> None:
        return None


class Wire:
    """The dialler. pieces: what a server says on every connection, as it arrives."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces
        self.dials = 0
        self._ends: list[socket.socket] = []
        self._talking: list[asyncio.Task[None]] = []

    async def dial(self, addresses: Sequence[Address], port: int) -> Dialled:
        self.dials += 1
        near, far = socket.socketpair()
        near.setblocking(False)
        far.setblocking(False)
        self._ends.append(far)
        if len(self._pieces) == 1 and len(self._pieces[0]) < 50_000:
            far.send(self._pieces[0])
            far.shutdown(socket.SHUT_WR)
        else:
            self._talking.append(asyncio.create_task(self._say(far)))
        return near, addresses[0]

    async def _say(self, far: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        try:
            for piece in self._pieces:
                await loop.sock_sendall(far, piece)
                await asyncio.sleep(0)
            far.shutdown(socket.SHUT_WR)
        except OSError:
            return

    async def aclose(self) -> None:
        for task in self._talking:
            task.cancel()
        await asyncio.gather(*self._talking, return_exceptions=True)
        for far in self._ends:
            far.close()


async def told_of(*pieces: bytes, config: FetchConfig = CONFIG) -> tuple[str, str]:
    """(ok, soft, or the error's kind; text) of a call to a server that says `pieces`. Anything else is raised."""
    wire = Wire(pieces)
    net = assemble.seamed(config, Anywhere(), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT), wire.dial)
    try:
        async with WebFetch(config, net=net, renderer=InProcess()) as fetch:
            output = await asyncio.wait_for(fetch.call({"url": URL}), IN_TIME)
    except ToolError as error:
        return str(error.kind), str(error)
    finally:
        await wire.aclose()
    return ("soft" if output.soft else "ok"), output.text
