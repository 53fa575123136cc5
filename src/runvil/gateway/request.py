"""The body of a search: bytes in, a checked query out (spec 2.8). FIELDS is both the check and the published schema.

It is more forgiving than the tool's own arguments (core/calls.py): a long query is cut and a count is clamped; and
stricter where a vendor would stumble: countries, languages and domains have a form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from runvil.core.calls import FRESHNESS, MAX_COUNT, MAX_DOMAINS, SAFESEARCH, search_schema
from runvil.core.results import SearchQuery
from runvil.gateway.refusals import Refusal, malformed

MAX_BODY = 64 * 1024
"""Bytes of a request: eight fields with forty domains of 253 characters take a sixth of it."""

MAX_QUERY = 512
"""Characters of a query; the rest is cut (spec 2.8)."""

MAX_DOMAIN = 253
"""Characters of a host name (RFC 1035 2.3.4, without the root's dot)."""

MAX_ECHO = 128
"""Characters of a client's own value in a message: enough to find it again."""

OVERFETCH = 3
"""Rows asked of the vendor for each one wanted, because filters and the cap per host take some away (spec 2.8)."""

_SPACE = "\t\n\x0b\x0c\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""Unicode's White_Space, as the inside of a character class."""

_SOMETHING = f"[^{_SPACE}]"
_EDGES = re.compile(f"^[{_SPACE}]+|[{_SPACE}]+$")
_RANGE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}to[0-9]{4}-[0-9]{2}-[0-9]{2}"
_LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
FRESHNESS_PATTERN = f"^({'|'.join(FRESHNESS)}|{_RANGE})?$"
_SAFESEARCH = f"^({'|'.join(SAFESEARCH)})?$"
_COUNTRY = "^([A-Za-z]{2})?$"
_LANGUAGE = "^([A-Za-z]{2,3})?$"
_DOMAIN = rf"^{_LABEL}(\.{_LABEL})*$"

Parser = Callable[[str, object], Any]


@dataclass(frozen=True, slots=True)
class Defaults:
    """What the configuration says about requests."""

    default_count: int = 10
    max_count: int = 20
    default_freshness: str = ""
    default_safesearch: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """schema: JSON Schema without the description, which is the tool's. parse: (name, value) -> checked value."""

    schema: Mapping[str, Any]
    parse: Parser


def read_request(body: bytes, defaults: Defaults) -> SearchQuery:
    """The query, trimmed, with its defaults; `count` is what the client gets. Raises Refusal."""
    fields = _object(body)
    for name in fields:
        if name not in FIELDS:
            raise malformed(f"web_search: unknown field {_echo(name)}")
    given = {name: FIELDS[name].parse(name, value) for name, value in fields.items() if value is not None}
    if "query" not in given:
        raise malformed("web_search: missing query")
    return SearchQuery(
        query=given["query"],
        count=max(1, min(given.get("count", defaults.default_count), defaults.max_count)),
        freshness=given.get("freshness") or defaults.default_freshness or None,
        country=given.get("country") or None,
        search_lang=given.get("search_lang") or None,
        safesearch=given.get("safesearch") or defaults.default_safesearch or None,
        include_domains=given.get("include_domains", ()),
        exclude_domains=given.get("exclude_domains", ()),
    )


def vendor_query(query: SearchQuery, defaults: Defaults) -> SearchQuery:
    """What the vendor is asked for such a query."""
    return replace(query, count=min(defaults.max_count, OVERFETCH * (query.count or 1)))


def is_date_range(freshness: str | None) -> bool:
    return freshness is not None and freshness not in FRESHNESS


def _object(body: bytes) -> Mapping[str, object]:
    try:
        found = json.loads(body.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
    except Refusal:
        raise
    except (ValueError, RecursionError) as error:  # UnicodeDecodeError is a ValueError
        raise malformed("the body is not JSON") from error
    if not isinstance(found, dict):
        raise malformed("the body is not a JSON object")
    return found


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Two members of one name are read differently by different parsers, so nobody's reading is right."""
    members = dict(pairs)
    if len(members) != len(pairs):
        raise malformed("the body names a member twice")
    return members


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _query(name: str, value: object) -> str:
    text = _EDGES.sub("", _text(name, value))
    if not text:
        raise malformed("web_search: empty query")
    return text[:MAX_QUERY]


def _text(name: str, value: object) -> str:
    if not isinstance(value, str) or not _is_writable(value):
        raise malformed(f"web_search: {name} is not a string")
    return value


def _count(name: str, value: object) -> int:
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is not int or not 0 <= value <= MAX_COUNT:
        raise malformed(f"web_search: {name} is not a whole number")
    return value


def _shaped(pattern: str) -> Field:
    shape = re.compile(pattern.replace("$", r"\Z"))

    def parse(name: str, value: object) -> str:
        if not shape.match(text := _text(name, value)):
            raise malformed(f"web_search: invalid {name} {_echo(text)}")
        return text

    return Field({"type": ["string", "null"], "pattern": pattern}, parse)


_IS_DOMAIN = re.compile(_DOMAIN.replace("$", r"\Z"))


def _domains(name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise malformed(f"web_search: {name} is not a list")
    if len(value) > MAX_DOMAINS:
        raise malformed(f"web_search: {name} may list at most {MAX_DOMAINS} hostnames")
    return tuple(_domain(name, entry) for entry in value)


def _domain(name: str, value: object) -> str:
    text = _text(f"an entry of {name}", value)
    if len(text) > MAX_DOMAIN or not _IS_DOMAIN.match(text):
        raise malformed(f"web_search: invalid {name.partition('_')[0]} domain {_echo(text)}")
    return text.lower()


def _is_writable(text: str) -> bool:
    """Whether it is text outside Python too: JSON can escape half a character, and no encoding can carry one."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _echo(text: str) -> str:
    return f'"{text[:MAX_ECHO]}"'


_DOMAINS = Field(
    {
        "type": ["array", "null"],
        "items": {"type": "string", "pattern": _DOMAIN, "maxLength": MAX_DOMAIN},
        "maxItems": MAX_DOMAINS,
    },
    _domains,
)

FIELDS: Mapping[str, Field] = {
    "query": Field({"type": "string", "pattern": _SOMETHING}, _query),
    "count": Field({"type": ["integer", "null"], "minimum": 0, "maximum": MAX_COUNT}, _count),
    "freshness": _shaped(FRESHNESS_PATTERN),
    "country": _shaped(_COUNTRY),
    "search_lang": _shaped(_LANGUAGE),
    "safesearch": _shaped(_SAFESEARCH),
    "include_domains": _DOMAINS,
    "exclude_domains": _DOMAINS,
}
"""The eight arguments as the gateway takes them."""


def request_schema() -> dict[str, Any]:
    """The tool's schema with the gateway's own rules for each field."""
    tool = search_schema()
    described = {name: tool["properties"][name]["description"] for name in FIELDS}
    properties = {name: {**field.schema, "description": described[name]} for name, field in FIELDS.items()}
    return {**tool, "properties": properties}
