"""Who is asked: by name, by the environment, and after a failure."""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
from typing import Any

import pytest

from runvil import ConfigError, SearchError, SearchProvider, SearchQuery, SearchResult, SearchResults
from runvil import providers as face
from runvil.providers import FailoverProvider, LocalProvider, TavilyProvider, from_environment
from runvil.providers.environment import NAMES, VARIABLES, WAYS
from runvil.testing import FakeProvider
from tests.support.vendors import MARKER
from tests.unit.providers.asking import IN_TIME, QUERY

ROW = SearchResult("T", "https://a.example/", "")


class Named(FakeProvider):
    def __init__(self, name: str, *rows: SearchResult, error: SearchError | None = None) -> None:
        super().__init__(rows, error=error)
        self.name = name


class Hanging:
    name = "hanging"

    async def search(self, query: SearchQuery) -> SearchResults:
        await asyncio.Event().wait()
        raise AssertionError


def failing(name: str, kind: str = "Backend") -> Named:
    return Named(name, error=SearchError(kind, f"{name} broke"))


@pytest.mark.parametrize("kind", ["Transport", "Backend"])
async def test_the_next_is_asked_when_one_fails_and_the_log_says_who_answered(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    second, third = Named("second", ROW), Named("third")
    with caplog.at_level(logging.INFO):
        found = await FailoverProvider([failing("first", kind), second, third]).search(QUERY)
    assert found.results == (ROW,)
    assert (second.asked, third.asked) == ([QUERY], [])
    assert caplog.messages == ["first failed: first broke", "second answered, after 1 failed"]


async def test_an_empty_list_is_an_answer() -> None:
    second = Named("second", ROW)
    assert (await FailoverProvider([Named("first"), second]).search(QUERY)).results == ()
    assert second.asked == []


@pytest.mark.parametrize(
    ("kinds", "kind"), [(("Transport", "Transport"), "Transport"), (("Transport", "Backend"), "Backend")]
)
async def test_when_all_fail_all_are_named(kinds: tuple[str, str], kind: str) -> None:
    with pytest.raises(SearchError) as caught:
        await FailoverProvider([failing(name, each) for name, each in zip("ab", kinds, strict=True)]).search(QUERY)
    assert (caught.value.kind, caught.value.message) == (kind, "every provider failed: a broke; b broke")


async def test_one_alone_keeps_its_words() -> None:
    with pytest.raises(SearchError, match=r"\Aa broke\Z"):
        await FailoverProvider([failing("a")]).search(QUERY)


async def test_one_that_hangs_leaves_time_for_the_next() -> None:
    provider = FailoverProvider([Hanging(), Named("second", ROW)], deadline=0.2)
    async with asyncio.timeout(IN_TIME):
        assert (await provider.search(QUERY)).results == (ROW,)


async def test_all_that_hang_end_at_the_deadline() -> None:
    async with asyncio.timeout(IN_TIME):
        with pytest.raises(SearchError, match="hanging did not answer in time; hanging did not") as caught:
            await FailoverProvider([Hanging(), Hanging()], deadline=0.2).search(QUERY)
    assert caught.value.kind == "Transport"


async def test_a_defect_is_not_hidden_by_the_next_provider() -> None:
    class Defective:
        async def search(self, query: SearchQuery) -> SearchResults:
            raise ZeroDivisionError

    second = Named("second", ROW)
    with pytest.raises(ZeroDivisionError):
        await FailoverProvider([Defective(), second]).search(QUERY)
    assert second.asked == []


def test_nobody_to_ask_is_an_error_at_once() -> None:
    with pytest.raises(ValueError, match="no provider"):
        FailoverProvider([])


async def test_closing_closes_all_that_can_be_closed() -> None:
    await FailoverProvider([TavilyProvider(MARKER), Named("plain")]).aclose()


# --- the environment ---

KEYS = dict.fromkeys(VARIABLES, MARKER) | {
    "SEARXNG_URL": "http://127.0.0.1:1",
    "RUNVIL_GATEWAY_URL": "http://127.0.0.1:1/v1",
}
ORDER = ["gateway", "brave", "tavily", "exa", "kagi", "serper", "searxng", "local"]


def name_of(provider: SearchProvider) -> str:
    return str(vars(type(provider))["name"])


def test_the_gateway_comes_first_then_each_vendor_with_a_key_then_the_local_index() -> None:
    env = dict(KEYS)
    for way in [way for way in WAYS if way.name != "tavily-keyless"]:
        assert name_of(from_environment(env=env)) == ORDER[[w.name for w in WAYS if w.name in ORDER].index(way.name)]
        for variable in way.variables:
            del env[variable]
    assert env == {}
    assert isinstance(from_environment(env={}), LocalProvider)


@pytest.mark.parametrize("name", NAMES)
def test_a_name_decides_whatever_else_is_set(name: str) -> None:
    assert name_of(from_environment(name, env=KEYS)) == name.removesuffix("-keyless")


@pytest.mark.parametrize("way", [way for way in WAYS if way.variables])
def test_a_name_without_its_variable_says_which(way: Any) -> None:
    with pytest.raises(ConfigError, match=f"{way.name} needs {' and '.join(way.variables)} in the environment"):
        from_environment(way.name, env=dict.fromkeys(way.variables, "  "))


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(ConfigError, match=r"no search provider named 'bing'; there are: gateway, brave, "):
        from_environment("bing", env=KEYS)


async def test_a_gateway_without_its_key_is_not_passed_over_for_another_vendor() -> None:
    provider = from_environment(env=KEYS | {"RUNVIL_GATEWAY_API_KEY": ""})
    with pytest.raises(SearchError, match="request failed"):
        await provider.search(QUERY)


def test_a_key_with_the_line_break_it_was_copied_with_is_the_key() -> None:
    assert name_of(from_environment(env={"EXA_API_KEY": f" {MARKER}\n"})) == "exa"


def test_the_variables_are_those_of_the_contract() -> None:
    assert set(VARIABLES) == {
        "RUNVIL_GATEWAY_URL", "RUNVIL_GATEWAY_API_KEY", "BRAVE_SEARCH_API_KEY", "TAVILY_API_KEY", "EXA_API_KEY",
        "KAGI_API_KEY", "SERPER_API_KEY", "SEARXNG_URL",
    }  # fmt: skip


# --- the face ---


def test_every_public_name_is_there() -> None:
    for name in face.__all__:
        assert getattr(face, name).__name__ == name
    assert set(face.__all__) <= set(dir(face))
    with pytest.raises(AttributeError, match="no attribute 'BingProvider'"):
        _ = face.BingProvider


def test_making_a_provider_loads_no_http_library() -> None:
    script = (
        "import sys, runvil.providers as p; p.BraveProvider('key'); p.GatewayProvider(None, None); p.LocalProvider()\n"
        "print([name for name in ('httpx2', 'httpcore2', 'anyio') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "[]\n"
