"""Wrong keys per peer. Whoever guesses is refused for a while; whoever holds a key beyond guessing never is."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import IPv6Address, IPv6Network, ip_address
from time import monotonic

TRIES = 10
WINDOW = 60.0
"""Wrong keys in so many seconds."""

MAX_PEERS = 10_000
"""Peers remembered; the longest quiet one is forgotten first."""

IPV6_PREFIX = 64
"""One host has the whole of a /64 (RFC 6177): counting its addresses would count to 2^64."""


class Attempts:
    """clock: seconds, never backwards."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, peer: str) -> float | None:
        """Seconds until this peer may try again, None if it may now."""
        failed = self._failed.get(_group(peer))
        if failed is None or len(failed) < TRIES:
            return None
        left = failed[0] + WINDOW - self._clock()
        return left if left > 0 else None

    def failed(self, peer: str) -> None:
        group = _group(peer)
        self._failed.setdefault(group, deque(maxlen=TRIES)).append(self._clock())
        self._failed.move_to_end(group)
        if len(self._failed) > MAX_PEERS:
            self._failed.popitem(last=False)


def _group(peer: str) -> str:
    try:
        address = ip_address(peer)
    except ValueError:
        return peer
    if isinstance(address, IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped or IPv6Network((int(address), IPV6_PREFIX), strict=False))
    return peer
