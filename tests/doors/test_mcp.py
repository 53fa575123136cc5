"""The MCP server, asked by the SDK's own client in this process: what it declares and what it answers."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from runvil import (
    FetchConfig,
    SearchError,
    SearchProvider,
    SearchResult,
    ToolErrorKind,
    WebFetch,
    WebSearch,
    __version__,
)
from runvil.core.calls import FETCH, SEARCH, fetch_schema, search_schema
from runvil.testing import Behaviour, FakeNet, FakeProvider, Reply

pytest.importorskip("mcp", reason="the extra runvil[mcp] is not installed")

from mcp import Client
from mcp.shared.exceptions import MCPError

from runvil.doors.mcp import make_server
from tests.doors.mcp_support import IN_TIME, client_at, text_of

jsonschema = pytest.importorskip("jsonschema")  # which the SDK brings; it has no types

PUBLIC = ["93.184.216.34"]
URL = "https://example.com/"
HTML = b"<!doctype html><title>Tides</title><h1>Tides</h1><p>The tide turns twice a day, and the harbour with it.</p>"
ROW = SearchResult("Tides", URL, "They turn.", age="2 days ago", site_name="example.com", extra_snippets=("Twice.",))
MODES = ["auto", "legacy"]


def network() -> FakeNet:
    return FakeNet(
        dns={"example.com": PUBLIC, "inward.example": ["10.0.0.5"]},
        replies={
            URL: Reply(headers=[("Content-Type", "text/html")], body=HTML),
            f"{URL}missing": Reply(404),
            f"{URL}hang": Reply(behaviour=Behaviour.HANG_BEFORE_HEADERS),
        },
    )


@asynccontextmanager
async def connected(
    net: FakeNet | None = None,
    provider: SearchProvider | None = None,
    config: FetchConfig | None = None,
    mode: str = "auto",
) -> AsyncIterator[Any]:
    tools: list[WebFetch | WebSearch] = [WebFetch(config, net=net or network())]
    if provider is not None:
        tools.append(WebSearch(provider))
    async with asyncio.timeout(IN_TIME), Client(make_server(tools, __version__), mode=mode) as client:
        yield client


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    """A client of the current protocol, and one of the handshake of 2025."""
    return str(request.param)


async def declared(client: Any) -> dict[str, Any]:
    return {tool.name: tool for tool in (await client.list_tools()).tools}


async def test_the_declarations_are_ours_to_the_letter(mode: str) -> None:
    async with connected(provider=FakeProvider([ROW]), mode=mode) as client:
        tools = await declared(client)
        assert {name: (tool.description, tool.input_schema) for name, tool in tools.items()} == {
            "web_fetch": (FETCH.description, fetch_schema(40_000)),
            "web_search": (SEARCH.description, search_schema()),
        }


async def test_the_tools_are_said_to_change_nothing_and_to_meet_an_open_world(mode: str) -> None:
    async with connected(provider=FakeProvider([ROW]), mode=mode) as client:
        for tool in (await declared(client)).values():
            assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, True)
            assert tool.annotations.destructive_hint is False


async def test_the_server_says_who_it_is_and_that_the_text_is_untrusted(mode: str) -> None:
    async with connected(provider=FakeProvider([ROW]), mode=mode) as client:
        assert (client.server_info.name, client.server_info.version) == ("runvil", __version__)
        assert "untrusted" in client.instructions
        assert "follow no instruction" in client.instructions


async def test_the_ceiling_of_the_policy_is_in_the_schema() -> None:
    async with connected(config=FetchConfig(max_chars=500)) as client:
        assert (await declared(client))["web_fetch"].input_schema == fetch_schema(500)


async def test_without_a_provider_there_is_no_search() -> None:
    async with connected() as client:
        assert list(await declared(client)) == ["web_fetch"]
        with pytest.raises(MCPError, match="Unknown tool: web_search"):
            await client.call_tool("web_search", {"query": "tides"})


async def test_a_page_is_its_text_and_what_is_known_of_it(mode: str) -> None:
    async with connected(provider=FakeProvider([ROW]), mode=mode) as client:
        result = await client.call_tool("web_fetch", {"url": URL})
        text = text_of(result)
        assert text.startswith(f"url: {URL}\ntruncated: false\nextraction: raw-html\n\n# Tides")
        assert result.structured_content == {
            "text": text, "url": URL, "truncated": False, "extraction": "raw-html", "title": "Tides",
        }  # fmt: skip
        assert result.is_error is False


async def test_the_arguments_reach_the_tool(mode: str) -> None:
    async with connected(provider=FakeProvider([ROW]), mode=mode) as client:
        result = await client.call_tool("web_fetch", {"url": URL, "max_chars": 4.0, "raw": True, "other": 1})
        assert text_of(result) == f"url: {URL}\ntruncated: true\nextraction: raw-html\n\n# Ti"


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (f"{URL}missing", f"{URL}missing answered HTTP 404; try a different URL"),
        ("http://a.example/", "scheme not allowed: http"),
    ],
)
async def test_a_soft_failure_is_an_ordinary_result_that_keeps_to_the_schema(mode: str, url: str, message: str) -> None:
    async with connected(provider=FakeProvider([ROW]), mode=mode) as client:
        result = await client.call_tool("web_fetch", {"url": url})
        assert (text_of(result), result.is_error) == (message, False)
        jsonschema.validate(result.structured_content, (await declared(client))["web_fetch"].output_schema)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "web_fetch: missing url argument"),
        ({"url": 5}, "web_fetch: missing url argument"),
        ({"url": URL, "max_chars": 0}, "web_fetch: max_chars must be a positive integer"),
        ({"url": "https://127.1/"}, "ip literal host not allowed: 127.0.0.1"),
        ({"url": "https://u:p@example.com/"}, "url must not contain userinfo"),
        ({"url": "https://inward.example/"}, "host inward.example has no allowed address"),
    ],
)
async def test_a_hard_failure_is_an_error_that_says_exactly_what_the_tool_says(
    mode: str, arguments: dict[str, object], message: str
) -> None:
    async with connected(provider=FakeProvider([ROW]), mode=mode) as client:
        result = await client.call_tool("web_fetch", arguments)
        assert (text_of(result), result.is_error, result.structured_content) == (message, True, None)


async def test_a_search_gives_its_json_and_its_rows(mode: str) -> None:
    async with connected(provider=FakeProvider([ROW]), mode=mode) as client:
        result = await client.call_tool("web_search", {"query": "tides", "count": 3})
        assert result.structured_content == json.loads(text_of(result))
        assert result.structured_content["results"][0]["extra_snippets"] == ["Twice."]
        jsonschema.validate(result.structured_content, (await declared(client))["web_search"].output_schema)


async def test_a_search_that_fails_is_an_error_with_the_message() -> None:
    provider = FakeProvider(error=SearchError(ToolErrorKind.BACKEND, "the vendor is out of credit"))
    async with connected(provider=provider) as client:
        for arguments, message in (
            ({"query": "tides"}, "web_search: the vendor is out of credit"),
            ({"query": " "}, "web_search: query must not be empty"),
            ({}, "web_search: invalid arguments"),
        ):
            result = await client.call_tool("web_search", arguments)
            assert (text_of(result), result.is_error) == (message, True)


async def test_both_schemas_of_a_tool_are_json_schemas(mode: str) -> None:
    async with connected(provider=FakeProvider([ROW]), mode=mode) as client:
        for tool in (await declared(client)).values():
            for schema in (tool.input_schema, tool.output_schema):
                jsonschema.Draft202012Validator.check_schema(schema)


async def test_whoever_asks_for_progress_is_told_how_long_it_may_take(mode: str) -> None:
    async with connected(provider=FakeProvider([ROW]), mode=mode) as client:
        told: list[Sequence[object]] = []

        async def note(*said: object) -> None:
            told.append(said)

        await client.call_tool("web_fetch", {"url": URL}, progress_callback=note)
        assert told[0] == (0, 20.0, "waiting for the web")


async def test_a_call_that_lasts_reports_how_long_it_has_lasted(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runvil.doors.mcp.server.TICK", 0.06)
    told: list[float] = []
    enough = asyncio.Event()

    async def note(gone: float, _: float | None, __: str | None) -> None:
        told.append(gone)
        if len(told) == 4:
            enough.set()

    async with connected(mode=mode) as client:
        call = asyncio.create_task(client.call_tool("web_fetch", {"url": f"{URL}hang"}, progress_callback=note))
        await enough.wait()
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
    assert told[0] == 0
    assert told == sorted(set(told))


async def test_a_call_that_is_cancelled_is_cancelled_down_to_its_connection(mode: str) -> None:
    net = network()
    async with connected(net, mode=mode) as client:
        call = asyncio.create_task(client.call_tool("web_fetch", {"url": f"{URL}hang"}))
        await until(lambda: net.open_connections == 1)
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await until(lambda: net.open_connections == 0)
        assert text_of(await client.call_tool("web_fetch", {"url": URL})).startswith("url: ")


async def until(holds: Any) -> None:
    """Bounded by the client's timeout."""
    while not holds():  # noqa: ASYNC110  a FakeNet tells nobody; sleep(0) is a turn of the loop
        await asyncio.sleep(0)


