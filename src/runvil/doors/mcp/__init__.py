"""The MCP door (extra `mcp`): both tools for any client of the Model Context Protocol, over stdio or HTTP.

Nothing of the SDK is imported before something is served (PEP 562): `runvil mcp --help` needs no extra.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runvil.doors.mcp.http import application, serve_http
    from runvil.doors.mcp.server import make_server
    from runvil.doors.mcp.stdio import serve_stdio

_HOMES = {
    "application": "runvil.doors.mcp.http",
    "make_server": "runvil.doors.mcp.server",
    "serve_http": "runvil.doors.mcp.http",
    "serve_stdio": "runvil.doors.mcp.stdio",
}

__all__ = ["application", "make_server", "serve_http", "serve_stdio"]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'runvil.doors.mcp' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  as in the package's own face

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value
