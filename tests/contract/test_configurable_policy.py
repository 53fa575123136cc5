"""Claims: the policy a deployment may set, within which bounds, and what it opens (the chapter on the tool alone)."""

from __future__ import annotations

import asyncio
import logging
from ipaddress import ip_address
from itertools import pairwise
from typing import Any

import pytest

from runvil import ConfigError, FetchConfig, HostAddress, WebFetch
from runvil.core.config import FetchConfigBuilder
from runvil.testing import FakeNet, Reply
from tests.contract.asking import (
    ADDRESS,
    HOST,
    IN_TIME,
    OTHER,
    URL,
    Told,
    ask,
    claim,
    hard,
    html,
    moved,
    ok,
    reply,
    site,
    soft,
)
from tests.support.loopback import Answer, Loopback
from tests.support.rendering import InProcess

MIB = 1024 * 1024
PLAIN_HTTP = "http://example.com/"
INSIDE = "https://wiki.internal.corp/"
WIKI = "10.0.5.42"
NOWHERE = hard("host wiki.internal.corp has no allowed address")


def built(**knobs: Any) -> FetchConfig:
    """A policy by way of the builder; each knob is set with its value."""
    builder = FetchConfig.builder()
    for knob, value in knobs.items():
        builder = getattr(builder, knob)(*value) if isinstance(value, tuple) else getattr(builder, knob)(value)
    return builder.build()


@claim("fetch.policy.construction")
async def test_a_tool_is_built_with_the_default_policy_or_a_given_one() -> None:
    config = built(max_chars=3)
    given = WebFetch(config, net=FakeNet(), renderer=InProcess())
    assert WebFetch(net=FakeNet(), renderer=InProcess()).config == FetchConfig()
    assert given.config is config
    assert given.parameters["properties"]["max_chars"]["maximum"] == 3


@claim("fetch.policy.chaining")
def test_every_setter_gives_the_builder_back() -> None:
    builder = FetchConfig.builder()
    chained = (
        builder.allow_http(True)
        .allow_ports([80, 443, 8080])
        .allow_ip_literals(True)
        .deny_cidr("10.99.0.0/16")
        .allow_host_address("wiki.internal.corp", WIKI)
        .max_redirects(2)
        .max_bytes(16 * MIB)
        .max_chars(100_000)
        .connect_timeout(3)
        .timeout(60)
        .pool_idle_timeout(5)
        .user_agent("my-service/1.0")
    )
    assert chained is builder
    config = chained.build()
    assert (config.allow_http, config.allow_ports, config.allow_ip_literals) == (True, (80, 443, 8080), True)
    assert (config.max_redirects, config.max_bytes, config.max_chars) == (2, 16 * MIB, 100_000)
    assert (config.connect_timeout, config.timeout, config.pool_idle_timeout) == (3, 60, 5)
    assert config.user_agent == "my-service/1.0"
    assert [str(row.network) for row in config.denied] == ["10.99.0.0/16"]
    assert config.pairs == (HostAddress("wiki.internal.corp", ip_address(WIKI)),)


@claim("fetch.policy.validated-once")
def test_nothing_is_judged_before_build_and_build_names_the_first_bad_field() -> None:
    builder = FetchConfig.builder().max_bytes(0).user_agent("a\nb").deny_cidr("nonsense").timeout(-1)
    assert mistake_of(builder) == "user agent is not a valid http header value"
    assert mistake_of(builder.user_agent("fine")) == "max_bytes must be greater than zero"
    assert mistake_of(builder.max_bytes(1)) == "timeout must be a positive duration"
    assert mistake_of(builder.timeout(1)) == "invalid deny cidr nonsense"


