"""`runvil extract`: the text of a page that is already here. Opens the file it is given and nothing else."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import click

from runvil.core import url as urls
from runvil.core.content import decode
from runvil.core.failures import CharsetUnknown, InvalidUrl
from runvil.core.frames import MAX_HTML
from runvil.doors.cli.output import say
from runvil.doors.cli.statuses import OK
from runvil.extract import render

_DECLARED = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w:.-]{1,40})""", re.IGNORECASE)
_PRESCAN = 1024
"""Bytes in which a page must say its encoding (HTML 13.2.3.2)."""

_NOWHERE = urls.parse("https://localhost/")
"""Named in no message: what a page without an address is decoded for."""


@click.command("extract", epilog="Example: curl -s https://example.com/ | runvil extract --url https://example.com/")
@click.argument("file", default="-", metavar="[FILE]")
@click.option("--url", "address", default="", metavar="ADDRESS", help="Where the page is from, for its links.")
@click.option("--raw", is_flag=True, help="The whole page, not only its main article.")
@click.option("--json", "as_json", is_flag=True, help="A JSON object instead of text: title, extraction, text.")
def command(file: str, address: str, raw: bool, as_json: bool) -> int:
    """Print a page's main article as markdown. FILE is HTML; without it, or as "-", it is read from stdin.

    No network is used: nothing in the page is fetched.
    """
    rendered = render(_decoded(_read(file)), _checked(address), raw)
    if as_json:
        told = {"title": rendered.title, "extraction": rendered.extraction, "text": rendered.text}
        say(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        say(rendered.text)
    return OK


def _read(file: str) -> bytes:
    try:
        with sys.stdin.buffer if file == "-" else Path(file).open("rb") as source:
            html = source.read(MAX_HTML + 1)
    except OSError as error:
        raise click.UsageError(f"cannot read {file}: {error.strerror}") from error
    if len(html) > MAX_HTML:
        raise click.UsageError(f"{file} has more than {MAX_HTML} bytes")
    return html


def _checked(address: str) -> str:
    if address == "":
        return ""
    try:
        return urls.parse(address).full
    except InvalidUrl as error:
        raise click.UsageError(f"--url {address}: {error}") from error


def _decoded(html: bytes) -> str:
    """As the page says it is encoded, else UTF-8."""
    declared = _DECLARED.search(html[:_PRESCAN])
    label = declared[1].decode("ascii").lower() if declared is not None else None
    try:
        return "".join(decode(html, label, _NOWHERE))
    except CharsetUnknown:
        return "".join(decode(html, None, _NOWHERE))
