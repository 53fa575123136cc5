"""The OpenAPI document, from the tables that the gateway itself works by: fields, codes, routes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from runvil.gateway.door import HEALTH, METRICS, OPENAPI, SEARCH
from runvil.gateway.metrics import CONTENT_TYPE
from runvil.gateway.refusals import CODES
from runvil.gateway.request import Defaults, request_schema

API_VERSION = "1.0.0"
"""Of the routes, not of the package: it changes when what a client may rely on does."""

ANYWHERE = ("unauthorized", "too_many_attempts", "internal_error")
"""Codes of every route behind a key."""

NO_SEARCH = frozenset({"method_not_allowed"})
"""Codes that a search cannot meet."""


def document(defaults: Defaults) -> bytes:
    """OpenAPI 3.1 as JSON."""
    return json.dumps(
        {
            "openapi": "3.1.0",
            "info": {"title": "runvil gateway", "version": API_VERSION},
            "security": [{"key": []}],
            "paths": {
                SEARCH: {"post": _search(defaults)},
                HEALTH: {
                    "get": {**_get("Whether it serves.", _json({"status": {"const": "serving"}})), "security": []}
                },
                METRICS: {"get": _get("Counters for Prometheus.", {CONTENT_TYPE.partition(";")[0]: {}}, ANYWHERE)},
                OPENAPI: {
                    "get": _get("This document.", {"application/json": {"schema": {"type": "object"}}}, ANYWHERE)
                },
            },
            "components": {
                "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
                "schemas": {"Search": request_schema(), "Found": _found(), "Error": _error()},
            },
        }
    ).encode()


def _search(defaults: Defaults) -> dict[str, Any]:
    said = (
        f"A query is cut after 512 characters. count is between 1 and {defaults.max_count}, "
        f"{defaults.default_count} when it is left out; a larger one is lowered."
    )
    codes = [code for code in CODES if code not in NO_SEARCH]
    return {
        "operationId": "web_search",
        "summary": "Search the web.",
        "description": said,
        "requestBody": {"required": True, "content": {"application/json": {"schema": _ref("Search")}}},
        "responses": {"200": _ok({"application/json": {"schema": _ref("Found")}}), **_refusals(codes)},
    }


def _get(summary: str, content: dict[str, Any], codes: Iterable[str] = ()) -> dict[str, Any]:
    return {"summary": summary, "responses": {"200": _ok(content), **_refusals(codes)}}


def _ok(content: dict[str, Any]) -> dict[str, Any]:
    return {"description": "Done.", "content": content, "headers": {"X-Request-Id": {"schema": {"type": "string"}}}}


def _refusals(codes: Iterable[str]) -> dict[str, Any]:
    """Responses by status; a vendor's own 4xx has the code upstream_client_error."""
    by_status: dict[str, list[str]] = {}
    for code in codes:
        by_status.setdefault(str(CODES[code].status or "4XX"), []).append(f"{code}: {CODES[code].meaning}")
    content = {"application/json": {"schema": _ref("Error")}}
    return {status: {"description": " ".join(said), "content": content} for status, said in by_status.items()}


def _json(properties: dict[str, Any]) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return {"application/json": {"schema": schema}}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{name}"}


def _found() -> dict[str, Any]:
    text = {"type": "string"}
    row = {
        "type": "object",
        "properties": {
            **dict.fromkeys(("title", "url", "description", "age", "site_name"), text),
            "extra_snippets": {"type": "array", "items": text},
        },
        "required": ["title", "url", "description"],
    }
    rows = {"type": "array", "items": row}
    return {"type": "object", "properties": {"query": text, "results": rows}, "required": ["query", "results"]}


def _error() -> dict[str, Any]:
    members = {
        "message": {"type": "string"},
        "type": {"enum": sorted({code.type for code in CODES.values()})},
        "code": {"enum": list(CODES)},
    }
    error = {"type": "object", "properties": members, "required": list(members)}
    return {"type": "object", "properties": {"error": error}, "required": ["error"]}
