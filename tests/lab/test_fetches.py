"""The default policy, unchanged, fetches pages from public addresses over real DNS, TLS and HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runvil import FetchConfig, FetchFailure, WebFetch
from tests.lab.harness import namespace
from tests.lab.harness.answers import Page, Raw, Then, redirect
from tests.lab.harness.lab import Dial
from tests.lab.harness.marks import in_lab
from tests.lab.support import (
    ARTICLE,
    EXAMPLE,
    EXAMPLE_V6,
    NAVIGATION,
    OTHER,
    OTHER_V6,
    SENTENCE,
    code,
    failure,
    plain,
)

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

pytestmark = pytest.mark.lab

FORBIDDEN_HEADERS = ("cookie", "authorization", "referer", "proxy-authorization")


@in_lab
async def test_the_default_policy_fetches_example_com_at_its_address(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, ARTICLE)
    async with WebFetch() as fetch:
        output = await fetch.call({"url": "https://example.com/"})
    assert output.text.startswith("url: https://example.com/\ntruncated: false\nextraction: readability\n\n")
    assert SENTENCE in output.text
    assert NAVIGATION not in output.text
    assert output.untrusted
    assert not output.soft
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
async def test_the_page_is_typed_and_reads_as_the_tools_text(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    lab.serve("https://example.com/?a=b", ARTICLE)
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://example.com/?a=b#part")
        output = await fetch.call({"url": "https://example.com/?a=b#part"})
    assert (page.url, page.truncated, page.extraction) == ("https://example.com/?a=b", False, "readability")
    assert (page.status, page.title) == (200, "The harbour")
    assert str(page) == output.text


@in_lab
async def test_raw_gives_the_whole_page(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, ARTICLE)
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://example.com/", raw=True)
    assert page.extraction == "raw-html"
    assert NAVIGATION in page.text
    assert SENTENCE in page.text


@in_lab
async def test_the_request_is_a_get_that_names_the_host_and_gives_nothing_away(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    lab.serve("https://example.com/a%20b?q=1&r=/x", plain("here"))
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://example.com/a b?q=1&r=/x#secret")
    assert page.url == "https://example.com/a%20b?q=1&r=/x"
    [request] = lab.requests()
    assert (request.method, request.target) == ("GET", "/a%20b?q=1&r=/x")
    assert request.header("host") == "example.com"
    assert request.header("user-agent") == "harness-webfetch/0.0"
    assert [name for name in FORBIDDEN_HEADERS if request.header(name) is not None] == []
    assert b"secret" not in request.raw
    [connection] = lab.connections()
    assert (connection.sni, connection.alpn) == ("example.com", "http/1.1")


@in_lab
async def test_gzip_and_brotli_are_asked_for_and_read(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    async with WebFetch() as fetch:
        for coding in ("gzip", "br"):
            lab.serve(f"https://example.com/{coding}", ARTICLE.coded(coding))
            page = await fetch.fetch(f"https://example.com/{coding}")
            assert SENTENCE in page.text
    for request in lab.requests():
        accepted = request.header("accept-encoding") or ""
        assert {"gzip", "br"} <= {part.strip() for part in accepted.split(",")}


@in_lab
async def test_a_host_with_an_ipv6_address_only_is_fetched(lab: Lab) -> None:
    lab.site("six.example", OTHER_V6, ARTICLE)
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://six.example/")
    assert SENTENCE in page.text
    assert lab.dialled() == [Dial(OTHER_V6, 443)]


@in_lab
async def test_tls_on_port_80_is_fetched_with_the_port_in_the_host_header(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    lab.serve("https://example.com:80/", plain("odd but allowed"))
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://example.com:80/")
    assert page.text == "odd but allowed"
    assert lab.dialled() == [Dial(EXAMPLE, 80)]
    [request] = lab.requests()
    assert (request.tls, request.header("host")) == (True, "example.com:80")


@in_lab
async def test_json_and_latin_1_text_come_back_as_they_are(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    lab.serve("https://example.com/data", Page(b'{"b": [1, 2]}', "application/json"))
    lab.serve("https://example.com/text", Page("crème brûlée".encode("latin-1"), "text/plain; charset=ISO-8859-1"))
    async with WebFetch() as fetch:
        data = await fetch.fetch("https://example.com/data")
        text = await fetch.fetch("https://example.com/text")
    assert (data.text, data.extraction) == ('{"b": [1, 2]}', "plain")
    assert (text.text, text.extraction) == ("crème brûlée", "plain")


@in_lab
async def test_a_dead_first_address_costs_little_and_the_next_one_answers(lab: Lab) -> None:
    lab.site("dual.example", (OTHER_V6, EXAMPLE), ARTICLE)
    lab.blackhole(OTHER_V6)
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://dual.example/")
    assert SENTENCE in page.text
    assert Dial(EXAMPLE, 443) in lab.dialled()
    assert [request.address for request in lab.requests()] == [EXAMPLE]


@in_lab
async def test_an_unreachable_first_address_is_passed_over(lab: Lab) -> None:
    lab.site("dual.example", (OTHER_V6, OTHER, EXAMPLE), ARTICLE)
    namespace.run_ip(
        f"route add unreachable {OTHER_V6}/128 table local\nroute add unreachable {OTHER}/32 table local\n".encode()
    )
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://dual.example/")
    assert SENTENCE in page.text
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
async def test_a_host_whose_every_address_is_dead_times_out(lab: Lab) -> None:
    lab.name("dead.example", (OTHER_V6, OTHER))
    lab.blackhole(OTHER_V6)
    lab.blackhole(OTHER)
    async with WebFetch(FetchConfig(connect_timeout=1.0)) as fetch:
        refused = await failure(fetch, "https://dead.example/x?secret=1")
    assert str(refused) == "request to https://dead.example/x timed out; try again or use a different URL"
    assert refused.soft
    assert set(lab.dialled()) == {Dial(OTHER_V6, 443), Dial(OTHER, 443)}


@in_lab
async def test_a_host_that_refuses_connections_is_a_network_error_that_keeps_the_query(lab: Lab) -> None:
    lab.name("shut.example", OTHER)
    namespace.run_ip(f"route add unreachable {OTHER}/32 table local\n".encode())
    async with WebFetch() as fetch:
        refused = await failure(fetch, "https://shut.example/x?q=1#frag")
    assert str(refused) == "fetch failed for https://shut.example/x?q=1: network error; try a different URL"
    assert (refused.code, refused.soft) == ("network-error", True)


# --- redirects ---


@in_lab
async def test_redirects_across_hosts_are_followed_each_to_its_own_address_and_name(lab: Lab) -> None:
    lab.site("one.example", EXAMPLE, redirect("https://two.example/"))
    lab.site("two.example", OTHER, redirect("//three.example/deep/start", 307))
    lab.name("three.example", OTHER_V6)
    lab.serve("https://three.example/deep/start", redirect("../end?x=1#frag", 308))
    lab.serve("https://three.example/end?x=1", ARTICLE)
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://one.example/")
    assert page.url == "https://three.example/end?x=1"
    assert [(one.address, one.sni) for one in lab.connections()][:3] == [
        (EXAMPLE, "one.example"),
        (OTHER, "two.example"),
        (OTHER_V6, "three.example"),
    ]
    hosts = [request.header("host") for request in lab.requests()]
    assert hosts == ["one.example", "two.example", "three.example", "three.example"]


@in_lab
async def test_five_hops_are_followed_and_the_sixth_is_refused_without_a_request(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    for step in range(7):
        lab.serve(f"https://example.com/{step}", redirect(f"/{step + 1}"))
    lab.serve("https://example.com/7", plain("the end"))
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://example.com/2")
        seen = len(lab.requests())
        refused = await failure(fetch, "https://example.com/1")
    assert page.text == "the end"
    assert str(refused) == (
        "redirect from https://example.com/6 to https://example.com/7 refused: exceeded max redirects (5)"
    )
    assert [request.target for request in lab.requests()[seen:]] == ["/1", "/2", "/3", "/4", "/5", "/6"]


@in_lab
async def test_a_loop_ends_at_the_cap(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, redirect("/"))
    async with WebFetch() as fetch:
        assert await code(fetch, "https://example.com/") == "redirect-refused"
    assert len(lab.requests()) == 6


@in_lab
async def test_a_redirect_down_to_http_is_refused_and_port_80_is_left_alone(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, redirect("http://other.example/a?secret=1"))
    lab.name("other.example", OTHER)
    async with WebFetch() as fetch:
        refused = await failure(fetch, "https://example.com/")
    assert str(refused) == (
        "redirect from https://example.com/ to http://other.example/a refused: refusing https to http downgrade"
    )
    assert lab.dialled() == [Dial(EXAMPLE, 443)]
    assert lab.asked("other.example.") == 0


@in_lab
async def test_what_a_server_sets_or_suggests_is_forgotten(lab: Lab) -> None:
    lab.site(
        "example.com",
        EXAMPLE,
        redirect(
            "/next",
            fields=(
                ("Set-Cookie", "id=1; Path=/"),
                ("Alt-Svc", 'h3=":443"; ma=86400'),
                ("Strict-Transport-Security", "max-age=86400"),
            ),
        ),
    )
    lab.serve("https://example.com/next", plain("text", Refresh="0; url=https://inward.example/"))
    async with WebFetch() as fetch:
        for _ in range(2):
            page = await fetch.fetch("https://example.com/")
            assert page.url == "https://example.com/next"
    assert [request.target for request in lab.requests()] == ["/", "/next", "/", "/next"]
    for request in lab.requests():
        assert [name for name in FORBIDDEN_HEADERS if request.header(name) is not None] == []
    assert lab.asked("inward.example.") == 0
    assert set(lab.dialled()) == {Dial(EXAMPLE, 443)}


# --- answers that are not pages ---


@pytest.mark.parametrize("status", [400, 403, 404, 410, 429, 500, 503])
@in_lab
async def test_an_error_status_is_told_and_its_page_is_not(lab: Lab, status: int) -> None:
    lab.name("example.com", EXAMPLE)
    lab.serve("https://example.com/x?q=1", Page(b"secret words", "text/plain", status))
    async with WebFetch() as fetch:
        refused = await failure(fetch, "https://example.com/x?q=1")
    assert str(refused) == f"https://example.com/x answered HTTP {status}; try a different URL"
    assert (refused.status, refused.url, refused.soft) == (status, "https://example.com/x", True)


@in_lab
async def test_the_content_type_is_judged_before_any_body_byte_arrives(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    said = {
        "/pdf": (b"Content-Type: application/pdf\r\n", "content-type-refused"),
        "/image": (b"Content-Type: image/svg+xml\r\n", "content-type-refused"),
        "/none": (b"", "content-type-missing"),
        "/large": (b"Content-Type: text/html\r\nContent-Length: 8388609\r\n", "too-large"),
    }
    async with WebFetch() as fetch:
        for path, (fields, expected) in said.items():
            lab.serve(f"https://example.com{path}", Raw(b"HTTP/1.1 200 OK\r\n" + fields + b"\r\n", Then.HANG))
            assert await code(fetch, f"https://example.com{path}") == expected


@in_lab
async def test_one_failure_leaves_the_client_ready_for_the_next_fetch(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, Raw(b"nonsense\r\n\r\n"), ARTICLE)
    async with WebFetch() as fetch:
        with pytest.raises(FetchFailure):
            await fetch.fetch("https://example.com/")
        page = await fetch.fetch("https://example.com/")
    assert SENTENCE in page.text


@in_lab
async def test_a_host_at_two_families_is_dialled_once(lab: Lab) -> None:
    lab.site("dual.example", (EXAMPLE_V6, EXAMPLE), plain("once"))
    async with WebFetch() as fetch:
        await fetch.fetch("https://dual.example/")
    assert len(lab.dialled()) == 1
