"""Claims: which failure fails the call, which is its result, and what each says."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from runvil import FetchConfig, ToolErrorKind
from runvil.core import failures
from runvil.core.failures import FetchFailure, Hard, Soft
from runvil.testing import NXDOMAIN, Behaviour, FakeNet, Reply
from tests.contract.asking import (
    HOST,
    URL,
    Told,
    article,
    ask,
    claim,
    fetch,
    hard,
    html,
    moved,
    ok,
    reply,
    site,
    soft,
    typed,
    untouched,
)

MISSING = hard("web_fetch: missing url argument")
BAD_COUNT = hard("web_fetch: max_chars must be a positive integer")
BAD_RAW = hard("web_fetch: raw must be a boolean")

LIMITED = FetchConfig(max_bytes=10, timeout=0.05)


def broken(behaviour: Behaviour, content_type: str = "text/plain", body: bytes = b"half") -> Reply:
    return Reply(headers=[("Content-Type", content_type)], body=body, behaviour=behaviour)


SOFT: Mapping[str, tuple[FakeNet, str]] = {
    "http://example.com/": (site(), "scheme not allowed: http"),
    "https://gone.example/": (site(dns={"gone.example": NXDOMAIN}), "dns resolution failed for gone.example"),
    "https://a.example/": (
        site({"https://a.example/": broken(Behaviour.HANG_BEFORE_HEADERS)}),
        "request to https://a.example/ timed out; try again or use a different URL",
    ),
    "https://b.example/": (
        site({"https://b.example/": Reply(404)}),
        "https://b.example/ answered HTTP 404; try a different URL",
    ),
    "https://c.example/": (
        site({"https://c.example/": moved("https://c.example:8080/next")}),
        "redirect from https://c.example/ to https://c.example:8080/next refused: port not allowed: 8080",
    ),
    "https://d.example/": (
        site({"https://d.example/": reply(content_type=None)}),
        "response from https://d.example/ declared no content type; refusing to guess its format; try a different URL",
    ),
    "https://e.example/": (
        site({"https://e.example/": reply(content_type="application/pdf")}),
        "content type application/pdf from https://e.example/ cannot be returned as text; "
        "try an HTML version of the page or a different URL",
    ),
    "https://f.example/": (
        site({"https://f.example/": reply(content_type="text/plain; charset=klingon")}),
        "response from https://f.example/ declared unknown charset klingon; cannot decode its text",
    ),
    "https://g.example/": (
        site({"https://g.example/": html("x" * 11)}),
        "response from https://g.example/ exceeds the 10-byte size cap",
    ),
    "https://h.example/": (
        site({"https://h.example/": broken(Behaviour.RESET_MID_BODY)}),
        "the response body from https://h.example/ could not be read; try again or use a different URL",
    ),
    "https://i.example/?q=1": (
        site({"https://i.example/?q=1": broken(Behaviour.REFUSE_CONNECTION)}),
        "fetch failed for https://i.example/?q=1: network error; try a different URL",
    ),
}
"""A call for each of the eleven soft sentences."""

HARD: Mapping[str, tuple[FakeNet, object, str]] = {
    "missing-url": (site(), {}, "web_fetch: missing url argument"),
    "bad-max-chars": (site(), {"url": URL, "max_chars": 0}, "web_fetch: max_chars must be a positive integer"),
    "bad-raw": (site(), {"url": URL, "raw": "yes"}, "web_fetch: raw must be a boolean"),
    "invalid-url": (site(), "not a url", "invalid url"),
    "userinfo-refused": (site(), "https://user:pass@example.com/", "url must not contain userinfo"),
    "port-refused": (site(), "https://example.com:8080/", "port not allowed: 8080"),
    "ip-literal-refused": (site(), "https://1.2.3.4/", "ip literal host not allowed: 1.2.3.4"),
    "no-allowed-address": (site(dns={HOST: ["10.0.0.5"]}), URL, "host example.com has no allowed address"),
}
"""A call for each of the eight hard sentences, by the failure's code."""


