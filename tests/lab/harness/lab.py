"""The handle a test body holds: script the internet, then ask what it saw.

Plain calls block for the blink an answer takes. `await lab.until(...)` is the one way to wait for something to happen.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING, Any, cast

from tests.lab.harness.dns import PORT as DNS_PORT
from tests.lab.harness.dns import SERVER as DNS_SERVER
from tests.lab.harness.dns import Addresses, Step
from tests.lab.harness.internet import SIZE, WAIT_LIMIT

if TYPE_CHECKING:
    import socket
    from pathlib import Path

    from tests.lab.harness.authority import Authority, Certificate
    from tests.lab.harness.web import Answer, Connection, Request
    from tests.lab.harness.witness import Packet

CALL_LIMIT = WAIT_LIMIT + 5.0
COMMAND_LIMIT = 60.0

# Where no fetch may ever go, written down a second time on purpose: the product's own table is what is on trial.
_ROWS = (
    "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 "
    "192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 "
    "168.63.129.16/32 ::/128 ::1/128 ::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b::/96 64:ff9b:1::/48 100::/64 "
    "2001:db8::/32 2001::/23 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8"
)
INWARD = tuple(ip_network(text) for text in _ROWS.split())


@dataclass(frozen=True)
class Dial:
    address: str
    port: int


class Lab:
    def __init__(self, control: socket.socket, authority: Authority, directory: Path) -> None:
        self._control = control
        self._directory = directory
        self._inward_expected = False
        self.trusted_file = str(authority.trusted_file)
        self.other_file = str(authority.other_file)

    def wait_ready(self) -> None:
        self._ask("ready")

    # --- scripting ---

    def name(self, name: str, *steps: str | tuple[str, ...] | Step) -> None:
        """Script a name. Each step (an address, several, a Step) answers one question of each type; the last stays."""
        self._ask("script", name.lower().rstrip("."), tuple(_step(one) for one in steps))

    def serve(self, url: str, *answers: Answer) -> None:
        """Script what a URL answers, request by request; the last answer stays."""
        self._ask("serve", url, answers)

    def site(self, host: str, where: str | tuple[str, ...] | Step, *answers: Answer) -> None:
        """A name at one place with its front page."""
        self.name(host, where)
        self.serve(f"https://{host}/", *answers)

    def certify(self, name: str, certificate: Certificate) -> None:
        self._ask("certify", name, certificate)

    def deafen(self, address: str) -> None:
        self._ask("deafen", address)

    def blackhole(self, address: str, port: int = 443) -> None:
        self._ask("blackhole", address, port)

    def system_file(self, name: str, text: str) -> None:
        """Rewrite resolv.conf, hosts or nsswitch.conf: ours, mounted over the one in /etc."""
        assert (self._directory / name).exists()
        (self._directory / name).write_text(text)

    def expect_inward_connections(self) -> None:
        """This test opens a door inward by configuration; without this call, any such dial fails the test."""
        self._inward_expected = True

    # --- what was seen ---

    def dialled(self) -> list[Dial]:
        """Every TCP connection anyone tried to open, in order, whatever became of it. The name server is left out."""
        packets = self._packets()
        return [Dial(one.address, one.port) for one in packets if one.tcp and not _is_dns(one)]

    def datagrams(self) -> set[Dial]:
        """Where anything but the name server and its clients sent UDP."""
        return {Dial(one.address, one.port) for one in self._packets() if not one.tcp and not _is_dns(one)}

    def connections(self) -> list[Connection]:
        return cast("list[Connection]", self._ask("connections"))

    def requests(self) -> list[Request]:
        return cast("list[Request]", self._ask("requests"))

    def queries(self) -> list[tuple[str, str]]:
        return cast("list[tuple[str, str]]", self._ask("queries"))

    def asked(self, name: str) -> int:
        """How many questions came for exactly this absolute name."""
        return sum(1 for asked, _ in self.queries() if asked == name)

    def count(self, event: str) -> int:
        return cast(int, self._ask("count", event))

    async def until(self, event: str, count: int) -> None:
        """Wait until `event` (dial, connection, request, query, gone) has happened `count` times in all."""
        loop = asyncio.get_running_loop()
        self._control.setblocking(False)
        async with asyncio.timeout(CALL_LIMIT):
            await loop.sock_sendall(self._control, _frame("until", event, count))
            size = int.from_bytes(await self._exactly(SIZE), "big")
            _unpack(await self._exactly(size))

    # --- the command ---

    def command(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run `python -m runvil`, as a user would."""
        return subprocess.run(
            [sys.executable, "-m", "runvil", *arguments],
            capture_output=True,
            text=True,
            timeout=COMMAND_LIMIT,
            check=False,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
        )

    # --- the end ---

    def verify(self) -> None:
        """What must hold after every test, whatever it was about."""
        broken = cast("list[str]", self._ask("broken"))
        assert not broken, "the lab's own web broke:\n" + "\n".join(broken)
        assert not self.datagrams(), f"datagrams were sent to {self.datagrams()}"
        inward = [one for one in self.dialled() if is_inward(one.address)]
        assert self._inward_expected or not inward, f"connections were opened to {inward}"

    def _packets(self) -> list[Packet]:
        return cast("list[Packet]", self._ask("packets"))

    def _ask(self, method: str, *arguments: object) -> object:
        self._control.settimeout(CALL_LIMIT)
        self._control.sendall(_frame(method, *arguments))
        size = int.from_bytes(self._exactly_now(SIZE), "big")
        return _unpack(self._exactly_now(size))

    def _exactly_now(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += _some(self._control.recv(size - len(data)))
        return data

    async def _exactly(self, size: int) -> bytes:
        data = b""
        while len(data) < size:
            data += _some(await asyncio.get_running_loop().sock_recv(self._control, size - len(data)))
        return data


def is_inward(address: str) -> bool:
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address) and (parsed.packed[8:12] in (b"\0\0\x5e\xfe", b"\x02\0\x5e\xfe")):
        return is_inward(str(ip_address(parsed.packed[12:])))
    return any(parsed in network for network in INWARD)


def _step(one: str | tuple[str, ...] | Step) -> Step:
    if isinstance(one, str):
        return Addresses((one,))
    return Addresses(one) if isinstance(one, tuple) else one


def _is_dns(packet: Packet) -> bool:
    name_server = (DNS_SERVER, DNS_PORT)
    return name_server in ((packet.address, packet.port), (packet.source, packet.source_port))


def _frame(method: str, *arguments: object) -> bytes:
    call = pickle.dumps((method, arguments))
    return len(call).to_bytes(SIZE, "big") + call


def _unpack(reply: bytes) -> object:
    worked, result = cast("tuple[bool, Any]", pickle.loads(reply))
    if not worked:
        raise AssertionError(f"the lab's internet says:\n{result}")
    return cast(object, result)


def _some(data: bytes) -> bytes:
    if not data:
        raise AssertionError("the lab's internet hung up")
    return data
