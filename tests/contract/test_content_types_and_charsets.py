"""Claims: what the response's header decides about its body, and how the bytes become text."""

from __future__ import annotations

import json

import pytest

from runvil import FetchConfig
from runvil.core.config import KNOBS
from tests.contract.asking import (
    URL,
    article,
    ask,
    claim,
    html,
    moved,
    ok,
    paragraphs,
    reply,
    site,
    soft,
    typed,
    unread,
)

STRUCTURED = [
    "application/json",
    "application/xml",
    "application/ld+json",
    "application/atom+xml",
    "application/problem+json; charset=utf-8",
    "text/xml",
    "text/json",
    "text/vnd.example+xml",
    "APPLICATION/JSON",
]
FLAT = ["text/plain", "text/markdown", "text/csv", "text/css", "text/javascript", "text/x-unheard-of", "Text/Plain"]
REFUSED = [
    "application/pdf",
    "application/octet-stream",
    "image/png",
    "image/svg+xml",
    "audio/mpeg",
    "video/mp4",
    "application/zip",
    "application/gzip",
    "application/javascript",
    "application/xhtml",
    "application/jsonp",
    "multipart/mixed",
    "font/woff2",
    "model/x+json",
]
UNPARSABLE = [
    "html",
    "/",
    "text/",
    "/html",
    "",
    " ",
    "text html",
    "text/html, text/plain",
    "text/plain; charset=utf-8,",
]


def refusal(content_type: str, url: str = URL) -> str:
    return (
        f"content type {content_type} from {url} cannot be returned as text; "
        "try an HTML version of the page or a different URL"
    )


NO_TYPE = f"response from {URL} declared no content type; refusing to guess its format; try a different URL"


@claim("pack.content.json-verbatim")
@claim("fetch.content.structured")
async def test_json_comes_back_as_it_was_sent() -> None:
    body = '{"key":"value","numbers":[1,2,3],"nested":{"ok":true}}'
    told = await ask(site(reply(body, "application/json")))
    assert told == ok(body)
    assert json.loads(told.body) == {"key": "value", "numbers": [1, 2, 3], "nested": {"ok": True}}


@claim("pack.content.html-types")
@claim("fetch.content.html")
@pytest.mark.parametrize(
    "content_type", ["text/html", "application/xhtml+xml", "TEXT/HTML", "text/html; charset=utf-8"]
)
async def test_html_is_rendered(content_type: str) -> None:
    told = await ask(site(reply(article(), content_type)))
    assert told.header["extraction"] == "readability"
    assert "<p>" not in told.body


@claim("pack.content.xhtml-is-html")
async def test_xhtml_is_html_although_its_type_ends_in_xml() -> None:
    told = await ask(site(reply("<html><body><p>a</p></body></html>", "application/xhtml+xml")))
    assert told == ok("a", extraction="raw-html")


@claim("pack.content.structured")
@pytest.mark.parametrize("content_type", STRUCTURED)
async def test_json_and_xml_of_any_name_are_plain(content_type: str) -> None:
    assert await ask(site(reply("<p>{}</p>", content_type))) == ok("<p>{}</p>")


@claim("pack.content.structured")
@pytest.mark.parametrize("content_type", STRUCTURED)
async def test_json_and_xml_over_the_cap_are_refused_whole(content_type: str) -> None:
    told = await ask(site(reply("x" * 11, content_type)), config=FetchConfig(max_bytes=10))
    assert told == soft(f"response from {URL} exceeds the 10-byte size cap")


@claim("pack.content.flat")
@claim("fetch.content.flat")
@pytest.mark.parametrize("content_type", FLAT)
async def test_any_other_text_is_flat_and_may_be_cut(content_type: str) -> None:
    told = await ask(site(reply("<p>" + "x" * 11, content_type)), config=FetchConfig(max_bytes=10))
    assert told == ok("<p>xxxxxxx", truncated=True)