def mistake_of(builder: FetchConfigBuilder) -> str:
    with pytest.raises(ConfigError) as caught:
        builder.build()
    return str(caught.value)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"user_agent": "a\r\nCookie: b"}, "user agent is not a valid http header value"),
    ({"user_agent": "\x7f"}, "user agent is not a valid http header value"),
    ({"max_bytes": 0}, "max_bytes must be greater than zero"),
    ({"max_bytes": 64 * MIB + 1}, "max_bytes (67108865) exceeds the maximum of 67108864"),
    ({"max_chars": 0}, "max_chars must be greater than zero"),
    ({"max_chars": 10_000_001}, "max_chars (10000001) exceeds the maximum of 10000000"),
    ({"max_redirects": 21}, "max_redirects (21) exceeds the maximum of 20"),
    ({"connect_timeout": 0}, "connect_timeout must be a positive duration"),
    ({"connect_timeout": 61}, "connect_timeout (61s) exceeds the maximum of 60s"),
    ({"timeout": 0}, "timeout must be a positive duration"),
    ({"timeout": 301}, "timeout (301s) exceeds the maximum of 300s"),
    ({"timeout": float("nan")}, "timeout must be a positive duration"),
    ({"pool_idle_timeout": -0.5}, "pool_idle_timeout must be a positive duration"),
    ({"pool_idle_timeout": 601}, "pool_idle_timeout (601s) exceeds the maximum of 600s"),
    ({"deny_cidr": "10.0.0.0"}, "invalid deny cidr 10.0.0.0"),
    ({"deny_cidr": "10.0.0.1/8"}, "invalid deny cidr 10.0.0.1/8"),
    ({"deny_cidr": "10.0.0.0/33"}, "invalid deny cidr 10.0.0.0/33"),
    ({"deny_cidr": "example.com/8"}, "invalid deny cidr example.com/8"),
    ({"allow_host_address": ("bad:host", WIKI)}, 'invalid exact host "bad:host"'),
    ({"allow_host_address": ("bad@host", WIKI)}, 'invalid exact host "bad@host"'),
    ({"allow_host_address": ("a/b", WIKI)}, 'invalid exact host "a/b"'),
    ({"allow_host_address": ("", WIKI)}, 'invalid exact host ""'),
]


@claim("fetch.policy.config-error")
@pytest.mark.parametrize(("knobs", "message"), BAD)
def test_a_bad_field_is_told_in_its_own_words(knobs: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        built(**knobs)
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)


@claim("fetch.policy.ceilings")
@pytest.mark.parametrize(
    "knobs",
    [
        {"max_bytes": 64 * MIB},
        {"max_bytes": 1},
        {"max_chars": 10_000_000},
        {"max_chars": 1},
        {"max_redirects": 20},
        {"max_redirects": 0},
        {"connect_timeout": 60},
        {"timeout": 300},
        {"pool_idle_timeout": 600},
        {"timeout": 0.001},
    ],
)
def test_exactly_the_bound_passes(knobs: dict[str, Any]) -> None:
    (name, value), *_ = knobs.items()
    assert getattr(built(**knobs), name) == value


@claim("fetch.knobs.allow-http")
async def test_http_is_spoken_where_it_is_allowed_and_https_still() -> None:
    net = site({PLAIN_HTTP: reply(), URL: reply()})
    assert await ask(net, PLAIN_HTTP) == soft("scheme not allowed: http")
    assert await ask(net, PLAIN_HTTP, built(allow_http=True)) == ok("hello", PLAIN_HTTP)
    assert await ask(net, URL, built(allow_http=True)) == ok("hello")


@claim("fetch.knobs.allow-http")
async def test_plain_http_goes_to_port_80_without_tls() -> None:
    config = built(allow_http=True)
    page = Answer(headers=[("Content-Type", b"text/plain")], body=b"hello")
    server = Loopback({PLAIN_HTTP: page}, {HOST: [ADDRESS]})
    async with server:
        assert await ask(server.net(config), PLAIN_HTTP, config) == ok("hello", PLAIN_HTTP)
    assert [(seen.url, seen.sni) for seen in server.requests] == [(PLAIN_HTTP, None)]


@claim("fetch.boundary.no-downgrade")
async def test_a_downgrade_stays_refused_when_http_is_allowed() -> None:
    net = site({URL: moved(PLAIN_HTTP), PLAIN_HTTP: reply()})
    told = await ask(net, URL, built(allow_http=True))
    assert told == soft(f"redirect from {URL} to {PLAIN_HTTP} refused: refusing https to http downgrade")
    assert net.requests == [URL]


