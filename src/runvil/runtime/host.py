"""The Host: what embeds the runtime. It has services, calls Plugins for Packs, and runs prompts (spec 3.13)."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final

from runvil.core.config import ConfigError
from runvil.core.conversation import Model
from runvil.core.envelope import NONCE_DIGITS
from runvil.runtime.calls import Setting
from runvil.runtime.catalog import Catalog, check
from runvil.runtime.errors import RunError
from runvil.runtime.interrupt import Interrupt
from runvil.runtime.isolated import IsolatedStage
from runvil.runtime.limits import Limits
from runvil.runtime.packs import Pack, Plugin, Unavailable
from runvil.runtime.stage import LocalStage, Stage
from runvil.runtime.trace import Observer, Trace, since
from runvil.runtime.walk import Walk
from runvil.runtime.web import RUNTIME_SERVICE
from runvil.tools import Tool

FILE: Final = "prompt"
"""What a prompt is called in messages when nobody says its file's name."""


def fresh_nonce() -> str:
    return secrets.token_hex(NONCE_DIGITS // 2)


class LoopService:
    """The runtime service `runvil/tokio-runtime`: the loop that tools run on."""

    def loop(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()


@dataclass(frozen=True, slots=True)
class _Job:
    text: str
    args: Mapping[str, str]
    file: str
    trace: Trace
    interrupt: Interrupt


class Run:
    """A run under way; awaiting it gives the result, or raises RunError, or CancelledError once it is cancelled."""

    def __init__(self, task: asyncio.Task[str], interrupt: Interrupt) -> None:
        self._task = task
        self._interrupt = interrupt

    def stop(self) -> None:
        """Stop the model round, or the call, that is in flight: its web calls are dropped, their sockets closed.

        In Lua that is an error value of kind `stopped`, which a prompt may catch to return what it has.
        """
        self._interrupt.stop()

    def cancel(self) -> None:
        """End the run, and everything it waits for."""
        self._task.cancel()

    def done(self) -> bool:
        return self._task.done()

    def __await__(self) -> Generator[Any, None, str]:
        return self._task.__await__()


class Host:
    """Runs prompts, as many at once as one likes. Close it, or use it as a context: Packs keep connections.

    services: Host-wide services by id; the runtime service is supplied unless it is mapped to None. model: the one
    that every role is bound to. isolate: run each prompt in a process of its own, for prompts of strangers. nonce: what
    gives a run's nonce, for replays.
    """

    def __init__(
        self,
        services: Mapping[str, Any] | None = None,
        model: Model | None = None,
        *,
        isolate: bool = False,
        limits: Limits | None = None,
        nonce: Callable[[], str] = fresh_nonce,
    ) -> None:
        self._services: dict[str, Any] = {RUNTIME_SERVICE: LoopService(), **(services or {})}
        self._model = model
        self._isolate = isolate
        self._limits = limits or Limits()
        self._nonce = nonce
        self._packs: dict[str, Pack | Unavailable] = {}
        self._catalogs: dict[tuple[str, ...], Catalog] = {}

    def call(self, plugin: Plugin, config: Mapping[str, Any] | None = None) -> None:
        """Have a Plugin add its Packs. A Pack that cannot be built is kept as unavailable, with its reason.

        Raises ConfigError when there is a Pack of that name already.
        """
        for pack in plugin.packs(config or {}, dict(self._services)):
            if pack.name in self._packs:
                raise ConfigError(f"this host has a Pack named {pack.name} already")
            self._packs[pack.name] = pack
        self._catalogs.clear()

    async def run(
        self, text: str, *, args: Mapping[str, str] | None = None, file: str = FILE, observer: Observer | None = None
    ) -> str:
        """Run a prompt and return its result. args: what it sees as `args`. file: its name in messages.

        observer: called with every event, a dict, as `runvil run --trace` writes them. Raises RunError.
        """
        return await self._run(_Job(text, args or {}, file, Trace(observer), Interrupt()))

    def start(
        self, text: str, *, args: Mapping[str, str] | None = None, file: str = FILE, observer: Observer | None = None
    ) -> Run:
        """The same, under way while the caller does other things. Needs a running loop."""
        job = _Job(text, args or {}, file, Trace(observer), Interrupt())
        return Run(asyncio.get_running_loop().create_task(self._run(job)), job.interrupt)

    async def _run(self, job: _Job) -> str:
        begun = job.trace.now()
        stage: Stage = IsolatedStage(self._limits) if self._isolate else LocalStage(self._limits)
        try:
            result = await self._walked(stage, job)
        except RunError as error:
            job.trace.tell("end", error_kind=error.kind, error=str(error), ms=since(begun))
            raise
        finally:
            await stage.aclose()
        job.trace.tell("end", result=result, ms=since(begun))
        return result

    async def _walked(self, stage: Stage, job: _Job) -> str:
        outline = await stage.load(job.text, job.file)
        check(outline.head, self._packs, self._model)
        catalog = self._catalog(outline.head.uses)
        nonce = self._nonce()
        if job.trace.on:
            job.trace.tell("run", name=outline.head.name, nonce=nonce, args=dict(job.args), packs=_described(catalog))
        setting = Setting(catalog, self._model, nonce, outline.head.max_tool_iterations, job.trace, job.interrupt)
        return await Walk(setting, outline, stage, job.args).run()

    def _catalog(self, uses: tuple[str, ...]) -> Catalog:
        if uses not in self._catalogs:
            self._catalogs[uses] = Catalog.of(self._packs, uses)
        return self._catalogs[uses]

    async def aclose(self) -> None:
        """Close what the Packs hold. Runs under way are the caller's to end first."""
        for pack in self._packs.values():
            if isinstance(pack, Pack) and pack.close is not None:
                await pack.close()

    async def __aenter__(self) -> Host:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


def _described(catalog: Catalog) -> list[dict[str, Any]]:
    """What a replay needs of the Packs."""
    return [
        {"name": pack.name, "tools": [_declared(tool) for tool in pack.tools]}
        for pack in catalog.packs
        if isinstance(pack, Pack)
    ]


def _declared(tool: Tool) -> dict[str, Any]:
    return {"id": tool.id, "description": tool.description, "parameters": tool.parameters}
