"""A search vendor's answer, told apart: results, or a failure in words. Never an empty list for what is no answer.

Rate limits, block pages, challenges and error objects each end as a SearchError that says so. What a vendor says in its
own words is cut, cleaned and cleared of the key before it is quoted.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Mapping
from typing import Any

from runvil.core.failures import SearchError, ToolErrorKind
from runvil.providers.client import Client, Request, Unreached, Unread
from runvil.providers.reply import Oversized, Reply
from runvil.providers.rows import plain

log = logging.getLogger("runvil.providers")

MAX_QUOTED = 200
"""Characters of a vendor's own words in a message."""

MEANINGS: Mapping[int, str] = {
    400: "refused the request",
    401: "refused the key",
    402: "says that the credit is used up",
    403: "refused access",
    422: "refused the request",
    429: "says that its rate limit is reached",
    432: "says that the plan's limit is reached",  # Tavily
    433: "says that the pay-as-you-go limit is reached",  # Tavily
    503: "is overloaded or down",
}
"""What a status means at the vendors; the others are told by number alone."""

Said = Callable[[Mapping[str, Any]], object]
"""Finds the vendor's own words in its error object."""


class VendorFailed(SearchError):
    """A vendor's answer that holds no results. status: the HTTP status. retry_after: seconds, when it says so."""

    def __init__(self, message: str, status: int, retry_after: float | None = None) -> None:
        super().__init__(ToolErrorKind.BACKEND, message)
        self.status = status
        self.retry_after = retry_after


class Vendor:
    """name: for messages. said: where its error objects hold their words. refused_key: whether they blame the key."""

    def __init__(
        self, name: str, client: Client, said: Said, refused_key: Callable[[Mapping[str, Any]], bool] | None = None
    ) -> None:
        self.name = name
        self.client = client
        self._said = said
        self._refused_key = refused_key or (lambda _: False)

    async def ask(self, request: Request) -> dict[str, Any]:
        """The JSON object of a 200. Raises SearchError."""
        try:
            reply = await self.client.send(request)
        except Unreached as error:
            late = isinstance(error.__cause__, TimeoutError)
            raise self.lost("did not answer in time" if late else "could not be reached") from error
        except Unread as error:
            raise self.lost("broke off its answer") from error
        except Oversized as error:
            raise VendorFailed(f"{self.name} sent an answer that is too large", 200) from error
        return self._object(reply)

    def lost(self, what: str) -> SearchError:
        return SearchError(ToolErrorKind.TRANSPORT, f"{self.name} {what}")

    def malformed(self, status: int = 200) -> VendorFailed:
        return VendorFailed(f"{self.name} sent a malformed search response", status)

    def _object(self, reply: Reply) -> dict[str, Any]:
        found = _decoded(reply.body)
        if reply.status != 200:  # noqa: PLR2004  202 is a challenge, 204 is nothing, a redirect is not followed
            raise self._failed(reply, found)
        if not reply.body.strip():
            raise VendorFailed(f"{self.name} sent an empty answer", reply.status)
        if found is None and _is_page(reply):
            raise VendorFailed(f"{self.name} sent a web page instead of results", reply.status)
        if not isinstance(found, dict):
            raise self.malformed()
        words = _quoted(self._said(found))
        if words or found.get("error"):  # an error object, whatever the status
            raise VendorFailed(f"{self.name} failed: {words or 'it does not say why'}", reply.status)
        return found

    def _failed(self, reply: Reply, found: object) -> VendorFailed:
        told = found if isinstance(found, dict) else {}
        meaning = "refused the key" if self._refused_key(told) else MEANINGS.get(reply.status, "gave no results")
        words = _quoted(self._said(told)) if told else "a web page: a block or a challenge" if _is_page(reply) else ""
        again = f"; try again in {reply.retry_after:.0f} s" if reply.retry_after is not None else ""
        tail = f": {words}" if words else ""
        return VendorFailed(
            f"{self.name} {meaning} (HTTP {reply.status}){tail}{again}", reply.status, reply.retry_after
        )


def _decoded(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _is_page(reply: Reply) -> bool:
    return "html" in reply.content_type.lower() or reply.body.lstrip().startswith(b"<")


def _quoted(words: object) -> str:
    return plain(words)[:MAX_QUOTED] if isinstance(words, str) else ""


def at(data: object, *path: str | int) -> Any:
    """The value at a path of keys and indexes, or None where the path ends early."""
    for step in path:
        if isinstance(data, dict) and isinstance(step, str):
            data = data.get(step)
        elif isinstance(data, list) and isinstance(step, int) and step < len(data):
            data = data[step]
        else:
            return None
    return data


def rows_at(vendor: Vendor, data: Mapping[str, Any], *path: str, always: bool = False) -> list[Mapping[str, Any]]:
    """The list of rows at a path. always: the vendor sends one even when it found nothing.

    Raises SearchError for what is no list of objects.
    """
    found: Any = data
    for step in path:
        if not isinstance(found, dict):
            raise vendor.malformed()
        found = found.get(step)
        if found is None and not always:
            return []
    if not isinstance(found, list) or not all(isinstance(row, dict) for row in found):
        raise vendor.malformed()
    return found
