"""What both tools are, and the two: the walk of a fetch and that of a search, as a model or a program calls them.

Here a failure takes its final form: a soft one becomes a result, a hard one a ToolError (contract 1). Anything
unexpected is logged and becomes one fixed sentence.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, runtime_checkable

from runvil import assemble
from runvil.core.calls import FETCH, SEARCH, FetchCall, fetch_schema, read_fetch_call, read_search_call, search_schema
from runvil.core.config import FetchConfig
from runvil.core.failures import FetchFailure, SearchFailure, Soft, ToolErrorKind, Unfinished
from runvil.core.page import Page
from runvil.fetch import Fetcher
from runvil.ports import Net, Renderer, SearchProvider
from runvil.search import search

log = logging.getLogger("runvil.tools")


class ToolError(Exception):
    """A tool call failed. `str()` is exactly the message for the model. kind: a ToolErrorKind."""

    def __init__(self, kind: ToolErrorKind, message: str) -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """A tool's result. text: what the model reads.

    untrusted: the text came from third parties; always true for the two web tools. soft: it is a soft failure's
    message (spec 1.16), and not a page.
    """

    text: str
    untrusted: bool = True
    soft: bool = False


@runtime_checkable
class Tool(Protocol):
    """What a door needs of a tool, and all that it uses: any object with these members is one.

    id: as prompts name it, `web/fetch`. wire_name: as models name it, `web_fetch`. description: one sentence for the
    model. parameters: the arguments' JSON Schema, a plain dict.
    """

    @property
    def id(self) -> str: ...

    @property
    def wire_name(self) -> str: ...

    @property
    def description(self) -> str: ...

    @property
    def parameters(self) -> dict[str, Any]: ...

    async def call(self, arguments: Mapping[str, object]) -> ToolOutput:
        """Run it. arguments: an object as JSON has it, as the model wrote it. Raises ToolError."""
        ...


class WebFetch:
    """Fetch web pages under one policy: a Tool, and the same walk typed. Calls are independent and may run at once.

    config: the policy; None is the default one. net, renderer: the test seams (`runvil.testing`). Raises ConfigError
    when the environment's trust roots cannot be used (contract 3).

    It is an async context that closes itself. It may serve several `asyncio.run` calls, one after the other, and one
    event loop at a time.
    """

    id = FETCH.id
    wire_name = FETCH.wire_name
    description = FETCH.description
    survives_stop = FETCH.survives_stop

    def __init__(
        self, config: FetchConfig | None = None, *, net: Net | None = None, renderer: Renderer | None = None
    ) -> None:
        self.config = config or FetchConfig()
        self._net = net or assemble.network(self.config)
        self._renderer = renderer or assemble.renderer()
        self._fetcher: Fetcher | None = None

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments' JSON Schema, a plain dict; its maximum of characters is the policy's (spec 1.1)."""
        return fetch_schema(self.config.max_chars)

    async def call(self, arguments: Mapping[str, object]) -> ToolOutput:
        """The tool: the page behind its three-line header (spec 1.15), or a soft failure's sentence.

        arguments: `url`, and `max_chars` and `raw` where wanted (spec 1.3). Raises ToolError for hard failures: kind
        InvalidArguments for what the policy refuses, Other when a fetch ended for a reason that is not ours.
        """
        try:
            return ToolOutput(str(await self._page(read_fetch_call(arguments, self.config.max_chars))))
        except Soft as failure:
            return ToolOutput(str(failure), soft=True)
        except Unfinished as failure:
            raise ToolError(ToolErrorKind.OTHER, str(failure)) from failure
        except FetchFailure as failure:
            raise ToolError(ToolErrorKind.INVALID_ARGUMENTS, str(failure)) from failure

    async def fetch(self, url: str, *, raw: bool = False, max_chars: int | None = None) -> Page:
        """The same walk, typed. raw: the whole page, not only its article; without effect on anything but HTML.

        max_chars: Unicode characters of text; more than the policy's are never given, and None asks for these.
        Raises FetchFailure, for soft failures and hard ones.
        """
        arguments = {"url": url, "raw": raw, "max_chars": max_chars}
        return await self._page(read_fetch_call(arguments, self.config.max_chars))

    async def _page(self, call: FetchCall) -> Page:
        try:
            return await self._here().page(call)
        except FetchFailure:
            raise
        except Exception as error:
            log.exception("a fetch ended in an error that has no sentence")
            raise Unfinished from error

    def _here(self) -> Fetcher:
        """The walk for the running loop: what it shares among fetches belongs to one loop."""
        loop = asyncio.get_running_loop()
        if self._fetcher is None or self._fetcher.loop is not loop:
            self._fetcher = Fetcher(self.config, self._net, self._renderer, loop)
        return self._fetcher

    async def aclose(self) -> None:
        """Close idle connections and end the worker processes. A later call starts anew."""
        await self._net.aclose()
        await self._renderer.aclose()

    async def __aenter__(self) -> WebFetch:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()


class WebSearch:
    """Search the web: a Tool over a provider, which owns the transport, the credential and the deadline (spec 2.4)."""

    id = SEARCH.id
    wire_name = SEARCH.wire_name
    description = SEARCH.description
    survives_stop = SEARCH.survives_stop

    def __init__(self, provider: SearchProvider) -> None:
        self._provider = provider

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments' JSON Schema, a plain dict (spec 2.1)."""
        return search_schema()

    async def call(self, arguments: Mapping[str, object]) -> ToolOutput:
        """The tool: the results as compact JSON, in the provider's order (spec 2.5).

        arguments: `query` and seven optional ones (spec 2.2). Raises ToolError, as no search failure is soft: kind
        InvalidArguments, Transport (nobody was reached) or Backend (somebody answered, with no results).
        """
        try:
            return ToolOutput(await search(read_search_call(arguments), self._provider))
        except SearchFailure as failure:
            raise ToolError(failure.kind, str(failure)) from failure
