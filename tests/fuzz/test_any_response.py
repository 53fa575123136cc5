"""Whatever bytes a server sends, whole, in pieces or cut anywhere, they end in a page or a sentence of the contract."""

from __future__ import annotations

import logging
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.responses import FRAMED, SOUND, damaged
from tests.fuzz.wire import URL, told_of
from tests.support.sentences import HARD, PAGE, SOFT
from tests.support.steady import steady

UNREADABLE = "the response body from http://example.com/a could not be read; try again or use a different URL"
NO_RESPONSE = f"fetch failed for {URL}: network error; try a different URL"


@pytest.fixture(autouse=True)
def nothing_unexpected(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)


def verify(told: tuple[str, str], caplog: pytest.LogCaptureFixture) -> None:
    """A page, or a sentence for it: never the one for what nobody thought of."""
    kind, text = told
    pattern = {"ok": PAGE, "soft": SOFT, "InvalidArguments": HARD}.get(kind)
    assert pattern is not None, (told, caplog.text)
    assert pattern.fullmatch(text), told


@pytest.mark.parametrize("name", SOUND)
async def test_a_sound_response_is_what_it_was_meant_to_be(name: str, caplog: pytest.LogCaptureFixture) -> None:
    told = await told_of(SOUND[name])
    verify(told, caplog)
    if name in FRAMED:
        assert told[0] == "ok"


@pytest.mark.parametrize("name", SOUND)
async def test_a_response_is_the_same_byte_by_byte(name: str, caplog: pytest.LogCaptureFixture) -> None:
    sound = SOUND[name]
    bytewise = [sound[at : at + 1] for at in range(min(len(sound), 700))]
    assert await told_of(*bytewise, sound[700:]) == await told_of(sound)


@pytest.mark.parametrize("name", FRAMED)
async def test_a_response_cut_anywhere_is_a_sentence_and_never_a_page(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    whole = FRAMED[name]
    body_at = whole.rindex(b"\r\n\r\n", 0, whole.index(b"Content-Type") + 200) + 4
    for length in range(len(whole)):
        kind, text = await told_of(whole[:length])
        assert kind == "soft", (length, text)
        assert text in (UNREADABLE, NO_RESPONSE), (length, text)
        if length < body_at and "chunked" not in name and "gzip" not in name:
            assert text == NO_RESPONSE, length
    verify(await told_of(whole), caplog)


@pytest.mark.parametrize("seed", range(8))
async def test_a_damaged_response_is_a_page_or_a_sentence(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    chance = Random(seed)
    told = [await told_of(damaged(SOUND[chance.choice(list(SOUND))], chance)) for _ in range(400)]
    for each in told:
        verify(each, caplog)
    sorts = {text if kind == "soft" else kind for kind, text in told}
    assert {"ok", UNREADABLE, NO_RESPONSE} < sorts  # the damage is neither always fatal nor never


@pytest.mark.parametrize("seed", range(2))
async def test_a_damaged_response_in_pieces_is_a_page_or_a_sentence(
    seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    chance = Random(1000 + seed)
    for _ in range(80):
        data = damaged(SOUND[chance.choice(list(SOUND))], chance)
        places = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randint(1, 6)))
        pieces = [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]
        verify(await told_of(*pieces), caplog)


@pytest.mark.parametrize(("hints", "kind"), [(0, "ok"), (8, "ok"), (9, "soft"), (1000, "soft")])
async def test_eight_informational_answers_are_heard_and_no_more(hints: int, kind: str) -> None:
    told = await told_of(b"HTTP/1.1 103 Early Hints\r\n\r\n" * hints + SOUND["sized html"])
    assert told[0] == kind
    assert kind == "ok" or told[1] == NO_RESPONSE


@steady(200)
@given(st.one_of(st.binary(max_size=200), st.binary(max_size=80).map(lambda tail: b"HTTP/1.1 200 OK\r\n" + tail)))
@example(b"")
@example(b"\r\n" * 40_000)
@example(b"HTTP/1.1 100 Continue\r\n\r\n" * 9)
@example(b"SSH-2.0-OpenSSH_9.6\r\n")
async def test_any_bytes_for_a_response_are_a_page_or_a_sentence(data: bytes) -> None:
    kind, text = await told_of(data)
    assert kind in ("ok", "soft")
    assert (PAGE if kind == "ok" else SOFT).fullmatch(text)


@steady(200)
@given(
    st.binary(max_size=300),
    st.sampled_from(["text/html", "text/plain", "application/json", "text/html; charset=shift_jis"]),
)
async def test_any_bytes_for_a_body_are_a_page(body: bytes, content_type: str) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    kind, text = await told_of(head.encode() + body)
    assert kind == "ok"
    assert PAGE.fullmatch(text)
