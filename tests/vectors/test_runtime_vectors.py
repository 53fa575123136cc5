"""Every runtime, envelope and model vector of the spec: whole prompts on a Host over the scripted network.

`runtime.json` is the contract as data; each row names its place in the spec. Slow: the same prompts in processes of
their own.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from runvil import SearchProvider, ToolOutput
from runvil.core.envelope import wrap
from runvil.providers import GatewayProvider
from runvil.runtime import Host, Message, Pack, RunError, ToolCall, WebPlugin
from runvil.runtime.packs import wire_name
from runvil.runtime.web import RUNTIME_SERVICE, SEARCH_PROVIDER
from runvil.testing import FakeNet, FakeProvider, ScriptedModel
from tests.support.rendering import InProcess
from tests.vectors.test_fetch_vectors import dns_of, reply_of
from tests.vectors.test_search_vectors import plain, provider_of

Vector = dict[str, Any]

VECTORS: list[Vector] = json.loads(Path(__file__).with_name("runtime.json").read_text())
NONCE = "7f" * 15 + "a7"
IN_TIME = 20.0  # seconds; a guard against a hang, not a measure

SECTION = "---\nname: v\ndescription: d\nrunvil: 0\nuses: [web]\n---\n\n# V\n\n## V\n\n```lua\n{lua}\n```\n"


def of_kind(*kinds: str) -> list[Any]:
    return [pytest.param(v, id=v["id"]) for v in VECTORS if v["prompt_lua_or_args"]["kind"] in kinds]


def test_every_vector_has_a_runner() -> None:
    assert {v["prompt_lua_or_args"]["kind"] for v in VECTORS} == {"prompt", "lua", "unit", "property"}


class Canned:
    """A trusted tool of another vendor."""

    wire_name = "web_fetch"
    description = "Canned."

    def __init__(self, tool_id: str, text: str) -> None:
        self.id = tool_id
        self.parameters: dict[str, Any] = {"type": "object"}
        self._text = text

    async def call(self, arguments: Mapping[str, object]) -> ToolOutput:
        return ToolOutput(self._text, untrusted=False)


class CannedPlugin:
    def __init__(self, name: str, tools: Mapping[str, Mapping[str, str]]) -> None:
        self._name = name
        self._tools = tools

    def packs(self, config: Mapping[str, Any], services: Mapping[str, Any]) -> Sequence[Pack]:
        pack_id = self._name.rpartition("/")[2]
        tools = [Canned(f"{pack_id}/{name}", tool["returns_trusted"]) for name, tool in self._tools.items()]
        return [Pack(self._name, tools)]


def replies(script: Mapping[str, Any]) -> ScriptedModel:
    ids = itertools.count(1)

    def message(entry: Mapping[str, Any]) -> Message:
        calls = [
            ToolCall(f"call_{next(ids)}", call["name"], json.dumps(call["arguments"]))
            for call in entry.get("tool_calls", ())
        ]
        return Message("assistant", entry.get("content", ""), tuple(calls))

    if "always" in script:
        return ScriptedModel(lambda _: message(script["always"]), always=True)
    return ScriptedModel(*[message(entry) for entry in script["script"]])


class Scene:
    """The Host of one vector, with what it is connected to."""

    def __init__(self, vector: Vector, *, isolate: bool = False) -> None:
        server = vector["server_behaviour"] or {}
        self.net = FakeNet(
            dns_of({"server_behaviour": {"dns": server.get("dns")}}),
            {r["url"]: reply_of(r) for r in server.get("responses", ())},
        )
        self.provider = provider_of(server.get("provider", {}))
        self.model = replies(server["model"]) if "model" in server else None
        setup = server.get("host", {})
        self.host = Host(self._services(server, setup), self.model, nonce=lambda: NONCE, isolate=isolate)
        for name in setup.get("packs", ["runvil/web"]):
            if name == "runvil/web":
                self.host.call(WebPlugin(net=self.net, renderer=InProcess()), setup.get("plugin_config"))
            else:
                self.host.call(CannedPlugin(name, setup[name]["tools"]))

    def _services(self, server: Mapping[str, Any], setup: Mapping[str, Any]) -> Mapping[str, Any]:
        provider: SearchProvider = GatewayProvider(None, None) if "gateway" in server else self.provider
        given = setup.get("services", {})
        services: dict[str, Any] = {SEARCH_PROVIDER: provider if given.get(SEARCH_PROVIDER, True) else None}
        return services if given.get(RUNTIME_SERVICE, True) else {**services, RUNTIME_SERVICE: None}


def text_of(vector: Vector) -> str:
    asked = vector["prompt_lua_or_args"]
    return str(asked["file"]) if asked["kind"] == "prompt" else SECTION.replace("{lua}", asked["lua"])


@pytest.mark.parametrize("vector", of_kind("prompt", "lua"))
async def test_a_prompt(vector: Vector) -> None:
    await verify(vector, Scene(vector))


@pytest.mark.slow
@pytest.mark.parametrize("vector", of_kind("prompt", "lua"))
async def test_a_prompt_in_a_process_of_its_own(vector: Vector) -> None:
    await verify(vector, Scene(vector, isolate=True))


async def verify(vector: Vector, scene: Scene) -> None:
    expected = vector["expected"]
    sections: list[Mapping[str, Any]] = []
    outcome, kind = "", None
    async with asyncio.timeout(IN_TIME), scene.host:
        try:
            outcome = await scene.host.run(text_of(vector), observer=sections.append)
        except RunError as error:
            outcome, kind = str(error), str(error.kind)
    assert kind == expected.get("run_error_kind"), outcome
    if "text" in expected:
        verify_text(outcome, expected)
    if expected.get("no_section_ran"):
        assert [event for event in sections if event["event"] == "section"] == []
    verify_model(scene.model, expected)
    verify_outside(vector, scene)


def filled(text: str) -> str:
    return text.replace("{nonce_split}", f"{NONCE[0]} {NONCE[1:]}").replace("{nonce}", NONCE)


def verify_text(outcome: str, expected: Mapping[str, Any]) -> None:
    match expected["match"], expected["text"]:
        case "exact", text:
            assert outcome == filled(text)
        case "contains", text:
            assert filled(text) in outcome
        case "checks", checks:
            inner = re.search(r"<untrusted_input_\w+>\n(.*)\n</untrusted_input_\w+>$", outcome, re.DOTALL)
            assert inner is not None
            assert checks.keys() <= {"envelope", "inner_startswith", "contains"}
            assert inner[1].startswith(checks["inner_startswith"])
            assert [part for part in checks.get("contains", ()) if part not in inner[1]] == []
        case other:
            raise AssertionError(f"unknown match: {other}")


def verify_model(model: ScriptedModel | None, expected: Mapping[str, Any]) -> None:
    if "model_round_count" in expected:
        assert model is not None
        assert len(model.rounds) == expected["model_round_count"]
    for number, wanted in enumerate(expected.get("model_rounds", ())):
        assert model is not None
        sent = model.rounds[number]
        assert wanted.keys() <= {"last_message", "tools"}
        if "tools" in wanted:
            assert [tool.name for tool in sent.tools] == wanted["tools"]
        if "last_message" in wanted:
            last = sent.messages[-1]
            assert (last.role, last.content) == (
                wanted["last_message"]["role"],
                filled(wanted["last_message"]["content"]),
            )


def verify_outside(vector: Vector, scene: Scene) -> None:
    server, expected = vector["server_behaviour"] or {}, vector["expected"]
    if server.get("must_make_no_request"):
        assert (scene.net.requests, scene.net.lookups) == ([], [])
    if server.get("provider", {}).get("must_not_be_called"):
        assert scene.provider.asked == []
    for name, value in expected.get("provider_received", {}).items():
        assert [plain(query)[name] for query in scene.provider.asked] == [value]
    assert scene.net.open_connections == 0


@pytest.mark.parametrize("vector", of_kind("unit"))
def test_a_unit(vector: Vector) -> None:
    asked = vector["prompt_lua_or_args"]
    if asked["function"] == "wrap":
        assert wrap(filled(asked["content"]), NONCE) == filled(vector["expected"]["text"])
        return
    assert asked["function"] == "wire_name"
    assert wire_name(asked["tool_id"]) == vector["expected"]["text"]


PROPERTIES = {
    "E-ENV-040": "tests/runtime/test_envelope.py",
    "E-ENV-041": "tests/runtime/test_envelope.py",
    "E-ENV-042": "tests/runtime/test_envelope.py",
}


@pytest.mark.parametrize("vector", of_kind("property"))
def test_a_property_has_its_own_test(vector: Vector) -> None:
    place = Path(__file__).parents[2] / PROPERTIES[vector["id"]]
    assert vector["id"] in place.read_text()


def test_the_provider_of_a_vector_is_a_script() -> None:
    assert isinstance(provider_of({}), FakeProvider)
