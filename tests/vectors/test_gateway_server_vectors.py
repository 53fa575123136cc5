"""Every vector of the gateway's server; `gateway_server.json` is the contract as data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runvil.gateway.rows import sanitize_text, strip_tracking_params
from tests.gateway.support import TOKEN, VENDOR_KEY, opened, text
from tests.support.vendors import FakeVendor, Told

Vector = dict[str, Any]

VECTORS: list[Vector] = json.loads(Path(__file__).with_name("gateway_server.json").read_text())

UNCONFIGURED = f'[server]\napi_key = "{TOKEN}"\n'


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(v, id=v["id"]) for v in VECTORS if v["prompt_lua_or_args"]["kind"] == kind]


def test_every_vector_has_a_runner() -> None:
    assert {v["prompt_lua_or_args"]["kind"] for v in VECTORS} == {"http", "unit"}


def vendor_of(behaviour: Mapping[str, Any] | None) -> FakeVendor:
    script = (behaviour or {}).get("vendor", {"json": {}})
    body = script["json"] if "json" in script else script["body"]["text"].encode()
    return FakeVendor(Told(body, status=script.get("status", 200)))


@pytest.mark.parametrize("vector", of_kind("http"))
async def test_a_request(vector: Vector) -> None:
    asked = vector["prompt_lua_or_args"]
    async with vendor_of(vector["server_behaviour"]) as vendor:
        toml = UNCONFIGURED if "config" in asked else text(vendor.root)
        async with opened(toml) as gateway:
            answer = await gateway.http.request(
                asked["method"], asked["path"], headers=asked["headers"], json=asked.get("json")
            )
    verify(vector["expected"], answer.status_code, answer.json(), vendor)


def verify(expected: Mapping[str, Any], status: int, body: Any, vendor: FakeVendor) -> None:
    if expected["kind"] == "vendor_received":
        (received,) = vendor.asked
        assert received.method == expected.get("method", "GET")
        assert received.path == "/res/v1/web/search"
        assert received.params == expected["query"]
        for name, value in expected.get("headers_include", {}).items():
            assert received.headers[name.lower()] == value.replace("{vendor_key}", VENDOR_KEY)
        return
    assert status == expected["status"]
    if expected["match"] == "json_equal":
        assert body == expected["text"]
    else:
        assert_holds(body, expected["text"])


def assert_holds(value: Any, part: Any) -> None:
    """The members listed in `part` are equal in `value`."""
    if isinstance(part, dict):
        for name, inner in part.items():
            assert_holds(value[name], inner)
    else:
        assert value == part


@pytest.mark.parametrize("vector", of_kind("unit"))
def test_a_helper(vector: Vector) -> None:
    asked = vector["prompt_lua_or_args"]
    helper = {
        "strip_tracking_params": lambda: strip_tracking_params(asked["url"]),
        "sanitize_text": lambda: sanitize_text(asked["text"], asked["max_chars"]),
    }
    assert helper[asked["function"]]() == vector["expected"]["text"]
