"""One search: cache, vendors, rows. What it needs of a configuration is fixed when it is made."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict

from runvil.core.failures import SearchFailure
from runvil.core.results import SearchQuery
from runvil.gateway.cache import Answer, Cache, key_of
from runvil.gateway.config import SearchConfig
from runvil.gateway.refusals import Refusal
from runvil.gateway.request import vendor_query
from runvil.gateway.rows import rendered
from runvil.gateway.vendors import Vendors

MAX_AT_ONCE = 256
"""Searches under way. Each may hold a vendor's answer of 2 MiB while it is read; more than that is a queue nobody
outwaits."""

STRUCK = b"[hidden]"


class Search:
    """hidden: texts that may stand in no answer."""

    def __init__(self, config: SearchConfig, vendors: Vendors, cache: Cache, hidden: Sequence[str]) -> None:
        self._config = config
        self._vendors = vendors
        self._cache = cache
        self._hidden = tuple(text.encode() for text in hidden)
        self._fingerprint = fingerprint(config)
        self._at_once = 0

    async def answer(self, query: SearchQuery) -> tuple[Answer, str]:
        """The answer and where it is from. Raises Refusal."""
        if self._at_once >= MAX_AT_ONCE:
            raise Refusal("queue_full", "too many searches at once", headers={"Retry-After": "1"})
        self._at_once += 1
        try:
            return await self._cache.answer(key_of(self._fingerprint, query), lambda: self._asked(query))
        finally:
            self._at_once -= 1

    async def _asked(self, query: SearchQuery) -> Answer:
        vendor, found = await self._vendors.search(vendor_query(query, self._config.defaults))
        try:
            rows, body = rendered(query, found, self._config.rules)
        except SearchFailure as error:
            raise Refusal("upstream_protocol", "the search vendor's answer could not be read") from error
        for text in self._hidden:
            body = body.replace(text, STRUCK)
        return Answer(body, rows, vendor)

    async def aclose(self) -> None:
        await self._vendors.aclose()


def fingerprint(config: SearchConfig) -> str:
    """All of the configuration that an answer depends on; a digest, because a vendor's key is part of it."""
    return hashlib.sha256(json.dumps(asdict(config), sort_keys=True).encode()).hexdigest()
