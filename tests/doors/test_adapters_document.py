"""Every program of docs/frameworks.md runs as it stands where its framework is installed; the model's side is a script.

`model` and `llm`, where the document leaves them to the reader, are the framework's own test model.
"""

# mypy: disable-error-code="import-not-found,misc"
from __future__ import annotations

import asyncio
import contextlib
import inspect
import io
import re
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runvil import assemble
from tests.docs.blocks import read, text_of
from tests.doors.matrix import Row, by_library, network
from tests.doors.model_server import model_server

PAGE = "docs/frameworks.md"
SECTIONS = re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", text_of(PAGE), re.MULTILINE | re.DOTALL)
PROGRAMS = [
    (name, block.text) for name, section in SECTIONS for block in read(PAGE, section) if block.language == "python"
]
TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
CALL = Row("web_fetch", {"url": "https://example.com/"})
IMPORTED = {"openai_agents": "agents", "llama_index": "llama_index.core"}

Reads = list[str]


def pydantic_ai(read: Reads) -> dict[str, object]:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.function import FunctionModel

    def model(messages: list[Any], _: object) -> ModelResponse:
        found = [part.content for part in messages[-1].parts if part.part_kind == "tool-return"]
        read.extend(found)
        return ModelResponse([TextPart("done") if found else ToolCallPart(CALL.tool, dict(CALL.arguments))])

    return {"model": FunctionModel(model)}


def langchain(read: Reads) -> dict[str, object]:
    from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
    from langchain_core.messages import AIMessage

    class Model(FakeMessagesListChatModel):
        def bind_tools(self, tools: Any, **_: Any) -> Any:
            return self

        def _generate(self, messages: Any, *arguments: Any, **named: Any) -> Any:
            read.extend(message.content for message in messages if message.type == "tool")
            return super()._generate(messages, *arguments, **named)

    calls = [{"name": CALL.tool, "args": dict(CALL.arguments), "id": "c"}]
    return {"model": Model(responses=[AIMessage("", tool_calls=calls), AIMessage("done")])}


def llama_index(read: Reads) -> dict[str, object]:
    from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
    from llama_index.core.llms.mock import MockFunctionCallingLLM

    def model(messages: Any, **_: Any) -> ChatMessage:
        found = [message.content for message in messages if message.role == "tool"]
        read.extend(found)
        if found:
            return ChatMessage(role="assistant", content="done")
        call = ToolCallBlock(tool_call_id="c", tool_name=CALL.tool, tool_kwargs=dict(CALL.arguments))
        return ChatMessage(role="assistant", blocks=[TextBlock(text=""), call])

    return {"llm": MockFunctionCallingLLM(response_generator=model)}


def smolagents(read: Reads) -> dict[str, object]:
    from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model

    class Scripted(Model):
        def generate(self, messages: Any, **_: Any) -> ChatMessage:
            said = str(messages[-1].content)
            read.extend([said] if "Observation" in said else [])
            name, given = ("final_answer", {"answer": "done"}) if read else (CALL.tool, dict(CALL.arguments))
            called = ChatMessageToolCallFunction(name=name, arguments=given)
            call = ChatMessageToolCall(id="c", type="function", function=called)
            return ChatMessage(role=MessageRole.ASSISTANT, content=None, tool_calls=[call])

    return {"model": Scripted(model_id="scripted")}


MODELS: dict[str, Callable[[Reads], dict[str, object]]] = {
    "pydantic_ai": pydantic_ai, "langchain": langchain, "llama_index": llama_index, "smolagents": smolagents,
}  # fmt: skip
"""What the document leaves to the reader. The others speak to a vendor's API, which answers at a strict server here."""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # LlamaIndex's own
@pytest.mark.parametrize(("name", "program"), PROGRAMS, ids=[f"{name}-" for name, _ in PROGRAMS])
def test_a_program_runs_and_its_model_reads_the_page(name: str, program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(IMPORTED.get(name, name), reason=f"{name} is not installed")
    monkeypatch.setattr(assemble, "network", lambda config: network())
    read: Reads = []
    with model_server([CALL], names=[CALL.tool]) as model:
        for vendor, path in (("OPENAI", "/v1"), ("ANTHROPIC", "")):
            monkeypatch.setenv(f"{vendor}_BASE_URL", model.url + path)
            monkeypatch.setenv(f"{vendor}_API_KEY", "k")
        monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
        names = MODELS[name](read) if name in MODELS else {}
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            run(program, names)
        read += model.said
    assert printed.getvalue().endswith("done\n")
    assert asyncio.run(by_library(CALL)).text.strip()[:200] in read[0].replace("\\n", "\n")


def run(program: str, names: dict[str, object]) -> None:
    code = compile(program, "frameworks.md", "exec", flags=TOP_LEVEL_AWAIT)
    made = types.FunctionType(code, names)
    if code.co_flags & inspect.CO_COROUTINE:
        asyncio.run(made())
    else:
        made()


def test_every_adapter_has_its_program() -> None:
    home = Path(__file__).parents[2] / "src" / "runvil" / "doors" / "adapters"
    assert {path.stem for path in home.glob("*.py")} - {"__init__", "calls"} == {name for name, _ in PROGRAMS}
