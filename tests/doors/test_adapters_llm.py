"""`llm` with our plugin: its own OpenAI model, against a strict one on loopback."""

# mypy: disable-error-code="import-not-found"
from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.doors.matrix import ROWS, by_library
from tests.doors.matrix import tools as ours
from tests.doors.model_server import DESCRIBED, model_server

pytest.importorskip("llm", reason="llm is not installed")

from llm.default_plugins.openai_models import Chat

from runvil.doors.adapters import llm as plugin


def test_a_conversations_model_reads_the_librarys_text_for_every_call() -> None:
    with model_server(ROWS) as model:
        speaks = Chat("m", model_name="m", api_base=f"{model.url}/v1", supports_tools=True, can_stream=False)
        chain = speaks.chain("go", tools=plugin.tools(*ours()), stream=False, key="k")
        assert chain.text() == "done"
    assert model.said == [asyncio.run(by_library(row)).text for row in ROWS]


@pytest.mark.parametrize(("key", "names"), [("", ["web_fetch"]), ("k", ["web_fetch", "web_search"])])
def test_the_plugin_offers_a_search_where_somebody_answers_it(
    key: str, names: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    for name in (
        "RUNVIL_GATEWAY_URL",
        "TAVILY_API_KEY",
        "EXA_API_KEY",
        "KAGI_API_KEY",
        "SERPER_API_KEY",
        "SEARXNG_URL",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", key)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    offered: list[Any] = []
    plugin.register_tools(offered.append)
    assert [tool.name for tool in offered] == names
    assert all((tool.description, tool.input_schema) == DESCRIBED[tool.name] for tool in offered)
    assert offered[0].implementation(url="https://127.1/") == "ip literal host not allowed: 127.0.0.1"
