"""What one run may use: every bound of the runtime that is not a rule of the spec's."""

from __future__ import annotations

from dataclasses import dataclass

from runvil.core.config import ConfigError

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """memory: bytes of one Lua state. steps, seconds: Lua instructions and processor time of all a run's sections.

    Waiting for tools and models is not counted. Isolated, `seconds` is wall time as well.
    """

    memory: int = 64 * MIB  # spec 3.5
    steps: int = 200_000_000  # a few seconds of plain arithmetic; a prompt needs thousands
    seconds: float = 2.0  # a run in process holds its loop for as long

    def __post_init__(self) -> None:
        if self.memory < MIB or self.steps < 1 or self.seconds <= 0:
            raise ConfigError("a run needs a MiB of memory, a step and some time at least")
