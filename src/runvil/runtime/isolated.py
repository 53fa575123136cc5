"""The stage of an untrusted prompt: a process of its own, read, compiled and run there, killed when its time is up.

A hostile pattern computes for ever inside one Lua instruction, and a hostile prompt may be hostile to the YAML and
Markdown parsers as well: nothing in a process can stop either, so the clock is outside. The process is started as a
command line, wears the locks of extract/sandbox.py, holds one run, and speaks JSON frames (wire.py), never pickle.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from typing import Any, Final

from runvil.runtime import wire
from runvil.runtime.errors import RunError, RunErrorKind
from runvil.runtime.extras import require
from runvil.runtime.guest import Event, Scalar
from runvil.runtime.limits import Limits
from runvil.runtime.stage import Outline
from runvil.runtime.walk import GARBLED, SPENT

BOOT: Final = (
    "import sys; ours = sys.argv[2:]; sys.path[:] = ours + [p for p in sys.path if p not in ours]; "
    "from runvil.extract.sandbox import lock; from runvil.runtime.worker import main; main(lock, int(sys.argv[1]))"
)
"""What the process runs: this house from where this process has it. The locks are handed in: rooms do not meet."""

START_SECONDS: Final = 20.0
"""Wall time for a start, which takes 0.2 s; the margin is for cold disks."""

GRACE: Final = 0.15
"""Seconds of wall time beyond the budget: the process' own clock speaks first and says it better."""

_KEPT_ENVIRONMENT: Final = ("SYSTEMROOT",)
"""Windows cannot start Python without it."""


class IsolatedStage:
    """One process for one run."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.seconds + GRACE
        self._process: asyncio.subprocess.Process | None = None

    async def load(self, text: str, file: str) -> Outline:
        require()  # or the process would say it, to nobody
        await self._start()
        limits = [self._limits.memory, self._limits.steps, self._limits.seconds]
        return wire.read_outline(await self._asked({"do": "load", "text": text, "file": file, "limits": limits}))

    async def enter(self, section: int, setting: str) -> Event:
        return wire.read_event(await self._asked({"do": "enter", "section": section, "setting": setting}))

    async def answer(self, ok: bool, *values: Scalar) -> Event:
        return wire.read_event(await self._asked({"do": "answer", "ok": ok, "values": values}))

    async def _start(self) -> None:
        paths = map(os.path.abspath, filter(None, sys.path))
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-I", "-c", BOOT, str(os.getpid()), *paths,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env={name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ},
                close_fds=True,
                creationflags=_NO_WINDOW,
            )  # fmt: skip
            async with asyncio.timeout(START_SECONDS):
                await self._received()
        except (OSError, RunError) as error:  # TimeoutError is an OSError
            raise RunError(RunErrorKind.INTERNAL, "the prompt's process could not be started") from error

    async def _asked(self, request: dict[str, Any]) -> Any:
        """Send, and wait for the answer as long as there is budget. Raises RunError."""
        assert self._process is not None
        assert self._process.stdin is not None
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            async with asyncio.timeout(self._left):
                self._process.stdin.write(wire.frame(request))
                await self._process.stdin.drain()
                return await self._received()
        except TimeoutError as error:
            raise RunError(RunErrorKind.QUOTA, SPENT["time"]) from error
        except OSError as error:
            raise RunError(RunErrorKind.QUOTA, wire.DIED) from error
        finally:
            self._left = max(self._left - (loop.time() - begun), 0.001)

    async def _received(self) -> Any:
        assert self._process is not None
        assert self._process.stdout is not None
        try:
            size = wire.size(await self._process.stdout.readexactly(wire.HEAD))
            return wire.body(await self._process.stdout.readexactly(size))
        except asyncio.IncompleteReadError as error:
            raise RunError(RunErrorKind.QUOTA, wire.DIED) from error
        except wire.Garbled as error:
            raise RunError(RunErrorKind.INTERNAL, GARBLED) from error

    async def aclose(self) -> None:
        """Kill the process and reap it, whatever it is doing."""
        process, self._process = self._process, None
        if process is None:
            return
        with suppress(ProcessLookupError):
            process.kill()
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


_NO_WINDOW: Final = 0x08000000 if sys.platform == "win32" else 0