@claim("pack.failures.eleven-soft")
@claim("fetch.errors.soft")
@pytest.mark.parametrize("url", SOFT)
async def test_a_trouble_of_target_network_or_response_is_soft_text(url: str) -> None:
    net, sentence = SOFT[url]
    assert await ask(net, url, LIMITED) == soft(sentence)


@claim("pack.failures.eleven-soft")
async def test_there_is_a_sentence_for_each_soft_failure_and_no_other() -> None:
    raised = {(await _code(net, url)) for url, (net, _) in SOFT.items()}
    assert len(SOFT) == 11
    assert raised == _codes(Soft)


@claim("pack.failures.eight-hard")
@claim("fetch.errors.hard")
@pytest.mark.parametrize("code", HARD)
async def test_a_trouble_of_arguments_or_address_fails_the_call(code: str) -> None:
    net, arguments, sentence = HARD[code]
    assert await ask(net, arguments) == hard(sentence)


@claim("pack.failures.eight-hard")
def test_there_is_a_sentence_for_each_hard_failure_and_one_for_a_laxer_policy() -> None:
    assert len(HARD) == 8
    assert set(HARD) == _codes(Hard) - {"not-fetchable"}


async def _code(net: FakeNet, url: str) -> str:
    failure = await fetch(net, url, LIMITED)
    assert isinstance(failure, FetchFailure)
    return failure.code


def _codes(family: type[FetchFailure]) -> set[str]:
    classes = [found for found in vars(failures).values() if isinstance(found, type) and issubclass(found, family)]
    return {found.code for found in classes if found is not family}


@claim("pack.failures.soft-is-text-alone")
@pytest.mark.parametrize("url", SOFT)
async def test_a_soft_failure_is_one_line_without_a_header(url: str) -> None:
    net, _ = SOFT[url]
    told = await ask(net, url, LIMITED)
    assert told.kind == "soft"
    assert "\n" not in told.text
    assert not told.text.startswith(("url:", "truncated:", "extraction:"))


@claim("pack.failures.before-the-network")
@pytest.mark.parametrize("code", [code for code in HARD if code != "no-allowed-address"])
async def test_arguments_and_urls_are_refused_before_the_network_hears_of_them(code: str) -> None:
    net, arguments, _ = HARD[code]
    assert (await ask(net, arguments)).kind == "hard"
    assert untouched(net)


@claim("pack.failures.before-a-connection")
async def test_a_host_without_an_allowed_address_is_refused_before_a_connection() -> None:
    net = site(dns={HOST: ["10.0.0.5", "127.0.0.1"]})
    assert (await ask(net)).kind == "hard"
    assert (net.lookups, net.dialled, net.requests) == ([HOST], [], [])


@claim("pack.failures.own-message")
@pytest.mark.parametrize("code", HARD)
async def test_the_error_text_is_the_refusals_own_whoever_asks(code: str) -> None:
    net, arguments, sentence = HARD[code]
    if isinstance(arguments, str):
        failure = await fetch(net, arguments)
        assert isinstance(failure, FetchFailure)
        assert (failure.code, str(failure), failure.soft) == (code, sentence, False)
    assert (await ask(net, arguments)).text == sentence


@claim("pack.failures.lookup-on-any-hop")
async def test_a_failed_lookup_is_soft_on_every_hop() -> None:
    net = site(moved("https://gone.example/x"), dns={"gone.example": NXDOMAIN})
    assert await ask(net, "https://gone.example/") == soft("dns resolution failed for gone.example")
    assert await ask(net) == soft("dns resolution failed for gone.example")


@claim("pack.failures.blocked-on-any-hop")
async def test_a_host_with_blocked_addresses_alone_is_hard_on_every_hop() -> None:
    net = site(moved("https://inside.example/x"), dns={"inside.example": ["10.0.0.1"]})
    assert await ask(net, "https://inside.example/") == hard("host inside.example has no allowed address")
    assert await ask(net) == hard("host inside.example has no allowed address")


