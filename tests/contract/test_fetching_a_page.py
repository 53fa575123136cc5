"""Claims: what the tool declares, takes and gives back for a page."""

from __future__ import annotations

import re

import pytest

from runvil import FetchConfig, Page, WebFetch
from runvil.core.page import Extraction
from runvil.extract import page as extract_page
from runvil.testing import FakeNet
from tests.contract.asking import (
    ADDRESS,
    HOST,
    URL,
    article,
    ask,
    claim,
    fetch,
    html,
    moved,
    ok,
    paragraphs,
    reply,
    site,
)
from tests.support.loopback import Answer, Loopback
from tests.support.rendering import InProcess

CEILING = 40_000


def tool() -> WebFetch:
    return WebFetch(net=FakeNet(), renderer=InProcess())


@claim("pack.tools.ids")
def test_the_tool_has_its_id_and_its_wire_name() -> None:
    assert (tool().id, tool().wire_name) == ("web/fetch", "web_fetch")


@claim("pack.tools.untrusted")
async def test_a_page_and_a_soft_failure_alike_are_untrusted() -> None:
    page = await ask(site())
    failed = await ask(site(reply(content_type=None)))
    assert (page.kind, failed.kind) == ("ok", "soft")
    assert page.untrusted
    assert failed.untrusted


@claim("pack.tools.no-credential-argument")
def test_no_argument_could_hold_a_credential() -> None:
    assert set(tool().parameters["properties"]) == {"url", "max_chars", "raw"}


@claim("pack.fetch.description")
def test_a_model_is_told_in_one_sentence_what_it_does() -> None:
    assert tool().description == "Fetch a web page and return its main content as markdown."


@claim("pack.fetch.schema")
def test_the_schema_shows_the_three_arguments_and_requires_the_url() -> None:
    schema = tool().parameters
    types = {
        name: (part["type"], part.get("minimum"), part.get("maximum")) for name, part in schema["properties"].items()
    }
    assert (schema["type"], schema["required"]) == ("object", ["url"])
    assert types == {
        "url": ("string", None, None),
        "max_chars": ("integer", 1, CEILING),
        "raw": ("boolean", None, None),
    }
    assert "additionalProperties" not in schema


@claim("pack.fetch.schema-descriptions")
def test_the_arguments_are_described_in_the_agreed_words() -> None:
    described = {name: part["description"] for name, part in tool().parameters["properties"].items()}
    assert described["url"] == "The URL to fetch."
    assert described["max_chars"].startswith("Maximum number of characters of text to return for this call.")
    assert "Clamped to the configured ceiling." in described["max_chars"]
    assert described["max_chars"].endswith("the result is flagged as truncated.")


@claim("pack.fetch.get-request")
@claim("fetch.page.get")
async def test_a_page_is_asked_for_with_one_get() -> None:
    server = Loopback({URL: Answer(headers=[("Content-Type", b"text/plain")], body=b"hello")}, {HOST: [ADDRESS]})
    async with server:
        told = await ask(server.net(FetchConfig()))
    assert told == ok("hello")
    assert [(seen.method, seen.url) for seen in server.requests] == [("GET", URL)]


@claim("pack.fetch.url-is-enough")
@claim("fetch.page.one-argument")
async def test_a_call_with_the_url_alone_is_complete() -> None:
    net = site(html())
    assert (await ask(net, {"url": URL})).header["extraction"] == "readability"
    assert net.requests == [URL]


@claim("pack.fetch.unknown-keys")
async def test_other_keys_are_ignored() -> None:
    given = {"url": URL, "method": "POST", "headers": {"Cookie": "a=b"}, "max_redirects": 99, "": None}
    assert await ask(site(), given) == ok("hello")


@claim("pack.fetch.header-lines")
@claim("fetch.header.fields")
async def test_a_page_stands_behind_three_lines_and_a_blank_one() -> None:
    told = await ask(site(reply("first\n\nsecond")))
    assert told.text.split("\n") == [f"url: {URL}", "truncated: false", "extraction: plain", "", "first", "", "second"]


@claim("pack.fetch.header-final-url")
async def test_the_url_line_names_where_the_text_came_from() -> None:
    net = site({URL: moved("/next?page=2"), "https://example.com/next?page=2": reply()})
    assert (await ask(net)).header["url"] == "https://example.com/next?page=2"


async def test_a_page_as_a_value_prints_as_the_tools_text() -> None:
    page = await fetch(site(html()))
    assert isinstance(page, Page)
    assert str(page) == (await ask(site(html()))).text


@claim("pack.fetch.readability")
@claim("fetch.content.html")
async def test_an_article_is_isolated_and_its_surroundings_are_dropped() -> None:
    told = await ask(site(html()))
    assert told.header["extraction"] == "readability"
    assert told.body.count("ferries before noon") == 4
    assert "Front page" not in told.body
    assert "Imprint" not in told.body


@claim("pack.fetch.page-address")
async def test_links_are_read_against_the_final_url() -> None:
    end = "https://other.example/deep/page"
    linked = article(paragraphs(4) + "<p>See the <a href='tide'>tide table</a>.</p>")
    told = await ask(site({URL: moved(end), end: html(linked)}))
    assert "https://other.example/deep/tide" in told.body


