"""Every gateway client vector of the spec, over real HTTP against a gateway on loopback that is a script."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runvil import WebSearch
from runvil.providers import GatewayProvider
from tests.support.bodies import body_bytes
from tests.support.vendors import MARKER, FakeVendor, Told
from tests.vectors.expectations import call, verify_outcome

Vector = dict[str, Any]

VECTORS: list[Vector] = json.loads(Path(__file__).with_name("gateway_client.json").read_text())

DEADLINE = 0.5  # seconds; the real one is 30
IN_TIME = 10.0  # seconds; a guard against a hang


def told(script: Mapping[str, Any]) -> Told:
    behaviour = script.get("behaviour")
    return Told(
        _body(script.get("body", {"text": ""})),
        status=script["status"],
        cut=behaviour == "reset_mid_body",
        hang=behaviour == "hang_mid_body",
    )


def _body(body: Mapping[str, Any]) -> bytes:
    match body:
        case {"json": value}:
            return json.dumps(value, separators=(",", ":")).encode()
        case {"json_padded_to": int(size)}:
            return b'{"query":"hi","results":[]}'.ljust(size)
    return body_bytes(body)


@pytest.mark.parametrize("vector", [pytest.param(v, id=v["id"]) for v in VECTORS])
async def test_a_search_through_the_gateway(vector: Vector) -> None:
    script = vector["server_behaviour"]["gateway"]
    gone = script.get("behaviour") == "refuse_connection"
    async with FakeVendor(told(script) if "status" in script else Told()) as gateway:
        root = f"{gateway.root}/v1/" if script.get("configured", True) else None
        if gone:
            await gateway.__aexit__()
        provider = GatewayProvider(root, MARKER, deadline=DEADLINE)
        async with asyncio.timeout(IN_TIME):
            outcome = await call(WebSearch(provider), vector["prompt_lua_or_args"]["args"])
        await provider.aclose()
    expected = vector["expected"]
    if expected["kind"] == "gateway_received":
        (asked,) = gateway.asked
        assert (asked.method, asked.path, asked.json) == ("POST", "/v1/tools/web_search", expected["json"])
        assert asked.headers["authorization"] == f"Bearer {MARKER}"
        return
    verify_outcome(outcome, expected)
    assert MARKER not in outcome.text
