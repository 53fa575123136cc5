"""What a model may pass to the tools, and what it is told about them: declarations, schemas, argument checks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runvil.core.failures import BadMaxChars, BadRaw, MissingUrl

MAX_INTEGER = 2**64 - 1
"""The largest whole number an argument may hold (spec 1.3)."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """How a tool presents itself. survives_stop: whether a call goes on when the Host stops the round (spec 1.19)."""

    id: str
    description: str
    survives_stop: bool = False

    @property
    def wire_name(self) -> str:
        """The name a model sees: `/` and `.` become `_`."""
        return self.id.replace("/", "_").replace(".", "_")


FETCH = Declaration("web/fetch", "Fetch a web page and return its main content as markdown.")
SEARCH = Declaration("web/search", "Search the web and return a list of results (title, url, description).")


def fetch_schema(ceiling: int) -> dict[str, Any]:
    """The JSON Schema of web/fetch's arguments; `ceiling` is the policy's max_chars (spec 1.1)."""
    return {
        "type": "object",
        "properties": {
            "url": {"type": "string", "description": "The URL to fetch."},
            "max_chars": {
                "type": "integer",
                "minimum": 1,
                "maximum": ceiling,
                "description": (
                    "Maximum number of characters of text to return for this call. Clamped to the configured ceiling. "
                    "Longer text is truncated on a character boundary and the result is flagged as truncated."
                ),
            },
            "raw": {
                "type": "boolean",
                "description": (
                    "Return the whole page as markdown, not only its main article. Use it when a page is mostly "
                    "tables or lists. No effect on anything but HTML. Default: false."
                ),
            },
        },
        "required": ["url"],
    }


@dataclass(frozen=True, slots=True)
class FetchCall:
    """Checked arguments of web/fetch. max_chars: characters, never above the ceiling."""

    url: str
    max_chars: int
    raw: bool = False


def read_fetch_call(arguments: object, ceiling: int) -> FetchCall:
    """Check url, then max_chars, then raw; other keys are ignored (spec 1.3).

    Raises MissingUrl, BadMaxChars, BadRaw.
    """
    given: Mapping[Any, Any] = arguments if isinstance(arguments, Mapping) else {}
    url = given.get("url")
    if not isinstance(url, str):
        raise MissingUrl
    max_chars = _max_chars(given.get("max_chars"), ceiling)
    raw = given.get("raw")
    if raw is not None and type(raw) is not bool:
        raise BadRaw
    return FetchCall(url, max_chars, raw or False)


def _max_chars(value: object, ceiling: int) -> int:
    if value is None:
        return ceiling
    if type(value) is float and value.is_integer():  # neither NaN nor an infinity is
        value = int(value)
    if type(value) is not int or not 1 <= value <= MAX_INTEGER:
        raise BadMaxChars
    return min(value, ceiling)
