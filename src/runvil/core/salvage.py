"""What is left of a page when rendering it was lost: its text, the tags struck out, in one pass over the bytes.

No tree, no nesting, no backtracking: every byte is looked at a fixed number of times, so no page makes it slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

SLICE = 32 * 1024
"""Bytes taken in one go: some hundred microseconds, so that whoever has a large page to do can stop to breathe."""

_TAIL = 16  # bytes; the longest end of a silence ("</template>") is kept together where a slice ends
_SILENCE = re.compile(rb"<!--|<(script|style|template|svg|iframe)(?=[\s/>])", re.IGNORECASE)
_SILENCE_ENDS = {
    b"<!--": re.compile(rb"-->"),
    **{
        name: re.compile(rb"</" + name, re.IGNORECASE) for name in (b"script", b"style", b"template", b"svg", b"iframe")
    },
}
_OPEN_TAG = re.compile(rb"<(?!(?:script|style|template|svg|iframe)[\s/>])[a-z/]", re.IGNORECASE)
_TAG_ENDS = re.compile(rb">")
_BREAK = re.compile(
    rb"</?(?:p|div|br|hr|li|ul|ol|dl|dt|dd|tr|table|h[1-6]|pre|section|article|main|header|footer|nav|aside|title|body"
    rb"|blockquote|figure|figcaption|form|option)(?=[\s/>])[^<>]*>?",
    re.IGNORECASE,
)
_CELL = re.compile(rb"<t[dh](?=[\s/>])[^<>]*>?", re.IGNORECASE)
_TAG = re.compile(rb"<[a-zA-Z/!?\0][^<>]*>?")
_DONE = b"<\0>"  # stands where a tag was until the others are gone, lest an unclosed one before it goes on beyond
_BLANKS = re.compile(r"\s+")


def salvage(html: bytes, limit: int) -> str:
    """The text of a UTF-8 page, at most `limit` characters of it."""
    rescue = Salvage(limit)
    for piece in slices(html):
        rescue.feed(piece)
        if rescue.full:
            break
    return rescue.text()


def slices(html: bytes) -> Iterator[bytes]:
    return (html[start : start + SLICE] for start in range(0, len(html), SLICE))


class Salvage:
    """The same a slice at a time, for callers that have other things to do in between."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: list[str] = []
        self._size = 0
        self._rest = b""
        self._silent: re.Pattern[bytes] | None = None

    @property
    def full(self) -> bool:
        return self._size > self._limit

    def feed(self, piece: bytes) -> None:
        """Take the page's next bytes."""
        buffer = self._rest + piece
        cut = _cut(buffer)
        if len(buffer) - cut > SLICE:  # no place to part it
            if self._silent is None and _OPEN_TAG.match(buffer, cut):  # a payload in an attribute
                self._scan(buffer[:cut])
                buffer, self._silent = buffer[cut:], _TAG_ENDS
            cut = _character(buffer, len(buffer) - _TAIL)
        self._scan(buffer[:cut])
        self._rest = buffer[cut:]

    def text(self) -> str:
        """The text found, once the last bytes were fed."""
        self._scan(self._rest)
        self._rest = b""
        lines = (_BLANKS.sub(" ", line).strip() for line in "".join(self._kept).split("\n"))
        return "\n".join(line for line in lines if line)[: self._limit]

    def _scan(self, chunk: bytes) -> None:
        at = 0
        while at < len(chunk):
            if self._silent is not None:
                end = self._silent.search(chunk, at)
                if end is None:
                    return
                self._silent = None
                at = end.start() if end[0].startswith(b"</") else end.end()
            start = _SILENCE.search(chunk, at)
            self._keep(chunk[at : start.start() if start else len(chunk)])
            if start is None:
                return
            self._silent = _SILENCE_ENDS[(start[1] or start[0]).lower()]
            at = start.end()

    def _keep(self, markup: bytes) -> None:
        parted = _CELL.sub(_DONE + b" ", _BREAK.sub(_DONE + b"\n", _blank_lines(markup)))
        text = _TAG.sub(b"", parted)
        if text:
            found = unescape(text.decode("utf-8", "replace"))
            self._kept.append(found)
            self._size += len(found) - found.count("\n") - found.count(" ")


def _blank_lines(markup: bytes) -> bytes:
    return markup.replace(b"\n", b" ").replace(b"\r", b" ")


def _cut(buffer: bytes) -> int:
    """Where to part `buffer` so that no tag, word or character reference is in two pieces; 0 for nowhere."""
    open_tag, end = buffer.rfind(b"<"), buffer.rfind(b">")
    return open_tag if open_tag > end else max(buffer.rfind(b" "), buffer.rfind(b"\n"), end) + 1


def _character(buffer: bytes, cut: int) -> int:
    """The place at or just before `cut` where a character begins."""
    return next((at for at in range(cut, cut - 4, -1) if buffer[at] & 0xC0 != 0x80), cut)  # noqa: PLR2004  # RFC 3629
