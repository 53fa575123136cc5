"""The runvil gateway as a provider: the vendor's key stays there, this side holds the gateway's alone (spec 2.7).

Every failure is one of the spec's seven sentences. Rows are passed on as they came, but for hosts not asked for.
"""

from __future__ import annotations

import logging
import re
from dataclasses import fields
from typing import Unpack

from runvil.core.config import ConfigError
from runvil.core.failures import SearchError, ToolErrorKind
from runvil.core.results import SearchQuery, SearchResults
from runvil.providers.client import Client, Options, Request, Unreached, Unread
from runvil.providers.gateway_reply import backend, results_of
from runvil.providers.key import bearer
from runvil.providers.reply import OK_STATUSES, Limits, Oversized
from runvil.providers.rows import within

log = logging.getLogger("runvil.providers")

MAX_BODY = 262_144
MAX_QUOTED = 2000
"""Bytes of a reply, and of an error's body in a message (spec 2.7)."""

_LIMITS = Limits(success=MAX_BODY, failure=MAX_QUOTED)

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_ESCAPES = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


class GatewayProvider:
    """Asks a runvil gateway, which keeps the vendor's key. api_root: such as http://127.0.0.1:8081/v1. key: a client's.

    It never raises when it is made: without a usable root or key every search is `request failed` (contract 1).
    """

    name = "gateway"

    def __init__(self, api_root: str | None = None, key: str | None = None, **options: Unpack[Options]) -> None:
        self._client: Client | None = None
        if api_root is None or key is None:
            log.warning("no gateway: an address and a key are needed")
            return
        try:
            self._client = Client(api_root, bearer(key), **options)
        except ConfigError as error:
            log.warning("the gateway cannot be used: %s", error)

    async def search(self, query: SearchQuery) -> SearchResults:
        """Raises SearchError, whose message is one of spec 2.7."""
        found = results_of(await self._reply(_request(query)))
        return SearchResults(found.query, tuple(within(query, found.results)))

    async def _reply(self, request: Request) -> bytes:
        if self._client is None:
            raise SearchError(ToolErrorKind.TRANSPORT, "request failed")
        try:
            reply = await self._client.send(request, _LIMITS, patient=False)
        except Unreached as error:
            raise SearchError(ToolErrorKind.TRANSPORT, "request failed") from error
        except Unread as error:
            raise _unread(error.status) from error
        except Oversized as error:
            raise backend(f"response body exceeded {MAX_BODY} bytes") from error
        if reply.status not in OK_STATUSES:
            raise backend(f"backend returned {reply.status}: {_quoted(reply.body)}")
        return reply.body

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()


def _request(query: SearchQuery) -> Request:
    """What is set, and nothing else: neither None nor an empty list is sent."""
    members = {each.name: getattr(query, each.name) for each in fields(query)}
    body = {name: value for name, value in members.items() if name == "query" or value not in (None, ())}
    return Request("POST", "/tools/web_search", body=body)


def _unread(status: int) -> SearchError:
    if status in OK_STATUSES:
        return SearchError(ToolErrorKind.TRANSPORT, "reading response failed")
    return backend(f"backend returned {status}, and its error body could not be read")


def _quoted(body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    return _CONTROL.sub(lambda found: _ESCAPES.get(found[0], f"\\u{{{ord(found[0]):04x}}}"), text) or "(empty body)"
