"""Moving windows in memory: exact at every edge, and nothing is taken by what is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runvil.gateway.keys import Client
from runvil.gateway.limiter import Limiter, MemoryWindows, Rule
from runvil.gateway.rates import Rate
from runvil.gateway.refusals import Refusal
from tests.gateway.test_keys import Clock


@given(st.lists(st.floats(0, 3), max_size=60), st.integers(1, 5), st.integers(1, 4))
def test_no_window_ever_holds_more_than_its_amount(pauses: list[float], amount: int, seconds: int) -> None:
    """The counter-example would be amount + 1 passes less than `seconds` apart."""
    clock = Clock()
    windows, passed = MemoryWindows(clock), []
    rule = Rule("a", "rate", Rate(amount, seconds))
    for pause in pauses:
        clock.now += pause
        full = _taken(windows, rule)
        if full is None:
            passed.append(clock.now)
        else:
            assert 0 < full <= seconds
    for first, last in zip(passed, passed[amount:], strict=False):
        assert last - first >= seconds


def _taken(windows: MemoryWindows, rule: Rule) -> float | None:
    """`take` waits for nothing in memory: run it without a loop."""
    try:
        windows.take([rule]).send(None)
    except StopIteration as done:
        return None if done.value is None else float(done.value.seconds)
    raise AssertionError


async def test_the_first_after_the_edge_passes_and_the_last_before_it_does_not() -> None:
    clock = Clock()
    limiter, client = Limiter(MemoryWindows(clock)), Client("a", b"", rate=Rate(2, 60))
    await limiter.admit(client)
    clock.now = 30.0
    await limiter.admit(client)
    clock.now = 59.9
    with pytest.raises(Refusal) as raised:
        await limiter.admit(client)
    assert (raised.value.status, raised.value.code, raised.value.headers) == (429, "rate_limited", {"Retry-After": "1"})
    assert str(raised.value) == "the rate of 2 in 60 s is used up"
    clock.now = 60.0
    await limiter.admit(client)
    with pytest.raises(Refusal):
        await limiter.admit(client)


async def test_what_the_rate_refuses_costs_no_quota_and_the_other_way_round() -> None:
    clock = Clock()
    limiter = Limiter(MemoryWindows(clock))
    client = Client("a", b"", rate=Rate(1, 10), quota=Rate(2, 100))
    await limiter.admit(client)
    for _ in range(5):
        with pytest.raises(Refusal, match="the rate"):
            await limiter.admit(client)
    clock.now = 10.0
    await limiter.admit(client)
    clock.now = 20.0
    for _ in range(2):
        with pytest.raises(Refusal, match="the quota") as raised:
            await limiter.admit(client)
    assert (raised.value.code, raised.value.headers) == ("quota_exceeded", {"Retry-After": "80"})


async def test_clients_have_windows_of_their_own_and_an_unlimited_one_has_none() -> None:
    limiter = Limiter(MemoryWindows(Clock()))
    await limiter.admit(Client("a", b"", rate=Rate(1, 1)))
    await limiter.admit(Client("b", b"", rate=Rate(1, 1)))
    for _ in range(100):
        await limiter.admit(Client("c", b""))


async def test_a_changed_limit_remembers_what_was_taken() -> None:
    limiter = Limiter(MemoryWindows(Clock()))
    for _ in range(3):
        await limiter.admit(Client("a", b"", rate=Rate(5, 60)))
    with pytest.raises(Refusal):
        await limiter.admit(Client("a", b"", rate=Rate(3, 60)))
    await limiter.admit(Client("a", b"", rate=Rate(4, 60)))
