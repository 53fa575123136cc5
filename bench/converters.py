"""What turns HTML into markdown without judging it: ours and the peers, each imported only when it is asked for."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping

from bench.fidelity import ADDRESS
from runvil.extract import render

Convert = Callable[[str], str]


def _runvil() -> Convert:
    return lambda html: render(html, ADDRESS, raw=True).text


def _turbohtml() -> Convert:
    import turbohtml  # noqa: PLC0415  beside the others

    return lambda html: turbohtml.parse(html).to_markdown()


def _html_to_markdown() -> Convert:
    import html_to_markdown  # noqa: PLC0415  optional

    def convert(html: str) -> str:
        done = html_to_markdown.convert(html)
        return str(getattr(done, "content", done) or "")

    return convert


def _markdownify() -> Convert:
    from markdownify import markdownify  # noqa: PLC0415  optional

    return lambda html: markdownify(html, heading_style="ATX")


_NODE = """
const readline = require('readline');
const Turndown = require('turndown');
const {gfm} = require('turndown-plugin-gfm');
const turndown = new Turndown({headingStyle: 'atx', codeBlockStyle: 'fenced'});
turndown.use(gfm);
readline.createInterface({input: process.stdin}).on('line', line => {
  let text = '';
  try { text = turndown.turndown(JSON.parse(line)); } catch (error) { text = ''; }
  process.stdout.write(JSON.stringify(text) + '\\n');
});
"""


def _turndown() -> Convert:
    node = shutil.which("node")
    if node is None:
        raise ImportError("node")
    process = subprocess.Popen(  # noqa: S603  our own program text
        [node, "-e", _NODE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    send, receive = process.stdin, process.stdout
    assert send is not None
    assert receive is not None

    def convert(html: str) -> str:
        send.write(json.dumps(html) + "\n")
        send.flush()
        line = receive.readline()
        if not line:
            raise ImportError("turndown or turndown-plugin-gfm")
        return str(json.loads(line))

    convert("<p>warm")
    return convert


MAKERS: Mapping[str, Callable[[], Convert]] = {
    "runvil": _runvil,
    "turbohtml, as it comes": _turbohtml,
    "html-to-markdown": _html_to_markdown,
    "markdownify": _markdownify,
    "turndown with GFM": _turndown,
}
NEEDED = {
    "html-to-markdown": "pip install html-to-markdown",
    "markdownify": "pip install markdownify",
    "turndown with GFM": "npm install turndown turndown-plugin-gfm, NODE_PATH set",
}


def present(say: Callable[[str], None]) -> dict[str, Convert]:
    """The converters that are installed; the others are named with the way to have them."""
    found: dict[str, Convert] = {}
    for name, make in MAKERS.items():
        try:
            found[name] = make()
        except (ImportError, OSError):
            say(f"{name} is left out; to have it: {NEEDED[name]}")
    return found