@claim("pack.failures.did-not-finish")
async def test_a_fetch_that_ends_without_a_reason_of_ours_is_of_kind_other() -> None:
    net = FakeNet({HOST: ["93.184.216.34"]})  # the request raises what no port promises
    assert await ask(net) == Told("hard", "web_fetch: the fetch task did not finish", "Other")


@claim("pack.failures.kinds")
def test_the_kinds_of_a_tool_error_have_their_names() -> None:
    assert [str(kind) for kind in ToolErrorKind] == ["InvalidArguments", "Transport", "Backend", "Other"]


@claim("pack.failures.url-argument")
@pytest.mark.parametrize("url", [None, 1, 1.5, True, [], {}, ["https://example.com/"], b"https://example.com/"])
async def test_a_url_that_is_no_string_is_missing(url: object) -> None:
    assert await ask(site(), {"url": url}) == MISSING


@claim("pack.failures.url-argument")
@pytest.mark.parametrize("arguments", [{}, {"URL": URL}, None, [], [URL], 7, True])
async def test_arguments_without_a_url_miss_it(arguments: object) -> None:
    assert await ask(site(), arguments) == MISSING


@claim("pack.failures.max-chars-argument")
@pytest.mark.parametrize(
    "value", [0, -1, 0.0, 2.5, 0.999, math.nan, math.inf, -math.inf, True, False, "5", "", [], [5], {}, 2**64, 1e300]
)
async def test_a_max_chars_that_is_no_positive_integer_is_refused(value: object) -> None:
    assert await ask(site(), {"url": URL, "max_chars": value}) == BAD_COUNT


@claim("pack.failures.max-chars-argument")
@pytest.mark.parametrize(("value", "text"), [(1, "h"), (3.0, "hel"), (5, "hello")])
async def test_a_max_chars_of_one_or_more_is_taken(value: object, text: str) -> None:
    assert (await ask(site(), {"url": URL, "max_chars": value})).body == text


@claim("pack.failures.raw-argument")
@pytest.mark.parametrize("value", [0, 1, "true", "", [], {}, 0.0])
async def test_a_raw_that_is_no_boolean_is_refused(value: object) -> None:
    assert await ask(site(), {"url": URL, "raw": value}) == BAD_RAW


@claim("pack.failures.argument-prefix")
def test_argument_and_task_messages_name_the_tool() -> None:
    ours = [MISSING.text, BAD_COUNT.text, BAD_RAW.text, str(failures.Unfinished())]
    assert [text for text in ours if not text.startswith("web_fetch: ")] == []


@claim("pack.failures.argument-order")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"url": 1, "max_chars": 0, "raw": 1}, MISSING),
        ({"url": URL, "max_chars": 0, "raw": 1}, BAD_COUNT),
        ({"url": URL, "max_chars": 1, "raw": 1}, BAD_RAW),
    ],
)
async def test_only_the_first_bad_argument_is_reported(arguments: object, told: Told) -> None:
    assert await ask(site(), arguments) == told


@claim("pack.failures.arguments-before-url-rules")
@pytest.mark.parametrize("url", ["not a url", "http://example.com/", "https://u:p@example.com/", "https://127.0.0.1/"])
async def test_the_url_is_judged_after_all_three_arguments(url: str) -> None:
    assert await ask(site(), {"url": url, "max_chars": -1}) == BAD_COUNT
    assert await ask(site(), {"url": url, "raw": "no"}) == BAD_RAW


@claim("pack.failures.no-blocked-literal")
@pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "[::1]", "1.1.1.1"])
async def test_under_the_default_policy_a_literal_is_refused_before_it_is_judged(host: str) -> None:
    assert (await ask(site(), f"https://{host}/")).text == f"ip literal host not allowed: {host.strip('[]')}"


@claim("pack.failures.status")
@pytest.mark.parametrize("status", [300, 304, 305, 306, 399, 400, 401, 403, 404, 410, 418, 429, 500, 502, 503, 599])
async def test_a_status_that_is_no_success_is_soft_text(status: int) -> None:
    net = site(Reply(status, [("Content-Type", "text/plain")], b"an error page"))
    assert await ask(net) == soft(f"https://example.com/ answered HTTP {status}; try a different URL")


