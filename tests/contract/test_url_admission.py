"""Claims: the five checks of a URL, in their order, before the network hears of it."""

from __future__ import annotations

import pytest

from runvil import FetchConfig
from runvil.testing import NXDOMAIN
from tests.contract.asking import ADDRESS, HOST, URL, Told, ask, claim, hard, ok, reply, site, soft, untouched
from tests.support.loopback import Answer, Loopback

BROKEN_RULES: list[tuple[str, Told]] = [
    ("https://", hard("invalid url")),
    ("ftp://example.com/", soft("scheme not allowed: ftp")),
    ("https://u@example.com/", hard("url must not contain userinfo")),
    ("https://example.com:8443/", hard("port not allowed: 8443")),
    ("https://93.184.216.34/", hard("ip literal host not allowed: 93.184.216.34")),
]


@claim("pack.admission.before-network")
@claim("fetch.boundary.admission")
@pytest.mark.parametrize(("url", "told"), BROKEN_RULES)
async def test_a_broken_rule_costs_no_lookup_and_no_request(url: str, told: Told) -> None:
    net = site()
    assert await ask(net, url) == told
    assert untouched(net)


@claim("pack.admission.order")
@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("http://u:p@127.0.0.1:8080:/", hard("invalid url")),
        ("http://u:p@127.0.0.1:8080/", soft("scheme not allowed: http")),
        ("http://user@example.com:8080/", soft("scheme not allowed: http")),
        ("https://u:p@127.0.0.1:8080/", hard("url must not contain userinfo")),
        ("https://127.0.0.1:8080/", hard("port not allowed: 8080")),
        ("https://127.0.0.1:443/", hard("ip literal host not allowed: 127.0.0.1")),
    ],
)
async def test_only_the_first_broken_rule_is_told(url: str, told: Told) -> None:
    assert await ask(site(), url) == told


@claim("pack.admission.parse")
@pytest.mark.parametrize(
    "url",
    [
        "",
        "not a url",
        "example.com/x",
        "//example.com/",
        "/path",
        "https://",
        "https:///",
        "https://exa mple.com/",
        "https://example.com:65536/",
        "https://example.com:port/",
        "https://a:80:80/",
        "https://[::1",
        "https://[::g]/",
        "https://256.1.1.1/",
        "https://1.2.3.4.5/",
        "https://0x100000000/",
        "https://exam%00ple.com/",
        "https://a<b/",
        "https://\ud800/",
    ],
)
async def test_what_is_no_absolute_url_is_invalid_and_nothing_more_is_said(url: str) -> None:
    net = site()
    assert await ask(net, url) == hard("invalid url")
    assert untouched(net)


@claim("pack.admission.as-supplied")
@pytest.mark.parametrize(
    "url",
    [
        "https://example.com",
        "HTTPS://EXAMPLE.COM/",
        "  https://example.com/ \n",
        "https:\\\\example.com\\",
        "https:example.com",
        "ht\ntps://exam\tple.com/",
        "https://example.com:443/",
        "https://example.com:/",
        "https://@example.com/",
        "https://exam%70le.com/",
        "https://ｅxample.com/",
        "https://example.com/#frag",
    ],
)
async def test_a_url_is_read_as_browsers_read_it(url: str) -> None:
    net = site()
    assert await ask(net, url) == ok("hello")
    assert (net.lookups, net.requests) == ([HOST], [URL])


@claim("pack.admission.scheme")
@pytest.mark.parametrize(
    "scheme", ["http", "ftp", "file", "ws", "wss", "gopher", "data", "javascript", "mailto", "about", "blob"]
)
async def test_any_scheme_but_https_is_named_in_soft_text(scheme: str) -> None:
    net = site()
    assert await ask(net, f"{scheme}://example.com/") == soft(f"scheme not allowed: {scheme}")
    assert untouched(net)


@claim("pack.admission.scheme")
@pytest.mark.parametrize(
    ("url", "scheme"), [("localhost:8080", "localhost"), ("data:text/html,hi", "data"), ("FILE:///etc/passwd", "file")]
)
async def test_what_stands_before_the_colon_is_the_scheme(url: str, scheme: str) -> None:
    assert await ask(site(), url) == soft(f"scheme not allowed: {scheme}")


@claim("pack.admission.credentials")
@pytest.mark.parametrize("info", ["user:pass", "user", ":pass", "user:", "%20", "a@b", "user%3Apass"])
async def test_a_name_or_a_password_or_both_are_refused(info: str) -> None:
    assert await ask(site(), f"https://{info}@example.com/") == hard("url must not contain userinfo")


@claim("pack.admission.credentials-silent")
async def test_the_refusal_echoes_no_part_of_the_url() -> None:
    told = await ask(site(), "https://alice:hunter2@example.com/private?token=1")
    assert [part for part in ("alice", "hunter2", "example", "private", "token") if part in told.text] == []


