"""The worker process's main loop: lock in, say so, then render one page after another until the pipe closes.

Started as a command line by `net.workers`. It writes nothing but frames (core/frames.py), and ends by itself after a
number of pages, so that whatever a page left behind in memory does not stay.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from functools import partial

from runvil.core.frames import read_all, read_request, write_all, write_hello, write_reply
from runvil.extract.page import render
from runvil.extract.sandbox import LIFE_SECONDS, PAGE_SECONDS, budget, lock

MAX_PAGES = 1_000
"""Pages a worker renders before it is replaced. A start costs some 100 ms, so this adds 0.1 ms to a page."""

_STDIN, _STDOUT = 0, 1
_REHEARSAL = (
    "<title>t</title><base href='/b/'><div hidden>h</div><article><h1>h</h1><p>{}<a href='x'>a</a><img src='i'>"
    "<table><tr><td colspan='2'>c</table><pre class='lang-x'><code>c</code></pre><math alttext='m'></math></article>"
).format("A page that uses what pages use. " * 20)


def main(parent: int) -> None:
    """Serve the process `parent` on standard input and output. Does not return."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's Ctrl-C is the parent's to handle
    render(_REHEARSAL, "https://example.com/")  # whatever is imported on first use is imported now
    _write(write_hello(lock(parent)))
    with suppress(EOFError, OSError):
        _serve()
    os._exit(0)


def _serve() -> None:
    for served in range(1, MAX_PAGES + 1):
        request = read_request(_read)
        budget(PAGE_SECONDS)
        html = request.html.decode("utf-8", "replace").removeprefix("\ufeff")
        rendered = render(html, request.address, request.raw)
        last = served == MAX_PAGES or time.process_time() > LIFE_SECONDS
        _write(write_reply(rendered, request.limit, last=last))
        budget(0)
        if last:
            return


def _read(size: int) -> bytes:
    """Exactly `size` bytes. Raises EOFError when the parent has gone."""
    return read_all(partial(os.read, _STDIN), size)


def _write(frame: bytes) -> None:
    write_all(partial(os.write, _STDOUT), frame)
