"""A coded body gives the same bytes however it arrives; cut or damaged it raises BadCoding and nothing else."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise

import brotli
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from runvil.core.codings import STEP, BadCoding, decoder
from tests.support.steady import steady

bodies = st.one_of(
    st.binary(max_size=300),
    st.builds(lambda unit, times: unit * times, st.binary(min_size=1, max_size=4), st.integers(1, 100_000)),
)
PACKERS: dict[bytes, Callable[[bytes], bytes]] = {
    b"gzip": lambda data: gzip.compress(data, mtime=0),
    b"x-gzip": lambda data: gzip.compress(data, compresslevel=0, mtime=0),
    b"br": lambda data: bytes(brotli.compress(data, quality=4)),
    b"": lambda data: data,
}


def undo(coding: bytes, chunks: Sequence[bytes]) -> bytes:
    """The decoded body; every single piece is held to its bound."""
    undone = decoder([coding] if coding else [])
    out = []
    for chunk in chunks:
        for piece in undone.feed(chunk):
            assert len(piece) <= max(STEP, len(chunk) if not coding else 0) * (2 if coding == b"br" else 1)
            out.append(piece)
    undone.finish()
    return b"".join(out)


def split(data: bytes, at: Sequence[int]) -> list[bytes]:
    places = [0, *sorted(place % (len(data) + 1) for place in at), len(data)]
    return [data[a:b] for a, b in pairwise(places)]


@pytest.mark.parametrize("coding", PACKERS)
def test_any_split_gives_the_same_bytes(coding: bytes) -> None:
    @steady(120)
    @given(bodies, st.lists(st.integers(0, 10**6), max_size=8))
    def same(body: bytes, at: list[int]) -> None:
        packed = PACKERS[coding](body)
        assert undo(coding, [packed]) == body
        assert undo(coding, split(packed, at)) == body

    same()


@pytest.mark.parametrize("coding", [b"gzip", b"br"])
def test_a_body_that_arrives_byte_by_byte_is_the_same(coding: bytes) -> None:
    body = b"A heron stands in the shallows. " * 40
    packed = PACKERS[coding](body)
    assert undo(coding, [packed[i : i + 1] for i in range(len(packed))]) == body


@pytest.mark.parametrize("coding", [b"gzip", b"x-gzip", b"br"])
@pytest.mark.parametrize("body", [b"", b"a", b"A heron stands in the shallows. " * 40, bytes(range(256))])
def test_any_cut_of_a_stream_raises(coding: bytes, body: bytes) -> None:
    packed = PACKERS[coding](body)
    for length in range(1, len(packed)):
        with pytest.raises(BadCoding):
            undo(coding, [packed[:length]])


@steady(150)
@given(
    st.lists(st.binary(max_size=40), min_size=2, max_size=4),
    st.lists(st.integers(0, 10**6), max_size=6),
    st.integers(1, 10**6),
)
def test_several_gzip_members_are_one_body_and_a_cut_inside_one_raises(
    parts: list[bytes], at: list[int], cut: int
) -> None:
    members = [PACKERS[b"gzip"](part) for part in parts]
    packed = b"".join(members)
    assert undo(b"gzip", split(packed, at)) == b"".join(parts)
    ends = {sum(map(len, members[:i])) for i in range(1, len(members) + 1)}
    cut %= len(packed)
    assume(cut > 0 and cut not in ends and cut - 1 not in ends)  # one lone byte after a member starts no other
    with pytest.raises(BadCoding):
        undo(b"gzip", split(packed[:cut], at))


@pytest.mark.parametrize("coding", [b"gzip", b"x-gzip", b"br"])
def test_a_damaged_stream_gives_bytes_or_bad_coding(coding: bytes) -> None:
    @steady(200)
    @given(
        bodies,
        st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4),
        st.lists(st.integers(0, 10**6), max_size=3),
    )
    def damaged(body: bytes, damage: list[tuple[int, int]], at: list[int]) -> None:
        packed = bytearray(PACKERS[coding](body))
        for place, value in damage:
            packed[place % len(packed)] = value
        with suppress(BadCoding):
            undo(coding, split(bytes(packed), at))

    damaged()


@steady(400)
@given(st.sampled_from([b"gzip", b"br"]), st.binary(max_size=200))
def test_any_bytes_are_a_stream_or_bad_coding(coding: bytes, data: bytes) -> None:
    with suppress(BadCoding):
        undo(coding, [data])


@steady(200)
@given(
    st.lists(
        st.one_of(st.sampled_from([b"gzip", b"br", b"zstd", b"deflate", b"compress"]), st.binary(max_size=6)),
        max_size=3,
    )
)
def test_more_than_one_coding_and_an_unknown_one_are_bad(codings: list[bytes]) -> None:
    known = len(codings) <= 1 and set(codings) <= {b"gzip", b"x-gzip", b"br"}
    try:
        decoder(codings)
    except BadCoding:
        assert not known
    else:
        assert known


@pytest.mark.parametrize(("members", "fits"), [(1023, True), (1024, True), (1025, False)])
def test_so_many_gzip_members_and_no_more(members: int, fits: bool) -> None:
    packed = PACKERS[b"gzip"](b"x") * members
    if fits:
        assert undo(b"gzip", [packed]) == b"x" * members
    else:
        with pytest.raises(BadCoding):
            undo(b"gzip", [packed])


@pytest.mark.parametrize("coding", [b"gzip", b"br"])
def test_a_bomb_comes_in_pieces_and_may_be_left_unfinished(coding: bytes) -> None:
    bomb = PACKERS[coding](bytes(20 * 1024 * 1024))
    assert len(bomb) < 40_000
    taken = 0
    for piece in decoder([coding]).feed(bomb):
        assert len(piece) <= 2 * STEP
        taken += len(piece)
        if taken > 1_000_000:
            break
    assert taken <= 1_000_000 + 2 * STEP


def test_bytes_after_the_last_member_are_ignored_as_browsers_do() -> None:
    assert undo(b"gzip", [PACKERS[b"gzip"](b"page") + b"\x00\x00 padding"]) == b"page"


def test_a_wrong_checksum_is_bad() -> None:
    packed = bytearray(PACKERS[b"gzip"](b"page"))
    packed[-5] ^= 1
    assert zlib.crc32(b"page") != 0
    with pytest.raises(BadCoding):
        undo(b"gzip", [bytes(packed)])
