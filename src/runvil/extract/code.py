"""Code blocks: what is one, its language, wherever the page's highlighter wrote it down, and no line numbers."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from turbohtml import Element, Text

from runvil.extract.edges import texts_outside
from runvil.extract.nested import outermost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|brush:|sourceCode|hljs)[-\s]*([\w+#]+)", re.IGNORECASE
)
_PLAIN = frozenset({"notranslate", "line-numbers", "none", "copy", "plain", "undefined"})
_NAME = re.compile(r"[\w+#.-]{1,20}")

LINE_NUMBERS = "td.linenos, td.lineno, td.linenumbers, td.gutter, td.rouge-gutter, td.line-numbers, td.hljs-ln-numbers"
LINE_NUMBERS_INSIDE = ".linenos, .lineno, .line-number, .line-numbers-rows"
"""Where the highlighters in use (Pygments, Rouge, SyntaxHighlighter, highlight.js, Prism) put them: in a column beside
the code, or within it."""


_KEEPING = re.compile(r"white-space\s*:\s*(?:pre|break-spaces)", re.IGNORECASE | re.ASCII)
_FIXED_WIDTH = re.compile(r"mono|courier|consolas|menlo", re.IGNORECASE | re.ASCII)
_BLOCKS = frozenset({"div", "p", "figure", "section", "td"})
_STYLED = '[style*="white-space" i]'

MAX_PHRASE = 10_000
"""Characters of a phrase of code in which a line's end is looked for: phrases in phrases are each asked."""

MAX_BLOCKS = 50_000
"""Blocks of code whose language is looked for; a page with more has none that anybody reads."""

MAX_LINES = 20_000
"""Lines of a page that end where its source's do; one with more is no prose."""


def prepare_white_space(root: Element, present: set[str]) -> None:
    """Tell code from text whose white space is only kept by a style, as site builders write it on every paragraph.

    The renderer takes both for code. Code is a block in letters of one width; in other text line ends are breaks.
    """
    styled = [each for each in root.select(_STYLED) if _KEEPING.search(each.attr("style") or "") is not None]
    prose: list[Element] = []
    for element in styled:
        if element.tag in _BLOCKS and _FIXED_WIDTH.search(element.attr("style") or "") is not None:
            element.tag = "pre"
            present.add("pre")
        elif element.tag != "pre":
            prose.append(element)
    for element in prose:
        if element.tag != "code" or "\n" not in element.text[:MAX_PHRASE].strip():
            del element.attrs["style"]
    if _break_lines(element for element in prose if element.tag != "code"):
        present.add("br")


def _break_lines(elements: Iterable[Element]) -> bool:
    """Put breaks where the texts of these elements end a line, but for code; tells whether there is one."""
    left, inside = MAX_LINES, set[Element]()
    for element in elements:
        if element not in inside:
            inside.update(element.iter_elements())
            for text in texts_outside(element, "pre", "code"):
                if left > 0 and "\n" in text.data.strip():
                    left -= _break(text)
    return left < MAX_LINES


def _break(text: Text) -> int:
    first, *lines = text.data.split("\n")
    text.insert_after(*(node for line in lines for node in (Element("br"), Text(line))))
    text.data = first
    return len(lines)


def prepare_code(root: Element) -> None:
    """Tell the renderer each block's language, and take out the numbers of its lines."""
    blocks = root.select("pre")
    if not blocks:
        return
    root.remove(LINE_NUMBERS)
    for block in islice(outermost(blocks, "pre"), MAX_BLOCKS):
        block.remove(LINE_NUMBERS_INSIDE)
        if next(iter(block.stripped_strings), None) is None:
            block.decompose()
            continue
        code = block.select_one("code")
        language = next(filter(None, map(_language, _places(block, code))), "")
        if language and code is not None:
            code.attrs["class"] = f"language-{language}"
        elif language:
            block.attrs["class"] = f"language-{language}"


def _places(block: Element, code: Element | None) -> Iterator[Element]:
    if code is not None:
        yield code
    yield block
    around = block.parent
    for _ in range(2):
        if isinstance(around, Element):
            yield around
            around = around.parent


def _language(element: Element) -> str:
    written = element.attr("data-lang") or element.attr("data-language") or ""
    if _NAME.fullmatch(written):
        return written
    found = _LANGUAGE.search((element.attr("class") or "")[:300])
    return found[1] if found and found[1].lower() not in _PLAIN else ""
