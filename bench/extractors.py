"""What turns HTML into an article's markdown: ours and the peers, each imported only when it is asked for."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

from runvil.extract import render

Extract = Callable[[str, str], str]
"""HTML and its address -> markdown."""


def _runvil() -> Extract:
    return lambda html, url: render(html, url or "https://example.com/").text


def _trafilatura(**more: bool) -> Extract:
    import trafilatura  # noqa: PLC0415  optional

    options: dict[str, Any] = {
        "output_format": "markdown",
        "include_comments": False,
        "include_links": True,
        "include_images": True,
        "include_formatting": True,
        "include_tables": True,
        **more,
    }
    return lambda html, _: trafilatura.extract(html, **options) or ""


def _readability_lxml() -> Extract:
    from markdownify import markdownify  # noqa: PLC0415  optional
    from readability import Document  # type: ignore[import-untyped]  # noqa: PLC0415  optional

    return lambda html, _: markdownify(Document(html).summary())


def _resiliparse() -> Extract:
    from resiliparse.extract.html2text import extract_plain_text  # noqa: PLC0415  optional

    return lambda html, _: str(extract_plain_text(html, main_content=True, alt_texts=True, links=False))


_NODE = """
const readline = require('readline');
const {Readability} = require('@mozilla/readability');
const {JSDOM} = require('jsdom');
const Turndown = require('turndown');
const lines = readline.createInterface({input: process.stdin});
lines.on('line', line => {
  const {html, url} = JSON.parse(line);
  const before = process.cpuUsage();
  let text = '';
  try {
    const found = new Readability(new JSDOM(html, {url}).window.document).parse();
    text = found ? new Turndown().turndown(found.content) : '';
  } catch (error) { text = ''; }
  const spent = process.cpuUsage(before);
  process.stdout.write(JSON.stringify({text, cpu: (spent.user + spent.system) / 1e6}) + '\\n');
});
"""


class _ReadabilityJs:
    """Mozilla's own on Node, in a process of its own. outside: CPU seconds that it spent on the last page."""

    def __init__(self) -> None:
        node = shutil.which("node")
        if node is None:
            raise ImportError("node")
        self.outside = 0.0
        self._process = subprocess.Popen(  # noqa: S603  our own program text
            [node, "-e", _NODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self("<p>warm", "https://example.com/")

    def __call__(self, html: str, url: str) -> str:
        send, receive = self._process.stdin, self._process.stdout
        assert send is not None
        assert receive is not None
        send.write(json.dumps({"html": html, "url": url or "https://example.com/"}) + "\n")
        send.flush()
        line = receive.readline()
        if not line:
            raise ImportError("@mozilla/readability, jsdom or turndown")
        answer = json.loads(line)
        self.outside = float(answer["cpu"])
        return str(answer["text"])


MAKERS: Mapping[str, Callable[[], Extract]] = {
    "runvil": _runvil,
    "trafilatura": _trafilatura,
    "trafilatura, precise": lambda: _trafilatura(favor_precision=True),
    "readability-lxml": _readability_lxml,
    "resiliparse": _resiliparse,
    "Readability.js": _ReadabilityJs,
}
NEEDED = {
    "trafilatura": "pip install trafilatura",
    "trafilatura, precise": "pip install trafilatura",
    "readability-lxml": "pip install readability-lxml markdownify",
    "resiliparse": "pip install resiliparse (text, no markdown)",
    "Readability.js": "npm install @mozilla/readability jsdom turndown, NODE_PATH set",
}


def present(names: list[str], say: Callable[[str], None]) -> dict[str, Extract]:
    """Those of `names` that are installed; the others are named with the way to have them."""
    found: dict[str, Extract] = {}
    for name in names:
        try:
            found[name] = MAKERS[name]()
        except (ImportError, OSError, BrokenPipeError):
            say(f"{name} is left out; to have it: {NEEDED[name]}")
    return found