@claim("pack.failures.status")
@pytest.mark.parametrize("status", [200, 201, 203, 206, 299])
async def test_a_success_is_any_status_of_the_two_hundreds(status: int) -> None:
    assert (await ask(site(Reply(status, [("Content-Type", "text/plain")], b"hello")))).body == "hello"


@claim("pack.failures.status-final-url")
async def test_the_status_is_told_of_the_url_that_answered() -> None:
    net = site({URL: moved("https://b.example/x?y=1"), "https://b.example/x?y=1": Reply(404)})
    assert await ask(net) == soft("https://b.example/x answered HTTP 404; try a different URL")


@claim("pack.failures.error-page-unread")
async def test_nothing_of_an_error_page_is_read_or_returned() -> None:
    net = site(Reply(500, [("Content-Type", "text/html")], b"<p>stack trace</p>"))
    assert "stack" not in (await ask(net)).text
    assert net.bytes_read == 0


@claim("pack.failures.lookup")
async def test_a_failed_lookup_names_the_host() -> None:
    net = site(dns={"no-such-host.example": NXDOMAIN})
    assert await ask(net, "https://no-such-host.example/a?b=c") == soft(
        "dns resolution failed for no-such-host.example"
    )


@claim("pack.failures.catch-all")
@pytest.mark.parametrize(
    "behaviour", [Behaviour.REFUSE_CONNECTION, Behaviour.BAD_CERTIFICATE, Behaviour.RESET_BEFORE_HEADERS]
)
async def test_any_other_network_error_is_the_catch_all(behaviour: Behaviour) -> None:
    assert await ask(site(broken(behaviour))) == soft(
        "fetch failed for https://example.com/: network error; try a different URL"
    )


@claim("pack.failures.catch-all-as-requested")
async def test_the_catch_all_names_the_url_as_requested_with_its_query() -> None:
    asked, end = "https://example.com/start?token=t#frag", "https://b.example/end?x=1"
    net = site({"https://example.com/start?token=t": moved(end), end: broken(Behaviour.REFUSE_CONNECTION)})
    assert await ask(net, asked) == soft(
        "fetch failed for https://example.com/start?token=t: network error; try a different URL"
    )


@claim("pack.failures.broken-body")
@pytest.mark.parametrize("content_type", ["text/html", "application/json", "text/xml", "text/plain"])
async def test_a_body_that_breaks_off_gives_no_part_of_itself(content_type: str) -> None:
    net = site(broken(Behaviour.RESET_MID_BODY, content_type, article()))
    assert await ask(net) == soft(
        "the response body from https://example.com/ could not be read; try again or use a different URL"
    )


@claim("pack.failures.decoding")
@pytest.mark.parametrize("content_type", ["text/html", "application/json", "application/xml", "text/plain"])
async def test_decoding_fails_for_an_unknown_label_alone(content_type: str) -> None:
    junk = bytes(range(256)) * 4
    assert (await ask(site(reply(junk, content_type)))).kind == "ok"
    assert (await ask(site(reply(junk, f"{content_type}; charset=shift_jis")))).kind == "ok"
    assert (await ask(site(reply(junk, f"{content_type}; charset=nonesuch")))).kind == "soft"


@claim("pack.failures.hints")
async def test_a_message_ends_with_what_to_try_next() -> None:
    endings = {code: text.partition("; ")[2] for code, text in [(await _code(n, u), t) for u, (n, t) in SOFT.items()]}
    retry, elsewhere = "try again or use a different URL", "try a different URL"
    assert endings["timed-out"] == endings["body-unreadable"] == retry
    assert endings["http-status"] == endings["network-error"] == elsewhere
    assert endings["content-type-missing"].endswith(elsewhere)
    assert endings["content-type-refused"] == "try an HTML version of the page or a different URL"


