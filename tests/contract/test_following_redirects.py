"""Claims: which redirects are followed, and what is said of the one that is not."""

from __future__ import annotations

from itertools import pairwise

import pytest

from runvil.testing import FakeNet, Rebinding, Reply
from tests.contract.asking import ADDRESS, HOST, OTHER, URL, Told, ask, claim, hard, moved, ok, reply, site, soft
from tests.contract.test_url_admission import NOTATIONS

START = "https://example.com/start"
NEXT = "https://example.com/next"


def refused(target: str, reason: str, source: str = START) -> Told:
    return soft(f"redirect from {source} to {target} refused: {reason}")


async def at_start(target: str, **more: Reply) -> tuple[Told, FakeNet]:
    """What a redirect from START to `target` comes to."""
    net = site({START: moved(target), **more})
    return await ask(net, START), net


@claim("pack.redirects.followed")
@claim("fetch.boundary.redirects-revalidated")
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_followed_to_one_request(status: int) -> None:
    net = site({START: moved("/next", status), NEXT: reply()})
    assert await ask(net, START) == ok("hello", NEXT)
    assert net.requests == [START, NEXT]


@claim("pack.redirects.final-url")
async def test_status_messages_and_header_speak_of_the_final_url() -> None:
    answers = {
        "answered HTTP 404": Reply(404),
        "cannot be returned": reply(content_type="image/png"),
        "no content type": reply(content_type=None),
        "unknown charset": reply(content_type="text/plain; charset=zz"),
    }
    for said, answer in answers.items():
        told, _ = await at_start(NEXT, **{NEXT: answer})
        assert said in told.text
        assert NEXT in told.text
        assert START not in told.text
    told, _ = await at_start(NEXT, **{NEXT: reply()})
    assert told.header["url"] == NEXT


@claim("pack.redirects.not-one")
@pytest.mark.parametrize("status", [300, 304, 305, 306, 200, 201, 404])
async def test_a_location_under_another_status_leads_nowhere(status: int) -> None:
    net = site({START: moved("/next", status), NEXT: reply()})
    told = await ask(net, START)
    assert net.requests == [START]
    assert "hello" not in told.text


@claim("pack.redirects.not-one")
@pytest.mark.parametrize(
    "location", [None, "", "https://", "https://exa mple/", "https://a:99999/", b"//\xff[", "https://[x]/"]
)
async def test_a_redirect_without_a_usable_target_is_its_status(location: str | bytes | None) -> None:
    headers = [] if location is None else [("Location", location)]
    net = site({START: Reply(302, headers)})
    assert await ask(net, START) == soft(f"{START} answered HTTP 302; try a different URL")


@claim("pack.redirects.order")
@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("http://u:p@127.0.0.1:8080/", "refusing https to http downgrade"),
        ("ftp://u:p@127.0.0.1:8080/", "scheme not allowed: ftp"),
        ("https://u:p@127.0.0.1:8080/", "url must not contain userinfo"),
        ("https://127.0.0.1:8080/", "port not allowed: 8080"),
        ("https://127.0.0.1/", "ip literal host not allowed: 127.0.0.1"),
    ],
)
async def test_a_hop_that_breaks_several_rules_is_refused_for_the_first(target: str, reason: str) -> None:
    told, net = await at_start(target)
    assert told.text.endswith(f" refused: {reason}")
    assert net.requests == [START]


def chain(hops: int, last: str | None = None) -> FakeNet:
    """`hops` redirects over as many hosts; the last one leads to `last`, or to a page."""
    urls = [f"https://h{i}.example/" for i in range(hops + 1)]
    replies = {url: moved(following) for url, following in pairwise(urls)}
    if last is not None:
        replies[urls[hops - 1]] = moved(last)
    return site({**replies, urls[-1]: reply()})


@claim("pack.redirects.cap")
@claim("fetch.boundary.hop-cap")
@pytest.mark.parametrize("hops", [0, 1, 4, 5])
async def test_five_hops_are_followed(hops: int) -> None:
    net = chain(hops)
    assert await ask(net, "https://h0.example/") == ok("hello", f"https://h{hops}.example/")
    assert len(net.requests) == hops + 1


@claim("pack.redirects.cap")
@claim("fetch.boundary.hop-cap")
async def test_the_sixth_hop_is_refused_in_soft_text() -> None:
    net = chain(6)
    assert await ask(net, "https://h0.example/") == refused(
        "https://h6.example/", "exceeded max redirects (5)", "https://h5.example/"
    )
    assert net.requests == [f"https://h{i}.example/" for i in range(6)]


@claim("pack.redirects.loop")
async def test_a_loop_runs_into_the_cap() -> None:
    net = site({START: moved("/start")})
    assert await ask(net, START) == refused(START, "exceeded max redirects (5)")
    assert net.requests == [START] * 6


@claim("pack.redirects.cap-first")
@pytest.mark.parametrize(
    "target", ["http://example.com/", "ftp://example.com/", "https://u:p@example.com:1/", "https://127.0.0.1/"]
)
async def test_the_cap_is_told_before_any_other_rule(target: str) -> None:
    told = await ask(chain(6, last=target), "https://h0.example/")
    assert told.text.endswith("refused: exceeded max redirects (5)")