@claim("pack.admission.ports")
@pytest.mark.parametrize("port", [0, 1, 22, 79, 81, 442, 444, 8080, 8443, 65535])
async def test_a_port_off_the_list_is_named(port: int) -> None:
    assert await ask(site(), f"https://example.com:{port}/") == hard(f"port not allowed: {port}")


@claim("pack.admission.effective-port")
@pytest.mark.parametrize("written", ["", ":", ":443", ":0443"])
async def test_without_a_port_it_is_443(written: str) -> None:
    net = site()
    assert (await ask(net, f"https://example.com{written}/")).kind == "ok"
    assert net.requests == [URL]


@claim("pack.admission.port-80")
async def test_port_80_is_open_and_still_speaks_tls() -> None:
    url = "https://example.com:80/"
    page = Answer(headers=[("Content-Type", b"text/plain")], body=b"hello")
    server = Loopback({url: page}, {HOST: [ADDRESS]})
    async with server:
        assert await ask(server.net(FetchConfig()), url) == ok("hello", url)
    assert [(seen.url, seen.sni) for seen in server.requests] == [(url, HOST)]


NOTATIONS: list[tuple[str, str]] = [
    ("1.2.3.4", "1.2.3.4"),
    ("93.184.216.34", "93.184.216.34"),
    ("127.0.0.1", "127.0.0.1"),
    ("0177.0.0.1", "127.0.0.1"),
    ("0x7f.0.0.1", "127.0.0.1"),
    ("0x7f000001", "127.0.0.1"),
    ("2130706433", "127.0.0.1"),
    ("127.1", "127.0.0.1"),
    ("127.0.1", "127.0.0.1"),
    ("127.0.0.1.", "127.0.0.1"),
    ("%31%32%37.0.0.1", "127.0.0.1"),
    ("１２７.0.0.1", "127.0.0.1"),
    ("①②⑦.⓪.⓪.①", "127.0.0.1"),
    ("127。0。0。1", "127.0.0.1"),
    ("0", "0.0.0.0"),
    ("0xffffffff", "255.255.255.255"),
    ("[::1]", "::1"),
    ("[0:0:0:0:0:0:0:1]", "::1"),
    ("[::ffff:127.0.0.1]", "::ffff:127.0.0.1"),
    ("[::ffff:7f00:1]", "::ffff:127.0.0.1"),
    ("[::127.0.0.1]", "::7f00:1"),
    ("[2606:4700:4700::1111]", "2606:4700:4700::1111"),
    ("[2606:4700:4700:0:0:0:0:1111]", "2606:4700:4700::1111"),
    ("[FE80::1]", "fe80::1"),
]
"""A host as a URL may spell it, and the address it is told as."""


@claim("pack.admission.literals")
@claim("fetch.boundary.obfuscated")
@pytest.mark.parametrize(("spelled", "address"), NOTATIONS)
async def test_an_address_for_a_host_is_refused_however_it_is_spelled(spelled: str, address: str) -> None:
    net = site()
    assert await ask(net, f"https://{spelled}/") == hard(f"ip literal host not allowed: {address}")
    assert untouched(net)


@claim("pack.admission.names")
@pytest.mark.parametrize(
    "host", ["example.com", "example.com.", "a.b.c.example", "xn--mnchen-3ya.example", "1.2.3.4.example", "localhost"]
)
async def test_a_domain_name_passes_and_is_looked_up(host: str) -> None:
    net = site(dns={host: NXDOMAIN})
    assert await ask(net, f"https://{host}/") == soft(f"dns resolution failed for {host}")
    assert net.lookups == [host]


@claim("pack.admission.names")
async def test_a_name_in_another_script_is_looked_up_in_its_ascii_form() -> None:
    net = site({"https://xn--mnchen-3ya.example/": reply()})
    assert await ask(net, "https://München.example/") == ok("hello", "https://xn--mnchen-3ya.example/")
    assert net.lookups == ["xn--mnchen-3ya.example"]


@claim("pack.admission.query")
@pytest.mark.parametrize("query", ["?q=1", "?", "?a=b&a=c&=d", "?q=%2F%20+x", "?x=https://y/?z"])
async def test_a_query_goes_out_unchanged(query: str) -> None:
    url = f"https://example.com/path{query}"
    page = Answer(headers=[("Content-Type", b"text/plain")], body=b"hello")
    server = Loopback({url: page}, {HOST: [ADDRESS]})
    async with server:
        assert (await ask(server.net(FetchConfig()), url)).kind == "ok"
    assert [seen.target for seen in server.requests] == [f"/path{query}"]


@claim("pack.admission.fragment")
@pytest.mark.parametrize("fragment", ["#frag", "#", "#a?b=c", "#!/route", "##"])
async def test_a_fragment_never_leaves(fragment: str) -> None:
    url = "https://example.com/path?q=1"
    page = Answer(headers=[("Content-Type", b"text/plain")], body=b"hello")
    server = Loopback({url: page}, {HOST: [ADDRESS]})
    async with server:
        assert await ask(server.net(FetchConfig()), url + fragment) == ok("hello", url)
    assert [seen.target for seen in server.requests] == ["/path?q=1"]
