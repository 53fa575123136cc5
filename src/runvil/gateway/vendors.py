"""The vendors of one configuration: how each is made, who is asked next when one fails, what a failure becomes.

A vendor's words stay here: the log gets them (with every secret struck out), a client gets one of our own sentences.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter

from runvil import providers
from runvil.core.config import ConfigError
from runvil.core.failures import SearchError, ToolErrorKind
from runvil.core.results import SearchQuery, SearchResults
from runvil.gateway.config import VendorConfig
from runvil.gateway.refusals import Refusal, malformed, wait
from runvil.gateway.request import is_date_range
from runvil.gateway.spans import vendor_span
from runvil.ports import SearchProvider

log = logging.getLogger("runvil.gateway")

DEADLINE = 25.0
"""Seconds for all vendors together: a client waits 30 (spec 2.7), and an error of ours tells it more than silence."""

CLIENT_ERRORS = range(400, 500)
SERVER_ERRORS = range(500, 600)

Observe = Callable[[str, str, float], None]
"""(vendor, outcome, seconds) of each attempt."""


@dataclass(frozen=True, slots=True)
class Kind:
    """make: takes the key, and `base_url` when one is configured. ranges: knows a freshness of two dates."""

    make: Callable[[VendorConfig], SearchProvider]
    needs_key: bool = True
    needs_url: bool = False
    ranges: bool = False


def _base(config: VendorConfig) -> dict[str, str]:
    return {"base_url": config.base_url} if config.base_url else {}


KINDS: Mapping[str, Kind] = {
    "brave": Kind(lambda c: providers.BraveProvider(c.api_key, **_base(c), deadline=DEADLINE), ranges=True),
    "tavily": Kind(lambda c: providers.TavilyProvider(c.api_key, **_base(c), deadline=DEADLINE)),
    "tavily-keyless": Kind(lambda c: providers.TavilyProvider(None, **_base(c), deadline=DEADLINE), needs_key=False),
    "exa": Kind(lambda c: providers.ExaProvider(c.api_key, **_base(c), deadline=DEADLINE)),
    "kagi": Kind(lambda c: providers.KagiProvider(c.api_key, **_base(c), deadline=DEADLINE)),
    "serper": Kind(lambda c: providers.SerperProvider(c.api_key, **_base(c), deadline=DEADLINE)),
    "searxng": Kind(
        lambda c: providers.SearxngProvider(c.base_url, deadline=DEADLINE), needs_key=False, needs_url=True
    ),
    "local": Kind(lambda _: providers.LocalProvider(), needs_key=False),
}
"""The names that `provider` and `failover` may hold."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """One of the list. provider: speaks to it."""

    name: str
    provider: SearchProvider
    ranges: bool = False


def make_vendor(config: VendorConfig) -> Vendor:
    """Raises ConfigError, which says what is missing."""
    kind = KINDS.get(config.name)
    if kind is None:
        raise ConfigError(f"tools.web_search: no provider named {config.name!r}; there are: {', '.join(KINDS)}")
    if kind.needs_key and not config.api_key:
        raise ConfigError(f"tools.web_search: {config.name} needs an api_key")
    if kind.needs_url and not config.base_url:
        raise ConfigError(f"tools.web_search: {config.name} needs a base_url")
    try:
        return Vendor(config.name, kind.make(config), kind.ranges)
    except ConfigError as error:
        raise ConfigError(f"tools.web_search: {config.name}: {error}") from error


class Vendors:
    """Asks the vendors in order until one answers."""

    def __init__(self, vendors: Sequence[Vendor], observe: Observe) -> None:
        self.vendors = tuple(vendors)
        self._observe = observe

    async def search(self, query: SearchQuery) -> tuple[str, SearchResults]:
        """Who answered, and what. Raises Refusal: the first vendor's failure, which is the one that was configured."""
        able = self._able(query)
        until = asyncio.get_running_loop().time() + DEADLINE
        failures: list[Refusal] = []
        for place, vendor in enumerate(able):
            part = (until - asyncio.get_running_loop().time()) / (len(able) - place)
            try:
                return vendor.name, await self._ask(vendor, query, part)
            except Refusal as failure:
                failures.append(failure)
        raise failures[0]

    def _able(self, query: SearchQuery) -> Sequence[Vendor]:
        if not is_date_range(query.freshness):
            return self.vendors
        able = [vendor for vendor in self.vendors if vendor.ranges]
        if not able:
            raise malformed("web_search: no vendor here knows a freshness of two dates")
        return able

    async def _ask(self, vendor: Vendor, query: SearchQuery, seconds: float) -> SearchResults:
        started, outcome = perf_counter(), "ok"
        try:
            with vendor_span(vendor.name):
                async with asyncio.timeout(seconds):
                    return await vendor.provider.search(query)
        except Exception as error:
            failure = _refusal(error)
            outcome = failure.code
            _report(vendor.name, failure, error)
            raise failure from error
        finally:
            self._observe(vendor.name, outcome, perf_counter() - started)

    async def aclose(self) -> None:
        for vendor in self.vendors:
            close = getattr(vendor.provider, "aclose", None)
            if close is not None:
                await close()


def _report(name: str, failure: Refusal, error: Exception) -> None:
    """A vendor that fails is expected to; anything else is a defect and shows where it happened."""
    expected = isinstance(error, SearchError | TimeoutError)
    log.warning(
        "vendor failed",
        extra={"fields": {"vendor": name, "code": failure.code, "vendor_status": getattr(error, "status", None)}},
        exc_info=None if expected else error,
    )


def _refusal(error: Exception) -> Refusal:
    """A vendor's failure in the gateway's words (spec 2.8)."""
    if isinstance(error, TimeoutError):
        return Refusal("upstream_transport", "the search vendor did not answer in time")
    if not isinstance(error, SearchError):
        return Refusal("upstream_error", "the search vendor's adapter failed")
    if error.kind is ToolErrorKind.TRANSPORT:
        return Refusal("upstream_transport", "the search vendor could not be reached")
    return _answered(getattr(error, "status", None), getattr(error, "retry_after", None))


def _answered(status: int | None, retry_after: float | None) -> Refusal:
    if status in CLIENT_ERRORS:
        headers = wait(retry_after) if retry_after is not None else {}
        message = f"the search vendor answered HTTP {status}"
        return Refusal("upstream_client_error", message, status=status, headers=headers)
    if status in SERVER_ERRORS:
        return Refusal("upstream_error", f"the search vendor answered HTTP {status}")
    return Refusal("upstream_protocol", "the search vendor's answer could not be read")
