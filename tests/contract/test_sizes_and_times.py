"""Claims: the byte cap, the character cut, the time limits, and calls that are dropped."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterator

import brotli
import pytest

from runvil import FetchConfig, WebFetch
from runvil.core.calls import FETCH
from runvil.testing import Behaviour, FakeNet, Reply
from tests.contract.asking import (
    ADDRESS,
    HOST,
    IN_TIME,
    URL,
    article,
    ask,
    claim,
    html,
    moved,
    ok,
    reply,
    site,
    soft,
    typed,
    unread,
)
from tests.support.loopback import Answer, Loopback
from tests.support.rendering import InProcess

CAP = 8_388_608
SMALL = FetchConfig(max_bytes=1000)
HURRIED = FetchConfig(timeout=0.05, connect_timeout=0.02)
WHOLE = ["text/html", "application/json", "application/xml"]
TIMED_OUT = soft(f"request to {URL} timed out; try again or use a different URL")
UNREADABLE = soft(f"the response body from {URL} could not be read; try again or use a different URL")


def too_large(cap: int) -> str:
    return f"response from {URL} exceeds the {cap}-byte size cap"


@claim("pack.sizes.cut")
@pytest.mark.parametrize("wanted", [1, 25, 99])
async def test_longer_text_is_cut_to_exactly_its_first_characters(wanted: int) -> None:
    text = "".join(chr(ord("a") + i % 26) for i in range(100))
    told = await ask(site(reply(text)), {"url": URL, "max_chars": wanted})
    assert told == ok(text[:wanted], truncated=True)


@claim("pack.sizes.cut-after-extraction")
async def test_the_cut_counts_the_characters_of_the_markdown() -> None:
    whole = (await ask(site(html()))).body
    for wanted, truncated in ((len(whole) - 1, "true"), (len(whole), "false")):
        told = await ask(site(html()), {"url": URL, "max_chars": wanted})
        assert (told.body, told.header["truncated"]) == (whole[:wanted], truncated)


@claim("pack.sizes.characters")
@pytest.mark.parametrize("text", ["é" * 10, "漢" * 10, "😀" * 10, "e\u0301" * 5])
async def test_the_cut_counts_characters_and_splits_none(text: str) -> None:
    told = await ask(site(reply(text)), {"url": URL, "max_chars": 7})
    assert told == ok(text[:7], truncated=True)
    assert "\ufffd" not in told.body


@claim("pack.sizes.exact-text")
@pytest.mark.parametrize(("length", "truncated"), [(24, False), (25, False), (26, True)])
async def test_text_of_exactly_the_limit_is_whole(length: int, truncated: bool) -> None:
    told = await ask(site(reply("x" * length)), {"url": URL, "max_chars": 25})
    assert told == ok("x" * min(length, 25), truncated=truncated)


@claim("pack.sizes.structured-cut")
async def test_a_cut_json_text_is_flagged_and_no_longer_a_document() -> None:
    told = await ask(site(reply('{"a": [1, 2, 3]}', "application/json")), {"url": URL, "max_chars": 8})
    assert told == ok('{"a": [1', truncated=True)


def in_pieces(total: int, size: int = 65_536) -> Iterator[bytes]:
    for at in range(0, total, size):
        yield b"x" * min(size, total - at)


@claim("pack.sizes.default-cap")
@pytest.mark.parametrize("content_type", WHOLE)
async def test_the_cap_is_eight_mebibytes(content_type: str) -> None:
    net = site(typed(content_type, in_pieces(CAP + 1)))
    assert await ask(net) == soft(too_large(CAP))


@claim("pack.sizes.default-cap")
@claim("pack.sizes.exactly-the-cap")
@pytest.mark.parametrize("content_type", ["application/json", "text/plain"])
async def test_exactly_eight_mebibytes_are_accepted(content_type: str) -> None:
    told = await ask(site(typed(content_type, in_pieces(CAP))), {"url": URL, "max_chars": 3})
    assert told == ok("xxx", truncated=True)


@claim("pack.sizes.exactly-the-cap")
@claim("fetch.caps.bytes")
@pytest.mark.parametrize("content_type", WHOLE)
@pytest.mark.parametrize(("size", "kind"), [(999, "ok"), (1000, "ok"), (1001, "soft")])
async def test_the_last_byte_inside_the_cap_and_the_first_outside(content_type: str, size: int, kind: str) -> None:
    told = await ask(site(reply("x" * size, content_type)), config=SMALL)
    assert told.kind == kind
    assert kind == "ok" or told.text == too_large(1000)


@claim("pack.sizes.compression")
@claim("fetch.coding.transparent")
@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("x-gzip", gzip.compress), ("br", brotli.compress)]
)
@pytest.mark.parametrize("content_type", ["text/html", "text/plain", "application/json"])
async def test_gzip_and_brotli_are_undone_unseen(coding: str, pack: object, content_type: str) -> None:
    plain = await ask(site(reply(article(), content_type)))
    packed = await ask(site(typed(content_type, pack(article()), ("Content-Encoding", coding))))  # type: ignore[operator]
    assert plain.kind == "ok"
    assert packed == plain


@claim("pack.sizes.compression-offered")
async def test_a_request_offers_gzip_and_brotli() -> None:
    page = Answer(headers=[("Content-Type", b"text/plain")], body=b"hello")
    server = Loopback({URL: page}, {HOST: [ADDRESS]})
    async with server:
        await ask(server.net(FetchConfig()))
    offered = server.requests[0].header("Accept-Encoding") or ""
    assert {coding.strip() for coding in offered.split(",")} == {"gzip", "br"}


@claim("pack.sizes.expanded-size")
@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("br", brotli.compress)])
@pytest.mark.parametrize(("size", "kind"), [(1000, "ok"), (1001, "soft"), (100_000, "soft")])
async def test_a_body_is_measured_by_its_expanded_size(coding: str, pack: object, size: int, kind: str) -> None:
    body: bytes = pack(b"x" * size)  # type: ignore[operator]
    assert len(body) < 1000
    told = await ask(site(typed("application/json", body, ("Content-Encoding", coding))), config=SMALL)
    assert told.kind == kind
    assert kind == "ok" or told.text == too_large(1000)


@claim("pack.sizes.declared-length")
@claim("fetch.caps.declared")
@pytest.mark.parametrize("content_type", WHOLE)
@pytest.mark.parametrize("declared", ["1001", "9000000000", "9" * 30])
async def test_a_declared_length_over_the_cap_is_refused_unread(content_type: str, declared: str) -> None:
    net = site(typed(content_type, unread(), ("Content-Length", declared)))
    assert await ask(net, config=SMALL) == soft(too_large(1000))
    assert net.bytes_read == 0


@claim("pack.sizes.declared-length")
@pytest.mark.parametrize("declared", ["1000", "0", "", "many", "-5", "1e9"])
async def test_a_declared_length_that_is_none_or_fits_refuses_nothing(declared: str) -> None:
    net = site(typed("application/json", b"{}", ("Content-Length", declared)))
    assert await ask(net, config=SMALL) == ok("{}")


@claim("pack.sizes.expanded-size")
@pytest.mark.parametrize("content_type", WHOLE)
async def test_the_declared_length_of_a_compressed_body_says_nothing(content_type: str) -> None:
    fields = (("Content-Encoding", "gzip"), ("Content-Length", "9000000000"))
    assert (await ask(site(typed(content_type, gzip.compress(b"{}"), *fields)), config=SMALL)).kind == "ok"


@claim("pack.sizes.stops-at-the-cap")
@claim("fetch.caps.stream")
@pytest.mark.parametrize("content_type", [*WHOLE, "text/plain"])
async def test_the_download_stops_when_the_count_passes_the_cap(content_type: str) -> None:
    def endless() -> Iterator[bytes]:
        for _ in range(11):
            yield b"x" * 100
        raise AssertionError("read on past the cap")

    net = site(typed(content_type, endless()))
    told = await ask(net, config=SMALL)
    assert told == (ok("x" * 1000, truncated=True) if content_type == "text/plain" else soft(too_large(1000)))
    assert net.bytes_read == 1100
    assert net.open_connections == 0


@claim("pack.sizes.flat-cut")
@pytest.mark.parametrize(("size", "truncated"), [(999, False), (1000, False), (1001, True), (5000, True)])
async def test_flat_text_over_the_cap_keeps_its_beginning(size: int, truncated: bool) -> None:
    told = await ask(site(reply("x" * size)), config=SMALL)
    assert told == ok("x" * min(size, 1000), truncated=truncated)


@claim("pack.sizes.flat-not-up-front")
async def test_flat_text_is_never_refused_for_its_declared_length() -> None:
    net = site(typed("text/plain", in_pieces(5000, 100), ("Content-Length", "9000000000")))
    assert await ask(net, config=SMALL) == ok("x" * 1000, truncated=True)


@claim("pack.sizes.flat-then-characters")
async def test_the_character_cut_applies_to_cut_flat_text() -> None:
    told = await ask(site(reply("é" * 600)), {"url": URL, "max_chars": 499}, SMALL)
    assert told == ok("é" * 499, truncated=True)


@claim("pack.sizes.truncated-line")
@pytest.mark.parametrize("content_type", WHOLE)
async def test_a_whole_body_never_sets_the_flag_by_its_bytes(content_type: str) -> None:
    told = await ask(site(reply("x" * 1000, content_type)), config=SMALL)
    assert told.header["truncated"] == "false"


@claim("pack.times.request")
@pytest.mark.parametrize("behaviour", [Behaviour.HANG_BEFORE_HEADERS, Behaviour.CONNECT_HANG])
async def test_a_server_that_never_answers_is_a_time_out(behaviour: Behaviour) -> None:
    net = site(Reply(behaviour=behaviour))
    assert await ask(net, config=HURRIED) == TIMED_OUT
    assert net.open_connections == 0


@claim("pack.times.connect")
async def test_a_connection_that_does_not_open_in_time_is_the_same_time_out() -> None:
    server = Loopback({URL: Answer()}, {HOST: [ADDRESS]}, silent=frozenset({ADDRESS}))
    config = FetchConfig(connect_timeout=0.02)  # the whole request has its twenty seconds
    async with server:
        assert await ask(server.net(config), config=config) == TIMED_OUT
    assert server.dialled == [ADDRESS]


@claim("pack.times.connect-each-hop")
async def test_each_hop_has_its_own_time_to_connect_and_the_requested_url_is_named() -> None:
    second = "https://b.example/next"
    net = site({URL: moved(second), second: Reply(behaviour=Behaviour.CONNECT_HANG)})
    assert await ask(net, config=HURRIED) == TIMED_OUT
    assert net.requests == [URL, second]


@claim("pack.times.one-budget")
async def test_the_whole_fetch_has_one_time_limit_over_all_hops() -> None:
    second = "https://b.example/next"
    net = site({URL: moved(second), second: Reply(behaviour=Behaviour.HANG_BEFORE_HEADERS)})
    assert await ask(net, config=HURRIED) == TIMED_OUT


@claim("pack.times.body")
@pytest.mark.parametrize("content_type", [*WHOLE, "text/plain"])
async def test_a_body_that_never_ends_is_one_that_cannot_be_read(content_type: str) -> None:
    net = site(Reply(headers=[("Content-Type", content_type)], body=b"half", behaviour=Behaviour.HANG_MID_BODY))
    assert await ask(net, config=HURRIED) == UNREADABLE
    assert net.open_connections == 0


class Asleep(FakeNet):
    async def lookup(self, name: str) -> tuple[()]:
        self.lookups.append(name)
        await asyncio.get_running_loop().create_future()
        raise AssertionError


@claim("pack.times.lookup")
async def test_a_lookup_that_hangs_is_a_time_out_too() -> None:
    net = Asleep()
    assert await ask(net, config=HURRIED) == TIMED_OUT
    assert net.dialled == []


@claim("pack.times.url-shown")
async def test_the_time_out_names_the_requested_url_without_its_query() -> None:
    url = "https://example.com/slow?token=1"
    net = site({url: Reply(behaviour=Behaviour.HANG_BEFORE_HEADERS)})
    assert await ask(net, f"{url}#x", HURRIED) == soft(
        "request to https://example.com/slow timed out; try again or use a different URL"
    )


@claim("pack.dropped.closes")
@pytest.mark.parametrize("then", [b"", b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>half"])
async def test_a_dropped_call_closes_its_connection(then: bytes) -> None:
    server = Loopback({URL: Answer(raw=then, then="hang")}, {HOST: [ADDRESS]})
    async with server, WebFetch(net=server.net(FetchConfig()), renderer=InProcess()) as fetch:
        call = asyncio.create_task(fetch.call({"url": URL}))
        await asyncio.wait_for(server.asked.wait(), IN_TIME)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await asyncio.wait_for(server.closed.wait(), IN_TIME)
    assert server.open == 0


@claim("pack.dropped.no-survival")
def test_the_tool_survives_no_stop() -> None:
    assert not FETCH.survives_stop
    assert not WebFetch(net=FakeNet(), renderer=InProcess()).survives_stop
