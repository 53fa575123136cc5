"""The real transport over a dialler that fails: always a sentence of the contract, never what the socket said."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable, Sequence

import pytest

from runvil import FetchConfig, WebFetch, assemble
from runvil.core.addresses import Address
from runvil.net.transport import Dial, Dialled
from runvil.ports import Broken
from runvil.testing import FakeNet
from tests.faults.test_the_nth_call_fails import ERRORS, SECRET, verify_sentence
from tests.support.rendering import InProcess

IN_TIME = 10.0
URL = "https://example.com/?q=1"

EXPECTED: dict[str, str] = {
    "OSError": f"fetch failed for {URL}: network error; try a different URL",
    "ConnectionResetError": f"fetch failed for {URL}: network error; try a different URL",
    "SSLError": f"fetch failed for {URL}: network error; try a different URL",
    "Broken": f"fetch failed for {URL}: network error; try a different URL",
    "TimeoutError": "request to https://example.com/ timed out; try again or use a different URL",
}


async def told_when(dial: Dial) -> tuple[str, str]:
    config = FetchConfig(timeout=5)
    trust = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    net = assemble.seamed(config, FakeNet({"example.com": ["93.184.216.34"]}), trust, dial)
    async with WebFetch(config, net=net, renderer=InProcess()) as fetch:
        try:
            output = await asyncio.wait_for(fetch.call({"url": URL}), IN_TIME)
        except Exception as error:
            return str(getattr(error, "kind", type(error))), str(error)
    return ("soft" if output.soft else "ok"), output.text


@pytest.mark.parametrize("make", ERRORS, ids=lambda make: type(make()).__name__)
async def test_a_dialler_that_raises_gives_a_sentence(
    make: Callable[[], BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)

    async def dial(addresses: Sequence[Address], port: int) -> Dialled:
        raise make()

    kind, text = await told_when(dial)
    verify_sentence(kind, text)
    assert SECRET not in text
    assert text == EXPECTED.get(type(make()).__name__, text)


@pytest.mark.parametrize(
    "said", [b"", b"\x15\x03\x03\x00\x02\x02\x28", b"HTTP/1.1 200 OK\r\n\r\n", b"\x16\x03\x01\xff\xff" * 9]
)
async def test_a_peer_that_breaks_the_handshake_is_a_network_error(said: bytes) -> None:
    far: list[socket.socket] = []

    async def dial(addresses: Sequence[Address], port: int) -> Dialled:
        near, other = socket.socketpair()
        near.setblocking(False)
        other.sendall(said)
        other.shutdown(socket.SHUT_WR)
        far.append(other)
        return near, addresses[0]

    try:
        assert await told_when(dial) == ("soft", f"fetch failed for {URL}: network error; try a different URL")
    finally:
        for other in far:
            other.close()


async def test_a_peer_that_nobody_vetted_is_a_network_error() -> None:
    async def dial(addresses: Sequence[Address], port: int) -> Dialled:
        raise Broken("connected to an address that was not vetted")

    assert await told_when(dial) == ("soft", f"fetch failed for {URL}: network error; try a different URL")
