"""A stop drops what is in flight and closes its sockets, and the run goes on; a cancel ends the run."""

from __future__ import annotations

import asyncio

import pytest

from runvil import FetchConfig, assemble
from runvil.runtime import Host, Message, RunError, RunErrorKind, WebPlugin
from runvil.runtime.web import SEARCH_PROVIDER
from runvil.testing import Answer, FakeProvider, LoopbackSite, ScriptedModel, asks
from tests.runtime.support import Slow, looping, prompt, text_host, within

URL = "https://example.com/"
WEB = "---\nname: p\ndescription: d\nrunvil: 0\nuses: [web]\nmodels:\n  r: {}\n---\n\n# P\n"
CATCHING = """
tools.offer({'text/slow'}) models.use('r') messages:user('go')
local ok, err = pcall(models.loop)
return tostring(ok) .. ' ' .. err.kind .. ' ' .. tostring(err) .. ' ' .. #messages"""


def site(then: str) -> LoopbackSite:
    return LoopbackSite({URL: Answer(raw=b"", then=then)}, {"example.com": ["93.184.216.34"]})


def web_host(loopback: LoopbackSite, model: ScriptedModel) -> Host:
    net = assemble.seamed(FetchConfig(), loopback.resolver, loopback.certificate.client, loopback.dial)
    host = Host({SEARCH_PROVIDER: FakeProvider()}, model)
    host.call(WebPlugin(net=net))
    return host


async def test_a_stop_closes_the_sockets_of_the_round_in_flight_and_the_run_lives() -> None:
    lua = """
        tools.offer('web/fetch') models.use('r') messages:user('go')
        local ok, err = pcall(models.loop)
        return err.kind .. ' ' .. #messages"""
    model = ScriptedModel(asks(web_fetch={"url": URL}), "never")
    async with site("hang") as loopback, web_host(loopback, model) as host:
        run = host.start(prompt(lua, head=WEB))
        await within(loopback.asked.wait())
        assert loopback.open == 1
        run.stop()
        assert await within(run) == "stopped 1"
        await within(loopback.closed.wait())
        assert loopback.open == 0
    assert len(model.rounds) == 1


async def test_a_stop_drops_a_call_that_lua_made_and_nobody_caught() -> None:
    async with site("hang") as loopback, web_host(loopback, ScriptedModel()) as host:
        run = host.start(prompt(f"return tools.call('web/fetch', {{ url = '{URL}' }})", head=WEB))
        await within(loopback.asked.wait())
        run.stop()
        with pytest.raises(RunError, match="web/fetch was stopped"):
            await within(run)
        await within(loopback.closed.wait())


@pytest.mark.parametrize("code", [looping("web/fetch"), f"return tools.call('web/fetch', {{ url = '{URL}' }})"])
async def test_a_cancel_closes_the_sockets_and_ends_the_run(code: str) -> None:
    text = code.replace("[acme/text]", "[web]") if code.startswith("---") else prompt(code, head=WEB)
    async with site("hang") as loopback, web_host(loopback, ScriptedModel(asks(web_fetch={"url": URL}))) as host:
        run = host.start(text)
        await within(loopback.asked.wait())
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await within(run)
        await within(loopback.closed.wait())
        assert run.done()


class Thinking:
    """A model that never answers."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.dropped = False

    async def reply(self, messages: object, tools: object) -> Message:
        self.begun.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            self.dropped = True
            raise
        raise AssertionError


async def test_a_stop_drops_the_request_to_the_model() -> None:
    model = Thinking()
    run = text_host(Slow(), model=model).start(prompt(CATCHING))
    await within(model.begun.wait())
    run.stop()
    assert await within(run) == "false stopped the model round was stopped 1"
    assert model.dropped


async def test_uncaught_it_ends_the_run_as_completion() -> None:
    model = Thinking()
    run = text_host(model=model).start(looping())
    await within(model.begun.wait())
    run.stop()
    with pytest.raises(RunError) as caught:
        await within(run)
    assert caught.value.kind is RunErrorKind.COMPLETION


async def test_a_call_that_survives_a_stop_ends_and_then_its_round() -> None:
    lasting = Slow("lasting", survives_stop=True)
    model = ScriptedModel(asks(("text_lasting", {}), ("text_lasting", {})), "never")
    run = text_host(lasting, model=model).start(prompt(CATCHING.replace("text/slow", "text/lasting")))
    await within(lasting.begun.wait())
    run.stop()
    lasting.end.set()
    assert await within(run) == "false stopped the model round was stopped 1"
    assert not lasting.dropped
    assert len(model.rounds) == 1


async def test_a_stop_while_nothing_is_in_flight_does_not_touch_the_next_round() -> None:
    run = text_host(model=ScriptedModel("fine")).start(looping())
    run.stop()
    assert await within(run) == "fine"
    run.stop()


async def test_a_cancel_beats_a_stop() -> None:
    slow = Slow()
    run = text_host(slow).start(prompt("return tools.call('text/slow')"))
    await within(slow.begun.wait())
    run.stop()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await within(run)
    assert slow.dropped


async def test_a_tool_that_will_not_be_dropped_is_stopped_when_it_ends() -> None:
    class Stubborn(Slow):
        async def call(self, arguments: object) -> object:  # type: ignore[override]
            try:
                return await super().call({})
            except asyncio.CancelledError:
                return "kept going"

    stubborn = Stubborn()
    run = text_host(stubborn).start(prompt("local ok, e = pcall(tools.call, 'text/slow') return e.kind"))
    await within(stubborn.begun.wait())
    run.stop()
    assert await within(run) == "stopped"


async def test_one_of_two_runs_is_stopped_alone() -> None:
    slow = Slow()
    host = text_host(slow)
    code = prompt("local ok, e = pcall(tools.call, 'text/slow') return ok and e or e.kind")
    one, other = host.start(code), host.start(code)
    await within(slow.begun.wait())
    await asyncio.sleep(0)
    one.stop()
    assert await within(one) == "stopped"
    slow.end.set()
    assert await within(other) == "ended"
