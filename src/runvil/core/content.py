"""From a response's head to a plan for its body, and from the body's bytes to text (spec 1.10 to 1.12).

Nothing is sniffed: the Content-Type header decides alone, before a body byte is read.
"""

from __future__ import annotations

import re
from codecs import CodecInfo
from codecs import lookup as lookup_codec
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from itertools import chain

import webencodings

from runvil.core.failures import CharsetUnknown, ContentTypeMissing, ContentTypeRefused, StatusFailed, TooLarge
from runvil.core.url import Url

HTTP_SUCCESS = range(200, 300)
MAX_LENGTH_DIGITS = 19  # a 64-bit count; Python refuses to convert digits without end

_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # RFC 9110 5.6.2
_MEDIA_TYPE = re.compile(rf"[ \t]*({_NAME})/({_NAME})[ \t]*(;.*)?", re.DOTALL)
_PARAMETER = re.compile(rf'[ \t]*;[ \t]*(?:({_NAME})=({_NAME}|"(?:[^"\\]|\\.)*")|{_NAME})?[ \t]*', re.DOTALL)
"""RFC 9110 8.3.1, with two things servers send: an empty parameter, and one without a value (`text/html; utf-8`)."""


@dataclass(frozen=True, slots=True)
class Head:
    """A response's status and header fields: lower-case names, raw values, repeated ones kept, in order."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]

    def first(self, name: bytes) -> bytes | None:
        return next((value for key, value in self.headers if key == name), None)

    def all(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.headers if key == name]


class Kind(Enum):
    HTML = auto()
    STRUCTURED = auto()
    FLAT = auto()


class Overflow(Enum):
    """What a body over the cap comes to (spec 1.12)."""

    REFUSE = auto()
    CUT = auto()


@dataclass(frozen=True, slots=True)
class Plan:
    """How a body is to be read. charset: the label as declared, lower case, or None. limit: decoded bytes."""

    kind: Kind
    charset: str | None
    limit: int
    overflow: Overflow
    content_type: str


@dataclass(frozen=True, slots=True)
class MediaType:
    """A parsed Content-Type value: lower-case type and subtype, the charset parameter's value or None."""

    type: str
    subtype: str
    charset: str | None


def parse_media_type(value: str) -> MediaType | None:
    """Parse a Content-Type value; None when it is none. The first charset parameter wins."""
    matched = _MEDIA_TYPE.fullmatch(value)
    if matched is None:
        return None
    rest, at, charset = matched[3] or "", 0, None
    while at < len(rest):
        parameter = _PARAMETER.match(rest, at)
        if parameter is None:
            return None
        if charset is None and (parameter[1] or "").lower() == "charset":
            charset = _unquoted(parameter[2])
        at = parameter.end()
    return MediaType(matched[1].lower(), matched[2].lower(), charset)


def _unquoted(value: str) -> str:
    return re.sub(r"\\(.)", r"\1", value[1:-1], flags=re.DOTALL) if value.startswith('"') else value


def _is_structured(subtype: str) -> bool:
    return subtype in ("json", "xml") or subtype.endswith(("+json", "+xml"))


def kind_of(media: MediaType) -> Kind | None:
    """Which treatment a media type gets; None means it is refused (the table of spec 1.10)."""
    name = f"{media.type}/{media.subtype}"
    if name in ("text/html", "application/xhtml+xml"):
        return Kind.HTML
    if media.type in ("application", "text") and _is_structured(media.subtype):
        return Kind.STRUCTURED
    return Kind.FLAT if media.type == "text" else None


def plan(url: Url, head: Head, limit: int) -> Plan:
    """What to do with a final response, from its head alone: status, content type, declared length (spec 1.2).

    Raises StatusFailed, ContentTypeMissing, ContentTypeRefused, TooLarge.
    """
    if head.status not in HTTP_SUCCESS:
        raise StatusFailed(url.shown, head.status)
    raw = head.first(b"content-type")
    if raw is None or not raw.isascii():
        raise ContentTypeMissing(url.shown)
    content_type = raw.decode("ascii")
    media = parse_media_type(content_type)
    kind = None if media is None else kind_of(media)
    if media is None or kind is None:
        raise ContentTypeRefused(url.shown, content_type)
    overflow = Overflow.CUT if kind is Kind.FLAT else Overflow.REFUSE
    if overflow is Overflow.REFUSE and _declared_length(head) > limit:
        raise TooLarge(url.shown, limit)
    charset = None if media.charset is None else media.charset.strip("\t\n\f\r ").lower()
    return Plan(kind, charset, limit, overflow, content_type)


def _declared_length(head: Head) -> int:
    """The declared length of a body that is sent without a coding; 0 when it says nothing (spec 1.12, C-19)."""
    value = head.first(b"content-length") or b""
    if content_codings(head) or not value.isdigit():
        return 0
    return int(value[:MAX_LENGTH_DIGITS])


def content_codings(head: Head) -> list[bytes]:
    """The content codings that were applied, in order, lower case; `identity` is none."""
    listed = b",".join(head.all(b"content-encoding")).lower().split(b",")
    return [coding for item in listed if (coding := item.strip()) not in (b"", b"identity")]


_BOM = "\ufeff"
_UTF16 = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_CODECS = {"gbk": "gb18030"}
"""WHATWG Encoding 10.1.1: the gbk decoder is gb18030's. webencodings maps every other label to the right codec."""


DECODE_STEP = 64 * 1024
"""Bytes decoded at once: multi-byte codecs call back for every bad byte, and the event loop must not wait for 8 MiB."""


def decode(body: bytes, charset: str | None, url: Url) -> Iterator[str]:
    """The body's text in pieces (spec 1.11): UTF-8 or the declared WHATWG encoding, bad bytes replaced, a BOM dropped.

    Raises CharsetUnknown, before the first piece, for a label that is not in the WHATWG registry.
    """
    decoder = _codec(body, charset, url).incrementaldecoder("replace")
    starts = range(0, len(body), DECODE_STEP)
    pieces = (decoder.decode(body[at : at + DECODE_STEP], at + DECODE_STEP >= len(body)) for at in starts)
    first = next(pieces, "")
    return chain((first.removeprefix(_BOM),), pieces)


def _codec(body: bytes, charset: str | None, url: Url) -> CodecInfo:
    if is_utf8(charset):
        return lookup_codec("utf-8")
    label = charset or ""
    encoding = webencodings.lookup(label) if label.isascii() else None
    if encoding is None:
        raise CharsetUnknown(url.shown, label)
    if encoding.name in ("utf-16le", "utf-16be"):
        return lookup_codec(_UTF16.get(body[:2], encoding.name))  # a mark decides the byte order (C31)
    if encoding.name in _CODECS:
        return lookup_codec(_CODECS[encoding.name])
    info: CodecInfo = encoding.codec_info
    return info


def is_utf8(charset: str | None) -> bool:
    """Whether a body under this label is UTF-8 as it stands: no label, or one of the two the spec names."""
    return charset in (None, "utf-8", "utf8")
