"""runvil: give a language model the web, never your network.

The public names. Each is loaded on first use (PEP 562), so that `import runvil` costs next to nothing.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it; importing `typing` would cost as much as Python's own start
if TYPE_CHECKING:
    from runvil.core.config import ConfigError, FetchConfig, HostAddress
    from runvil.core.failures import FetchFailure, SearchError, ToolErrorKind
    from runvil.core.page import Page
    from runvil.core.results import SearchQuery, SearchResult, SearchResults
    from runvil.ports import SearchProvider
    from runvil.sync import fetch_sync
    from runvil.tools import Tool, ToolError, ToolOutput, WebFetch, WebSearch

__version__ = "0.1.0"

_HOMES = {
    "ConfigError": "runvil.core.config",
    "FetchConfig": "runvil.core.config",
    "FetchFailure": "runvil.core.failures",
    "HostAddress": "runvil.core.config",
    "Page": "runvil.core.page",
    "SearchError": "runvil.core.failures",
    "SearchProvider": "runvil.ports",
    "SearchQuery": "runvil.core.results",
    "SearchResult": "runvil.core.results",
    "SearchResults": "runvil.core.results",
    "Tool": "runvil.tools",
    "ToolError": "runvil.tools",
    "ToolErrorKind": "runvil.core.failures",
    "ToolOutput": "runvil.tools",
    "WebFetch": "runvil.tools",
    "WebSearch": "runvil.tools",
    "fetch_sync": "runvil.sync",
}

__all__ = [
    "ConfigError",
    "FetchConfig",
    "FetchFailure",
    "HostAddress",
    "Page",
    "SearchError",
    "SearchProvider",
    "SearchQuery",
    "SearchResult",
    "SearchResults",
    "Tool",
    "ToolError",
    "ToolErrorKind",
    "ToolOutput",
    "WebFetch",
    "WebSearch",
    "fetch_sync",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'runvil' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  the face's one sanctioned lazy import

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
