"""What `runvil demo` serves and asks: a small site, a rogues' gallery, and what each row must come to.

Everything here is data: pages, names, and for every row the text that a model must be given and the dials it may cost.
"""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass

from runvil.testing import Answer, DnsAnswer, Rebinding

SITE = "93.184.216.34"
ROGUE = "1.1.1.1"
SECONDS = 1.5
"""The demo's time limit; the default is 20."""

BOMB_MEBIBYTES = 64


@dataclass(frozen=True, slots=True)
class Row:
    """One question. wanted: the whole text if it is a failure, else pieces of the page.

    dials: the addresses that may be dialled, in order. reused: it goes over a connection that an earlier row opened.
    times: how often it is asked; the last answer counts.
    """

    title: str
    url: str
    wanted: str | tuple[str, ...]
    dials: tuple[str, ...] = ()
    raw: bool = False
    reused: bool = False
    times: int = 1


_ARTICLE = """<!doctype html><title>Reading a tide table - Harbour notes</title>
<nav><a href="/">Home</a> <a href="/shop">Shop</a> <a href="/login">Log in</a></nav>
<article><h1>Reading a tide table</h1>
<p>A tide table gives, for each day, the hours of high and low water and the height that the water will reach at each of
them. The heights are counted from chart datum, so a charted depth and a height add up to the water under the keel.</p>
<p>Between two entries the water moves slowly at first, fastest in the middle, and slowly again; the old <b>rule of
twelfths</b> says how much of the range it covers in each hour: one, two, three, three, two, one.</p>
<p>Wind and air pressure move the real level away from the table's, by a hand's breadth on a quiet day and by a man's
height in a storm. See <a href="/weather">what the weather does</a>.</p></article>
<footer>Harbour notes, printed on recycled electrons</footer>"""

_PRICES = """<!doctype html><title>Berths</title><h1>Berths</h1><table>
<tr><th>Berth</th><th>Per night</th></tr><tr><td>North quay</td><td>12.50</td></tr>
<tr><td>South quay</td><td>9.75</td></tr></table>"""

_HTML = [("Content-Type", b"text/html; charset=utf-8")]
_JSON = [("Content-Type", b"application/json")]
_LATIN = [("Content-Type", b"text/plain; charset=iso-8859-1")]
_GZIP = [("Content-Type", b"text/html"), ("Content-Encoding", b"gzip")]


def _to(target: str) -> Answer:
    return Answer(302, [("Location", target.encode())])


def answers() -> dict[str, Answer | Sequence[Answer]]:
    """URL -> what the server says there."""
    packed = gzip.compress(_ARTICLE.encode())
    return {
        "https://notes.demo.example/tides": Answer(200, _HTML, _ARTICLE.encode()),
        "https://notes.demo.example/prices": Answer(200, _HTML, _PRICES.encode()),
        "https://notes.demo.example/data.json": Answer(200, _JSON, b'{"high": "04:12"}'),
        "https://notes.demo.example/menu": Answer(200, _LATIN, "Café: 2,50".encode("latin-1")),
        "https://old.demo.example/": _to("https://notes.demo.example/tides"),
        "https://notes.demo.example/gone": Answer(404, _HTML, b"nothing here"),
        "https://rebind.rogue.example/": Answer(200, _HTML, _ARTICLE.encode()),
        "https://hop.rogue.example/": _to("https://127.1/admin"),
        "https://inner-hop.rogue.example/": _to("https://intranet.rogue.example/"),
        "https://down.rogue.example/": _to("http://down.rogue.example/"),
        "https://bomb.rogue.example/": Answer(200, _GZIP, gzip.compress(bytes(1 << 20)) * BOMB_MEBIBYTES),
        "https://cut.rogue.example/": Answer(200, _GZIP, packed[:-12]),
        "https://drip.rogue.example/": Answer(200, _HTML, b"<p>", then="drip"),
    }


