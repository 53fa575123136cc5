"""However fetches interleave, their bounds hold at every moment, every one of them ends, and nothing is kept."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from runvil.budget import Budget, Lease
from tests.support.steady import steady

RESERVE = 10  # one body at most
IN_TIME = 10.0  # seconds; a guard against a deadlock, not a measure


@dataclass(frozen=True)
class Script:
    """One fetch: turns it lets pass first, the bytes it takes one after another, turns in between, how it ends.

    ends: how many turns after its start it is cancelled, or None.
    """

    start: int
    takes: tuple[int, ...]
    pauses: tuple[int, ...]
    ends: int | None


def within_reserve(takes: list[int]) -> tuple[int, ...]:
    kept: list[int] = []
    for more in takes:
        if sum(kept) + more <= RESERVE:
            kept.append(more)
    return tuple(kept)


scripts = st.builds(
    Script,
    st.integers(0, 4),
    st.lists(st.integers(0, 7), max_size=5).map(within_reserve),
    st.lists(st.integers(0, 3), min_size=5, max_size=5).map(tuple),
    st.one_of(st.none(), st.none(), st.integers(0, 12)),
)


async def turns(count: int) -> None:
    for _ in range(count):
        await asyncio.sleep(0)


class Watched:
    """A budget whose bounds are looked at after every step."""

    def __init__(self, slots: int, total: int) -> None:
        self.budget = Budget(slots, total, RESERVE)
        self._slots = slots
        self._total = total
        self._mine: dict[Lease, int] = {}

    def verify(self) -> None:
        leases = self.budget._leases
        assert len(leases) <= self._slots
        assert self.budget.held == sum(lease.held for lease in leases)
        assert 0 <= self.budget.held <= max(self._total, RESERVE)

    async def fetch(self, script: Script) -> None:
        await turns(script.start)
        lease = self.budget.lease()
        try:
            await lease.enter()
            await lease.enter()  # it has its slot; a second one would be too many
            self.verify()
            for more, pause in zip(script.takes, script.pauses, strict=False):
                await lease.grow(more)
                self.verify()
                await turns(pause)
            assert lease.held == sum(script.takes)
        finally:
            lease.release()
            lease.release()
            self.verify()


async def run(slots: int, total: int, fetches: list[Script]) -> None:
    watched = Watched(slots, total)
    tasks = [asyncio.create_task(watched.fetch(script)) for script in fetches]
    cancellers = [
        asyncio.create_task(cancel_after(task, script.ends))
        for task, script in zip(tasks, fetches, strict=True)
        if script.ends is not None
    ]
    outcomes = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), IN_TIME)
    await asyncio.gather(*cancellers)
    for outcome, script in zip(outcomes, fetches, strict=True):
        assert outcome is None or (isinstance(outcome, asyncio.CancelledError) and script.ends is not None), outcome
    assert watched.budget.held == 0
    assert not watched.budget._leases
    assert not watched.budget._waiting
    assert watched.budget._first is None
    await verify_all_slots_are_free(watched.budget, slots)


async def cancel_after(task: asyncio.Task[None], count: int) -> None:
    await turns(count)
    task.cancel()


async def verify_all_slots_are_free(budget: Budget, slots: int) -> None:
    leases = [budget.lease() for _ in range(slots)]
    for lease in leases:
        await asyncio.wait_for(lease.enter(), IN_TIME)
    await asyncio.wait_for(leases[0].grow(1), IN_TIME)
    for lease in leases:
        lease.release()


@steady(400)
@given(st.integers(1, 4), st.integers(RESERVE, 3 * RESERVE), st.lists(scripts, min_size=1, max_size=7))
def test_any_interleaving_keeps_the_bounds_and_ends_with_nothing_held(
    slots: int, total: int, fetches: list[Script]
) -> None:
    asyncio.run(run(slots, total, fetches))


@steady(100)
@given(st.integers(2, 5))
def test_fetches_that_wait_for_each_others_bytes_do_not_lock_up(count: int) -> None:
    """Each takes half a body, then the other half, when there is room for one body in all."""
    asyncio.run(run(count, RESERVE, [Script(0, (5, 5), (1, 1), None)] * count))
