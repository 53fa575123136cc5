"""Code blocks: their language, wherever the page's highlighter wrote it down, and no line numbers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from turbohtml import Element

from runvil.extract.nested import outermost

if TYPE_CHECKING:
    from collections.abc import Iterator

_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|brush:|sourceCode|hljs)[-\s]*([\w+#]+)", re.IGNORECASE
)
_PLAIN = frozenset({"notranslate", "line-numbers", "none", "copy", "plain", "undefined"})
_NAME = re.compile(r"[\w+#.-]{1,20}")

LINE_NUMBERS = "td.linenos, td.lineno, td.linenumbers, td.gutter, td.rouge-gutter, td.line-numbers, td.hljs-ln-numbers"
LINE_NUMBERS_INSIDE = ".linenos, .lineno, .line-number, .line-numbers-rows"
"""Where the highlighters in use (Pygments, Rouge, SyntaxHighlighter, highlight.js, Prism) put them: in a column beside
the code, or within it."""


def prepare_code(root: Element) -> None:
    """Tell the renderer each block's language, and take out the numbers of its lines."""
    blocks = root.select("pre")
    if not blocks:
        return
    root.remove(LINE_NUMBERS)
    for block in outermost(blocks, "pre"):
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
