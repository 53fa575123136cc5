"""The frames between renderer and worker: what is written is read, and what is not a frame is garbled, not believed."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runvil.core import frames
from runvil.core.page import Extraction, Rendered
from tests.support.steady import steady

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)


def reading(data: bytes) -> frames.Read:
    stream = BytesIO(data)

    def read(size: int) -> bytes:
        piece = stream.read(size)
        if len(piece) < size:
            raise EOFError
        return piece

    return read


@steady(150)
@given(st.booleans(), st.integers(1, 10_000_000), TEXT, st.binary(max_size=100))
def test_a_request_arrives_as_it_was_sent(raw: bool, limit: int, address: str, html: bytes) -> None:
    request = frames.Request(raw, limit, address, html)
    assert frames.read_request(reading(b"".join(frames.write_request(request)))) == request


@steady(150)
@given(TEXT, TEXT, st.sampled_from([Extraction.READABILITY, Extraction.RAW_HTML]), st.booleans())
def test_a_reply_arrives_as_it_was_sent(text: str, title: str, label: Extraction, last: bool) -> None:
    rendered = Rendered(text, label, title)
    assert frames.read_reply(reading(frames.write_reply(rendered, 50, last=last)), 50) == (rendered, last)


def test_a_reply_holds_one_character_more_than_was_asked_for() -> None:
    reply = frames.write_reply(Rendered("😀" * 9, Extraction.RAW_HTML), 5, last=False)
    assert frames.read_reply(reading(reply), 5)[0].text == "😀" * 6


def test_a_title_is_cut_between_characters() -> None:
    reply = frames.write_reply(Rendered("", Extraction.RAW_HTML, "😀" * 9_000), 5, last=False)
    assert frames.read_reply(reading(reply), 5)[0].title == "😀" * (frames.MAX_TITLE // frames.MAX_CHARACTER)


def test_the_greeting_names_the_locks() -> None:
    assert frames.read_hello(reading(frames.write_hello(("one", "two")))) == ("one", "two")
    assert frames.read_hello(reading(frames.write_hello(()))) == ()


@pytest.mark.parametrize(
    "request_", [frames.Request(False, 1, "a" * 9_000, b""), frames.Request(False, 1, "é" * 5_000, b"")]
)
def test_an_address_over_the_bound_is_not_sent(request_: frames.Request) -> None:
    with pytest.raises(frames.Garbled):
        frames.write_request(request_)


@steady(150)
@given(st.binary(max_size=60), st.integers(1, 20))
def test_any_bytes_are_a_bounded_reply_or_none(data: bytes, limit: int) -> None:
    asked: list[int] = []
    read = reading(data)

    def counting(size: int) -> bytes:
        asked.append(size)
        return read(size)

    try:
        rendered, _ = frames.read_reply(counting, limit)
    except (frames.Garbled, EOFError):
        pass
    else:
        assert len(rendered.text) <= limit + 1
    assert max(asked) <= max(frames.MAX_TITLE, frames.MAX_CHARACTER * (limit + 1))


@pytest.mark.parametrize("data", [b"x" * 100, b"runvil-worker-2\0\0", b"runvil-worker-1\xff\xff" + b"x" * 70_000])
def test_another_greeting_is_garbled(data: bytes) -> None:
    with pytest.raises(frames.Garbled):
        frames.read_hello(reading(data))


@given(st.binary(max_size=200), st.integers(1, 7))
def test_a_pipe_that_gives_and_takes_little_at_a_time_passes_everything(data: bytes, little: int) -> None:
    taken = bytearray()

    def write(rest: memoryview) -> int:
        taken.extend(rest[:little])
        return min(little, len(rest))

    frames.write_all(write, data)
    stream = BytesIO(taken)
    assert frames.read_all(lambda size: stream.read(min(size, little)), len(data)) == data
    with pytest.raises(EOFError):
        frames.read_all(stream.read, 1)


def test_a_size_that_is_announced_is_not_asked_for_at_once() -> None:
    asked: list[int] = []
    with pytest.raises(EOFError):
        frames.read_all(lambda size: asked.append(size) or b"", frames.MAX_HTML)  # type: ignore[func-returns-value]
    assert asked == [frames.PIECE]
