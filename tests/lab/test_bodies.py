"""Answers that lie, break off, never end or grow without measure: a sentence comes back, never a partial text."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING

import brotli
import pytest

from runvil import FetchConfig, FetchFailure, Page, WebFetch
from tests.lab.harness.answers import HTML, MIB, Bomb, Endless, Raw, Slow, Then, head, redirect
from tests.lab.harness.answers import Page as Answer
from tests.lab.harness.footprint import peak, reset_peak
from tests.lab.harness.marks import in_lab
from tests.lab.support import ARTICLE, EXAMPLE, HTML_TEXT, SENTENCE, code, failure, plain

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

pytestmark = pytest.mark.lab

UNREADABLE = "the response body from https://example.com/ could not be read; try again or use a different URL"
TOO_LARGE = "response from https://example.com/ exceeds the 8388608-byte size cap"
SHORT = FetchConfig(timeout=1.0)
HOP_DELAY = 0.4

# What one bomb may cost at its peak, and what 256 may: the byte budget of all fetches, one bomb, and what a connection
# holds beside its body (asyncio's TLS, measured: 310 KB; one TLS read of 256 KiB, unread or on its way through h11),
# and an eighth of the bodies, which is what a growing bytearray takes ahead.
ONE_BOMB = 40_000_000
BOMBS = 256
PER_CONNECTION = 310_000 + 256 * 1024
ALL_BOMBS = 256 * MIB * 9 // 8 + BOMBS * PER_CONNECTION + ONE_BOMB

TEXT = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
CHUNKED = TEXT + b"Transfer-Encoding: chunked\r\n\r\n"

# Bodies that break off or contradict their frame.
BROKEN_BODIES: dict[str, Raw] = {
    "shorter than declared": Raw(TEXT + b"Content-Length: 100\r\n\r\nsecret"),
    "shorter than declared, reset": Raw(TEXT + b"Content-Length: 100\r\n\r\nsecret", Then.RESET),
    "no last chunk": Raw(CHUNKED + b"6\r\nsecret\r\n"),
    "no last chunk, reset": Raw(CHUNKED + b"6\r\nsecret\r\n", Then.RESET),
    "a chunk cut short": Raw(CHUNKED + b"64\r\nsecret"),
    "a chunk size that is none": Raw(CHUNKED + b"6\r\nsecret\r\nxyz\r\n\r\n"),
    "a negative chunk size": Raw(CHUNKED + b"6\r\nsecret\r\n-6\r\nsecret\r\n0\r\n\r\n"),
    "an endless chunk size": Raw(CHUNKED + b"6\r\nsecret\r\n" + b"f" * 100_000),
    "a chunk longer than its size": Raw(CHUNKED + b"3\r\nsecret\r\n0\r\n\r\n"),
    "endless trailers": Raw(CHUNKED + b"6\r\nsecret\r\n0\r\n" + b"X-More: yes\r\n" * 20_000),
}

# Heads that are no HTTP, or too much of it.
BROKEN_HEADS: dict[str, Raw | Endless] = {
    "nothing": Raw(b""),
    "nothing, reset": Raw(b"", Then.RESET),
    "half a head": Raw(b"HTTP/1.1 200 OK\r\nContent-Ty"),
    "another protocol": Raw(b"SSH-2.0-OpenSSH_9.9\r\n"),
    "no status": Raw(b"<html>secret</html>\r\n\r\n"),
    "status of four digits": Raw(b"HTTP/1.1 2000 OK\r\nContent-Type: text/plain\r\n\r\nsecret"),
    "two lengths": Raw(TEXT + b"Content-Length: 6\r\nContent-Length: 7\r\n\r\nsecret"),
    "a negative length": Raw(TEXT + b"Content-Length: -6\r\n\r\nsecret"),
    "an unknown transfer coding": Raw(TEXT + b"Transfer-Encoding: xchunked\r\n\r\nsecret"),
    "a nul in a value": Raw(TEXT + b"X: a\0b\r\n\r\nsecret"),
    "switching protocols": Raw(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nsecret"),
    "a hundred early hints": Raw(b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 100 + TEXT + b"\r\nsecret"),
    "257 fields": Raw(TEXT + b"X: y\r\n" * 257 + b"\r\nsecret"),
    "a field of 9 KiB": Raw(TEXT + b"X: " + b"y" * 9 * 1024 + b"\r\n\r\nsecret"),
    "a head of 70 KiB": Raw(TEXT + (b"X: " + b"y" * 1000 + b"\r\n") * 70 + b"\r\nsecret"),
    "a head without end": Endless(TEXT, b"X-More: yes, and more\r\n" * 100),
    "a field without end": Endless(TEXT + b"X-More: ", b"y" * 10_000),
    "early hints without end": Endless(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 100),
}


# --- content codings ---


@pytest.mark.parametrize("coding", ["gzip", "br"])
@in_lab
async def test_a_compressed_body_cut_short_is_unreadable(lab: Lab, coding: str) -> None:
    whole = gzip.compress(HTML_TEXT.encode()) if coding == "gzip" else brotli.compress(HTML_TEXT.encode())
    lab.name("example.com", EXAMPLE)
    async with WebFetch() as fetch:
        for size in (1, 9, 20, len(whole) // 2, len(whole) - 9, len(whole) - 1):
            lab.serve(
                "https://example.com/", Answer(whole[:size], "text/plain", headers=(("Content-Encoding", coding),))
            )
            assert str(await failure(fetch, "https://example.com/")) == UNREADABLE, size


@in_lab
async def test_gzip_of_several_members_is_read_whole(lab: Lab) -> None:
    body = b"".join(gzip.compress(part) for part in (b"one ", b"two ", b"three"))
    lab.site("example.com", EXAMPLE, Answer(body, "text/plain", headers=(("Content-Encoding", "gzip"),)))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://example.com/")).text == "one two three"


@pytest.mark.parametrize("coding", ["deflate", "zstd", "compress", "gzip, gzip", "br, gzip", "gzip, br", "x" * 100])
@in_lab
async def test_an_unknown_or_second_coding_is_unreadable(lab: Lab, coding: str) -> None:
    lab.site("example.com", EXAMPLE, Answer(gzip.compress(b"secret"), headers=(("Content-Encoding", coding),)))
    async with WebFetch() as fetch:
        assert str(await failure(fetch, "https://example.com/")) == UNREADABLE


@pytest.mark.parametrize("coding", ["gzip", "br"])
@in_lab
async def test_one_bomb_is_refused_and_costs_little(lab: Lab, coding: str) -> None:
    await _warmed(lab, coding)
    lab.site("example.com", EXAMPLE, Bomb(coding))
    async with WebFetch() as fetch:
        await fetch.fetch("https://warm.example/")
        before = reset_peak()
        refused = await failure(fetch, "https://example.com/")
        grown = peak() - before
    assert str(refused) == TOO_LARGE
    assert grown <= ONE_BOMB, f"{grown / 1e6:.0f} MB"


@pytest.mark.parametrize("coding", ["gzip", "br"])
@in_lab
async def test_a_flat_text_bomb_is_cut(lab: Lab, coding: str) -> None:
    await _warmed(lab, coding)
    lab.site("example.com", EXAMPLE, Bomb(coding, content_type="text/plain"))
    async with WebFetch() as fetch:
        await fetch.fetch("https://warm.example/")
        before = reset_peak()
        page = await fetch.fetch("https://example.com/")
        grown = peak() - before
    assert (page.truncated, len(page.text)) == (True, 40_000)
    assert grown <= ONE_BOMB, f"{grown / 1e6:.0f} MB"


@pytest.mark.slow
@pytest.mark.parametrize("coding", ["gzip", "br"])
@in_lab
async def test_256_bombs_at_once_are_refused_inside_the_budget(lab: Lab, coding: str) -> None:
    await _warmed(lab, coding)
    lab.site("example.com", EXAMPLE, Bomb(coding))
    async with WebFetch(FetchConfig(timeout=90.0)) as fetch:
        await fetch.fetch("https://warm.example/")
        before = reset_peak()
        fetches = (fetch.fetch("https://example.com/") for _ in range(BOMBS))
        refused = await asyncio.gather(*fetches, return_exceptions=True)  # kept: a kept failure may keep no body
        grown = peak() - before
    assert {str(one) for one in refused} == {TOO_LARGE}
    assert grown <= ALL_BOMBS, f"{grown / 1e6:.0f} MB"


async def _warmed(lab: Lab, coding: str) -> None:
    """A first fetch imports and allocates what every fetch needs."""
    lab.site("warm.example", EXAMPLE, plain("warm").coded(coding))


# --- sizes ---


@in_lab
async def test_exactly_the_cap_is_accepted_and_one_byte_more_is_not(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    full = b'"' + b"x" * (8 * MIB - 2) + b'"'
    async with WebFetch() as fetch:
        for coding in (None, "gzip", "br"):
            for extra, expected in ((b"", None), (b" ", "too-large")):
                answer = Answer(full + extra, "application/json")
                lab.serve("https://example.com/", answer.coded(coding) if coding else answer)
                outcome = await _outcome(fetch)
                assert outcome == expected, (coding, extra)


@in_lab
async def test_an_endless_page_is_refused_at_the_cap_and_the_server_is_hung_up_on(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, Endless(head(200, ("Content-Type", HTML)), b"<p>more</p>" * 5000))
    async with WebFetch() as fetch:
        assert str(await failure(fetch, "https://example.com/")) == TOO_LARGE
        await lab.until("gone", 1)


@in_lab
async def test_an_endless_flat_text_is_cut_and_the_server_is_hung_up_on(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, Endless(head(200, ("Content-Type", "text/plain")), b"more " * 10_000))
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://example.com/")
        await lab.until("gone", 1)
    assert (page.truncated, len(page.text)) == (True, 40_000)


@in_lab
async def test_endless_trickling_chunks_cost_no_memory(lab: Lab) -> None:
    """A chunk of one byte each: the frame is ten times the text."""
    await _warmed(lab, "gzip")
    lab.site("example.com", EXAMPLE, Endless(CHUNKED.replace(b"plain", b"html"), b"1\r\nx\r\n" * 10_000))
    async with WebFetch(FetchConfig(timeout=3.0)) as fetch:
        await fetch.fetch("https://warm.example/")
        before = reset_peak()
        assert await code(fetch, "https://example.com/") in {"body-unreadable", "too-large"}
        grown = peak() - before
    assert grown <= ONE_BOMB, f"{grown / 1e6:.0f} MB"


# --- frames ---


@in_lab
async def test_a_broken_body_never_comes_back_as_partial_text(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    async with WebFetch() as fetch:
        for fault, answer in BROKEN_BODIES.items():
            lab.serve("https://example.com/", answer)
            refused = await failure(fetch, "https://example.com/")
            assert refused.code in {"body-unreadable", "network-error"}, fault
            assert refused.soft
            assert "secret" not in str(refused)


@in_lab
async def test_a_broken_head_is_a_network_error(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    async with WebFetch() as fetch:
        for fault, answer in BROKEN_HEADS.items():
            lab.serve("https://example.com/", answer)
            refused = await failure(fetch, "https://example.com/")
            assert str(refused) == "fetch failed for https://example.com/: network error; try a different URL", fault
    await lab.until("gone", len(BROKEN_HEADS))


@in_lab
async def test_what_honest_servers_do_is_read(lab: Lab) -> None:
    honest: dict[str, Raw] = {
        "a body that ends with the connection": Raw(TEXT + b"\r\ntext"),
        "chunks with an extension and a trailer": Raw(CHUNKED + b"4;a=b\r\ntext\r\n0\r\nX-Check: 1\r\n\r\n"),
        "early hints": Raw(
            b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" * 3 + TEXT + b"Content-Length: 4\r\n\r\ntext"
        ),
        "continue": Raw(b"HTTP/1.1 100 Continue\r\n\r\n" + TEXT + b"Content-Length: 4\r\n\r\ntext"),
        "http/1.0": Raw(b"HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\ntext"),
        "no reason": Raw(b"HTTP/1.1 200\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\ntext"),
        "the same length twice": Raw(TEXT + b"Content-Length: 4\r\nContent-Length: 4\r\n\r\ntext"),
        "a latin-1 field": Raw(TEXT + b"X-Name: caf\xe9\r\nContent-Length: 4\r\n\r\ntext"),
    }
    lab.name("example.com", EXAMPLE)
    async with WebFetch() as fetch:
        for habit, answer in honest.items():
            lab.serve("https://example.com/", answer)
            assert (await fetch.fetch("https://example.com/")).text == "text", habit


# --- time ---


@in_lab
async def test_a_server_that_never_answers_times_out(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    lab.serve("https://example.com/?q=1", Raw(b"", Then.HANG))
    async with WebFetch(SHORT) as fetch:
        refused = await failure(fetch, "https://example.com/?q=1")
        await lab.until("gone", 1)
    assert str(refused) == "request to https://example.com/ timed out; try again or use a different URL"
    assert refused.soft


@pytest.mark.parametrize("content_type", [HTML, "application/json", "text/plain"])
@in_lab
async def test_a_dripping_body_ends_at_the_deadline(lab: Lab, content_type: str) -> None:
    lab.site("example.com", EXAMPLE, Endless(head(200, ("Content-Type", content_type)), b"<p>drip</p>", pause=0.02))
    async with WebFetch(SHORT) as fetch:
        assert str(await failure(fetch, "https://example.com/")) == UNREADABLE
        await lab.until("gone", 1)


@in_lab
async def test_a_dripping_head_ends_at_the_deadline(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, Endless(TEXT, b"X: y\r\n", pause=0.05))
    async with WebFetch(SHORT) as fetch:
        assert await code(fetch, "https://example.com/") == "timed-out"
        await lab.until("gone", 1)


@in_lab
async def test_the_deadline_holds_over_all_hops(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, Slow(redirect("/0"), HOP_DELAY))
    for step in range(5):
        lab.serve(f"https://example.com/{step}", Slow(redirect(f"/{step + 1}"), HOP_DELAY))
    async with WebFetch(SHORT) as fetch:
        refused = await failure(fetch, "https://example.com/")
    assert str(refused) == "request to https://example.com/ timed out; try again or use a different URL"
    assert 1 < len(lab.requests()) < 6


@in_lab
async def test_a_body_that_finishes_is_a_page_however_it_came(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, ARTICLE.coded("br"))
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://example.com/")
    assert isinstance(page, Page)
    assert SENTENCE in page.text


async def _outcome(fetch: WebFetch) -> str | None:
    try:
        await fetch.fetch("https://example.com/")
    except FetchFailure as refused:
        return refused.code
    return None
