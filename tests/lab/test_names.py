"""Names: asked for exactly, asked for every time, and nothing in the environment changes where they lead."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runvil import FetchConfig, WebFetch
from tests.lab.harness.answers import redirect
from tests.lab.harness.dns import Addresses, Alias, ByType, Failure, Silence
from tests.lab.harness.lab import Dial
from tests.lab.harness.marks import in_lab
from tests.lab.support import EXAMPLE, OTHER, OTHER_V6, code, failure, plain

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

pytestmark = pytest.mark.lab

PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY")
MANY = 200  # more than a datagram holds, so the answer comes over TCP


@in_lab
async def test_two_fetches_of_a_name_that_lives_300_seconds_ask_twice(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("text", Connection="close"))
    async with WebFetch() as fetch:
        await fetch.fetch("https://example.com/")
        assert sorted(lab.queries()) == [("example.com.", "A"), ("example.com.", "AAAA")]
        await fetch.fetch("https://example.com/")
    assert sorted(lab.queries()) == [("example.com.", "A")] * 2 + [("example.com.", "AAAA")] * 2


@in_lab
async def test_a_reused_connection_does_not_save_the_question(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("text"))
    async with WebFetch() as fetch:
        for _ in range(3):
            await fetch.fetch("https://example.com/")
    assert len(lab.dialled()) == 1
    assert lab.asked("example.com.") == 6


@in_lab
async def test_a_failed_answer_is_not_remembered_either(lab: Lab) -> None:
    lab.name("late.example", Failure("NXDOMAIN"), Addresses(), EXAMPLE)
    lab.serve("https://late.example/", plain("at last"))
    async with WebFetch() as fetch:
        assert await code(fetch, "https://late.example/") == "lookup-failed"
        assert await code(fetch, "https://late.example/") == "no-allowed-address"
        assert (await fetch.fetch("https://late.example/")).text == "at last"


@in_lab
async def test_every_hop_asks_again(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, redirect("/next"))
    lab.serve("https://example.com/next", plain("text"))
    async with WebFetch() as fetch:
        await fetch.fetch("https://example.com/")
    assert lab.asked("example.com.") == 4


# --- what an answer means ---


@in_lab
async def test_a_name_without_addresses_is_hard_and_a_failed_lookup_is_soft(lab: Lab) -> None:
    lab.name("nodata.example", Addresses())
    lab.name("alias.example", Alias("nodata.example"))
    lab.name("servfail.example", Failure("SERVFAIL"))
    lab.name("refused.example", Failure("REFUSED"))
    async with WebFetch() as fetch:
        for name in ("nodata.example", "alias.example"):
            refused = await failure(fetch, f"https://{name}/")
            assert (str(refused), refused.soft) == (f"host {name} has no allowed address", False)
        for name in ("nxdomain.example", "servfail.example", "refused.example"):
            refused = await failure(fetch, f"https://{name}/")
            assert (str(refused), refused.soft) == (f"dns resolution failed for {name}", True)
    assert lab.dialled() == []


@in_lab
async def test_one_family_is_enough_when_the_other_is_empty(lab: Lab) -> None:
    lab.site("four.example", ByType(Addresses((EXAMPLE,)), Addresses()), plain("four"))
    lab.site("six.example", ByType(Addresses(), Addresses((OTHER_V6,))), plain("six"))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://four.example/")).text == "four"
        assert (await fetch.fetch("https://six.example/")).text == "six"


@in_lab
async def test_one_family_is_enough_when_the_other_question_fails(lab: Lab) -> None:
    lab.site("broken.example", ByType(Addresses((EXAMPLE,)), Failure("SERVFAIL")), plain("still"))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://broken.example/")).text == "still"


@in_lab
async def test_one_family_is_enough_when_the_other_question_hangs(lab: Lab) -> None:
    lab.site("half.example", ByType(Silence(), Addresses((OTHER_V6,))), plain("half"))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://half.example/")).text == "half"


@in_lab
async def test_a_question_nobody_answers_is_a_lookup_failure_or_the_time_out_whichever_comes_first(lab: Lab) -> None:
    lab.name("silent.example", Silence())
    async with WebFetch(FetchConfig(timeout=0.5)) as fetch:
        refused = await failure(fetch, "https://silent.example/?q=1")
    assert str(refused) == "request to https://silent.example/ timed out; try again or use a different URL"
    async with WebFetch() as fetch:
        assert await code(fetch, "https://silent.example/") == "lookup-failed"


@in_lab
async def test_a_huge_answer_is_read_whole_and_judged_address_by_address(lab: Lab) -> None:
    inward = tuple(f"10.0.{number // 250}.{number % 250}" for number in range(MANY))
    lab.site("huge.example", (*inward, EXAMPLE), plain("found"))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://huge.example/")).text == "found"
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
async def test_impossible_names_are_failed_lookups_without_a_question(lab: Lab) -> None:
    long_label = "a" * 64
    async with WebFetch() as fetch:
        for host in (f"{long_label}.example", "a..example", ".".join(["abc"] * 70)):
            assert await code(fetch, f"https://{host}/") in {"lookup-failed", "invalid-url"}, host
    assert lab.queries() == []


# --- exactly the name, whatever the system says ---


@in_lab
async def test_the_name_asked_for_is_the_parsed_one_and_absolute(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    lab.name("xn--bcher-kva.example", EXAMPLE)
    for host in ("example.com", "example.com.", "xn--bcher-kva.example"):
        lab.serve(f"https://{host}/", plain(host))
    async with WebFetch() as fetch:
        for written, parsed in (
            ("EXAMPLE.com", "example.com"),
            ("example.com.", "example.com."),
            ("bücher.example", "xn--bcher-kva.example"),
        ):
            assert (await fetch.fetch(f"https://{written}/")).text == parsed
    assert {name for name, _ in lab.queries()} == {"example.com.", "xn--bcher-kva.example."}
    assert {connection.sni for connection in lab.connections()} == {"example.com", "xn--bcher-kva.example"}


@in_lab
async def test_the_search_list_of_the_system_is_ignored(lab: Lab) -> None:
    lab.system_file(
        "resolv.conf", "nameserver 127.0.0.1\nsearch inward.example\noptions ndots:5 timeout:1 attempts:2\n"
    )
    await _no_search(lab)


@in_lab
async def test_the_environment_of_the_resolver_is_ignored(lab: Lab) -> None:
    aliases = Path(os.environ["HOME"]) / "aliases"
    aliases.write_text("intranet inward.example\nwww inward.example\n")
    os.environ.update(LOCALDOMAIN="inward.example", RES_OPTIONS="ndots:5", HOSTALIASES=str(aliases))
    await _no_search(lab)


async def _no_search(lab: Lab) -> None:
    """Neither a short name nor a failing long one is asked for under another name."""
    for name in ("inward.example", "intranet.inward.example", "www.inward.example", "a.b.example.inward.example"):
        lab.name(name, EXAMPLE)
    lab.site("www.example", EXAMPLE, plain("itself"))
    async with WebFetch() as fetch:
        for name in ("intranet", "www", "a.b.example"):
            assert str(await failure(fetch, f"https://{name}/")) == f"dns resolution failed for {name}"
        assert (await fetch.fetch("https://www.example/")).text == "itself"
    assert {name for name, _ in lab.queries()} == {"intranet.", "www.", "a.b.example.", "www.example."}


@in_lab
async def test_proxy_variables_have_no_effect(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("direct"))
    lab.name("proxy.example", OTHER)
    os.environ.update(dict.fromkeys(PROXIES, "http://proxy.example:80"))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://example.com/")).text == "direct"
    assert lab.dialled() == [Dial(EXAMPLE, 443)]
    assert lab.asked("proxy.example.") == 0
    assert [request.method for request in lab.requests()] == ["GET"]


@in_lab
async def test_a_netrc_is_never_read(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("anonymous"))
    netrc = Path(os.environ["HOME"]) / ".netrc"
    netrc.write_text("machine example.com login someone password something\ndefault login any password any\n")
    netrc.chmod(0o600)
    os.environ["NETRC"] = str(netrc)
    async with WebFetch() as fetch:
        await fetch.fetch("https://example.com/")
    [request] = lab.requests()
    assert request.header("authorization") is None


@in_lab
async def test_the_system_resolver_works_and_is_judged_the_same(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("by getaddrinfo"))
    lab.name("inward.example", ("10.0.0.5", "::1"))
    lab.name("nodata.example", Addresses())
    lab.system_file("hosts", "169.254.169.254 meta.example\n")
    async with WebFetch(FetchConfig(resolver="system")) as fetch:
        assert (await fetch.fetch("https://example.com/")).text == "by getaddrinfo"
        for name in ("inward.example", "meta.example", "nodata.example"):
            assert await code(fetch, f"https://{name}/") == "no-allowed-address", name
        assert await code(fetch, "https://nxdomain.example/") == "lookup-failed"
    assert lab.dialled() == [Dial(EXAMPLE, 443)]
