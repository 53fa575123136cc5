"""The chapter's prompts over the lab's real network: names, addresses, TLS and the default policy, end to end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from runvil import SearchResult
from runvil.runtime import Host, RunError, WebPlugin
from runvil.runtime.web import SEARCH_PROVIDER
from runvil.testing import FakeProvider, ScriptedModel, asks
from tests.lab.conftest import nursery
from tests.lab.harness.answers import Page, redirect
from tests.lab.harness.lab import Dial
from tests.lab.harness.marks import in_lab
from tests.lab.support import ARTICLE, EXAMPLE, SENTENCE, plain
from tests.runtime.test_chapter_prompts import BARE, FAILS, FILES, FOUND, INSIDE, JSON, LOOPS, PROMPTS

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

__all__ = ["nursery"]

pytestmark = pytest.mark.lab

NO_REQUEST = {"fetch-page-caught", "fetch-page-tool-object", "fetch-missing-hard", "fetch-path-http", "fetch-path-port",
              "fetch-path-literal", "offer-pack", *(name for name in FILES if name.startswith("search-"))}  # fmt: skip
"""The prompts that must leave the network alone."""


def text(name: str) -> str:
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8")


def build(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, ARTICLE)
    lab.serve("https://example.com/long-article", plain("z" * 6000))
    lab.serve("https://example.com/prices", Page(b"<table><tr><td>Bread</td><td>2.10</td></tr></table>"))
    lab.serve("https://example.com/start", redirect("https://example.com:8080/next"))
    lab.serve("https://example.com/missing", Page(b"x", status=404))
    lab.serve("https://example.com/data.json", Page(JSON, "application/json"))
    lab.serve("https://example.com/huge.json", Page(b"1" * (8 * 1024 * 1024 + 1), "application/json"))
    lab.serve("https://example.com/path?q=1", plain("found"))


def host(model: ScriptedModel | None = None) -> Host:
    made = Host({SEARCH_PROVIDER: FakeProvider([SearchResult("T", "https://e.com", "D")])}, model)
    made.call(WebPlugin(), {"web": None})
    return made


def inside(result: str) -> str:
    found = re.search(r"<untrusted_input_(\w{32})>\n(.*)\n</untrusted_input_\1>$", result, re.DOTALL)
    assert found is not None, result
    return found[2]


async def outcome(runs: Host, name: str) -> str:
    """The result, out of its envelope, or the run error's text."""
    try:
        result = await runs.run(text(name))
    except RunError as error:
        return str(error)
    return inside(result) if name in INSIDE else result


@in_lab
async def test_every_plain_prompt_of_the_chapter_gives_what_it_says(lab: Lab) -> None:
    build(lab)
    async with host() as runs:
        for name in FILES:
            if name in LOOPS:
                continue
            before = len(lab.dialled())
            given = await outcome(runs, name)
            assert given.startswith({**INSIDE, **BARE, **FAILS}[name]), (name, given)
            if name in NO_REQUEST:
                assert len(lab.dialled()) == before, name
    assert set(lab.dialled()) == {Dial(EXAMPLE, 443)}


@in_lab
async def test_a_model_researches_over_the_real_network(lab: Lab) -> None:
    build(lab)
    lab.name("inward.example", "10.0.0.5")
    model = ScriptedModel(
        asks(web_search={"query": "tides"}),
        asks(("web_fetch", {"url": "https://example.com/"}), ("web_fetch", {"url": "https://inward.example/"})),
        "Found.",
    )
    async with host(model) as runs:
        assert await runs.run(text("research")) == "Found."
    told = [inside(message.content) for message in model.rounds[-1].messages if message.role == "tool"]
    assert told[0].startswith(FOUND.partition(",")[0][:8])
    assert SENTENCE in told[1]
    assert told[2] == "host inward.example has no allowed address"
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
def test_the_command_runs_a_prompt_in_process_and_isolated(lab: Lab) -> None:
    build(lab)
    for how in ((), ("--untrusted",)):
        done = lab.command("run", str(PROMPTS / "fetch-field.md"), *how)
        assert (done.returncode, done.stdout, done.stderr) == (0, "value\n", "")
