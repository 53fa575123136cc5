"""The process that is the whole internet of one lab test: name server, web and witness on one loop.

It is a process of its own, so that what a test measures (memory, descriptors, threads, delays) is the client's alone.
The test tells it what to be over a socket pair: pickled calls of this class's methods, pickled results.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import ssl
import traceback
from collections import Counter
from typing import TYPE_CHECKING, Any

from tests.lab.harness.dns import NameServer
from tests.lab.harness.web import Web
from tests.lab.harness.witness import Packet, Witness

if TYPE_CHECKING:
    import socket

    from tests.lab.harness.authority import Authority, Certificate
    from tests.lab.harness.dns import Step
    from tests.lab.harness.web import Answer, Connection, Request

SIZE = 4
WAIT_LIMIT = 15.0


class Internet:
    def __init__(self, authority: Authority) -> None:
        self.names = NameServer(self._note)
        self.web = Web(authority, self._note)
        self._counts: Counter[str] = Counter()
        self._waiting: list[asyncio.Future[None]] = []
        self.witness = Witness(self._note, self.web.fillers)

    async def start(self) -> None:
        await self.names.start()
        self.web.start()
        loop = asyncio.get_running_loop()
        loop.add_reader(self.witness.socket, self.witness.drain)
        loop.set_exception_handler(self._broke)

    async def close(self) -> None:
        asyncio.get_running_loop().remove_reader(self.witness.socket)
        self.witness.close()
        self.names.close()
        await self.web.close()

    def _broke(self, _: object, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, (ConnectionError, ssl.SSLError)):
            self.web.broken.append("".join(traceback.format_exception(error)) if error else str(context))

    def _note(self, event: str) -> None:
        self._counts[event] += 1
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            if not one.done():
                one.set_result(None)

    # --- what a test may ask for; the names are the protocol ---

    def ready(self) -> None:
        """Answered once everything listens."""

    def script(self, name: str, steps: tuple[Step, ...]) -> None:
        self.names.script(name, steps)

    def serve(self, url: str, answers: tuple[Answer, ...]) -> None:
        self.web.serve(url, answers)

    def certify(self, name: str, certificate: Certificate) -> None:
        self.web.certify(name, certificate)

    def deafen(self, address: str) -> None:
        self.web.deafen(address)

    def blackhole(self, address: str, port: int) -> None:
        self.web.blackhole(address, port)

    async def until(self, event: str, count: int) -> int:
        """Wait until `event` (dial, connection, request, query, gone) has happened `count` times in all."""
        async with asyncio.timeout(WAIT_LIMIT):
            while self._counts[event] < count:
                waiter = asyncio.get_running_loop().create_future()
                self._waiting.append(waiter)
                await waiter
        return self._counts[event]

    def count(self, event: str) -> int:
        return self._counts[event]

    def queries(self) -> list[tuple[str, str]]:
        return self.names.queries

    def connections(self) -> list[Connection]:
        return self.web.connections

    def requests(self) -> list[Request]:
        return self.web.requests

    def packets(self) -> list[Packet]:
        return self.witness.packets()

    def broken(self) -> list[str]:
        return self.web.broken


def host(authority: Authority, control: socket.socket) -> None:
    """Be the internet until the test hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_host(authority, control))
    os._exit(0)


async def _host(authority: Authority, control: socket.socket) -> None:
    reader, writer = await asyncio.open_connection(sock=control)
    internet = Internet(authority)
    await internet.start()
    try:
        while True:
            size = int.from_bytes(await reader.readexactly(SIZE), "big")
            reply = pickle.dumps(await _obey(internet, await reader.readexactly(size)))
            writer.write(len(reply).to_bytes(SIZE, "big") + reply)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        return
    finally:
        writer.close()
        await internet.close()


async def _obey(internet: Internet, call: bytes) -> tuple[bool, object]:
    try:
        method, arguments = pickle.loads(call)
        result = getattr(internet, method)(*arguments)
        return True, await result if asyncio.iscoroutine(result) else result
    except Exception:
        return False, traceback.format_exc()
