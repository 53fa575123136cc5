"""Every search vector of the spec: `search.json` is the contract as data; each row names its place in the spec."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runvil import SearchError, SearchQuery, SearchResult, WebSearch
from runvil.testing import FakeProvider
from tests.vectors.expectations import call

Vector = dict[str, Any]

VECTORS: list[Vector] = json.loads(Path(__file__).with_name("search.json").read_text())


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(v, id=v["id"]) for v in VECTORS if v["prompt_lua_or_args"]["kind"] == kind]


def test_every_vector_has_a_runner() -> None:
    assert {v["prompt_lua_or_args"]["kind"] for v in VECTORS} == {"args", "inspect"}


def provider_of(script: Mapping[str, Any]) -> FakeProvider:
    if "fails" in script:
        return FakeProvider(error=SearchError(script["fails"]["kind"], script["fails"]["message"]))
    returned = script.get("returns", {"query": "", "results": []})
    return FakeProvider([row_of(row) for row in returned["results"]], query=returned["query"])


def row_of(row: Mapping[str, Any]) -> SearchResult:
    """A row as an adapter makes it of a vendor's members; what it does not know falls away."""
    return SearchResult(
        title=row.get("title", ""),
        url=row["url"],
        description=row.get("description", ""),
        age=row.get("age"),
        site_name=row.get("site_name"),
        extra_snippets=tuple(row.get("extra_snippets") or ()),
    )


@pytest.mark.parametrize("vector", of_kind("args"))
async def test_a_search(vector: Vector) -> None:
    provider = provider_of(vector["server_behaviour"]["provider"])
    outcome = await call(WebSearch(provider), vector["prompt_lua_or_args"]["args"])
    expected = vector["expected"]
    if expected["kind"] == "provider_received":
        assert [plain(query) for query in provider.asked] == [expected["query_object"]]
        assert outcome.text == expected.get("tool_output", outcome.text)
        return
    assert (outcome.kind, outcome.text) == (expected["kind"], expected["text"])
    assert outcome.error_kind == expected.get("tool_error_kind")
    assert outcome.untrusted
    assert len(provider.asked) == (0 if vector["server_behaviour"]["provider"].get("must_not_be_called") else 1)


def plain(query: SearchQuery) -> dict[str, Any]:
    members = dataclasses.asdict(query)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in members.items()}


@pytest.mark.parametrize("vector", of_kind("inspect"))
def test_what_the_tool_declares(vector: Vector) -> None:
    assert getattr(WebSearch(FakeProvider()), vector["prompt_lua_or_args"]["what"]) == vector["expected"]["text"]