@claim("pack.redirects.any-host")
async def test_a_redirect_may_change_its_host() -> None:
    a, b, c = (f"https://{name}.example/" for name in "abc")
    net = site({a: moved(b), b: moved(c), c: reply()})
    assert await ask(net, a) == ok("hello", c)
    assert net.lookups == ["a.example", "b.example", "c.example"]


@claim("pack.redirects.downgrade")
@claim("fetch.boundary.no-downgrade")
@pytest.mark.parametrize("target", ["http://example.com/next", "http://other.example/", "http://example.com:443/"])
async def test_no_redirect_leads_from_https_to_http(target: str) -> None:
    told, net = await at_start(target)
    assert told == refused(target, "refusing https to http downgrade")
    assert net.requests == [START]


@claim("pack.redirects.downgrade-before-admission")
async def test_a_downgrade_to_an_address_is_told_as_a_downgrade() -> None:
    told, _ = await at_start("http://127.0.0.1/")
    assert told == refused("http://127.0.0.1/", "refusing https to http downgrade")


@claim("pack.redirects.admission")
@claim("fetch.boundary.redirects-revalidated")
@pytest.mark.parametrize(
    ("target", "shown", "reason"),
    [
        ("https://user:pass@example.com/next", NEXT, "url must not contain userinfo"),
        ("https://example.com:8080/next", "https://example.com:8080/next", "port not allowed: 8080"),
        ("ftp://example.com/next", "ftp://example.com/next", "scheme not allowed: ftp"),
        ("foo://example.com/next?x=1", "foo://example.com/next", "scheme not allowed: foo"),
        ("https://127.0.0.1/next", "https://127.0.0.1/next", "ip literal host not allowed: 127.0.0.1"),
    ],
)
async def test_a_target_passes_the_same_checks_and_its_rule_is_the_reason(target: str, shown: str, reason: str) -> None:
    told, net = await at_start(target)
    assert told == refused(shown, reason)
    assert net.requests == [START]


@claim("pack.redirects.literals")
@pytest.mark.parametrize(("spelled", "address"), NOTATIONS)
async def test_a_target_that_is_an_address_is_never_contacted(spelled: str, address: str) -> None:
    told, net = await at_start(f"https://{spelled}/")
    assert told.kind == "soft"
    assert told.text.startswith(f"redirect from {START} to https://")
    assert told.text.endswith(f"/ refused: ip literal host not allowed: {address}")
    assert (net.lookups, net.dialled, net.requests) == ([HOST], [ADDRESS], [START])


@claim("pack.redirects.literal-shown")
@pytest.mark.parametrize("spelled", ["127.0.0.1", "0177.0.0.1", "127.1", "2130706433"])
async def test_the_target_is_shown_as_the_address_it_is(spelled: str) -> None:
    told, _ = await at_start(f"https://{spelled}/admin?x=1")
    assert told == refused("https://127.0.0.1/admin", "ip literal host not allowed: 127.0.0.1")


@claim("pack.redirects.blocked-name")
async def test_a_target_that_resolves_inward_fails_the_call() -> None:
    net = site(moved("https://inside.example/admin"), dns={"inside.example": ["10.0.0.1"]})
    assert await ask(net) == hard("host inside.example has no allowed address")
    assert (net.dialled, net.requests) == ([ADDRESS], [URL])


@claim("pack.redirects.every-address-again")
@claim("fetch.boundary.every-hop")
async def test_the_addresses_of_a_hop_are_judged_though_its_host_was_fine_before() -> None:
    net = site({URL: moved("/next"), NEXT: reply()}, dns={HOST: Rebinding(([ADDRESS], ["127.0.0.1", OTHER], ["::1"]))})
    assert await ask(net) == ok("hello", NEXT)
    assert await ask(net) == hard("host example.com has no allowed address")
    assert net.dialled == [ADDRESS, OTHER]


@claim("pack.redirects.refusal-text")
@claim("fetch.errors.redacted")
async def test_a_refusal_names_both_urls_without_their_secrets() -> None:
    source = "https://example.com/a?one=1"
    net = site({source: moved("https://u:p@b.example:8443/b?two=2#three")})
    assert await ask(net, f"{source}#zero") == refused(
        "https://b.example:8443/b", "url must not contain userinfo", "https://example.com/a"
    )


@claim("pack.redirects.refusal-hop")
async def test_a_refusal_names_the_hop_that_answered() -> None:
    middle = "https://b.example/middle"
    net = site({START: moved(middle), middle: moved("https://c.example:81/")})
    assert await ask(net, START) == refused("https://c.example:81/", "port not allowed: 81", middle)


@claim("pack.redirects.nothing-returned")
async def test_nothing_of_the_redirecting_page_is_read_or_returned() -> None:
    told, net = await at_start("https://127.0.0.1/")
    assert "moved away" not in told.text
    assert net.bytes_read == 0
    assert net.open_connections == 0


@claim("pack.redirects.where-it-lands")
@pytest.mark.parametrize(
    ("url", "as_argument"),
    [
        ("http://example.com/", "soft"),
        ("ftp://example.com/", "soft"),
        ("https://u:p@example.com/", "hard"),
        ("https://example.com:8080/", "hard"),
        ("https://1.2.3.4/", "hard"),
    ],
)
async def test_a_broken_rule_is_soft_on_a_redirect_whatever_it_is_as_an_argument(url: str, as_argument: str) -> None:
    assert (await ask(site(), url)).kind == as_argument
    assert (await at_start(url))[0].kind == "soft"
