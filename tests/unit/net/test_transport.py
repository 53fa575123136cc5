"""The transport over real sockets on loopback: framing, bounds, reuse, and what is left when it ends."""

from __future__ import annotations

import asyncio
import gc

import pytest

from runvil import FetchConfig, WebFetch
from runvil.net.transport import MAX_FIELD_BYTES, MAX_FIELDS, MAX_HEAD_BYTES, MAX_INFORMATIONAL
from runvil.ports import Resolver
from runvil.testing import Rebinding
from tests.support.loopback import Answer, Loopback
from tests.support.rendering import InProcess
from tests.vectors.expectations import Outcome, call

URL = "https://example.com/"
DNS = {"example.com": ["93.184.216.34"]}
TEXT = [("Content-Type", b"text/plain")]
OK = Answer(200, TEXT, b"hello")
IN_TIME = 15.0  # seconds; a guard against a hang
PAGE = "url: https://example.com/\ntruncated: false\nextraction: plain\n\n"
NETWORK_ERROR = "fetch failed for https://example.com/: network error; try a different URL"
UNREADABLE = "the response body from https://example.com/ could not be read; try again or use a different URL"
TIMED_OUT = "request to https://example.com/ timed out; try again or use a different URL"


async def fetch_each(
    site: Loopback, *urls: str, config: FetchConfig | None = None, resolver: Resolver | None = None
) -> list[Outcome]:
    config = config or FetchConfig()
    async with site, WebFetch(config, net=site.net(config, resolver), renderer=InProcess()) as fetch:
        return [await asyncio.wait_for(call(fetch, {"url": url}), IN_TIME) for url in urls]


async def text_of(answer: Answer, *, config: FetchConfig | None = None) -> str:
    return (await fetch_each(Loopback({URL: answer}, DNS), URL, config=config))[0].text


def raw(head: str, body: bytes = b"", *, then: str = "close") -> Answer:
    return Answer(raw=head.replace("\n", "\r\n").encode("latin-1") + b"\r\n\r\n" + body, then=then)