def names() -> dict[str, DnsAnswer | Rebinding]:
    """Name -> the addresses it resolves to in the demo."""
    rogues = ("hop", "inner-hop", "down", "bomb", "cut", "drip")
    return {
        "notes.demo.example": [SITE],
        "old.demo.example": [SITE],
        "rebind.rogue.example": Rebinding(([ROGUE], ["127.0.0.1"])),
        "intranet.rogue.example": ["10.0.0.5", "192.168.1.1"],
        "metadata.rogue.example": ["169.254.169.254"],
        "nat64.rogue.example": ["64:ff9b::a9fe:a9fe"],
        **{f"{name}.rogue.example": [ROGUE] for name in rogues},
    }


SITE_ROWS = (
    Row(
        "an article, without the menu around it",
        "https://notes.demo.example/tides",
        ("extraction: readability", "Reading a tide table", "**rule of"),
        (SITE,),
    ),
    Row(
        "a page of tables, asked for whole",
        "https://notes.demo.example/prices",
        ("extraction: raw-html", "| North quay | 12.50 |"),
        raw=True,
        reused=True,
    ),
    Row(
        "JSON, verbatim",
        "https://notes.demo.example/data.json",
        ("extraction: plain", '{"high": "04:12"}'),
        reused=True,
    ),
    Row("Latin-1 text", "https://notes.demo.example/menu", ("extraction: plain", "Café: 2,50"), reused=True),
    Row(
        "a redirect to another host",
        "https://old.demo.example/",
        ("url: https://notes.demo.example/tides", "extraction: readability"),
        (SITE,),
    ),
    Row(
        "a page that is not there",
        "https://notes.demo.example/gone",
        "https://notes.demo.example/gone answered HTTP 404; try a different URL",
        reused=True,
    ),
)

_UNREADABLE = "the response body from {} could not be read; try again or use a different URL"

ROGUE_ROWS = (
    Row(
        "the cloud's metadata address",
        "https://169.254.169.254/latest/meta-data/",
        "ip literal host not allowed: 169.254.169.254",
    ),
    Row("loopback in octal", "https://0177.0.0.1/", "ip literal host not allowed: 127.0.0.1"),
    Row("credentials in the URL", "https://user:pass@notes.demo.example/", "url must not contain userinfo"),
    Row(
        "a name that leads inward",
        "https://intranet.rogue.example/",
        "host intranet.rogue.example has no allowed address",
    ),
    Row(
        "a name for the metadata service",
        "https://metadata.rogue.example/",
        "host metadata.rogue.example has no allowed address",
    ),
    Row(
        "the same through NAT64",
        "https://nat64.rogue.example/",
        "host nat64.rogue.example has no allowed address",
    ),
    Row(
        "a name that turns inward: second fetch",
        "https://rebind.rogue.example/",
        "host rebind.rogue.example has no allowed address",
        (ROGUE,),
        times=2,
    ),
    Row(
        "a redirect to 127.1",
        "https://hop.rogue.example/",
        "redirect from https://hop.rogue.example/ to https://127.0.0.1/admin refused: "
        "ip literal host not allowed: 127.0.0.1",
        (ROGUE,),
    ),
    Row(
        "a redirect to a name that leads inward",
        "https://inner-hop.rogue.example/",
        "host intranet.rogue.example has no allowed address",
        (ROGUE,),
    ),
    Row(
        "a redirect from https to http",
        "https://down.rogue.example/",
        "redirect from https://down.rogue.example/ to http://down.rogue.example/ refused: "
        "refusing https to http downgrade",
        (ROGUE,),
    ),
    Row(
        f"a gzip bomb of {BOMB_MEBIBYTES} MiB",
        "https://bomb.rogue.example/",
        "response from https://bomb.rogue.example/ exceeds the 8388608-byte size cap",
        (ROGUE,),
    ),
    Row(
        "a gzip stream that was cut",
        "https://cut.rogue.example/",
        _UNREADABLE.format("https://cut.rogue.example/"),
        (ROGUE,),
    ),
    Row(
        "a body that drips for ever",
        "https://drip.rogue.example/",
        _UNREADABLE.format("https://drip.rogue.example/"),
        (ROGUE,),
    ),
)
