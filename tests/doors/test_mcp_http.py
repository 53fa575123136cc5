"""`runvil mcp --http`: who may ask, from where, how much, how many at once; and the server as a process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import pytest

from runvil import WebFetch, __version__
from runvil.testing import Behaviour, FakeNet, Reply

pytest.importorskip("mcp", reason="the extra runvil[mcp] is not installed")

import httpx2
from mcp import Client

from runvil.doors.mcp import gate
from runvil.doors.mcp.gate import MAX_BODY, Gate
from runvil.doors.mcp.http import application
from runvil.doors.mcp.server import make_server
from tests.doors.mcp_support import IN_TIME, serving, text_of

KEY = "a-key-of-sufficient-length"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
FIELDS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
HANGING = "https://example.com/hang"


@contextlib.asynccontextmanager
async def asking(app: Any, host: str = "127.0.0.1:8080") -> AsyncIterator[httpx2.AsyncClient]:
    """A client of an ASGI application."""
    transport = httpx2.ASGITransport(app=app)
    async with (
        asyncio.timeout(IN_TIME),
        httpx2.AsyncClient(transport=transport, base_url=f"http://{host}", headers=FIELDS) as client,
    ):
        yield client


async def ready(scope: Any, receive: Any, send: Any) -> None:
    """What stands behind the gate here: it says how many bytes of body it got."""
    message = await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(len(message["body"])).encode()})


async def status(*, key: str | None = None, method: str = "POST", path: str = "/mcp", **fields: str) -> int:
    given = {name.replace("_", "-"): value for name, value in fields.items()}
    async with asking(Gate(ready, key=key, hosts=["mcp.example"])) as client:
        return (await client.request(method, path, headers=given, content=b"{}")).status_code


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:9", "localhost:80", "[::1]:80", "mcp.example", "MCP.Example:1"]
)
async def test_a_request_to_a_name_of_ours_is_served(host: str) -> None:
    assert await status(Host=host) == 200


@pytest.mark.parametrize(
    "host",
    ["", "evil.example", "127.0.0.1.evil.example", "127.0.0.1:80@evil.example", "[::1", "127.0.0.2", "::1", "a b"],
)
async def test_a_name_that_was_rebound_to_this_machine_is_not_served(host: str) -> None:
    assert await status(Host=host) == 421


@pytest.mark.parametrize(
    "origin", ["http://localhost:3000", "https://mcp.example", "http://127.0.0.1", "http://[::1]:1"]
)
async def test_a_page_of_our_own_may_ask(origin: str) -> None:
    assert await status(Origin=origin) == 200


@pytest.mark.parametrize(
    "origin",
    ["null", "", "https://evil.example", "http://localhost.evil.example", "http://localhost@evil.example", "file://"],
)
async def test_a_strangers_page_may_not_ask(origin: str) -> None:
    assert await status(Origin=origin) == 403


@pytest.mark.parametrize("sent", [f"Bearer {KEY}", f"bearer {KEY}", f"BEARER  {KEY} "])
async def test_the_key_opens(sent: str) -> None:
    assert await status(key=KEY, Authorization=sent) == 200


@pytest.mark.parametrize("sent", ["", KEY, f"Basic {KEY}", f"Bearer {KEY}x", f"Bearer {KEY[:-1]}", "Bearer"])
async def test_a_wrong_key_does_not(sent: str) -> None:
    assert await status(key=KEY, Authorization=sent) == 401


async def test_two_keys_are_nobodys_reading() -> None:
    async with asking(Gate(ready, key=KEY, hosts=[])) as client:
        fields = [("Authorization", f"Bearer {KEY}"), ("Authorization", f"Bearer {KEY}")]
        answer = await client.post("/mcp", headers=fields, content=b"{}")
    assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")


async def test_health_needs_no_key() -> None:
    async with asking(Gate(ready, key=KEY, hosts=[])) as client:
        answer = await client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "serving"})


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_there_is_no_session_to_listen_to_or_to_end(method: str) -> None:
    assert await status(method=method) == 405
    assert await status(method=method, path="/") == 404


@pytest.mark.parametrize(("size", "code"), [(MAX_BODY, 200), (MAX_BODY + 1, 413)])
async def test_a_body_has_a_largest_size(size: int, code: int) -> None:
    async with asking(Gate(ready, key=None, hosts=[])) as client:
        assert (await client.post("/mcp", content=bytes(size))).status_code == code

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(size // 1024):
                yield bytes(1024)
            yield bytes(size % 1024)

        assert (await client.post("/mcp", content=pieces())).status_code == code


async def test_a_body_that_does_not_come_holds_no_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "BODY_TIME", 0.01)
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.get_running_loop().create_future()

    async def note(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/mcp", "method": "POST", "headers": [(b"host", b"localhost")]}
    door = Gate(ready, key=None, hosts=[], at_once=1)
    for _ in range(2):
        await door(scope, never, note)
    assert [message["status"] for message in sent if "status" in message] == [408, 408]


async def test_more_calls_than_there_is_room_for_are_told_to_come_back() -> None:
    go, entered = asyncio.Event(), asyncio.Event()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        entered.set()
        await go.wait()
        await ready(scope, receive, send)

    async with asking(Gate(slow, key=None, hosts=[], at_once=1)) as client:
        first = asyncio.create_task(client.post("/mcp", content=b"{}"))
        await entered.wait()
        refused = await client.post("/mcp", content=b"{}")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "1")
        go.set()
        assert (await first).status_code == 200
        assert (await client.post("/mcp", content=b"{}")).status_code == 200


async def test_a_client_that_goes_away_cancels_its_call() -> None:
    net = FakeNet({"example.com": ["93.184.216.34"]}, {HANGING: Reply(behaviour=Behaviour.HANG_BEFORE_HEADERS)})
    app = application(make_server([WebFetch(net=net)], __version__))
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "web_fetch", "arguments": {"url": HANGING}},
    }
    incoming = [{"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}]
    gone = asyncio.Event()

    async def receive() -> Any:
        if incoming:
            return incoming.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        return None

    fields = [(name.lower().encode(), value.encode()) for name, value in {"Host": "localhost", **FIELDS}.items()]
    scope = {
        "type": "http", "http_version": "1.1", "method": "POST", "path": "/mcp", "query_string": b"", "headers": fields,
    }  # fmt: skip
    async with asyncio.timeout(IN_TIME), alive(app):
        call = asyncio.ensure_future(app(scope, receive, send))
        while net.open_connections == 0:  # noqa: ASYNC110  a FakeNet tells nobody; sleep(0) is a turn of the loop
            await asyncio.sleep(0)
        gone.set()
        await call
        while net.open_connections:  # noqa: ASYNC110  as above
            await asyncio.sleep(0)


@contextlib.asynccontextmanager
async def alive(app: Any) -> AsyncIterator[None]:
    """The application's lifespan."""
    messages: asyncio.Queue[Any] = asyncio.Queue()
    said: asyncio.Queue[Any] = asyncio.Queue()
    task = asyncio.create_task(app({"type": "lifespan", "state": {}}, messages.get, said.put))
    await messages.put({"type": "lifespan.startup"})
    assert (await said.get())["type"] == "lifespan.startup.complete"
    yield
    await messages.put({"type": "lifespan.shutdown"})
    await task


