"""No connection is opened to an address the policy refuses, whatever it is dressed as. Asserts on what was dialled.

`lab.verify` also fails every other test of the lab in which anything inward is dialled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from runvil import FetchConfig, ToolError, ToolErrorKind, WebFetch
from tests.lab.harness.answers import redirect
from tests.lab.harness.dns import Alias
from tests.lab.harness.lab import Dial
from tests.lab.harness.marks import in_lab
from tests.lab.support import ARTICLE, EXAMPLE, OTHER, OTHER_V6, SENTENCE, code, failure, plain

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

pytestmark = pytest.mark.lab

# What a name server may answer: the metadata service, a private host and loopback in every form, and every row's edge.
INWARD = (
    "169.254.169.254",
    "10.0.0.5",
    "127.0.0.1",
    "127.255.255.255",
    "0.0.0.0",
    "0.255.255.255",
    "10.255.255.255",
    "100.64.0.1",
    "100.127.255.255",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
    "168.63.129.16",  # the Azure host agent: a public address that is not
    "::1",
    "::",
    "::169.254.169.254",  # IPv4-compatible
    "::ffff:169.254.169.254",  # IPv4-mapped
    "::ffff:10.0.0.5",
    "::ffff:127.0.0.1",
    "::ffff:8.8.8.8",
    "::ffff:0:10.0.0.5",  # IPv4-translated
    "64:ff9b::169.254.169.254",  # NAT64
    "64:ff9b:1::10.0.0.5",
    "2002:a9fe:a9fe::1",  # 6to4
    "2002:a00:5::1",
    "2606:4700::5efe:10.0.0.5",  # ISATAP
    "2606:4700::200:5efe:169.254.169.254",
    "2001::1",  # Teredo
    "100::1",
    "2001:db8::1",
    "3fff::1",
    "5f00::1",
    "fc00::5",
    "fd00:ec2::254",  # a metadata service
    "fe80::1",
    "fec0::1",
    "ff02::1",
)

# Spellings of an address in a URL.
LITERALS = (
    "127.0.0.1",
    "10.0.0.5",
    "169.254.169.254",
    "93.184.216.34",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "127.1",
    "127.0.1",
    "0",
    "127.0.0.1.",
    "%31%32%37.0.0.1",
    "１２７.0.0.1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "0xa9fea9fe",
    "2852039166",
    "169.16689662",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[::ffff:0:10.0.0.5]",
    "[64:ff9b::169.254.169.254]",
    "[2002:a9fe:a9fe::]",
    "[2606:4700::5efe:10.0.0.5]",
    "[fd00:ec2::254]",
    "[2606:4700:4700::1111]",
)

# URLs that another parser might take to lead inward, and this one must not follow there.
CONFUSING = (
    "https://good.example\\@127.0.0.1/",
    "https://good.example@127.0.0.1/",
    "https://127.0.0.1#@good.example/",
    "https://127.0.0.1?@good.example/",
    "https://127.0.0.1\\@good.example/",
    "https://good.example:443@10.0.0.5/",
    "https://169.254.169.254\t/",
    "https://[::1]:443\\@good.example/",
    "https:10.0.0.5",
    "https:\\\\10.0.0.5\\",
    "  https://10.0.0.5/  ",
    "https://10.0.0.5:80/",
)


@in_lab
async def test_a_name_that_resolves_inward_is_refused_before_any_connection(lab: Lab) -> None:
    async with WebFetch() as fetch:
        for number, address in enumerate(INWARD):
            name = f"h{number}.example"
            lab.name(name, address)
            refused = await failure(fetch, f"https://{name}/latest/meta-data/")
            assert str(refused) == f"host {name} has no allowed address", address
            assert (refused.code, refused.soft) == ("no-allowed-address", False)
            assert lab.asked(f"{name}.") == 2
    assert lab.dialled() == []


@in_lab
async def test_a_name_whose_every_answer_is_inward_is_refused(lab: Lab) -> None:
    lab.name("all.example", INWARD)
    async with WebFetch() as fetch:
        with pytest.raises(ToolError) as caught:
            await fetch.call({"url": "https://all.example/"})
    assert str(caught.value) == "host all.example has no allowed address"
    assert caught.value.kind is ToolErrorKind.INVALID_ARGUMENTS
    assert lab.dialled() == []


@in_lab
async def test_mixed_answers_dial_only_the_public_address(lab: Lab) -> None:
    lab.site("mixed.example", (*INWARD, EXAMPLE, *INWARD), ARTICLE)
    async with WebFetch() as fetch:
        page = await fetch.fetch("https://mixed.example/")
    assert SENTENCE in page.text
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
async def test_mixed_answers_whose_public_address_is_dead_never_fall_back_inward(lab: Lab) -> None:
    lab.name("mixed.example", ("10.0.0.5", EXAMPLE, "::1"))
    lab.blackhole(EXAMPLE)
    async with WebFetch(FetchConfig(connect_timeout=0.7)) as fetch:
        assert await code(fetch, "https://mixed.example/") == "timed-out"
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
async def test_an_address_literal_is_refused_before_any_packet(lab: Lab) -> None:
    async with WebFetch() as fetch:
        for literal in LITERALS:
            refused = await failure(fetch, f"https://{literal}/")
            assert refused.code == "ip-literal-refused", literal
            assert not refused.soft
    assert lab.queries() == []
    assert lab.dialled() == []


@in_lab
async def test_a_url_made_for_two_parsers_never_leads_inward(lab: Lab) -> None:
    lab.name("good.example", EXAMPLE)
    async with WebFetch() as fetch:
        for url in CONFUSING:
            assert await code(fetch, url) in {"ip-literal-refused", "userinfo-refused", "invalid-url", "http-status"}, (
                url
            )
    assert set(lab.dialled()) <= {Dial(EXAMPLE, 443)}


@in_lab
async def test_a_redirect_to_an_encoded_literal_is_refused_before_any_connection(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    async with WebFetch() as fetch:
        for number, literal in enumerate(LITERALS):
            ascii_only = literal if literal.isascii() else "".join(f"%{byte:02X}" for byte in literal.encode())
            url = f"https://example.com/{number}"
            lab.serve(url, redirect(f"https://{ascii_only}/"))
            refused = await failure(fetch, url)
            assert refused.code == "redirect-refused", literal
            assert "refused: ip literal host not allowed: " in str(refused)
            assert refused.soft
    assert set(lab.dialled()) == {Dial(EXAMPLE, 443)}
    assert {name for name, _ in lab.queries()} == {"example.com."}


@pytest.mark.parametrize("address", ["169.254.169.254", "10.0.0.5", "::1", "64:ff9b::169.254.169.254"])
@in_lab
async def test_a_redirect_to_a_name_that_resolves_inward_fails_hard(lab: Lab, address: str) -> None:
    lab.site("example.com", EXAMPLE, redirect("https://inward.example/"))
    lab.name("inward.example", address)
    async with WebFetch() as fetch:
        refused = await failure(fetch, "https://example.com/")
    assert str(refused) == "host inward.example has no allowed address"
    assert not refused.soft
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
async def test_the_hosts_file_is_read_and_judged_like_any_answer(lab: Lab) -> None:
    lab.system_file("hosts", f"10.0.0.5 wiki.example wiki\n{EXAMPLE} public.example\n::1 six.example\n")
    lab.serve("https://public.example/", plain("from the hosts file"))
    async with WebFetch() as fetch:
        for name in ("wiki.example", "wiki", "six.example"):
            assert str(await failure(fetch, f"https://{name}/")) == f"host {name} has no allowed address"
        page = await fetch.fetch("https://public.example/")
    assert page.text == "from the hosts file"
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
async def test_localhost_is_refused_under_all_its_names(lab: Lab) -> None:
    async with WebFetch() as fetch:
        for name in ("localhost", "LOCALHOST", "localhost.", "app.localhost", "ip6-localhost"):
            assert await code(fetch, f"https://{name}/") in {"no-allowed-address", "lookup-failed"}, name
    assert lab.dialled() == []


@in_lab
async def test_an_alias_is_judged_by_where_it_leads(lab: Lab) -> None:
    lab.name("inward.example", "10.0.0.5")
    lab.name("outward.example", EXAMPLE)
    lab.name("a.example", Alias("b.example"))
    lab.name("b.example", Alias("inward.example"))
    lab.name("c.example", Alias("d.example"))
    lab.name("d.example", Alias("outward.example"))
    lab.serve("https://c.example/", plain("at the end of the chain"))
    async with WebFetch() as fetch:
        assert str(await failure(fetch, "https://a.example/")) == "host a.example has no allowed address"
        page = await fetch.fetch("https://c.example/")
    assert (page.url, page.text) == ("https://c.example/", "at the end of the chain")
    assert lab.dialled() == [Dial(EXAMPLE, 443)]
    assert lab.connections()[0].sni == "c.example"


@in_lab
async def test_a_name_that_turns_inward_between_two_fetches_is_refused_the_second_time(lab: Lab) -> None:
    lab.name("rebind.example", EXAMPLE, "10.0.0.5")
    lab.serve("https://rebind.example/", ARTICLE)
    async with WebFetch() as fetch:
        await fetch.fetch("https://rebind.example/")
        assert await code(fetch, "https://rebind.example/") == "no-allowed-address"
    assert lab.dialled() == [Dial(EXAMPLE, 443)]
    assert len(lab.requests()) == 1


@in_lab
async def test_a_name_that_turns_inward_between_two_hops_is_refused_at_the_second(lab: Lab) -> None:
    lab.name("rebind.example", EXAMPLE, "169.254.169.254")
    lab.serve("https://rebind.example/", redirect("/latest/meta-data/"))
    async with WebFetch() as fetch:
        refused = await failure(fetch, "https://rebind.example/")
    assert str(refused) == "host rebind.example has no allowed address"
    assert lab.dialled() == [Dial(EXAMPLE, 443)]
    assert [request.target for request in lab.requests()] == ["/"]


@in_lab
async def test_a_flickering_name_is_never_dialled_inward(lab: Lab) -> None:
    lab.name("flicker.example", *(("10.0.0.5",), (EXAMPLE,)) * 10)
    lab.serve("https://flicker.example/", plain("now and then"))
    async with WebFetch() as fetch:
        for turn in range(20):
            if turn % 2:
                await fetch.fetch("https://flicker.example/")
            else:
                assert await code(fetch, "https://flicker.example/") == "no-allowed-address"
    assert set(lab.dialled()) == {Dial(EXAMPLE, 443)}


@in_lab
async def test_other_ports_are_refused_before_any_packet(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    async with WebFetch() as fetch:
        for port in (0, 22, 25, 8080, 8443, 65535):
            assert await code(fetch, f"https://example.com:{port}/") == "port-refused"
        for url in ("http://example.com/", "ftp://example.com/", "file:///etc/passwd", "gopher://example.com/"):
            assert await code(fetch, url) == "scheme-refused"
    assert lab.queries() == []
    assert lab.dialled() == []


# --- doors that a policy opens, and no wider ---


@in_lab
async def test_an_exception_opens_one_host_at_one_address(lab: Lab) -> None:
    lab.expect_inward_connections()
    for name in ("wiki.internal.example", "other.example"):
        lab.name(name, "10.0.5.42")
        lab.serve(f"https://{name}/", plain("inside"))
    lab.name("second.internal.example", "10.0.5.43")
    config = FetchConfig(
        allow_host_addresses=(("wiki.internal.example", "10.0.5.42"), ("second.internal.example", "10.0.5.42"))
    )
    async with WebFetch(config) as fetch:
        page = await fetch.fetch("https://wiki.internal.example/")
        assert await code(fetch, "https://other.example/") == "no-allowed-address"
        assert await code(fetch, "https://second.internal.example/") == "no-allowed-address"
    assert page.text == "inside"
    assert lab.dialled() == [Dial("10.0.5.42", 443)]


@in_lab
async def test_permitted_literals_are_judged_and_their_certificate_is_checked(lab: Lab) -> None:
    lab.serve(f"https://{EXAMPLE}/", plain("by number"))
    lab.serve(f"https://[{OTHER_V6}]/", plain("by long number"))
    async with WebFetch(FetchConfig(allow_ip_literals=True)) as fetch:
        assert (await fetch.fetch(f"https://{EXAMPLE}/")).text == "by number"
        assert (await fetch.fetch(f"https://[{OTHER_V6}]/")).text == "by long number"
        for literal in ("10.0.0.5", "0x7f.1", "[::1]", "[::ffff:10.0.0.5]", "[2606:4700::5efe:a00:5]"):
            assert await code(fetch, f"https://{literal}/") == "not-fetchable", literal
    assert lab.dialled() == [Dial(EXAMPLE, 443), Dial(OTHER_V6, 443)]
    assert [connection.sni for connection in lab.connections()] == [None, None]
    assert lab.queries() == []


@in_lab
async def test_a_denied_range_shuts_a_public_address(lab: Lab) -> None:
    lab.name("denied.example", (OTHER, OTHER_V6))
    async with WebFetch(FetchConfig(deny_cidrs=("1.1.1.0/24", "2606:4700::/32"))) as fetch:
        assert await code(fetch, "https://denied.example/") == "no-allowed-address"
    assert lab.dialled() == []


@in_lab
async def test_plain_http_is_fetched_where_the_policy_allows_it(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    lab.serve("http://example.com/", plain("in the clear"))
    lab.name("inward.example", "10.0.0.5")
    async with WebFetch(FetchConfig(allow_http=True)) as fetch:
        page = await fetch.fetch("http://example.com/")
        assert await code(fetch, "http://inward.example/") == "no-allowed-address"
    assert page.text == "in the clear"
    assert lab.dialled() == [Dial(EXAMPLE, 80)]
