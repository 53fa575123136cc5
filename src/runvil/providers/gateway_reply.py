"""The body of a gateway's 2xx, read strictly: the shape of spec 2.7 or `malformed search response`."""

from __future__ import annotations

import json
from typing import Any, NoReturn

from runvil.core.failures import SearchError, ToolErrorKind
from runvil.core.results import SearchResult, SearchResults


def backend(message: str) -> SearchError:
    return SearchError(ToolErrorKind.BACKEND, message)


def results_of(body: bytes) -> SearchResults:
    """Raises SearchError, kind Backend."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise backend("response body was not valid UTF-8") from error
    try:
        data = json.loads(text, parse_constant=_no_number)
        return SearchResults(_text(data, "query", ""), tuple(map(_row, _list(data["results"]))))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise backend("malformed search response") from error


def _row(told: Any) -> SearchResult:
    return SearchResult(
        title=_text(told, "title", ""),
        url=_text(told, "url"),
        description=_text(told, "description", ""),
        age=_optional(told, "age"),
        site_name=_optional(told, "site_name"),
        extra_snippets=tuple(map(_checked, _list(told.get("extra_snippets", [])))),
    )


def _text(told: Any, name: str, default: str | None = None) -> str:
    return _checked(told.get(name, default) if isinstance(told, dict) else None)


def _optional(told: dict[str, Any], name: str) -> str | None:
    return None if told.get(name) is None else _checked(told[name])


def _checked(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("not a string")
    value.encode()  # half a surrogate pair is no text; UnicodeEncodeError is a ValueError
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("not a list")
    return value


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