async def test_the_process_serves_with_a_key_and_says_where() -> None:
    async with (
        serving(RUNVIL_MCP_KEY=KEY) as (url, _),
        asyncio.timeout(IN_TIME),
        httpx2.AsyncClient(trust_env=False) as http,
    ):
        assert (await http.get(url.replace("/mcp", "/health"))).json() == {"status": "serving"}
        assert (await http.post(url, json=CALL, headers=FIELDS)).status_code == 401
        assert (await http.post(url, json=CALL, headers=FIELDS | {"Host": "evil.example"})).status_code == 421
        answer = await http.post(url, json=CALL, headers=FIELDS | {"Authorization": f"Bearer {KEY}"})
        assert answer.status_code == 200


async def test_calls_of_many_clients_at_once_do_not_meet() -> None:
    async with serving() as (url, _), asyncio.timeout(IN_TIME):

        async def one(number: int) -> str:
            async with Client(url) as client:
                return text_of(await client.call_tool("web_fetch", {"url": f"https://127.0.0.{number}/"}))

        said = await asyncio.gather(*(one(number) for number in range(8)))
    assert said == [f"ip literal host not allowed: 127.0.0.{number}" for number in range(8)]


def test_an_address_that_is_taken_is_told_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "runvil", "mcp", "--http", f"127.0.0.1:{port}"],
            check=False, capture_output=True, text=True, timeout=IN_TIME,
        )  # fmt: skip
    assert (done.returncode, done.stdout) == (2, "")
    assert "address already in use" in done.stderr
    assert f"Error: cannot serve at 127.0.0.1:{port}" in done.stderr
    assert "Traceback" not in done.stderr
