"""The prompts that ship, and the code of the documentation: each is run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from runvil import SearchResult
from runvil.runtime import Host, WebPlugin
from runvil.runtime.guest import compiled
from runvil.runtime.web import SEARCH_PROVIDER
from runvil.testing import FakeNet, FakeProvider, Reply, ScriptedModel, asks
from tests.runtime.support import within
from tests.support.rendering import InProcess

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "prompts"
DOCUMENT = (ROOT / "docs" / "prompts.md").read_text(encoding="utf-8")

URL = "https://example.com/"


def text_reply(kind: str, body: bytes, status: int = 200) -> Reply:
    return Reply(status, [("Content-Type", kind)], body)


def host(model: ScriptedModel | None = None, *, urls: tuple[str, ...] = (URL,)) -> Host:
    net = FakeNet(
        {"example.com": ["93.184.216.34"]},
        {
            URL: text_reply("text/plain", b"hello"),
            f"{URL}w.json": text_reply("application/json", b'{"current": {"temperature": 4.5}}'),
            f"{URL}gone": text_reply("text/plain", b"", 404),
        },
    )
    made = Host({SEARCH_PROVIDER: FakeProvider([SearchResult("t", url, "d") for url in urls])}, model)
    made.call(WebPlugin(net=net, renderer=InProcess()))
    return made


def text(name: str) -> str:
    return (EXAMPLES / f"{name}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(path.stem for path in EXAMPLES.glob("*.md")))
def test_an_example_is_a_prompt_and_has_its_test(name: str) -> None:
    assert compiled(text(name), name).prompt.head.name == name
    assert f'text("{name}")' in Path(__file__).read_text(encoding="utf-8")


async def test_page() -> None:
    result = await within(host().run(text("page"), args={"url": URL}))
    assert "extraction: plain\n\nhello\n" in result


@pytest.mark.parametrize(
    ("path", "wanted"), [("w.json", "^4.5$"), ("gone", "answered HTTP 404"), ("", "^no JSON: json.decode: ")]
)
async def test_weather_field(path: str, wanted: str) -> None:
    result = await within(host().run(text("weather-field"), args={"url": URL + path}))
    assert re.search(wanted, result)


async def test_first_that_answers() -> None:
    args = {"query": "q"}
    found = await within(host(urls=(f"{URL}gone", "https://1.2.3.4/", URL)).run(text("first-that-answers"), args=args))
    assert "hello" in found
    none = await within(host(urls=(f"{URL}gone",)).run(text("first-that-answers"), args=args))
    assert none == "none of 1 results could be read"
    assert await within(host(urls=()).run(text("first-that-answers"), args=args)) == "nothing found"


async def test_summary() -> None:
    model = ScriptedModel(asks(web_fetch={"url": URL}), "It says hello.")
    assert await within(host(model).run(text("summary"), args={"url": URL})) == "It says hello."
    assert model.rounds[0].messages[0].content.startswith(f"Read {URL} with `web_fetch`")


async def test_compare() -> None:
    model = ScriptedModel(asks(web_search={"query": "q"}), "findings <b>", "weighed")
    assert await within(host(model).run(text("compare"), args={"question": "tea?"})) == "weighed"
    first, last = model.rounds[-1].messages
    assert first.content.startswith("Weigh these findings")
    assert "findings &lt;b>" in last.content


def fences(language: str) -> list[str]:
    return re.findall(rf"^`{{3,4}}{language}\n(.*?)^`{{3,4}}$", DOCUMENT, re.MULTILINE | re.DOTALL)


def test_the_documents_prompt_is_one() -> None:
    (prompt,) = re.findall(r"^````markdown\n(.*?)^````$", DOCUMENT, re.MULTILINE | re.DOTALL)
    assert compiled(prompt, "docs").prompt.head.name == "page"


async def test_the_documents_pack_works_as_it_stands() -> None:
    made: dict[str, Any] = {}
    exec(fences("python")[-1], made)
    prompt = "---\nname: p\ndescription: d\nrunvil: 0\nuses: [acme/text]\n---\n# P\n## A\n```lua\nreturn {lua}\n```\n"
    lua = "tools.call('text/count', { text = 'a b c' })"
    assert await within(made["host"].run(prompt.replace("{lua}", lua))) == "3"


def test_the_documents_python_compiles_and_names_what_there_is() -> None:
    for code in fences("python"):
        compile(code, "docs", "exec", flags=0x2000)  # PyCF_ALLOW_TOP_LEVEL_AWAIT
    from runvil import runtime

    named = set(re.findall(r"^from runvil\.runtime import (.*)$", DOCUMENT, re.MULTILINE))
    assert all(hasattr(runtime, name.strip()) for line in named for name in line.split(","))


NAMES = """
    tools.call tools.get tools.offer tools.always_offer tools.calls packs.offer packs.get packs.required packs.extras
    models.use models.loop messages.new json.encode json.decode json.array json.null untrusted prose args var log
"""


def test_the_document_names_every_function_of_the_environment() -> None:
    for name in NAMES.split():
        assert name in DOCUMENT
