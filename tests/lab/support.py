"""What the lab's tests share: a page, its place, and how a refusal is asked for."""

from __future__ import annotations

from runvil import FetchFailure, WebFetch
from tests.lab.harness.answers import Page

EXAMPLE = "93.184.216.34"
EXAMPLE_V6 = "2606:2800:220:1:248:1893:25c8:1946"
OTHER = "1.1.1.1"
OTHER_V6 = "2606:4700:4700::1111"

SENTENCE = "The tide turns twice a day, and the harbour turns with it."
NAVIGATION = "Jump to the shop"
PARAGRAPHS = "".join(
    f"<p>{SENTENCE} In chapter {number} the boats come home, the nets are hung out to dry, and the keeper of the light "
    "writes down the weather, the hour and the names of all who passed the mole that day, large or small.</p>"
    for number in range(6)
)
HTML_TEXT = (
    "<!doctype html><html lang=en><head><title>The harbour</title></head><body>"
    f"<nav><a href=/shop>{NAVIGATION}</a></nav><article><h1>The harbour</h1>{PARAGRAPHS}</article></body></html>"
)
ARTICLE = Page(HTML_TEXT.encode())


def plain(text: str, **fields: str) -> Page:
    """A short flat text; needs no rendering."""
    return Page(text.encode(), "text/plain; charset=utf-8", headers=tuple(fields.items()))


async def failure(fetch: WebFetch, url: str) -> FetchFailure:
    """The failure that fetching `url` must end in, without the frames it came through."""
    try:
        page = await fetch.fetch(url)
    except FetchFailure as refused:
        return refused.with_traceback(None)
    raise AssertionError(f"{url} gave a page: {page.text[:100]!r}")


async def code(fetch: WebFetch, url: str) -> str:
    return (await failure(fetch, url)).code