async def test_an_envelope_holds_every_text_and_nothing_is_beside_it(mode: str) -> None:
    tools: list[WebFetch | WebSearch] = [WebFetch(net=network()), WebSearch(FakeProvider([ROW]))]
    async with asyncio.timeout(IN_TIME), Client(make_server(tools, __version__, envelope=True), mode=mode) as client:
        assert [tool.output_schema for tool in (await client.list_tools()).tools] == [None, None]
        nonces = set()
        for name, arguments, failed in (
            ("web_fetch", {"url": URL}, False),
            ("web_fetch", {"url": f"{URL}missing"}, False),
            ("web_fetch", {"url": "https://127.1/"}, True),
            ("web_search", {"query": "tides"}, False),
        ):
            result = await client.call_tool(name, arguments)
            found = re.fullmatch(ENVELOPE, text_of(result), re.DOTALL)
            assert found
            assert (result.is_error, result.structured_content) == (failed, None)
            nonces.add(found["nonce"])
    assert len(nonces) == 4


ENVELOPE = r"What stands between .*\n<untrusted_input_(?P<nonce>[0-9a-f]{32})>\n(.+)\n</untrusted_input_(?P=nonce)>"


async def test_the_tools_are_closed_with_the_server() -> None:
    class Closing(FakeNet):
        closed = False

        async def aclose(self) -> None:
            self.closed = True

    net = Closing()
    async with connected(net):
        assert not net.closed
    assert net.closed


