"""Sees every connection attempt and every datagram of the namespace, whether or not anything listens there.

The servers can only tell who reached them; this reads the packets off `lo`, so it also sees a dial to a port or an
address that nobody serves. A kernel filter lets only SYNs and UDP through: a bomb's megabytes are not looked at.
"""

from __future__ import annotations

import ctypes
import errno
import socket
import struct
from dataclasses import dataclass
from ipaddress import ip_address
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SO_ATTACH_FILTER = 26
ETH_P_ALL = 0x0003
ETH_P_IP = 0x0800
ETH_P_IPV6 = 0x86DD
PACKET_OUTGOING = 4
TCP, UDP = 6, 17
HEAD_V6 = 40
SNAP = 128
BUFFER = 4 * 1024 * 1024

ACCEPT, REJECT = 0xFFFF, 0
PROTOCOL = 0xFFFFF000  # SKF_AD_OFF: the packet's ether type
LDH, LDB, LDB_X, LDX_IHL, AND, JEQ, RET = 0x28, 0x30, 0x50, 0xB1, 0x54, 0x15, 0x06
SYN_ACK, SYN = 0x12, 0x02

# (code, jump if true, jump if false, value); jumps count from the next row.
FILTER = (
    (LDH, 0, 0, PROTOCOL),
    (JEQ, 0, 7, ETH_P_IP),
    (LDB, 0, 0, 9),  # IPv4: the protocol
    (JEQ, 11, 0, UDP),
    (JEQ, 0, 11, TCP),
    (LDX_IHL, 0, 0, 0),
    (LDB_X, 0, 0, 13),  # TCP flags
    (AND, 0, 0, SYN_ACK),
    (JEQ, 6, 7, SYN),
    (LDB, 0, 0, 6),  # IPv6: the next header
    (JEQ, 4, 0, UDP),
    (JEQ, 0, 4, TCP),
    (LDB, 0, 0, HEAD_V6 + 13),
    (AND, 0, 0, SYN_ACK),
    (JEQ, 0, 1, SYN),
    (RET, 0, 0, ACCEPT),
    (RET, 0, 0, REJECT),
)


@dataclass(frozen=True)
class Packet:
    """The first packet of a connection, or a datagram."""

    tcp: bool
    source: str
    source_port: int
    address: str
    port: int
    sequence: int


class Witness:
    def __init__(self, note: Callable[[str], None], ignored: set[tuple[str, int]]) -> None:
        """ignored: whose dials are not a client's (address, port)."""
        self._note = note
        self._ignored = ignored
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, 0)
        self._seen: dict[Packet, None] = {}  # a repeated SYN is one dial
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self._filter()
        self.socket.bind(("lo", ETH_P_ALL))

    def drain(self) -> None:
        while True:
            try:
                data, origin = self.socket.recvfrom(SNAP)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno == errno.ENETDOWN:  # a test took `lo` down; told once, then there is nothing to see
                    continue
                raise
            if origin[2] == PACKET_OUTGOING:  # each packet on `lo` is seen leaving and arriving
                self._see(parse(data))

    def _see(self, packet: Packet) -> None:
        if packet not in self._seen and (packet.source, packet.source_port) not in self._ignored:
            self._seen[packet] = None
            if packet.tcp:
                self._note("dial")

    def packets(self) -> list[Packet]:
        self.drain()
        return list(self._seen)

    def close(self) -> None:
        self.socket.close()

    def _filter(self) -> None:
        rows = b"".join(struct.pack("=HBBI", *row) for row in FILTER)
        buffer = ctypes.create_string_buffer(rows)
        program = struct.pack("HL", len(FILTER), ctypes.addressof(buffer))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)


def parse(data: bytes) -> Packet:
    if data[0] >> 4 == 4:
        start, protocol, source, target = (data[0] & 15) * 4, data[9], data[12:16], data[16:20]
    else:
        start, protocol, source, target = HEAD_V6, data[6], data[8:24], data[24:40]
    source_port, port, sequence = struct.unpack_from("!HHI", data, start)
    tcp = protocol == TCP
    return Packet(tcp, str(ip_address(source)), source_port, str(ip_address(target)), port, sequence if tcp else 0)
