"""The lab itself: it is alone, it answers, it sees everything, and it fails loudly."""

from __future__ import annotations

import asyncio
import socket
import ssl
from typing import TYPE_CHECKING

import pytest

from tests.lab.harness import namespace
from tests.lab.harness.answers import Page
from tests.lab.harness.lab import Dial, is_inward
from tests.lab.harness.marks import in_lab

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab
    from tests.lab.harness.nursery import Nursery

pytestmark = pytest.mark.lab

LIMIT = 5.0


@in_lab
def test_the_network_holds_nothing_but_lo(lab: Lab) -> None:
    assert namespace.interfaces() == ["lo"]


@in_lab
async def test_every_address_is_local_and_what_was_dialled_is_seen(lab: Lab) -> None:
    lab.expect_inward_connections()
    places = [("93.184.216.34", 443), ("2606:4700:4700::1111", 443), ("169.254.169.254", 80)]
    for address, port in places:
        _, writer = await asyncio.wait_for(asyncio.open_connection(address, port), LIMIT)
        writer.close()
        await writer.wait_closed()
    await lab.until("gone", len(places))
    assert {(one.address, one.port) for one in lab.connections()} == set(places)
    assert lab.dialled() == [Dial(*place) for place in places]


@in_lab
async def test_a_dial_to_a_port_nobody_serves_is_seen_too(lab: Lab) -> None:
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("1.1.1.1", 8080)
    assert lab.connections() == []
    assert lab.dialled() == [Dial("1.1.1.1", 8080)]


@in_lab
async def test_a_blackhole_neither_accepts_nor_refuses(lab: Lab) -> None:
    for address in ("1.1.1.1", "2001:4860:4860::8888"):
        lab.blackhole(address)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.open_connection(address, 443), 0.3)
    assert lab.dialled() == [Dial("1.1.1.1", 443), Dial("2001:4860:4860::8888", 443)]


@in_lab
async def test_a_page_is_served_under_a_trusted_certificate(lab: Lab) -> None:
    lab.site("example.com", "93.184.216.34", Page(b"hello", "text/plain"))
    context = ssl.create_default_context(cafile=lab.trusted_file)
    reader, writer = await asyncio.open_connection("example.com", 443, ssl=context)
    writer.write(b"GET / HTTP/1.1\r\nHost: example.com\r\nConnection: close\r\n\r\n")
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), LIMIT)
    assert head.startswith(b"HTTP/1.1 200 OK\r\n")
    assert await reader.readexactly(5) == b"hello"
    writer.close()
    await writer.wait_closed()
    assert [(one.address, one.sni) for one in lab.connections()] == [("93.184.216.34", "example.com")]
    assert {kind for name, kind in lab.queries() if name == "example.com."} == {"A", "AAAA"}


@in_lab
def test_a_huge_answer_comes_over_tcp(lab: Lab) -> None:
    many = tuple(f"93.184.{high}.{low}" for high in range(4) for low in range(200))
    lab.name("many.example", many)
    found = {entry[4][0] for entry in socket.getaddrinfo("many.example", 443, type=socket.SOCK_STREAM)}
    assert found == set(many)


@pytest.mark.parametrize(
    ("address", "inward"), [("10.0.0.5", True), ("1.1.1.1", False), ("2606:4700::5efe:a00:5", True)]
)
@in_lab
def test_parameters_reach_the_body(lab: Lab, address: str, inward: bool) -> None:
    assert is_inward(address) is inward


@in_lab
def broken_body(lab: Lab) -> None:
    witness = "the value of a local"
    assert witness == "another"


@in_lab
async def leaking_body(lab: Lab) -> None:
    socket.socket()


@in_lab
async def trespassing_body(lab: Lab) -> None:
    _, writer = await asyncio.open_connection("10.0.0.5", 443)
    writer.close()
    await writer.wait_closed()


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("broken_body", "the value of a local"),
        ("leaking_body", "unclosed <socket.socket"),
        ("trespassing_body", "connections were opened to [Dial(address='10.0.0.5', port=443)]"),
        ("no_such_body", "AttributeError"),
    ],
)
def test_a_failing_body_comes_back_readable(nursery: Nursery, name: str, said: str) -> None:
    trace = nursery.run(__name__, name, {})
    assert trace is not None
    assert said in trace
