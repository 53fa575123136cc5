"""What this process holds: memory, sockets, threads, children. Read from /proc, so that no library is believed."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

KIB = 1024
FORGET_PEAK = "5"


@dataclass(frozen=True)
class Footprint:
    sockets: int
    threads: int
    children: int

    def within(self, other: Footprint) -> bool:
        return self.sockets <= other.sockets and self.threads <= other.threads and self.children <= other.children


def footprint() -> Footprint:
    return Footprint(_sockets(), len(os.listdir("/proc/self/task")), len(children()))


def children() -> list[int]:
    """Every child, started by any thread; zombies count."""
    own = os.getpid()
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _parent(pid) == own]


def reset_peak() -> int:
    """Forget the highest memory use so far and tell the present one, in bytes."""
    Path("/proc/self/clear_refs").write_text(FORGET_PEAK)
    return _status("VmRSS")


def peak() -> int:
    """The highest memory use since `reset_peak`, in bytes."""
    return _status("VmHWM")


def _sockets() -> int:
    links = [_link(name) for name in os.listdir("/proc/self/fd")]
    return sum(1 for link in links if link.startswith("socket:"))


def _link(name: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{name}")
    except FileNotFoundError:  # the descriptor of the listing itself
        return ""


def _parent(pid: int) -> int | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(text.rpartition(")")[2].split()[1])


def _status(field: str) -> int:
    found = re.search(rf"^{field}:\s+(\d+) kB$", Path("/proc/self/status").read_text(), re.MULTILINE)
    assert found is not None
    return int(found[1]) * KIB