@claim("fetch.knobs.allow-ports")
async def test_the_ports_are_exactly_those_listed() -> None:
    odd, config = "https://example.com:8080/", built(allow_ports=[8080])
    net = site({odd: reply(), URL: reply()})
    assert await ask(net, odd, config) == ok("hello", odd)
    assert await ask(net, URL, config) == hard("port not allowed: 443")
    assert await ask(net, URL, built(allow_ports=[])) == hard("port not allowed: 443")


@claim("fetch.knobs.max-redirects")
@pytest.mark.parametrize("cap", [0, 1, 7])
async def test_the_redirect_cap_is_the_one_set(cap: int) -> None:
    urls = [f"https://h{i}.example/" for i in range(cap + 2)]
    pages: dict[str, Reply] = {url: moved(following) for url, following in pairwise(urls)}
    config = built(max_redirects=cap)
    assert await ask(site({**pages, urls[cap]: reply()}), urls[0], config) == ok("hello", urls[cap])
    told = await ask(site({**pages, urls[-1]: reply()}), urls[0], config)
    assert told.text == f"redirect from {urls[cap]} to {urls[-1]} refused: exceeded max redirects ({cap})"


@claim("fetch.knobs.max-bytes")
@pytest.mark.parametrize(("size", "kind"), [(100, "ok"), (101, "soft")])
async def test_the_byte_cap_is_the_one_set(size: int, kind: str) -> None:
    assert (await ask(site(html("x" * size)), config=built(max_bytes=100))).kind == kind


@claim("fetch.knobs.max-chars")
@pytest.mark.parametrize("asked", [None, 51, 100_000])
async def test_no_call_gets_more_characters_than_the_policy_allows(asked: int | None) -> None:
    told = await ask(site(reply("x" * 51)), {"url": URL, "max_chars": asked}, built(max_chars=50))
    assert told == ok("x" * 50, truncated=True)


@claim("fetch.knobs.user-agent")
async def test_the_user_agent_is_the_one_set() -> None:
    config = built(user_agent="my-service/1.0 (+https://example.com/bot)")
    page = Answer(headers=[("Content-Type", b"text/plain")], body=b"hello")
    server = Loopback({URL: page}, {HOST: [ADDRESS]})
    async with server:
        await ask(server.net(config), URL, config)
    assert server.requests[0].header("User-Agent") == "my-service/1.0 (+https://example.com/bot)"


@claim("fetch.knobs.ip-literals")
@pytest.mark.parametrize("host", ["1.1.1.1", "[2606:4700:4700::1111]"])
async def test_a_public_literal_is_dialled_where_literals_are_allowed(host: str) -> None:
    url = f"https://{host}/"
    net = site({url: reply()})
    assert await ask(net, url, built(allow_ip_literals=True)) == ok("hello", url)
    assert (net.lookups, net.dialled) == ([], [host.strip("[]")])


@claim("fetch.knobs.ip-literals-judged")
@claim("fetch.boundary.obfuscated")
@pytest.mark.parametrize(
    ("spelled", "host"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("10.0.0.1", "10.0.0.1"),
        ("[::1]", "[::1]"),
        ("[::ffff:127.0.0.1]", "[::ffff:7f00:1]"),
        ("[fd00::1]", "[fd00::1]"),
    ],
)
async def test_an_allowed_literal_is_still_judged_as_an_address(spelled: str, host: str) -> None:
    net = site()
    assert await ask(net, f"https://{spelled}/", built(allow_ip_literals=True)) == hard(f"host {host} is not fetchable")
    assert (net.lookups, net.dialled) == ([], [])


@claim("fetch.knobs.ip-literals-judged")
async def test_a_redirect_to_a_blocked_literal_fails_the_call_undialled() -> None:
    net = site(moved("https://169.254.169.254/latest"))
    told = await ask(net, config=built(allow_ip_literals=True))
    assert told == hard("host 169.254.169.254 is not fetchable")
    assert net.dialled == [ADDRESS]


