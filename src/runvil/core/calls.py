"""What a model may pass to the tools, and what it is told about them: declarations, schemas, argument checks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from runvil.core.failures import BadMaxChars, BadRaw, BadSearch, MissingUrl
from runvil.core.results import SearchQuery

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


# --- web/search ---

MAX_QUERY = 400
MAX_RESULTS = 20
MAX_CODE = 128
MAX_DOMAINS = 20
MAX_DOMAIN = 128
"""Characters, or entries (spec 2.3)."""

MAX_COUNT = 2**32 - 1
"""Beyond it a count is no count at all and fails to parse (spec 2.2)."""

FRESHNESS = ("pd", "pw", "pm", "py")
SAFESEARCH = ("off", "moderate", "strict")


def search_schema() -> dict[str, Any]:
    """The JSON Schema of web/search's arguments (spec 2.1)."""
    text = {"type": "string", "maxLength": MAX_CODE}
    domains = {"type": "array", "items": {"type": "string"}, "maxItems": MAX_DOMAINS}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "query": _described("What to search for.", type="string", minLength=1, maxLength=MAX_QUERY),
            "count": _described("How many results to return at most.", type="integer", minimum=1, maximum=MAX_RESULTS),
            "freshness": _described(
                "Only results from the past day (pd), week (pw), month (pm) or year (py).",
                type="string",
                enum=list(FRESHNESS),
            ),
            "country": _described("Country whose results are wanted, as a code such as us.", **text),
            "search_lang": _described("Language of the results, as a code such as en.", **text),
            "safesearch": _described(
                "How strictly adult content is filtered out.", type="string", enum=list(SAFESEARCH)
            ),
            "include_domains": _described("Return results from these host names only.", **domains),
            "exclude_domains": _described("Leave out results from these host names.", **domains),
        },
        "required": ["query"],
    }


def _described(description: str, **schema: Any) -> dict[str, Any]:
    return {**schema, "description": description}


def read_search_call(arguments: object) -> SearchQuery:
    """Parse, then check the bounds in order; the first broken rule is reported (spec 2.2, 2.3). Raises BadSearch."""
    query = _parsed(arguments)
    for broken, message in _bounds(query):
        if broken:
            raise BadSearch(message)
    return query


def _parsed(arguments: object) -> SearchQuery:
    if not isinstance(arguments, Mapping) or not set(arguments) <= set(_PARSERS):
        raise BadSearch
    given = {name: value for name, value in arguments.items() if value is not None}
    if "query" not in given:
        raise BadSearch
    return SearchQuery(**{name: _PARSERS[name](value) for name, value in given.items()})


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise BadSearch
    return value


def _whole(value: object) -> int:
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise BadSearch
    return value


def _listed(value: object) -> tuple[str, ...]:
    if not isinstance(value, list | tuple):
        raise BadSearch
    return tuple(_text(entry) for entry in value)


def _one_of(*words: str) -> Callable[[object], str]:
    def parse(value: object) -> str:
        if not isinstance(value, str) or value not in words:
            raise BadSearch
        return value

    return parse


_PARSERS: Mapping[str, Callable[[object], Any]] = {
    "query": _text,
    "count": _whole,
    "freshness": _one_of(*FRESHNESS),
    "country": _text,
    "search_lang": _text,
    "safesearch": _one_of(*SAFESEARCH),
    "include_domains": _listed,
    "exclude_domains": _listed,
}
"""The eight arguments, each with what turns its JSON value into a checked type."""


def _bounds(query: SearchQuery) -> Iterator[tuple[bool, str]]:
    """(broken, message) for each rule of spec 2.3, in its order."""
    yield not query.query.strip(), "query must not be empty"
    yield len(query.query) > MAX_QUERY, f"query exceeds {MAX_QUERY} characters"
    yield query.count is not None and not 1 <= query.count <= MAX_RESULTS, f"count must be between 1 and {MAX_RESULTS}"
    for name, code in (("country", query.country), ("search_lang", query.search_lang)):
        yield code is not None and not _short(code, MAX_CODE), f"{name} must be 1..={MAX_CODE} characters"
    for name, domains in (("include_domains", query.include_domains), ("exclude_domains", query.exclude_domains)):
        yield len(domains) > MAX_DOMAINS, f"{name} may list at most {MAX_DOMAINS} hostnames"
        yield not all(map(_is_hostname, domains)), f"{name} contains an invalid hostname"


def _short(text: str, most: int) -> bool:
    return bool(text.strip()) and len(text) <= most


def _is_hostname(text: str) -> bool:
    """Not blank, not long, without a slash, white space or a control character (spec 2.3)."""
    return _short(text, MAX_DOMAIN) and not _NOT_IN_A_HOST.search(text)


_NOT_IN_A_HOST = re.compile(r"[/\s\x00-\x1f\x7f-\x9f]")
