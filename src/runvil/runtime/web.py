"""The Plugin of the Pack runvil/web: web/fetch under the default policy, and web/search (spec 3.7, 3.14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from runvil.core.config import ConfigError
from runvil.runtime.packs import Pack, Unavailable
from runvil.tools import WebFetch, WebSearch

NAME: Final = "runvil/web"
KEY: Final = "web"
SEARCH_PROVIDER: Final = "runvil/search-provider"
RUNTIME_SERVICE: Final = "runvil/tokio-runtime"

NEEDS: Final = (SEARCH_PROVIDER, RUNTIME_SERVICE)
"""In the order in which their lack is told (spec 3.14)."""


class WebPlugin:
    """Brings runvil/web. net, renderer: the test seams of `WebFetch`; the fetch policy is the default one, always."""

    def __init__(self, *, net: Any = None, renderer: Any = None) -> None:
        self._net = net
        self._renderer = renderer

    def packs(self, config: Mapping[str, Any], services: Mapping[str, Any]) -> Sequence[Pack | Unavailable]:
        mine = config.get(KEY)
        if mine is not None and mine != {}:
            return [Unavailable(NAME, f"{KEY} takes no configuration")]
        for service in NEEDS:
            if not services.get(service):
                return [Unavailable(NAME, f"{KEY} needs {service}, and this host provides none")]
        try:
            fetch = WebFetch(net=self._net, renderer=self._renderer)
        except ConfigError as error:
            return [Unavailable(NAME, str(error))]
        return [Pack(NAME, [fetch, WebSearch(services[SEARCH_PROVIDER])], fetch.aclose)]
