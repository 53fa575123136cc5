"""Rates, times and addresses as the configuration writes them. Pure; each raises ValueError for what it cannot read."""

from __future__ import annotations

import re
from dataclasses import dataclass

UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400}
TIMES = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}

MAX_AMOUNT = 1_000_000
"""Requests in a window. Every one of them is remembered until it leaves the window, 8 bytes or more each."""

MAX_SECONDS = 366 * 86_400

_RATE = re.compile(r"(\d{1,7})\s*(?:/|per)\s*(\d{1,5})?\s*(second|minute|hour|day)s?", re.ASCII)
_TIME = re.compile(r"(\d{1,8})\s*([smhd]?)", re.ASCII)
_BIND = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+):(\d{1,5})", re.ASCII)
MAX_PORT = 65_535


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `amount` requests in any `seconds`."""

    amount: int
    seconds: int

    def __str__(self) -> str:
        return f"{self.amount} in {self.seconds} s"


def read_rate(text: str) -> Rate:
    """`100/minute`, `100 per minute`, `5/10 seconds`."""
    found = _RATE.fullmatch(text.strip())
    rate = Rate(int(found[1]), int(found[2] or 1) * UNITS[found[3]]) if found else Rate(0, 0)
    if not (1 <= rate.amount <= MAX_AMOUNT and 1 <= rate.seconds <= MAX_SECONDS):
        raise ValueError("not a rate")
    return rate


def read_time(text: str) -> int:
    """Seconds in `10m`, `30s`, `1h`, `2d` or `0`."""
    found = _TIME.fullmatch(text.strip())
    seconds = int(found[1]) * TIMES[found[2]] if found else -1
    if not 0 <= seconds <= MAX_SECONDS:
        raise ValueError("not a time")
    return seconds


def read_bind(text: str) -> tuple[str, int]:
    """Host and port; an IPv6 host in brackets, which fall away. Port 0 takes a free one."""
    found = _BIND.fullmatch(text.strip())
    if not found or int(found[2]) > MAX_PORT:
        raise ValueError("not an address")
    return found[1].strip("[]"), int(found[2])
