"""An agent of the OpenAI Agents SDK, over its own client, against a strict model on loopback."""

# mypy: disable-error-code="import-not-found"
from __future__ import annotations

import asyncio

import pytest

from tests.doors.matrix import ROWS, by_library
from tests.doors.matrix import tools as ours
from tests.doors.model_server import model_server

pytest.importorskip("agents", reason="openai-agents is not installed")

from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner
from openai import AsyncOpenAI

from runvil.doors.adapters.openai_agents import tools

IN_TIME = 60.0


async def test_an_agents_model_reads_the_librarys_text_for_every_call() -> None:
    fetch, search = ours()
    with model_server(ROWS) as model:
        async with asyncio.timeout(IN_TIME), fetch, AsyncOpenAI(api_key="k", base_url=f"{model.url}/v1") as client:
            speaks = OpenAIChatCompletionsModel("m", client)
            agent = Agent(name="a", model=speaks, tools=list(tools(fetch, search)))
            result = await Runner.run(agent, "go", run_config=RunConfig(tracing_disabled=True))
    assert result.final_output == "done"
    assert model.said == [(await by_library(row)).text for row in ROWS]
