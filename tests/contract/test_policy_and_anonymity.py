"""Claims: the default policy, and what a request never carries. The anonymity claims look at real requests."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from runvil import FetchConfig, WebFetch
from runvil.testing import FakeNet, Request
from tests.contract.asking import ADDRESS, HOST, OTHER, URL, ask, claim, moved, ok, reply, site, soft
from tests.support.loopback import Answer, Loopback
from tests.support.rendering import InProcess

START, END = "https://example.com/start?secret=1", "https://other.example/end"
TEXT = ("Content-Type", b"text/plain")

PAGES = {
    URL: Answer(headers=[TEXT], body=b"hello"),
    START: Answer(302, [("Location", END.encode()), ("Set-Cookie", b"id=7; Domain=example.com"), TEXT]),
    END: Answer(headers=[TEXT, ("Set-Cookie", b"id=8")], body=b"the end"),
}


async def requests_for(*urls: str) -> list[Request]:
    """What the server saw of calls to each URL in turn, by one tool under the default policy."""
    server = Loopback(PAGES, {HOST: [ADDRESS], "other.example": [OTHER]})
    async with server, WebFetch(net=server.net(FetchConfig()), renderer=InProcess()) as fetch:
        for url in urls:
            assert not (await fetch.call({"url": url})).soft
    return server.requests


@claim("pack.policy.defaults")
@claim("fetch.policy.default")
def test_the_default_policy_has_its_values() -> None:
    config = FetchConfig()
    assert not config.allow_http
    assert config.allow_ports == (80, 443)
    assert not config.allow_ip_literals
    assert (config.deny_cidrs, config.allow_host_addresses) == ((), ())
    assert config.max_redirects == 5
    assert config.max_bytes == 8_388_608
    assert config.max_chars == 40_000
    assert (config.connect_timeout, config.timeout, config.pool_idle_timeout) == (5.0, 20.0, 10.0)
    assert config.user_agent == "harness-webfetch/0.0"


@claim("pack.policy.defaults")
def test_a_tool_without_a_policy_has_the_default_one() -> None:
    assert WebFetch(net=FakeNet(), renderer=InProcess()).config == FetchConfig()


@claim("pack.policy.https-443")
async def test_a_request_goes_over_https_to_port_443() -> None:
    seen = await requests_for(URL)
    assert [(s.url, s.sni, s.header("Host")) for s in seen] == [(URL, HOST, HOST)]


@claim("pack.policy.unchangeable")
async def test_neither_a_call_nor_a_program_changes_a_policy_in_force() -> None:
    config = FetchConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.allow_http = True  # type: ignore[misc]
    call = {"url": "http://example.com/", "allow_http": True, "max_redirects": 20}
    assert await ask(site(), call) == soft("scheme not allowed: http")


@claim("pack.policy.boundary")
async def test_a_redirect_inward_is_refused_by_address_and_never_contacted() -> None:
    net = site(moved("https://127.0.0.1/admin"))
    told = await ask(net)
    assert told.kind == "soft"
    assert "refused" in told.text
    assert "127.0.0.1" in told.text
    assert (net.dialled, net.requests) == ([ADDRESS], [URL])


@claim("pack.anonymity.no-cookie")
@claim("fetch.boundary.no-ambient-identity")
async def test_no_request_carries_a_cookie_not_even_one_just_given() -> None:
    seen = await requests_for(START, URL, START)
    assert len(seen) == 5
    assert [s.header("Cookie") for s in seen] == [None] * 5


@claim("pack.anonymity.no-authorization")
@claim("fetch.boundary.no-ambient-identity")
async def test_no_request_carries_credentials_whatever_the_machine_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login me password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("NETRC", str(netrc))
    seen = await requests_for(START, URL)
    assert [s.header(name) for s in seen for name in ("Authorization", "Proxy-Authorization")] == [None] * 6


@claim("pack.anonymity.no-referer")
@claim("fetch.boundary.no-ambient-identity")
async def test_no_request_says_where_it_came_from() -> None:
    seen = await requests_for(START)
    assert [s.url for s in seen] == [START, END]
    assert [s.header(name) for s in seen for name in ("Referer", "Origin", "From")] == [None] * 6
    assert "secret" not in repr(seen[1])


@claim("pack.anonymity.no-proxy")
@claim("fetch.boundary.no-ambient-identity")
async def test_no_proxy_setting_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://10.0.0.9:3128")
        monkeypatch.setenv(name.lower(), "http://10.0.0.9:3128")
    server = Loopback(PAGES, {HOST: [ADDRESS]})
    async with server:
        assert await ask(server.net(FetchConfig())) == ok("hello")
    assert server.dialled == [ADDRESS]
    assert [(seen.method, seen.target) for seen in server.requests] == [("GET", "/")]


@claim("pack.anonymity.user-agent")
async def test_every_request_names_the_same_agent() -> None:
    seen = await requests_for(START, URL)
    assert [s.header("User-Agent") for s in seen] == ["harness-webfetch/0.0"] * 3


@claim("pack.anonymity.nothing-else")
async def test_a_request_carries_four_fields_and_no_other() -> None:
    for seen in await requests_for(START):
        assert {name.lower() for name, _ in seen.headers} == {"host", "user-agent", "accept", "accept-encoding"}


@claim("pack.anonymity.logged-out")
async def test_a_page_that_wants_a_login_comes_as_a_stranger_sees_it() -> None:
    assert await ask(site(reply("Please sign in."))) == ok("Please sign in.")