def of_bytes(count: int) -> str:
    """Article markdown of that many bytes and far fewer characters."""
    return "é" * (count // 2) + "x" * (count % 2)


def render_article(monkeypatch: pytest.MonkeyPatch, markdown: str, whole: str = "the whole page") -> tuple[str, str]:
    """Render a page of which isolation makes `markdown` and the whole-page conversion `whole`."""

    def attempt(_html: str, _url: str, *, whole: bool, page: str = whole) -> tuple[Extraction, str, str]:
        return (Extraction.RAW_HTML, page, "") if whole else (Extraction.READABILITY, markdown, "")

    monkeypatch.setattr(extract_page, "_attempt", attempt)
    rendered = extract_page.render("", URL)
    return rendered.text, rendered.extraction


@claim("pack.fetch.threshold")
@claim("fetch.content.short-article")
@pytest.mark.parametrize(
    ("size", "label"), [(0, "raw-html"), (99, "raw-html"), (100, "readability"), (101, "readability")]
)
def test_an_article_of_a_hundred_bytes_is_one(monkeypatch: pytest.MonkeyPatch, size: int, label: str) -> None:
    text = of_bytes(size)
    assert len(text.encode()) == size
    expected = text if label == "readability" else "the whole page"
    assert render_article(monkeypatch, text) == (expected, label)


@claim("pack.fetch.threshold-trims")
def test_blanks_around_an_article_do_not_make_it_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert render_article(monkeypatch, "\n \t" + "x" * 99 + " " * 50) == ("the whole page", "raw-html")


@claim("pack.fetch.short-page")
async def test_a_page_without_an_article_still_gives_its_text() -> None:
    assert await ask(site(html("<div>short</div>"))) == ok("short", extraction="raw-html")


@claim("pack.fetch.rendering-never-fails")
async def test_a_page_that_cannot_be_rendered_is_an_empty_success(monkeypatch: pytest.MonkeyPatch) -> None:
    def explode(*_: object) -> None:
        raise RecursionError("deep")

    monkeypatch.setattr(extract_page, "parse", explode)
    assert await ask(site(html())) == ok("", extraction="raw-html")


@claim("pack.fetch.short-text-on-failure")
def test_when_the_whole_page_fails_the_short_text_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    assert render_article(monkeypatch, "a little", whole="") == ("a little", "raw-html")


@claim("pack.fetch.plain-verbatim")
@pytest.mark.parametrize("content_type", ["application/json", "application/xml", "text/plain", "text/csv"])
async def test_text_that_is_not_html_comes_back_as_it_is(content_type: str) -> None:
    body = ' {"a": "<b>&amp;</b>"}\r\n\t# not markdown \n'
    assert await ask(site(reply(body, content_type))) == ok(body)


@claim("pack.fetch.max-chars")
@claim("fetch.caps.per-call")
@pytest.mark.parametrize(("wanted", "given"), [(1, 1), (2, 2), (5000, 5000), (CEILING - 1, CEILING - 1)])
async def test_max_chars_limits_the_text(wanted: int, given: int) -> None:
    told = await ask(site(reply("x" * (CEILING + 1))), {"url": URL, "max_chars": wanted})
    assert len(told.body) == given


@claim("pack.fetch.max-chars-default")
@claim("fetch.caps.characters")
@pytest.mark.parametrize("arguments", [{"url": URL}, {"url": URL, "max_chars": None}])
async def test_without_max_chars_the_ceiling_holds(arguments: dict[str, object]) -> None:
    assert len((await ask(site(reply("x" * CEILING)), arguments)).body) == CEILING
    assert len((await ask(site(reply("x" * (CEILING + 1))), arguments)).body) == CEILING


@claim("pack.fetch.max-chars-clamped")
@claim("pack.policy.only-less")
@claim("fetch.caps.clamped")
@pytest.mark.parametrize("wanted", [CEILING, CEILING + 1, 100_000, 2**64 - 1])
async def test_a_larger_max_chars_is_lowered_in_silence(wanted: int) -> None:
    told = await ask(site(reply("x" * (CEILING + 1))), {"url": URL, "max_chars": wanted})
    assert told == ok("x" * CEILING, truncated=True)


@claim("pack.fetch.raw")
@claim("fetch.raw.whole-page")
async def test_raw_gives_the_whole_document() -> None:
    rows = "".join(f"<tr><td>Pier {i}</td><td>{i * 7} boats</td></tr>" for i in range(20))
    page = f"<nav><a href='/'>Front page</a></nav><table>{rows}</table><footer>Imprint</footer>"
    told = await ask(site(html(page)), {"url": URL, "raw": True})
    assert told.header["extraction"] == "raw-html"
    assert [i for i in range(20) if not re.search(rf"Pier {i}\b.*{i * 7} boats", told.body)] == []
    assert "Imprint" in told.body


@claim("pack.fetch.raw-default")
@pytest.mark.parametrize("raw", [{}, {"raw": None}, {"raw": False}])
async def test_raw_is_false_unless_it_is_said(raw: dict[str, object]) -> None:
    assert (await ask(site(html()), {"url": URL, **raw})).header["extraction"] == "readability"


@claim("pack.fetch.raw-only-html")
@claim("fetch.raw.ignored")
@pytest.mark.parametrize("content_type", ["application/json", "text/xml", "text/plain"])
async def test_raw_changes_nothing_for_other_text(content_type: str) -> None:
    told = [await ask(site(reply("<p>a</p>", content_type)), {"url": URL, "raw": raw}) for raw in (True, False)]
    assert told == [ok("<p>a</p>"), ok("<p>a</p>")]
