"""Every fetch and policy vector of the spec, over the scripted network and over real sockets on loopback.

`fetch.json` is the contract as data; each row names its place in the spec.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import pytest

from runvil import ConfigError, FetchConfig, FetchFailure, ToolError, WebFetch
from runvil.core.calls import FETCH, SEARCH
from runvil.core.page import Extraction, Rendered
from runvil.core.url import parse
from runvil.extract import page as extract_page
from runvil.testing import NXDOMAIN, Behaviour, DnsAnswer, FakeNet, Rebinding, Reply
from tests.support.bodies import body_bytes, header_value, never_read
from tests.support.loopback import Answer, Loopback
from tests.support.rendering import InProcess
from tests.vectors.expectations import Outcome, call, verify_outcome

Vector = dict[str, Any]

VECTORS: list[Vector] = json.loads(Path(__file__).with_name("fetch.json").read_text())
IN_TIME = 10.0  # seconds; a guard against a hang, not a measure
SHORT = 0.3  # seconds; the time limits of a vector whose point is that one runs out


def of_kind(*kinds: str) -> list[Any]:
    chosen = [v for v in VECTORS if v["prompt_lua_or_args"]["kind"] in kinds]
    return [pytest.param(v, id=v["id"]) for v in chosen]


def test_every_vector_has_a_runner() -> None:
    assert {v["prompt_lua_or_args"]["kind"] for v in VECTORS} == {
        "args", "policy", "unit", "inspect", "inspect_policy", "property", "sequence", "cancel",
    }  # fmt: skip


def policy(knobs: list[list[Any]], *, hurried: bool = False) -> FetchConfig:
    builder = FetchConfig.builder()
    if hurried:
        builder.timeout(SHORT).connect_timeout(SHORT / 2)
    for knob, value in knobs:
        setter = getattr(builder, knob.removesuffix("_s"))
        builder = setter(*value) if knob == "allow_host_address" else setter(value)
    return builder.build()


def dns_of(vector: Vector) -> dict[str, DnsAnswer | Rebinding]:
    def entry(value: Any) -> DnsAnswer | Rebinding:
        if isinstance(value, dict):
            return Rebinding(tuple(value["sequence"]))
        return NXDOMAIN if value == "NXDOMAIN" else value

    return {host: entry(value) for host, value in (vector["server_behaviour"]["dns"] or {}).items()}


BEHAVIOURS = {
    "connect_hang": Behaviour.CONNECT_HANG,
    "hang_before_headers": Behaviour.HANG_BEFORE_HEADERS,
    "reset_before_headers": Behaviour.RESET_BEFORE_HEADERS,
    "reset_mid_body": Behaviour.RESET_MID_BODY,
    "hang_mid_body": Behaviour.HANG_MID_BODY,
    "close_early": Behaviour.RESET_MID_BODY,
    "refuse_connection": Behaviour.REFUSE_CONNECTION,
    "tls_bad_certificate": Behaviour.BAD_CERTIFICATE,
}


def reply_of(response: Mapping[str, Any]) -> Reply:
    body = response.get("body") or {"text": ""}
    return Reply(
        status=response.get("status", 200),
        headers=[(name, header_value(value)) for name, value in response.get("headers", ())],
        body=never_read() if "never_read" in body else body_bytes(body),
        behaviour=BEHAVIOURS.get(response.get("behaviour", "")),
    )


def answer_of(response: Mapping[str, Any]) -> Answer:
    body = response.get("body") or {"text": ""}
    headers = [(name, header_value(value)) for name, value in response.get("headers", ())]
    then = {"hang_before_headers": "hang", "reset_before_headers": "reset", "reset_mid_body": "reset"}
    behaviour = response.get("behaviour", "")
    if behaviour in ("hang_before_headers", "reset_before_headers"):
        return Answer(raw=b"", then=then[behaviour])
    if behaviour in ("reset_mid_body", "close_early"):
        headers.append(("Content-Length", b"1000"))
        return Answer(response["status"], headers, body_bytes(body), then=then.get(behaviour, "close"))
    if "never_read" in body:
        unread = b"" if any(n.lower() == "content-length" for n, _ in headers) else b"unread"
        return Answer(response["status"], headers, unread, then="hang")
    return Answer(response.get("status", 200), headers, body_bytes(body), chunked=bool(response.get("chunked")))


def hurried(vector: Vector) -> bool:
    responses = vector["server_behaviour"]["responses"]
    return any("hang" in response.get("behaviour", "") for response in responses)


@pytest.mark.parametrize("vector", of_kind("args"))
async def test_a_call_over_the_scripted_network(vector: Vector, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "runvil.fetch")
    server, expected = vector["server_behaviour"], vector["expected"]
    net = FakeNet(dns_of(vector), {r["url"]: reply_of(r) for r in server["responses"]})
    async with WebFetch(_policy_of(vector), net=net, renderer=InProcess()) as fetch:
        outcome = await asyncio.wait_for(call(fetch, vector["prompt_lua_or_args"]["args"]), IN_TIME)
    _verify_text(outcome, expected)
    _verify_network(expected, server, net.requests, net.dialled, net.lookups)
    _verify_log(expected, caplog.messages)
    if expected.get("body_not_downloaded"):
        assert net.bytes_read == 0
    if expected.get("body_downloaded"):
        assert net.bytes_read > 0
    assert net.open_connections == 0


@pytest.mark.parametrize("vector", of_kind("args", "sequence"))
async def test_a_call_over_real_sockets(vector: Vector, monkeypatch: pytest.MonkeyPatch) -> None:
    server, expected = vector["server_behaviour"], vector["expected"]
    for name, value in (server.get("env") or {}).items():
        monkeypatch.setenv(name, value)
    behaviours = {r.get("behaviour") for r in server["responses"]}
    addresses = {address for answer in dns_of(vector).values() if isinstance(answer, list) for address in answer}
    site = Loopback(
        {r["url"]: answer_of(r) for r in server["responses"]},
        dns=dns_of(vector),
        bad_certificate="tls_bad_certificate" in behaviours,
        refused=frozenset(addresses) if "refuse_connection" in behaviours else frozenset(),
        silent=frozenset(addresses) if "connect_hang" in behaviours else frozenset(),
    )
    config = _policy_of(vector)
    async with site, WebFetch(config, net=site.net(config), renderer=InProcess()) as fetch:
        for step in vector["prompt_lua_or_args"].get("calls", [vector["prompt_lua_or_args"]]):
            outcome = await asyncio.wait_for(call(fetch, step["args"]), IN_TIME)
    _verify_text(outcome, expected)
    _verify_network(expected, server, [r.url for r in site.requests], site.dialled, site.lookups)
    for seen, wanted in zip(site.requests, expected.get("requests", ()), strict=False):
        _verify_request(seen, wanted)


def _policy_of(vector: Vector) -> FetchConfig:
    return policy(vector.get("policy") or [], hurried=hurried(vector))


def _verify_text(outcome: Outcome, expected: Mapping[str, Any]) -> None:
    if expected["kind"] == "request_observed":
        assert outcome.kind == "ok"
        assert outcome.text == expected.get("tool_output", outcome.text)
    else:
        verify_outcome(outcome, expected)


def _verify_network(
    expected: Mapping[str, Any], server: Mapping[str, Any], requests: list[str], dialled: list[str], lookups: list[str]
) -> None:
    if server.get("must_make_no_request"):
        assert requests == []
        assert dialled == []
        assert set(lookups) <= set(server["dns"])
    for url, count in expected.get("request_counts", {}).items():
        assert requests.count(url) == count
    if "connected_to" in expected:
        assert dialled == expected["connected_to"]
    assert not set(dialled) & set(expected.get("connected_to_never", ()))
    if "requests" in expected:
        assert requests == [request["url"] for request in expected["requests"]]


def _verify_log(expected: Mapping[str, Any], messages: list[str]) -> None:
    if "debug_log" in expected:
        assert [m for m in messages if "blocked address" in m] == expected["debug_log"]


def _verify_request(seen: Any, wanted: Mapping[str, Any]) -> None:
    assert seen.method == wanted.get("method", "GET")
    for name, value in wanted.get("headers_include", {}).items():
        assert seen.header(name) == value
    for name in wanted.get("headers_absent", ()):
        assert seen.header(name) is None
    for name, tokens in wanted.get("headers_include_tokens", {}).items():
        assert set(tokens) <= {token.strip() for token in seen.header(name).split(",")}


@pytest.mark.parametrize("vector", of_kind("policy"))
def test_a_policy_is_built_or_refused(vector: Vector) -> None:
    knobs, expected = vector["prompt_lua_or_args"]["builder"], vector["expected"]
    if expected["kind"] == "config_ok":
        assert isinstance(policy(knobs), FetchConfig)
        return
    with pytest.raises(ConfigError) as caught:
        policy(knobs)
    assert str(caught.value) == expected["text"]


@pytest.mark.parametrize("vector", of_kind("inspect_policy"))
def test_a_default_of_the_policy(vector: Vector) -> None:
    value = getattr(FetchConfig(), vector["prompt_lua_or_args"]["field"].removesuffix("_s"))
    assert (list(value) if isinstance(value, tuple) else value) == vector["expected"]["text"]


@pytest.mark.parametrize("vector", of_kind("inspect"))
def test_what_a_tool_declares(vector: Vector) -> None:
    asked = vector["prompt_lua_or_args"]
    config = policy(asked.get("policy") or [])
    declared = {"web/fetch": FETCH, "web/search": SEARCH}[asked["tool"]]
    described: Any = dataclasses.asdict(declared) | {"parameters": WebFetch(config, net=FakeNet()).parameters}
    for step in asked["what"].split("."):
        described = described[step]
    assert described == vector["expected"]["text"]


@pytest.mark.parametrize("vector", of_kind("unit"))
def test_a_helper(vector: Vector, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, expected = vector["prompt_lua_or_args"], vector["expected"]["text"]
    match asked["function"]:
        case "redact_url":
            assert parse(asked["url"]).shown == expected
        case "choose_extraction":
            assert _with_article(monkeypatch, asked["article_markdown"], whole="the page").extraction == expected
        case "choose_extraction_when_whole_page_fails":
            rendered = _with_article(monkeypatch, asked["article_markdown"], whole="")
            assert {"text": rendered.text, "label": rendered.extraction} == expected
        case other:
            raise AssertionError(f"unknown helper: {other}")


def _with_article(monkeypatch: pytest.MonkeyPatch, article: str, *, whole: str) -> Rendered:
    """Render a page of which isolation makes `article` and the whole-page conversion `whole`."""

    def attempt(_html: str, _url: str, *, whole: bool, page: str = whole) -> tuple[Extraction, str, str]:
        return (Extraction.RAW_HTML, page, "") if whole else (Extraction.READABILITY, article, "")

    monkeypatch.setattr(extract_page, "_attempt", attempt)
    return extract_page.render("", "https://example.com/")


@pytest.mark.parametrize("vector", of_kind("cancel"))
async def test_a_dropped_call_closes_its_connection(vector: Vector) -> None:
    server, asked = vector["server_behaviour"], vector["prompt_lua_or_args"]
    site = Loopback({r["url"]: answer_of(r) for r in server["responses"]}, dns=dns_of(vector))
    async with site, WebFetch(net=site.net(FetchConfig()), renderer=InProcess()) as fetch:
        task = asyncio.create_task(call(fetch, asked["call"]["args"]))
        await asyncio.wait_for(site.asked.wait(), IN_TIME)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(site.closed.wait(), vector["expected"]["connection_closed_within_ms"] / 1000)
        assert site.open == 0


SUCCESS = re.compile(r"url: \S+\ntruncated: (true|false)\nextraction: (readability|raw-html|plain)\n\n.*", re.DOTALL)
KEEPS_THE_QUERY = re.compile(r"fetch failed for \S+: network error; try a different URL")


def _no_library_text(failure: FetchFailure | None, outcome: Outcome, _vector: Vector) -> bool:
    cause = failure and failure.__cause__
    return cause is None or isinstance(cause, FetchFailure) or not str(cause) or str(cause) not in outcome.text


def _nothing_secret(_failure: FetchFailure | None, outcome: Outcome, vector: Vector) -> bool:
    if outcome.kind == "ok" or KEEPS_THE_QUERY.fullmatch(outcome.text):
        return True
    written = json.dumps([vector["prompt_lua_or_args"], vector["server_behaviour"]["responses"]])
    secrets = re.findall(r"[?#][\w=&%]+|//\w+:\w+@", written)
    return not any(secret in outcome.text for secret in secrets)


def _soft_is_one_sentence(_failure: FetchFailure | None, outcome: Outcome, _vector: Vector) -> bool:
    named = re.search(r"^(url|truncated|extraction): ", outcome.text, re.MULTILINE)
    return outcome.kind != "soft" or (outcome.untrusted and named is None)


def _success_has_its_header(_failure: FetchFailure | None, outcome: Outcome, _vector: Vector) -> bool:
    return outcome.kind != "ok" or (outcome.untrusted and SUCCESS.fullmatch(outcome.text) is not None)


PROPERTIES = {
    "F-MSG-001": _no_library_text,
    "F-MSG-002": _nothing_secret,
    "F-MSG-003": _soft_is_one_sentence,
    "F-MSG-004": _success_has_its_header,
}


@pytest.mark.parametrize("vector", of_kind("property"))
async def test_every_row_keeps_the_property(vector: Vector) -> None:
    holds = PROPERTIES[vector["id"]]
    rows = [v for v in VECTORS if v["prompt_lua_or_args"]["kind"] == "args"]
    broken = [row["id"] for row in rows if not holds(*await _failure_and_outcome(row), row)]
    assert broken == []


async def _failure_and_outcome(row: Vector) -> tuple[FetchFailure | None, Outcome]:
    """The row's outcome as the tool gives it, and the failure behind it."""
    net = FakeNet(dns_of(row), {r["url"]: reply_of(r) for r in row["server_behaviour"]["responses"]})
    async with WebFetch(_policy_of(row), net=net, renderer=InProcess()) as fetch:
        try:
            output = await fetch.call(row["prompt_lua_or_args"]["args"])
        except ToolError as error:
            return cast(FetchFailure, error.__cause__), Outcome("hard", str(error), error.kind)
    return None, Outcome("soft" if output.soft else "ok", output.text, untrusted=output.untrusted)