@claim("fetch.pair.only-way")
async def test_an_exact_pair_is_the_way_to_an_internal_host() -> None:
    net = site({INSIDE: reply()}, dns={"wiki.internal.corp": [WIKI]})
    assert await ask(net, INSIDE) == NOWHERE
    lax = built(allow_http=True, allow_ports=[80, 443, 8080], allow_ip_literals=True, supplement=False)
    assert await ask(net, INSIDE, lax) == NOWHERE
    assert net.dialled == []
    assert await ask(net, INSIDE, built(allow_host_address=("wiki.internal.corp", WIKI))) == ok("hello", INSIDE)
    assert net.dialled == [WIKI]


@claim("fetch.pair.both-keys")
async def test_another_host_at_the_same_address_gets_nothing() -> None:
    net = site(dns={"evil.example": [WIKI]})
    told = await ask(net, "https://evil.example/", built(allow_host_address=("wiki.internal.corp", WIKI)))
    assert told == hard("host evil.example has no allowed address")
    assert net.dialled == []


@claim("fetch.pair.one-address")
@pytest.mark.parametrize("address", ["10.0.5.41", "10.0.5.43", "127.0.0.1", "::ffff:10.0.5.42"])
async def test_the_same_host_at_another_address_gets_nothing(address: str) -> None:
    net = site(dns={"wiki.internal.corp": [address]})
    assert await ask(net, INSIDE, built(allow_host_address=("wiki.internal.corp", WIKI))) == NOWHERE
    assert net.dialled == []


@claim("fetch.pair.canonical")
@pytest.mark.parametrize("written", ["WIKI.Internal.Corp", "wiki.internal.corp.", "  wiki.internal.corp "])
@pytest.mark.parametrize("asked", [INSIDE, "https://wiki.internal.corp./", "https://WIKI.internal.corp/"])
async def test_case_and_trailing_dot_do_not_matter_on_either_side(written: str, asked: str) -> None:
    dns = {"wiki.internal.corp": [WIKI], "wiki.internal.corp.": [WIKI]}
    net = site({INSIDE: reply(), "https://wiki.internal.corp./": reply()}, dns)
    assert (await ask(net, asked, built(allow_host_address=(written, WIKI)))).kind == "ok"
    assert net.dialled == [WIKI]


@claim("fetch.deny.ranges")
async def test_further_ranges_are_blocked_and_named_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "runvil.fetch")
    config = built(deny_cidr="93.184.0.0/16")
    net = site(dns={HOST: [ADDRESS, OTHER]})
    assert await ask(net, URL, config) == ok("hello")
    assert net.dialled == [OTHER]
    assert caplog.messages == [
        "host example.com resolved to blocked address 93.184.216.34 in range deny_extra 93.184.0.0/16"
    ]


@claim("fetch.deny.ranges")
@pytest.mark.parametrize(
    ("address", "kind"),
    [("8.8.3.255", "ok"), ("8.8.4.0", "hard"), ("8.8.7.255", "hard"), ("8.8.8.0", "ok"), ("2606:4700::1", "hard")],
)
async def test_a_denied_range_has_its_edges_and_there_may_be_several(address: str, kind: str) -> None:
    config = FetchConfig.builder().deny_cidr("8.8.4.0/22").deny_cidr("2606:4700::/32").build()
    assert (await ask(site(dns={HOST: [address]}), URL, config)).kind == kind


@claim("fetch.boundary.embedded")
@pytest.mark.parametrize(
    "address", ["2001:0:808:404::1", "2001:4860:0:0:0:5efe:808:404", "2001:4860::200:5efe:808:404"]
)
async def test_an_embedded_ipv4_address_is_tested_against_further_ranges(address: str) -> None:
    open_to_all = FetchConfig(supplement=False)
    closed = FetchConfig(supplement=False, deny_cidrs=("8.8.4.0/24",))
    assert (await ask(site(dns={HOST: [address]}), URL, open_to_all)).kind == "ok"
    assert (await ask(site(dns={HOST: [address]}), URL, closed)).kind == "hard"


