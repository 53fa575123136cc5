"""Parsing a content type and decoding a body never raise but what they say, and do not depend on how bytes arrive."""

from __future__ import annotations

from unittest.mock import patch

import pytest
import webencodings
from hypothesis import assume, example, given
from hypothesis import strategies as st
from webencodings.labels import LABELS

from runvil.core import content
from runvil.core.content import Head, Kind, MediaType, Plan, decode, kind_of, parse_media_type, plan
from runvil.core.failures import CharsetUnknown, FetchFailure
from runvil.core.url import parse
from tests.support.sentences import SOFT
from tests.support.steady import steady

URL = parse("https://example.com/a")

TOKENS = st.text(alphabet="!#$%&'*+-.^_`|~09azAZ", min_size=1, max_size=8)
QUOTED = st.text(alphabet=st.characters(codec="ascii", exclude_characters='"\\'), max_size=8)
SEPARATORS = st.sampled_from([";", "; ", " ;", "\t;\t", "; ;", ";;"])
PARAMETERS = st.lists(st.tuples(TOKENS, TOKENS), max_size=3)
labels = st.one_of(
    st.sampled_from(sorted(LABELS)), st.sampled_from(["utf-7", "rot13", "idna", "punycode"]), st.text(max_size=12)
)


@steady(500)
@given(st.one_of(st.text(max_size=40), st.text(alphabet='aT/;="\\ charset\t,+-', max_size=30)))
@example("text/html;" * 1000)
@example('text/html;charset="' + "\\" * 4000)
@example("text/html;" + " " * 8000 + "x")
def test_any_value_is_a_media_type_or_none(value: str) -> None:
    media = parse_media_type(value)
    if media is not None:
        assert (media.type, media.subtype) == (media.type.lower(), media.subtype.lower())
        assert kind_of(media) in (*Kind, None)


@steady(400)
@given(TOKENS, TOKENS, PARAMETERS, st.one_of(st.none(), TOKENS), SEPARATORS)
def test_a_written_media_type_reads_back(
    kind: str, subtype: str, others: list[tuple[str, str]], charset: str | None, separator: str
) -> None:
    assume(all(name.lower() != "charset" for name, _ in others))
    parameters = [*others, *([("ChArSet", charset)] if charset is not None else []), ("charset", "second")]
    written = f"{kind}/{subtype}" + "".join(f"{separator}{name}={value}" for name, value in parameters)
    expected = charset if charset is not None else "second"
    assert parse_media_type(written) == MediaType(kind.lower(), subtype.lower(), expected)


@steady(400)
@given(QUOTED)
def test_a_quoted_charset_loses_its_quotes_and_its_escapes(value: str) -> None:
    assert parse_media_type(f'text/plain; charset="{value}"') == MediaType("text", "plain", value)
    escaped = "".join(f"\\{character}" for character in value)
    assert parse_media_type(f'text/plain; charset="{escaped}"') == MediaType("text", "plain", value)


@steady(500)
@given(
    st.integers(100, 599),
    st.lists(
        st.tuples(st.sampled_from([b"content-type", b"content-length", b"content-encoding"]), st.binary(max_size=20)),
        max_size=4,
    ),
)
def test_any_head_is_a_plan_or_a_soft_sentence(status: int, headers: list[tuple[bytes, bytes]]) -> None:
    told: Plan | FetchFailure
    try:
        told = plan(URL, Head(status, tuple(headers)), 1000)
    except FetchFailure as failure:
        told = failure
    assert isinstance(told, Plan) or (told.soft and SOFT.fullmatch(str(told)))


@steady(500)
@given(st.binary(max_size=60), labels)
def test_any_bytes_under_any_label_are_text_or_an_unknown_charset(body: bytes, label: str) -> None:
    declared = label.strip("\t\n\f\r ").lower()
    if declared not in LABELS:
        with pytest.raises(CharsetUnknown):
            decode(body, declared, URL)
    else:
        "".join(decode(body, declared, URL)).encode()  # no lone surrogate may come out


ENCODINGS = sorted({encoding.name for label in LABELS if (encoding := webencodings.lookup(label)) is not None})


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_text_does_not_depend_on_the_size_of_the_pieces(name: str) -> None:
    @steady(25)
    @given(
        st.one_of(st.binary(max_size=80), st.text(max_size=30).map(lambda text: _encoded(text, name))),
        st.integers(4, 40),
    )
    def independent(body: bytes, step: int) -> None:
        whole = "".join(decode(body, name, URL))
        with patch.object(content, "DECODE_STEP", step):
            assert "".join(decode(body, name, URL)) == whole

    independent()


def _encoded(text: str, name: str) -> bytes:
    encoding = webencodings.lookup(name)
    assert encoding is not None
    encoded: bytes = webencodings.encode(text, encoding, "ignore") if name != "x-user-defined" else text.encode()
    return encoded


@steady(400)
@given(st.text(max_size=60))
def test_utf8_text_comes_back_as_it_was_without_its_mark(text: str) -> None:
    body = text.encode()
    for declared in (None, "utf-8", "utf8"):
        assert "".join(decode(body, declared, URL)) == text.removeprefix("\ufeff")
        assert "".join(decode(b"\xef\xbb\xbf" + body, declared, URL)) == text


@steady(300)
@given(st.text(max_size=40), st.sampled_from(["utf-16le", "utf-16be"]), st.sampled_from(["utf-16-le", "utf-16-be"]))
def test_a_byte_order_mark_decides_over_the_label(text: str, declared: str, real: str) -> None:
    assert "".join(decode("\ufeff".encode(real) + text.encode(real), declared, URL)) == text