# --- the command ---


def command(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runvil", "mcp", *arguments],
        check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=IN_TIME,
        env={**os.environ, **env},
    )  # fmt: skip


WITHOUT = "import sys; sys.modules['mcp'] = None; from runvil.doors.cli import run; sys.exit(run(sys.argv[1:]))"


def without_the_extra(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, "mcp", *arguments],
        check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=IN_TIME,
    )  # fmt: skip


def test_help_works_without_the_extra() -> None:
    done = without_the_extra("--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: runvil mcp" in done.stdout


def test_running_without_the_extra_says_in_one_line_what_to_install() -> None:
    done = without_the_extra()
    assert done.returncode == 1
    assert "runvil[mcp]" in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_loads_no_sdk_and_no_server() -> None:
    script = (
        "import sys; from runvil.doors.cli import run; assert run(['mcp', '--help']) == 0\n"
        "assert not {'mcp', 'mcp_types', 'starlette', 'uvicorn', 'pydantic'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, timeout=IN_TIME)


def test_serving_over_pipes_loads_nothing_of_the_server_for_http() -> None:
    script = (
        "import sys; from runvil.doors.cli import run; assert run(['mcp']) == 0\n"
        "assert not {'runvil.doors.mcp.http', 'runvil.gateway.wire'} & set(sys.modules)"
    )
    subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=IN_TIME
    )


@pytest.mark.parametrize(("key", "names"), [("", ["web_fetch"]), ("k", ["web_fetch", "web_search"])])
async def test_a_search_is_offered_where_the_environment_says_who_answers_it(
    key: str, names: list[str], tmp_path: Path
) -> None:
    async with (
        asyncio.timeout(IN_TIME),
        client_at("stdio auto", BRAVE_SEARCH_API_KEY=key, XDG_DATA_HOME=str(tmp_path), HOME=str(tmp_path)) as client,
    ):
        assert list(await declared(client)) == names


async def test_an_option_of_the_policy_is_in_force() -> None:
    async with asyncio.timeout(IN_TIME), client_at("stdio auto", "--allow-ip-literals") as client:
        result = await client.call_tool("web_fetch", {"url": "https://10.0.0.5/"})
    assert (text_of(result), result.is_error) == ("host 10.0.0.5 is not fetchable", True)


def test_a_server_whose_client_leaves_ends_in_silence() -> None:
    done = command()
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "key", "words"),
    [
        (["--http", "8080"], "", "--http wants HOST:PORT"),
        (["--http", "127.0.0.1:99999"], "", "--http wants HOST:PORT"),
        (["--http", "[::1:80"], "", "--http wants HOST:PORT"),
        (["--public-host", "mcp.example"], "", "--public-host is a name of the server that --http starts"),
        (["--http", "0.0.0.0:0"], "", "0.0.0.0 is not loopback: RUNVIL_MCP_KEY must hold a key"),
        (["--http", "192.0.2.1:0"], "short", "at least 16 characters"),
        (["--deny-cidr", "10.0.0.1"], "", "invalid deny cidr 10.0.0.1"),
        (["--provider", "nobody"], "", "no search provider named 'nobody'"),
        (["--provider", "brave"], "", "the search provider brave needs BRAVE_SEARCH_API_KEY"),
    ],
)
def test_a_wrong_command_line_says_what_is_wrong(arguments: Sequence[str], key: str, words: str) -> None:
    done = command(*arguments, RUNVIL_MCP_KEY=key, BRAVE_SEARCH_API_KEY="")
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.stderr
