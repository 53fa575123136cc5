"""What all fetches of one `WebFetch` share: how many run at once, and how many body bytes they hold together.

A fetch that must wait does so inside its own deadline. Bytes are taken as they arrive, never in advance, so that slow
servers cannot hoard them; and one fetch at a time may go on into a reserve as large as one body, so that fetches which
wait for each other's bytes cannot lock each other up.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

LOOKUPS_PER_SLOT = 2
"""Lookups under way for each slot. They have places of their own, so that names which hang keep no slot from a fetch
that could go on; each holds a socket or two, which is what bounds them."""


class Lease:
    """One fetch's slot, once it has entered, and its bytes. Release it in any case."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.held = 0

    async def enter(self) -> None:
        """Wait for a slot, first come first served; at once for one that has it."""
        await self._budget.admit(self)

    async def grow(self, more: int) -> None:
        """Take `more` bytes, waiting until they are free."""
        if more and not self._budget.take(self, more):
            await self._budget.wait(self, more)

    def release(self) -> None:
        """Give slot and bytes back. May be called again."""
        self._budget.free(self)


class Budget:
    """Bounds for one event loop. slots: fetches at once. total: bytes over all. reserve: one fetch's bytes at most.

    A total below the reserve lets one fetch at a time go on alone, up to the reserve.
    """

    def __init__(self, slots: int, total: int, reserve: int) -> None:
        self._slots = asyncio.Semaphore(slots)
        self.lookups = asyncio.Semaphore(slots * LOOKUPS_PER_SLOT)
        self._open = total - reserve
        self.held = 0
        self._leases: set[Lease] = set()
        self._first: Lease | None = None  # the one that may use the reserve
        self._waiting: OrderedDict[asyncio.Future[None], tuple[Lease, int]] = OrderedDict()

    def lease(self) -> Lease:
        return Lease(self)

    async def admit(self, lease: Lease) -> None:
        if lease not in self._leases:
            await self._slots.acquire()
            self._leases.add(lease)

    def take(self, lease: Lease, more: int) -> bool:
        """Take bytes without waiting, unless others wait already; says whether it did."""
        if self._waiting and lease is not self._first:
            return False
        return self._grant(lease, more)

    def _grant(self, lease: Lease, more: int) -> bool:
        if self.held + more > self._open:
            if self._first not in (None, lease):
                return False
            self._first = lease
        self.held += more
        lease.held += more
        return True

    async def wait(self, lease: Lease, more: int) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting[turn] = (lease, more)
        self._wake()
        try:
            await turn
        finally:
            self._waiting.pop(turn, None)

    def free(self, lease: Lease) -> None:
        if lease not in self._leases:
            return
        self._leases.remove(lease)
        self.held -= lease.held
        if self._first is lease:
            self._first = None
        self._slots.release()
        self._wake()

    def _wake(self) -> None:
        """Serve those who wait, in order, as far as the bytes go."""
        for turn, (lease, more) in list(self._waiting.items()):
            if not turn.done() and self._grant(lease, more):
                del self._waiting[turn]
                turn.set_result(None)
            elif not turn.done():
                return