@claim("pack.failures.no-cause")
@pytest.mark.parametrize("url", SOFT)
async def test_no_message_repeats_what_a_library_said(url: str) -> None:
    failure = await fetch(SOFT[url][0], url, LIMITED)
    assert isinstance(failure, FetchFailure)
    said = str(failure.__cause__) if failure.__cause__ and not isinstance(failure.__cause__, FetchFailure) else ""
    assert not said or said not in str(failure)


@claim("pack.failures.no-cause")
async def test_a_url_that_does_not_parse_is_told_nothing_of_the_parser() -> None:
    assert await ask(site(), "https://exa mple.com/?secret") == hard("invalid url")


SECRETIVE = "https://example.com/a/b?x=s3cret#frag"
NAMED: Mapping[str, tuple[Reply, str]] = {
    "status": (Reply(404), "https://example.com/a/b answered"),
    "type": (reply(content_type="image/png"), "from https://example.com/a/b cannot"),
    "no type": (reply(content_type=None), "from https://example.com/a/b declared"),
    "charset": (reply(content_type="text/plain;charset=x-y"), "from https://example.com/a/b declared"),
    "size": (html("x" * 11), "from https://example.com/a/b exceeds"),
    "body": (broken(Behaviour.RESET_MID_BODY), "from https://example.com/a/b could"),
    "time": (broken(Behaviour.HANG_BEFORE_HEADERS), "to https://example.com/a/b timed"),
    "body time": (broken(Behaviour.HANG_MID_BODY), "from https://example.com/a/b could"),
    "redirect": (moved("ftp://example.com/?s3cret"), "from https://example.com/a/b to ftp://example.com/ refused"),
}


@claim("pack.failures.redacted")
@claim("fetch.errors.redacted")
@pytest.mark.parametrize("case", NAMED)
async def test_a_named_failure_shows_scheme_host_and_path_alone(case: str) -> None:
    answer, shown = NAMED[case]
    told = await ask(site({"https://example.com/a/b?x=s3cret": answer}), SECRETIVE, LIMITED)
    assert told.kind == "soft"
    assert shown in told.text
    assert "s3cret" not in told.text
    assert "?" not in told.text
    assert "#" not in told.text


@claim("pack.failures.redacted-port-and-credentials")
async def test_a_redacted_url_keeps_its_port_and_drops_its_credentials() -> None:
    net = site(moved("https://user:pass@host.example:8443/a/b?x=secret#frag"))
    assert await ask(net) == soft(
        "redirect from https://example.com/ to https://host.example:8443/a/b refused: url must not contain userinfo"
    )


@claim("pack.failures.fragment")
async def test_a_fragment_appears_nowhere() -> None:
    page = await ask(site({"https://example.com/?q=1": reply()}), "https://example.com/?q=1#frag")
    lost = await ask(
        site({"https://example.com/?q=1": broken(Behaviour.REFUSE_CONNECTION)}), "https://example.com/?q=1#frag"
    )
    assert page == ok("hello", "https://example.com/?q=1")
    assert lost == soft("fetch failed for https://example.com/?q=1: network error; try a different URL")


@claim("pack.failures.query-kept")
async def test_header_and_catch_all_alone_keep_the_query() -> None:
    url = "https://example.com/a?token=t"
    kept = [await ask(site({url: answer}), url) for answer in (reply(), broken(Behaviour.BAD_CERTIFICATE))]
    assert [url in told.text for told in kept] == [True, True]


@claim("pack.calling.unchanged")
@pytest.mark.parametrize("url", SOFT)
async def test_a_message_reaches_every_caller_unchanged(url: str) -> None:
    net, sentence = SOFT[url]
    failure = await fetch(net, url, LIMITED)
    assert str(failure) == (await ask(net, url, LIMITED)).text == sentence


@claim("pack.failures.unreadable-is-soft")
@pytest.mark.parametrize("encoding", ["gzip", "br", "zstd", "gzip, gzip"])
async def test_a_body_that_is_not_what_its_coding_says_is_soft(encoding: str) -> None:
    net = site(typed("text/plain", b"plain after all", ("Content-Encoding", encoding)))
    assert await ask(net) == soft(
        "the response body from https://example.com/ could not be read; try again or use a different URL"
    )