@claim("pack.content.refused")
@claim("fetch.content.unsupported")
@pytest.mark.parametrize("content_type", REFUSED)
async def test_every_other_type_is_refused_by_name(content_type: str) -> None:
    assert await ask(site(reply(content_type=content_type))) == soft(refusal(content_type))


@claim("pack.content.quoted-verbatim")
async def test_the_refusal_quotes_the_header_as_it_was_written() -> None:
    written = 'Application/PDF;  Version="1.7" ; x'
    assert await ask(site(reply(content_type=written))) == soft(refusal(written))


@claim("pack.content.refused-final-url")
async def test_the_refusal_names_the_final_url_without_its_query() -> None:
    end = "https://b.example/report.pdf?v=2"
    net = site({URL: moved(end), end: reply(content_type="application/pdf")})
    assert await ask(net) == soft(refusal("application/pdf", "https://b.example/report.pdf"))


@claim("pack.content.unparsable")
@pytest.mark.parametrize("content_type", UNPARSABLE)
async def test_a_type_that_does_not_parse_is_refused_in_the_same_words(content_type: str) -> None:
    assert await ask(site(reply(content_type=content_type))) == soft(refusal(content_type))


@claim("pack.content.missing")
@claim("fetch.content.missing")
async def test_without_a_type_no_format_is_guessed() -> None:
    assert await ask(site(typed(None, article()))) == soft(NO_TYPE)


@claim("pack.content.non-ascii")
@pytest.mark.parametrize(
    "value", ["text/plain; name=é".encode(), b"text/html\x80", b"\xff", "text/html;x=\u00a0".encode()]
)
async def test_a_type_with_a_byte_beyond_ascii_counts_as_missing(value: bytes) -> None:
    assert await ask(site(reply(content_type=value))) == soft(NO_TYPE)


@claim("pack.content.before-the-body")
@pytest.mark.parametrize("content_type", ["application/pdf", "nonsense", None, b"text/html\xff"])
async def test_a_refused_type_costs_no_body(content_type: str | bytes | None) -> None:
    net = site(reply(unread(), content_type))
    assert (await ask(net)).kind == "soft"
    assert net.bytes_read == 0


@claim("pack.content.no-sniffing")
@pytest.mark.parametrize("body", [b"<!doctype html><p>a</p>", b"%PDF-1.7", b'{"a":1}', b"\x89PNG"])
async def test_the_body_has_no_say_in_its_type(body: bytes) -> None:
    assert await ask(site(reply(body))) == ok(body.decode("utf-8", "replace"))


@claim("pack.content.fixed-set")
async def test_no_policy_widens_the_set_of_types() -> None:
    lax = FetchConfig(
        allow_http=True,
        allow_ports=tuple(range(1, 1025)),
        allow_ip_literals=True,
        max_bytes=64 * 2**20,
        supplement=False,
    )
    assert await ask(site(reply(content_type="application/pdf")), config=lax) == soft(refusal("application/pdf"))
    assert [knob for knob in KNOBS if "type" in knob or "content" in knob or "charset" in knob] == []


@claim("pack.charset.header-alone")
@pytest.mark.parametrize(
    "declared", ["<meta charset=iso-8859-1>", "<meta http-equiv=content-type content='text/html;charset=iso-8859-1'>"]
)
async def test_a_charset_inside_the_page_is_never_read(declared: str) -> None:
    page = f"<html><head>{declared}</head><body><article>{paragraphs(3)}<p>Café</p></article></body></html>"
    assert "Café" in (await ask(site(html(page)))).body


@claim("pack.charset.all-kinds")
@pytest.mark.parametrize("content_type", ["text/html", "application/json", "application/xml", "text/plain"])
async def test_the_declared_charset_holds_for_every_kind_of_text(content_type: str) -> None:
    body = "<p>Cafés — “quoted”</p>".encode("windows-1252")
    told = await ask(site(reply(body, f"{content_type}; charset=windows-1252")))
    assert "Cafés — “quoted”" in told.body


