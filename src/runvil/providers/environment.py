"""Which provider is meant (contract 3): the one named, else the gateway, a vendor whose key is set, the local index."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Unpack

from runvil.core.config import ConfigError
from runvil.ports import SearchProvider
from runvil.providers.brave import BraveProvider
from runvil.providers.client import Options
from runvil.providers.exa import ExaProvider
from runvil.providers.gateway import GatewayProvider
from runvil.providers.kagi import KagiProvider
from runvil.providers.local import LocalProvider
from runvil.providers.searxng import SearxngProvider
from runvil.providers.serper import SerperProvider
from runvil.providers.tavily import TavilyProvider


@dataclass(frozen=True, slots=True)
class Way:
    """A provider by name. variables: what it needs, all of them, in the order `made` takes them."""

    name: str
    variables: tuple[str, ...]
    made: Callable[..., Any]


WAYS: tuple[Way, ...] = (
    Way("gateway", ("RUNVIL_GATEWAY_URL", "RUNVIL_GATEWAY_API_KEY"), GatewayProvider),
    Way("brave", ("BRAVE_SEARCH_API_KEY",), BraveProvider),
    Way("tavily", ("TAVILY_API_KEY",), TavilyProvider),
    Way("exa", ("EXA_API_KEY",), ExaProvider),
    Way("kagi", ("KAGI_API_KEY",), KagiProvider),
    Way("serper", ("SERPER_API_KEY",), SerperProvider),
    Way("searxng", ("SEARXNG_URL",), SearxngProvider),
    Way("tavily-keyless", (), TavilyProvider),
    Way("local", (), LocalProvider),
)
"""In the order of precedence. What needs no variable is taken by name alone, but for the last."""

NAMES = tuple(way.name for way in WAYS)
VARIABLES = tuple(variable for way in WAYS for variable in way.variables)


def chosen(name: str | None, env: Mapping[str, str]) -> Way:
    """The way to search. A gateway that is named by its address alone is chosen too: it says what is missing.

    Raises ConfigError for an unknown name, or one whose variables are not set.
    """
    if name is None:
        return next((way for way in WAYS if way.variables and _value(env, way.variables[0])), WAYS[-1])
    way = next((way for way in WAYS if way.name == name), None)
    if way is None:
        raise ConfigError(f"no search provider named {name!r}; there are: {', '.join(NAMES)}")
    missing = [variable for variable in way.variables if not _value(env, variable)]
    if missing:
        raise ConfigError(f"the search provider {name} needs {' and '.join(missing)} in the environment")
    return way


def from_environment(
    name: str | None = None, *, env: Mapping[str, str] | None = None, **options: Unpack[Options]
) -> SearchProvider:
    """The provider called `name`, or else the first whose variable is set, or else the local index (contract 3).

    env: instead of this process's environment. options: for the provider. Raises ConfigError for a name that is none
    and for what is missing or unusable; it names variables and never quotes their values.
    """
    env = os.environ if env is None else env
    way = chosen(name, env)
    if way.made is LocalProvider:
        return LocalProvider()
    values = [_value(env, variable) for variable in way.variables]
    try:
        provider: SearchProvider = way.made(*values, **options)
    except ConfigError as error:
        raise ConfigError(f"{' and '.join(way.variables)}: {error}") from error
    return provider


def _value(env: Mapping[str, str], variable: str) -> str | None:
    """A key copied with its line break is the key."""
    return env.get(variable, "").strip() or None
