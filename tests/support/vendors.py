"""A search vendor on loopback: real HTTP over real sockets, answers from a script, and a record of what was asked."""

from __future__ import annotations

import asyncio
import gzip
import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import h11

MARKER = "planted-marker-key-7f3a9"
"""The key of every test: wherever it turns up but in the request's own header, something leaks."""


@dataclass(frozen=True)
class Asked:
    """A request as it came. target: path and query as sent."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def params(self) -> dict[str, str]:
        pairs = [pair.partition("=") for pair in self.target.partition("?")[2].split("&") if pair]
        return {name: _unquoted(value) for name, _, value in pairs}

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def _unquoted(text: str) -> str:
    first, *rest = text.replace("+", " ").split("%")
    raw = first.encode() + b"".join(bytes.fromhex(part[:2]) + part[2:].encode() for part in rest)
    return raw.decode()


@dataclass(frozen=True)
class Told:
    """An answer. cut: close after the body, whatever its length was said to be. hang: never end the body."""

    body: object = field(default_factory=dict)
    status: int = 200
    headers: Sequence[tuple[str, str]] = ()
    kind: str = "application/json"
    packed: bool = False
    cut: bool = False
    hang: bool = False

    def data(self) -> bytes:
        data = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        return gzip.compress(data, mtime=0) if self.packed else data


HANG = object()
"""No answer at all, and the connection stays."""

DROP = object()
"""The connection is closed before a byte of an answer."""

Script = Told | object


class FakeVendor:
    """Answers requests in turn; the last answer stays. script: answers, or functions that answer a request."""

    def __init__(
        self, *script: Script | Callable[[Asked], Script], port: int = 0, tls: ssl.SSLContext | None = None
    ) -> None:
        self._script = list(script) or [Told()]
        self.port = port
        self._tls = tls
        self.asked: list[Asked] = []
        self.connections = 0
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> FakeVendor:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.wait_for(self._server.wait_closed(), 10)

    @property
    def root(self) -> str:
        return f"{'https' if self._tls else 'http'}://127.0.0.1:{self.port}"

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self._writers.add(writer)
        try:
            while await self._exchange(reader, writer):
                pass
        except (ConnectionError, h11.RemoteProtocolError):
            pass
        finally:
            writer.transport.abort()
            self._writers.discard(writer)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        connection = h11.Connection(h11.SERVER)
        asked = await _read(connection, reader)
        if asked is None:
            return False
        self.asked.append(asked)
        next_one = self._script.pop(0) if len(self._script) > 1 else self._script[0]
        told = next_one(asked) if callable(next_one) else next_one
        if told is DROP:
            return False
        if told is HANG or not isinstance(told, Told):
            await reader.read()
            return False
        data = told.data()
        length = len(data) + 100 if told.cut or told.hang else len(data)
        coding = [("Content-Encoding", "gzip")] if told.packed else []
        named = [("Content-Type", told.kind), ("Content-Length", str(length)), *coding, *told.headers]
        head = h11.Response(status_code=told.status, headers=[*named])
        writer.write(connection.send(head) or b"")
        writer.write(data)
        await writer.drain()
        if told.hang:
            await reader.read()
        return not (told.cut or told.hang)


async def _read(connection: h11.Connection, reader: asyncio.StreamReader) -> Asked | None:
    """One request, with the checks that any strict server makes of it."""
    head, body = None, b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            data = await reader.read(65_536)
            if not data and head is None:
                return None
            connection.receive_data(data)
        elif isinstance(event, h11.Request):
            head = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            break
        else:
            return None
    assert head is not None
    headers = {name.decode(): value.decode() for name, value in head.headers}
    assert len(headers) == len(head.headers), "a header was sent twice"
    return Asked(head.method.decode(), head.target.decode(), headers, body)