@claim("pack.charset.utf8")
@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "text/plain;charset=utf-8",
        "text/plain; charset=UTF8",
        'text/plain; charset="Utf-8"',
        "text/plain; charset",
    ],
)
async def test_utf8_is_the_default_and_bad_bytes_are_replaced(content_type: str) -> None:
    told = await ask(site(reply("Café ✓ ".encode() + b"\xff\xc3(", content_type)))
    assert told == ok("Café ✓ \ufffd\ufffd(")


@claim("pack.charset.recognised")
@pytest.mark.parametrize(
    ("label", "body", "text"),
    [
        ("ISO-8859-1", b"Caf\xe9", "Café"),
        ("latin1", b"\x93a\x94", "“a”"),  # the web's latin1 is windows-1252
        ("us-ascii", b"\x80", "€"),
        ("windows-1252", b"\x80", "€"),
        ("windows-1251", b"\xcc\xe8\xf0", "Мир"),
        ("koi8-r", b"\xed\xc9\xd2", "Мир"),
        ("shift_jis", b"\x93\xfa\x96\x7b", "日本"),
        ("euc-jp", b"\xc6\xfc\xcb\xdc", "日本"),
        ("gb2312", b"\xd6\xd0\xce\xc4", "中文"),
        ("gbk", b"\x94\x39\xda\x33", "💩"),  # four bytes: the web's gbk is read as gb18030
        ("big5", b"\xa4\xa4\xa4\xe5", "中文"),
        ("euc-kr", b"\xc7\xd1\xb1\xdb", "한글"),
        ("utf-16le", "né".encode("utf-16-le"), "né"),
        ("iso-8859-9", b"\xfe", "ş"),
    ],
)
async def test_a_recognised_label_is_decoded_by_its_encoding(label: str, body: bytes, text: str) -> None:
    assert await ask(site(reply(body, f"text/plain; charset={label}"))) == ok(text)


@claim("pack.charset.malformed")
@pytest.mark.parametrize(
    ("label", "body"),
    [
        ("shift_jis", b"ok\x93"),
        ("euc-jp", b"ok\xc6"),
        ("gbk", b"ok\x81"),
        ("big5", b"ok\xa4"),
        ("utf-16le", b"o\0k\0x"),
    ],
)
async def test_malformed_bytes_are_replaced_and_the_rest_is_kept(label: str, body: bytes) -> None:
    told = await ask(site(reply(body, f"text/plain; charset={label}")))
    assert told.body.startswith("ok")
    assert "\ufffd" in told.body


@claim("pack.charset.unknown")
@pytest.mark.parametrize("kind", ["text/plain", "text/html", "application/json"])
@pytest.mark.parametrize("label", ["not-a-charset", "UTF-7", "rot13", "unicode_escape", "idna", "utf-8x"])
async def test_an_unknown_label_is_named_in_lower_case(kind: str, label: str) -> None:
    assert await ask(site(reply(content_type=f"{kind}; charset={label}"))) == soft(
        f"response from {URL} declared unknown charset {label.lower()}; cannot decode its text"
    )


@claim("pack.charset.unknown-final-url")
async def test_an_unknown_label_is_told_of_the_final_url() -> None:
    end = "https://b.example/notes?a=b"
    net = site({URL: moved(end), end: reply(content_type="text/plain; charset=nope")})
    assert await ask(net) == soft(
        "response from https://b.example/notes declared unknown charset nope; cannot decode its text"
    )


@claim("pack.charset.after-download")
async def test_the_charset_is_judged_after_the_download() -> None:
    net = site(reply([b"12345", b"67890"], "text/plain; charset=nope"))
    assert "unknown charset" in (await ask(net)).text
    assert net.bytes_read == 10


@claim("pack.charset.after-download")
async def test_a_body_over_its_cap_is_told_before_its_charset() -> None:
    told = await ask(site(reply("x" * 11, "text/html; charset=nope")), config=FetchConfig(max_bytes=10))
    assert told == soft(f"response from {URL} exceeds the 10-byte size cap")
