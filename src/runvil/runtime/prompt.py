"""A prompt file, read whole before anything of it runs: frontmatter, title, sections, prose and Lua (spec 3.1 to 3.3).

markdown-it-py says what a heading and a fence is; of its tokens only kinds and line numbers are used, the text is cut
from the file's own lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runvil.runtime import frontmatter
from runvil.runtime.errors import Place, RunError, RunErrorKind
from runvil.runtime.extras import of_the_extra
from runvil.runtime.frontmatter import Frontmatter

MAX_CHARS: Final = 1024 * 1024
"""A prompt is written by hand; longer text is something else, and both parsers are written in Python."""

_DELIMITER: Final = "---"
_FENCE: Final = "```"
_LUA: Final = "```lua"
_SECTION: Final = 2


@dataclass(frozen=True, slots=True)
class Block:
    """A Lua block. prose: the Markdown before it, since the heading or the last fence. line: its Lua's first."""

    prose: str
    lua: str
    line: int


@dataclass(slots=True)
class Section:
    """A heading and what stands below it before the next. level: 1 for the title."""

    title: str
    level: int
    line: int
    blocks: list[Block] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Prompt:
    """walked: the title's body and the `##` sections, in order. children: deeper ones, which a walk never enters."""

    file: str
    head: Frontmatter
    walked: tuple[Section, ...]
    children: tuple[Section, ...]

    @property
    def blocks(self) -> Iterator[Block]:
        for section in (*self.walked, *self.children):
            yield from section.blocks


def decoded(data: bytes, file: str) -> str:
    """A file's text. Raises RunError, with the place of the first byte that is no UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        before = data[: error.start].split(b"\n")
        place = Place(file, len(before), len(before[-1].decode("utf-8", "replace")) + 1)
        raise RunError(RunErrorKind.PARSE, "file is not UTF-8", place) from error


def parse(text: str, file: str = "prompt") -> Prompt:
    """Read a prompt. Lua is cut out, not compiled. Raises RunError, with the place of what is wrong."""
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if len(text) > MAX_CHARS:
        raise RunError(RunErrorKind.PARSE, f"file is longer than {MAX_CHARS} characters", Place(file, 1))
    lines = text.split("\n")
    end = _end_of_frontmatter(lines, file)
    head = frontmatter.read("\n".join(lines[1:end]) + "\n", file, 2)
    sections = _Body(file, lines, end + 1).sections()
    walked = tuple(section for section in sections if section.level <= _SECTION)
    return Prompt(file, head, walked, tuple(section for section in sections if section.level > _SECTION))


def _end_of_frontmatter(lines: Sequence[str], file: str) -> int:
    """The index of the closing delimiter."""
    if lines[0].rstrip() != _DELIMITER:
        raise RunError(RunErrorKind.PARSE, "file must begin with a --- frontmatter delimiter", Place(file, 1))
    for index, line in enumerate(lines[1:], 1):
        if line.rstrip() == _DELIMITER:
            return index
    raise RunError(RunErrorKind.PARSE, "frontmatter was not closed with ---", Place(file, len(lines)))


class _Body:
    """The Markdown after the frontmatter. first: the index of its first line in the file."""

    def __init__(self, file: str, lines: Sequence[str], first: int) -> None:
        self._file = file
        self._lines = lines
        self._first = first
        self._sections: list[Section] = []
        self._taken: dict[int, set[str]] = {}
        self._prose_from = first

    def sections(self) -> list[Section]:
        tokens = self._tokens()
        for index, token in enumerate(tokens):
            if token.level != 0 or token.map is None:
                continue
            if token.type == "heading_open":
                self._open(int(token.tag[1:]), tokens[index + 1].content.strip(), token)
            elif token.type == "fence":
                self._fence(token)
        if not self._sections:
            raise self._failed("prompt requires an H1 title", self._first)
        return self._sections

    def _tokens(self) -> list[Any]:
        """Block tokens alone: what stands inside a line is the prompt's affair."""
        with of_the_extra():
            from markdown_it import MarkdownIt  # noqa: PLC0415
        parser = MarkdownIt("commonmark")
        parser.core.ruler.enableOnly(["normalize", "block"])
        return parser.parse("\n".join(self._lines[self._first :]))

    def _open(self, level: int, title: str, token: Any) -> None:
        line = self._first + token.map[0]
        if level == 1:
            self._check_title(title, line)
        elif not self._sections:
            raise self._failed("prompt requires an H1 title", line)
        siblings = self._taken.setdefault(level, set())
        if title in siblings:
            raise self._failed(f'duplicate section heading "{title}"', line)
        siblings.add(title)
        for deeper in [other for other in self._taken if other > level]:
            del self._taken[deeper]
        self._sections.append(Section(title, level, line + 1))
        self._prose_from = self._first + token.map[1]

    def _check_title(self, title: str, line: int) -> None:
        if self._sections:
            raise self._failed("prompt must contain exactly one H1 title", line)
        if not title:
            raise self._failed("prompt H1 title must not be empty", line)

    def _fence(self, token: Any) -> None:
        start, end = (self._first + number for number in token.map)
        closing = self._lines[end - 1].strip()
        if end - 1 <= start or not closing or set(closing) != {token.markup[0]} or len(closing) < len(token.markup):
            raise self._failed("code fence was not closed", start)
        if self._lines[start].rstrip() != _LUA:
            return
        if self._lines[end - 1].rstrip() != _FENCE:
            raise self._failed("a lua fence must be closed by exactly three backticks at column one", end - 1)
        if not self._sections:
            raise self._failed("prompt requires an H1 title", start)
        prose = _trimmed(self._lines[self._prose_from : start])
        lua = "\n".join(self._lines[start + 1 : end - 1])
        self._sections[-1].blocks.append(Block(prose, lua, start + 2))
        self._prose_from = end

    def _failed(self, message: str, index: int) -> RunError:
        return RunError(RunErrorKind.PARSE, message, Place(self._file, index + 1))


def _trimmed(lines: Sequence[str]) -> str:
    """The lines without the blank ones around them."""
    solid = [index for index, line in enumerate(lines) if line.strip()]
    return "\n".join(lines[solid[0] : solid[-1] + 1]) if solid else ""
