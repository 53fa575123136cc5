"""What `bench.comparison` asks of every tool: a hostile or awkward page each, and what the lab must see of it.

Names, pages and addresses are the lab's. A case has a host of its own for every tool: no cache helps or hurts.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.lab.harness.answers import Page, redirect
from tests.lab.harness.lab import Lab

PUBLIC, INNER, METADATA = "93.184.216.34", "10.0.0.5", "169.254.169.254"

MARK = "The tide turns twice a day."
"""Stands on every page: whoever has it has read one."""

RUSSIAN = "Прилив дважды в день."
HTML = f"<!doctype html><title>The harbour</title><article><h1>The harbour</h1>{f'<p>{MARK}</p>' * 9}</article>"


def _page(host: str) -> Page:
    return Page(HTML.encode())


@dataclass(frozen=True)
class Case:
    """One row. url: with {host}, or none of it. where: what the host's name answers, step by step; a tuple is several.

    page: what the host serves. mark: what a text must hold to have been read right. inside: whether it tries to get in.
    """

    what: str
    url: str = "https://{host}/"
    where: Sequence[str | tuple[str, ...]] = (PUBLIC,)
    page: Callable[[str], Page] = _page
    mark: str = MARK
    inside: bool = False


def _inner(what: str, *where: str | tuple[str, ...]) -> Case:
    return Case(what, where=where, inside=True)


def _redirected(what: str, target: str) -> Case:
    return Case(what, page=lambda host: redirect(target.format(host=host)), inside=True)


def _cut(host: str) -> Page:
    """The first half of a gzip stream."""
    words = " ".join(f"word{number}" for number in range(5000))
    body = gzip.compress(HTML.replace("</article>", f"<p>{words}</p></article>").encode())
    return Page(body[: len(body) // 2], headers=(("Content-Encoding", "gzip"),))


def _cyrillic(host: str) -> Page:
    """Only `<meta>` names the charset."""
    text = HTML.replace(MARK, RUSSIAN).replace("<title>", '<meta charset="windows-1251"><title>')
    return Page(text.encode("windows-1251"), "text/html")


CASES = (
    Case("a page over https"),
    _inner("a name for 10.0.0.5", INNER),
    _inner("a name for 169.254.169.254", METADATA),
    _inner("the same, IPv4-mapped", "::ffff:169.254.169.254"),
    _inner("the same, in NAT64", "64:ff9b::a9fe:a9fe"),
    _inner("the same, in 6to4", "2002:a9fe:a9fe::1"),
    _inner("a name for 100.64.0.1 (CGNAT)", "100.64.0.1"),
    _inner("a name for 168.63.129.16 (Azure)", "168.63.129.16"),
    _inner("a name for fec0::1 (site-local)", "fec0::1"),
    Case("http://169.254.169.254/", url="http://169.254.169.254/", inside=True),
    Case("http://0177.0.0.1/", url="http://0177.0.0.1/", inside=True),
    Case("http://2130706433/", url="http://2130706433/", inside=True),
    _redirected("a redirect to http://169.254.169.254/", "http://169.254.169.254/"),
    _redirected("a redirect to a name for 10.0.0.5", "https://inner.{host}/"),
    _inner("a name that is public, then 127.0.0.1", PUBLIC, "127.0.0.1"),
    _inner("a name for 10.0.0.5 and a public address", (INNER, PUBLIC)),
    Case("half of a gzip body", page=_cut),
    Case("a page over http", url="http://{host}/"),
    Case("a charset that only meta names", page=_cyrillic, mark=RUSSIAN),
    Case("a page without a content type", page=lambda host: Page(HTML.encode(), None)),
)


def arrange(lab: Lab, case: Case, host: str) -> str:
    """Script the lab for one question; the URL to ask for."""
    lab.name(host, *case.where)
    lab.name(f"inner.{host}", INNER)
    for scheme in ("https", "http"):
        lab.serve(f"{scheme}://{host}/", case.page(host))
    for inner in (f"https://inner.{host}/", f"http://{METADATA}/", "http://127.0.0.1/", "http://0177.0.0.1/"):
        lab.serve(inner, Page(HTML.encode()))
    return case.url.format(host=host)