READABLE = {
    "a body until the connection closes": (raw("HTTP/1.1 200 OK\nContent-Type: text/plain", b"hello"), "hello"),
    "HTTP/1.0": (raw("HTTP/1.0 200 OK\nContent-Type: text/plain\nContent-Length: 5", b"hello"), "hello"),
    "the same length twice": (
        raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5\nContent-Length: 5", b"hello"),
        "hello",
    ),
    "a body longer than declared": (
        raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 3", b"longer body"),
        "lon",
    ),
    "chunks win over a length": (
        raw(
            "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 3\nTransfer-Encoding: chunked",
            b"5\r\nhello\r\n0\r\n\r\n",
        ),
        "hello",
    ),
    "early hints": (
        raw("HTTP/1.1 103 Early Hints\n\nHTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5", b"hello"),
        "hello",
    ),
    "as many 1xx as are bearable": (
        raw("HTTP/1.1 100 C\n\n" * MAX_INFORMATIONAL + "HTTP/1.1 200 OK\nContent-Type: text/plain", b"hello"),
        "hello",
    ),
    "as many fields as are bearable": (
        raw("HTTP/1.1 200 OK\nContent-Type: text/plain\n" + "\n".join(["a: b"] * (MAX_FIELDS - 1)), b"hello"),
        "hello",
    ),
    "a value as long as is bearable": (
        raw("HTTP/1.1 200 OK\nContent-Type: text/plain\na: " + "b" * MAX_FIELD_BYTES, b"hello"),
        "hello",
    ),
    "no content at all": (raw("HTTP/1.1 204 No Content\nContent-Type: text/plain"), ""),
    "a non-ASCII header value": (raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nX: \xe9", b"hello"), "hello"),
}


@pytest.mark.parametrize("name", READABLE)
async def test_what_real_servers_send_is_read(name: str) -> None:
    answer, body = READABLE[name]
    assert await text_of(answer) == PAGE + body


NO_RESPONSE = {
    "not HTTP": raw("SSH-2.0-OpenSSH"),
    "HTTP/0.9": Answer(raw=b"hello", then="close"),
    "two lengths": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5\nContent-Length: 6", b"hello!"),
    "a negative length": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: -1", b"hello"),
    "a signed length": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: +5", b"hello"),
    "a length in hex": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 0x5", b"hello"),
    "an unknown transfer coding": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nTransfer-Encoding: gzip", b"x"),
    "a switch of protocols": raw("HTTP/1.1 101 Switching Protocols\nUpgrade: h2c\nConnection: upgrade"),
    "too many 1xx": raw("HTTP/1.1 100 C\n\n" * (MAX_INFORMATIONAL + 1) + "HTTP/1.1 200 OK\nContent-Type: text/plain"),
    "too many fields": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\n" + "\n".join(["a: b"] * MAX_FIELDS)),
    "a value too long": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\na: " + "b" * (MAX_FIELD_BYTES + 1)),
    "too much header": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\n" + "\n".join(["a: " + "b" * 999] * 80)),
    "an endless header line": raw("HTTP/1.1 200 OK\na: " + "b" * (MAX_HEAD_BYTES * 4)),
    "a NUL in a header": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\na: b\0c", b"hello"),
    "a bare CR in a header": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\na: b\rc", b"hello"),
    "an end before the head": Answer(raw=b"HTTP/1.1 200 OK\r\nContent-", then="close"),
    "nothing at all": Answer(raw=b"", then="close"),
    "a reset": Answer(raw=b"", then="reset"),
}


@pytest.mark.parametrize("name", NO_RESPONSE)
async def test_what_is_no_response_is_a_network_error(name: str) -> None:
    assert await text_of(NO_RESPONSE[name]) == NETWORK_ERROR


CHUNKED = "HTTP/1.1 200 OK\nContent-Type: text/plain\nTransfer-Encoding: chunked"
CUT = {
    "a short body": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 50", b"hello"),
    "a reset body": raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 50", b"hello", then="reset"),
    "chunks without an end": raw(CHUNKED, b"5\r\nhello\r\n"),
    "a chunk size with a sign": raw(CHUNKED, b"+5\r\nhello\r\n0\r\n\r\n"),
    "a chunk size with a prefix": raw(CHUNKED, b"0x5\r\nhello\r\n0\r\n\r\n"),
    "a chunk longer than its size": raw(CHUNKED, b"3\r\nhello\r\n0\r\n\r\n"),
    "an endless chunk extension": raw(CHUNKED, b"5;" + b"a" * 500_000),
    "an endless trailer": raw(CHUNKED, b"5\r\nhello\r\n0\r\n" + b"a: b\r\n" * 50_000),
}


@pytest.mark.parametrize("name", CUT)
async def test_a_body_that_breaks_off_gives_no_part_of_itself(name: str) -> None:
    assert await text_of(CUT[name]) == UNREADABLE


async def test_a_location_longer_than_a_url_may_be_is_the_status() -> None:
    answer = raw("HTTP/1.1 302 Found\nLocation: /" + "a" * (MAX_FIELD_BYTES + 9))
    assert await text_of(answer) == "https://example.com/ answered HTTP 302; try a different URL"


async def test_the_head_ends_at_the_deadline_and_names_the_request() -> None:
    answer = Answer(raw=b"HTTP/1.1 200 OK\r\n", then="hang")
    assert await text_of(answer, config=FetchConfig(timeout=0.3)) == TIMED_OUT


async def test_the_body_ends_at_the_deadline_and_names_the_body() -> None:
    answer = raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 50", b"hello", then="hang")
    assert await text_of(answer, config=FetchConfig(timeout=0.3)) == UNREADABLE


async def test_a_second_request_reuses_the_connection_and_asks_dns_again() -> None:
    site = Loopback({URL: OK}, DNS)
    assert [o.text for o in await fetch_each(site, URL, URL)] == [PAGE + "hello"] * 2
    assert site.connections == 1
    assert site.lookups == ["example.com"] * 2


async def test_a_connection_is_not_reused_when_its_peer_is_no_longer_among_the_answers() -> None:
    site = Loopback({URL: OK}, {"example.com": Rebinding((["93.184.216.34"], ["1.1.1.1"]))})
    await fetch_each(site, URL, URL)
    assert site.dialled == ["93.184.216.34", "1.1.1.1"]


async def test_a_rebound_name_is_refused_though_an_idle_connection_could_serve_it() -> None:
    site = Loopback({URL: OK}, {"example.com": Rebinding((["93.184.216.34"], ["127.0.0.1"]))})
    first, second = await fetch_each(site, URL, URL)
    assert (first.kind, second.text) == ("ok", "host example.com has no allowed address")
    assert site.dialled == ["93.184.216.34"]
    assert len(site.requests) == 1


async def test_one_host_never_speaks_over_anothers_connection() -> None:
    other = "https://other.example/"
    site = Loopback({URL: OK, other: OK}, DNS | {"other.example": ["93.184.216.34"]})
    await fetch_each(site, URL, other)
    assert site.connections == 2
    assert [r.sni for r in site.requests] == ["example.com", "other.example"]


async def test_a_port_is_part_of_what_a_connection_was_opened_for() -> None:
    on_80 = "https://example.com:80/"
    site = Loopback({URL: OK, on_80: OK}, DNS)
    await fetch_each(site, URL, on_80)
    assert site.connections == 2


UNUSABLE_AFTERWARDS = {
    "unsolicited bytes": raw(
        "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5", b"helloHTTP/1.1", then="keep"
    ),
    "Connection: close": raw(
        "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5\nConnection: close", b"hello", then="keep"
    ),
    "two ways to end": raw(
        "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5\nTransfer-Encoding: chunked",
        b"5\r\nhello\r\n0\r\n\r\n",
        then="keep",
    ),
    "an unread redirect": Answer(302, [("Location", b"/"), ("Content-Type", b"text/plain")], b"never read"),
    "an error status": Answer(404, TEXT, b"never read"),
}


@pytest.mark.parametrize("name", UNUSABLE_AFTERWARDS)
async def test_a_connection_in_doubt_is_not_used_again(name: str) -> None:
    site = Loopback({URL: [UNUSABLE_AFTERWARDS[name], OK]}, DNS)
    outcomes = await fetch_each(site, URL, URL)
    assert outcomes[-1].text == PAGE + "hello"
    assert site.connections == 2


async def test_bytes_that_arrive_on_an_idle_connection_close_it() -> None:
    poison = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\npoison"
    site = Loopback({URL: [OK, OK]}, DNS, late=poison)
    config = FetchConfig()
    async with site, WebFetch(config, net=site.net(config), renderer=InProcess()) as fetch:
        await call(fetch, {"url": URL})
        await asyncio.wait_for(site.closed.wait(), IN_TIME)
        assert (await call(fetch, {"url": URL})).text == PAGE + "hello"
    assert site.connections == 2


async def test_a_connection_that_the_server_closed_meanwhile_is_replaced_without_a_word() -> None:
    site = Loopback({URL: [OK, Answer(raw=b"", then="close"), OK]}, DNS)
    outcomes = await fetch_each(site, URL, URL)
    assert [o.text for o in outcomes] == [PAGE + "hello"] * 2
    assert (site.connections, len(site.requests)) == (2, 3)


async def test_a_failure_on_a_fresh_connection_is_not_retried() -> None:
    site = Loopback({URL: Answer(raw=b"", then="close")}, DNS)
    await fetch_each(site, URL)
    assert len(site.requests) == 1


async def test_an_idle_connection_is_closed_when_its_time_is_up() -> None:
    config = FetchConfig(pool_idle_timeout=0.05)
    site = Loopback({URL: OK}, DNS)
    async with site, WebFetch(config, net=site.net(config), renderer=InProcess()) as fetch:
        await call(fetch, {"url": URL})
        await asyncio.wait_for(site.closed.wait(), IN_TIME)
        assert site.open == 0


async def test_a_certificate_for_another_name_gets_no_request() -> None:
    site = Loopback({URL: OK}, DNS, bad_certificate=True)
    assert (await fetch_each(site, URL))[0].text == NETWORK_ERROR
    assert site.requests == []


async def test_a_trailing_dot_stays_in_the_host_header_and_not_in_the_tls_name() -> None:
    url = "https://example.com./"
    site = Loopback({url: OK}, {"example.com.": ["93.184.216.34"]})
    assert (await fetch_each(site, url))[0].kind == "ok"
    assert (site.requests[0].header("host"), site.requests[0].sni) == ("example.com.", "example.com")


async def test_a_cancelled_fetch_closes_its_connection_at_once() -> None:
    site = Loopback({URL: Answer(raw=b"HTTP/1.1 200 OK\r\n", then="hang")}, DNS)
    config = FetchConfig()
    async with site, WebFetch(config, net=site.net(config), renderer=InProcess()) as fetch:
        task = asyncio.create_task(fetch.call({"url": URL}))
        await asyncio.wait_for(site.asked.wait(), IN_TIME)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(site.closed.wait(), IN_TIME)
        assert site.open == 0


async def test_a_connect_limit_that_runs_out_is_the_timeout_sentence() -> None:
    site = Loopback({URL: OK}, DNS, silent=frozenset({"93.184.216.34"}))
    outcomes = await fetch_each(site, URL, config=FetchConfig(connect_timeout=0.1))
    assert outcomes[0].text == TIMED_OUT


async def test_a_refused_connection_is_a_network_error_that_keeps_the_query() -> None:
    url = "https://example.com/?q=1#part"
    site = Loopback({}, DNS, refused=frozenset({"93.184.216.34"}))
    outcomes = await fetch_each(site, url)
    assert outcomes[0].text == "fetch failed for https://example.com/?q=1: network error; try a different URL"


def test_one_tool_serves_several_event_loops_one_after_the_other() -> None:
    config = FetchConfig()
    dns, answers = DNS, {URL: OK}

    async def once(fetch: WebFetch, site: Loopback) -> str:
        async with site:
            return (await call(fetch, {"url": URL})).text

    site = Loopback(answers, dns)
    fetch = WebFetch(config, net=site.net(config), renderer=InProcess())
    assert [asyncio.run(once(fetch, site)) for _ in range(3)] == [PAGE + "hello"] * 3
    gc.collect()  # a socket that an ended loop left open would warn here, and warnings are errors
