"""Search providers: who answers a search, one file each. Each name is loaded on first use (PEP 562).

What they share: one client (client.py), one way to tell what went wrong (vendor.py), one way to clean rows (rows.py),
and a table of what each makes of the eight arguments (support.py).
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it; importing `typing` costs as much as Python's own start
if TYPE_CHECKING:
    from runvil.providers.brave import BraveProvider
    from runvil.providers.environment import from_environment
    from runvil.providers.exa import ExaProvider
    from runvil.providers.failover import FailoverProvider
    from runvil.providers.gateway import GatewayProvider
    from runvil.providers.index import LocalIndex
    from runvil.providers.kagi import KagiProvider
    from runvil.providers.local import LocalProvider
    from runvil.providers.searxng import SearxngProvider
    from runvil.providers.serper import SerperProvider
    from runvil.providers.tavily import TavilyProvider
    from runvil.providers.vendor import VendorFailed

_HOMES = {
    "BraveProvider": "runvil.providers.brave",
    "ExaProvider": "runvil.providers.exa",
    "FailoverProvider": "runvil.providers.failover",
    "GatewayProvider": "runvil.providers.gateway",
    "KagiProvider": "runvil.providers.kagi",
    "LocalIndex": "runvil.providers.index",
    "LocalProvider": "runvil.providers.local",
    "SearxngProvider": "runvil.providers.searxng",
    "SerperProvider": "runvil.providers.serper",
    "TavilyProvider": "runvil.providers.tavily",
    "VendorFailed": "runvil.providers.vendor",
    "from_environment": "runvil.providers.environment",
}

__all__ = [
    "BraveProvider",
    "ExaProvider",
    "FailoverProvider",
    "GatewayProvider",
    "KagiProvider",
    "LocalIndex",
    "LocalProvider",
    "SearxngProvider",
    "SerperProvider",
    "TavilyProvider",
    "VendorFailed",
    "from_environment",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'runvil.providers' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  as in the package's own face

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
