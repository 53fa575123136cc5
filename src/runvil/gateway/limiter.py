"""Rate and quota of each client as moving windows: in any window of the rate's length, at most its amount passes.

Both are checked and taken in one step, so that a search refused for its rate costs nothing of the quota. In memory the
clock is monotonic; in Redis it is the server's, read inside the script: instances whose clocks differ, or whose
requests wait for a connection, cannot widen a window. A store that cannot be asked lets nothing through.

The `limits` library stamps a request before it waits for a connection: of 400 calls at once across a window's edge it
let 169 pass where 100 may, by the server's clock. Hence a script of our own.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Protocol

from runvil.gateway.keys import Client
from runvil.gateway.rates import Rate
from runvil.gateway.refusals import Refusal, wait
from runvil.gateway.store import LOST, Redis

log = logging.getLogger("runvil.gateway")

MICROSECONDS = 1_000_000


@dataclass(frozen=True, slots=True)
class Rule:
    """One window of one client. kind: rate or quota."""

    client: str
    kind: str
    rate: Rate


@dataclass(frozen=True, slots=True)
class Full:
    """A window without room. seconds: until its oldest entry leaves."""

    rule: Rule
    seconds: float


class Windows(Protocol):
    async def take(self, rules: Sequence[Rule]) -> Full | None:
        """Take one place in each window, or none at all. Raises Refusal when the store is lost."""
        ...


class Limiter:
    """Passes a client or refuses it."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows

    async def admit(self, client: Client) -> None:
        """Raises Refusal."""
        rules = _rules(client)
        full = await self._windows.take(rules) if rules else None
        if full is not None:
            code, said = SAID[full.rule.kind]
            raise Refusal(code, f"{said} of {full.rule.rate} is used up", headers=wait(full.seconds))


SAID = {"rate": ("rate_limited", "the rate"), "quota": ("quota_exceeded", "the quota")}


def _rules(client: Client) -> list[Rule]:
    limits = (("rate", client.rate), ("quota", client.quota))
    return [Rule(client.name, kind, rate) for kind, rate in limits if rate is not None]


class MemoryWindows:
    """The windows of one process. clock: seconds, never backwards."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._taken: dict[tuple[str, str], deque[float]] = {}

    async def take(self, rules: Sequence[Rule]) -> Full | None:
        now = self._clock()
        windows = [(rule, self._window(rule)) for rule in rules]
        for rule, taken in windows:
            if len(taken) == rule.rate.amount and now - taken[0] < rule.rate.seconds:
                return Full(rule, rule.rate.seconds - (now - taken[0]))
        for _, taken in windows:
            taken.append(now)
        return None

    def _window(self, rule: Rule) -> deque[float]:
        """The last `amount` times; a changed amount keeps the newest."""
        taken = self._taken.get((rule.client, rule.kind))
        if taken is None or taken.maxlen != rule.rate.amount:
            taken = deque(taken or (), maxlen=rule.rate.amount)
            self._taken[rule.client, rule.kind] = taken
        return taken


SCRIPT = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
for i, key in ipairs(KEYS) do
  local amount, window = tonumber(ARGV[2 * i - 1]), tonumber(ARGV[2 * i])
  local oldest = redis.call('LINDEX', key, amount - 1)
  if oldest and now - tonumber(oldest) < window then
    return {i, window - (now - tonumber(oldest))}
  end
end
for i, key in ipairs(KEYS) do
  redis.call('LPUSH', key, string.format('%.0f', now))
  redis.call('LTRIM', key, 0, tonumber(ARGV[2 * i - 1]) - 1)
  redis.call('PEXPIRE', key, math.ceil(tonumber(ARGV[2 * i]) / 1000) + 1)
end
return {0, 0}
"""
"""Times in microseconds: below 2^53, so that Lua's numbers hold them exactly."""


class RedisWindows:
    """The windows of all instances."""

    def __init__(self, redis: Redis) -> None:
        self._script = redis.client.register_script(SCRIPT)

    async def take(self, rules: Sequence[Rule]) -> Full | None:
        keys = [f"runvil:{{{rule.client}}}:{rule.kind}" for rule in rules]  # one slot per client in a cluster
        arguments = [n for rule in rules for n in (rule.rate.amount, rule.rate.seconds * MICROSECONDS)]
        try:
            at, micros = await self._script(keys=keys, args=arguments)
        except LOST as error:
            log.error("limits store lost", extra={"fields": {"error": type(error).__name__}})
            raise Refusal("limits_unavailable", "the store of the limits cannot be asked") from error
        return Full(rules[at - 1], micros / MICROSECONDS) if at else None