@claim("fetch.knobs.timeouts")
async def test_the_time_limits_are_the_ones_set() -> None:
    config = built(timeout=0.05)
    server = Loopback({URL: Answer(raw=b"", then="hang")}, {HOST: [ADDRESS]})
    async with server:
        told = await ask(server.net(config), URL, config)
    assert told == soft(f"request to {URL} timed out; try again or use a different URL")


@claim("fetch.knobs.pool-idle")
async def test_an_idle_connection_is_used_again_only_while_its_time_runs() -> None:
    page = Answer(headers=[("Content-Type", b"text/plain")], body=b"hello")
    for config, connections in ((built(pool_idle_timeout=600), 1), (built(pool_idle_timeout=1e-9), 2)):
        server = Loopback({URL: page}, {HOST: [ADDRESS]})
        async with server, WebFetch(config, net=server.net(config), renderer=InProcess()) as fetch:
            await fetch.call({"url": URL})
            if connections > 1:
                await asyncio.wait_for(server.closed.wait(), IN_TIME)
            await fetch.call({"url": URL})
        assert server.connections == connections


PAIR = HostAddress("wiki.internal.corp", WIKI, ports=(8080,), http=True)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("https://wiki.internal.corp:8080/", ok("hello", "https://wiki.internal.corp:8080/")),
        ("http://wiki.internal.corp/", ok("hello", "http://wiki.internal.corp/")),
        ("http://wiki.internal.corp:8080/", ok("hello", "http://wiki.internal.corp:8080/")),
        ("https://wiki.internal.corp:8081/", hard("port not allowed: 8081")),
        ("https://example.com:8080/", hard("port not allowed: 8080")),
        ("http://example.com/", soft("scheme not allowed: http")),
    ],
)
async def test_what_a_pair_opens_is_open_for_its_host_alone(url: str, told: Told) -> None:
    net = site({url: reply()}, dns={"wiki.internal.corp": [WIKI]})
    assert await ask(net, url, FetchConfig(allow_host_addresses=(PAIR,))) == told
    assert net.dialled == ([WIKI] if told.kind == "ok" else [])


@pytest.mark.parametrize("url", ["https://wiki.internal.corp:8080/", "http://wiki.internal.corp/"])
async def test_what_a_pair_opens_is_closed_at_another_address_of_its_host(url: str) -> None:
    net = site({url: reply()}, dns={"wiki.internal.corp": [ADDRESS]})
    assert await ask(net, url, FetchConfig(allow_host_addresses=(PAIR,))) == NOWHERE
    assert net.dialled == []


async def test_an_exact_pair_beats_a_denied_range_and_a_denied_range_beats_the_rest() -> None:
    config = FetchConfig(
        deny_cidrs=("10.0.0.0/8", "93.184.0.0/16"), allow_host_addresses=(("wiki.internal.corp", WIKI),)
    )
    net = site({INSIDE: reply(), URL: reply()}, dns={"wiki.internal.corp": [WIKI]})
    assert await ask(net, INSIDE, config) == ok("hello", INSIDE)
    assert await ask(net, URL, config) == hard("host example.com has no allowed address")


@pytest.mark.parametrize("written", ["::1", "[::1]", "0:0:0:0:0:0:0:1"])
async def test_a_pair_for_a_literal_admits_it_with_or_without_brackets(written: str) -> None:
    config = FetchConfig(allow_ip_literals=True, allow_host_addresses=((written, "::1"),))
    net = site({"https://[::1]/": reply()})
    assert await ask(net, "https://[::1]/", config) == ok("hello", "https://[::1]/")
    assert (net.lookups, net.dialled) == ([], ["::1"])


async def test_duplicate_ranges_and_pairs_collapse() -> None:
    config = FetchConfig(
        deny_cidrs=("10.9.0.0/16", "10.9.0.0/16"), allow_host_addresses=(("a.example", WIKI), ("A.example.", WIKI))
    )
    assert (len(config.denied), len(config.pairs)) == (1, 1)
