"""A URL is read once: what it serialises to reads back as itself, and every part of the house shows the same host."""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import replace
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runvil import FetchConfig
from runvil.core.admission import Admitted, admit
from runvil.core.failures import InvalidUrl
from runvil.core.url import MAX_URL_BYTES, Url, parse
from tests.property import urls
from tests.property.urls import SECRET
from tests.support.steady import steady

LAX = FetchConfig(allow_http=True, allow_ports=tuple(range(1, 65536)), allow_ip_literals=True)


def parsed(text: str) -> Url | None:
    try:
        return parse(text)
    except InvalidUrl:
        return None


@steady(500)
@given(urls.texts)
@example("https://example.com/" + "a" * MAX_URL_BYTES)
@example("\ud800")
def test_any_text_is_a_url_or_invalid(text: str) -> None:
    with suppress(InvalidUrl):
        assert isinstance(parse(text), Url)


@steady(500)
@given(urls.texts, urls.secure)
def test_any_reference_is_a_url_or_invalid(text: str, base: str) -> None:
    with suppress(InvalidUrl):
        assert isinstance(parse(text, parsed(base)), Url)


@steady(500)
@given(urls.texts)
def test_a_serialised_url_reads_back_as_itself(text: str) -> None:
    url = parsed(text)
    if url is None or url.scheme not in ("https", "http"):
        return
    again = parse(url.full)
    assert again == replace(url, has_userinfo=False)
    assert again.full == url.full
    assert parse(url.shown) == replace(again, query="")


@steady(500)
@given(st.one_of(urls.secure, urls.numeric_hosts.map(lambda host: f"https://{host}/")))
@example("https://0x7f.1/")
@example("https://1.2.3.4./")
def test_no_name_is_what_a_socket_would_take_for_an_address(text: str) -> None:
    url = parsed(text)
    if url is None or not isinstance(url.host, str):
        return
    for name in (str(url.host), Admitted(url).tls_name):
        assert not _is_address(name)


def _is_address(name: str) -> bool:
    try:
        socket.inet_aton(name)
    except OSError:
        return False
    return True


def test_the_strategies_give_enough_that_is_accepted() -> None:
    """A property that skips nearly everything would hold of anything."""
    seen: list[Url | None] = []

    @steady(400)
    @given(urls.secure)
    def collect(text: str) -> None:
        seen.append(parsed(text))

    collect()
    accepted = [url for url in seen if url is not None]
    assert len(accepted) > len(seen) / 4
    assert {type(url.host) for url in accepted} == {str, IPv4Address, IPv6Address}


def test_the_oracle_for_addresses_knows_the_short_forms() -> None:
    assert [name for name in ("127.1", "0x7f.1", "017700000001", "1") if not _is_address(name)] == []
    assert not _is_address("example.com")


@steady(500)
@given(urls.secure)
def test_host_header_certificate_name_and_messages_show_the_same_host(text: str) -> None:
    url = parsed(text)
    if url is None or url.port == 0 or url.has_userinfo:
        return
    admitted = admit(url, LAX)
    assert url.authority == (url.host_text if url.port == 443 else f"{url.host_text}:{url.port}")
    assert url.shown.startswith(f"https://{url.authority}/")
    assert url.full.startswith(f"https://{url.authority}/")
    assert admitted.tls_name == url.host_text.strip("[]").removesuffix(".") or not isinstance(url.host, str)
    assert parse(f"https://{url.authority}/").host == url.host


@steady(500)
@given(urls.secure)
def test_a_name_is_lower_case_ascii_without_a_character_that_ends_a_host(text: str) -> None:
    url = parsed(text)
    if url is None or not isinstance(url.host, str):
        return
    assert url.host
    assert str(url.host).isascii()
    assert str(url.host) == str(url.host).lower()
    assert not set(str(url.host)) & set(" \t\r\n/\\?#@:[]<>%")


@steady(500)
@given(urls.hosts, urls.paths)
def test_what_is_shown_holds_no_credential_no_query_and_no_fragment(host: str, path: str) -> None:
    url = parsed(f"https://{SECRET}:{SECRET}@{host}{path}?{SECRET}#{SECRET}")
    if url is None:
        return
    assert SECRET not in url.shown
    assert not set(url.shown) & set("?#@ \n\r\t") - set("@" if "@" in url.path else "")
    assert "#" not in url.full
    assert url.shown == url.full.partition("?")[0]


@steady(400)
@given(st.one_of(st.ip_addresses(v=4), st.ip_addresses(v=6)))
def test_an_address_for_a_host_is_that_address(address: IPv4Address | IPv6Address) -> None:
    written = f"[{address}]" if isinstance(address, IPv6Address) else str(address)
    url = parse(f"https://{written}/")
    assert url.host == address
    assert type(url.host) is type(address)


@pytest.mark.parametrize(("length", "fits"), [(8191, True), (8192, True), (8193, False)])
def test_a_url_may_be_eight_kibibytes_long_and_no_longer(length: int, fits: bool) -> None:
    text = "https://example.com/".ljust(length, "a")
    if fits:
        assert len(parse(text).full) == length
    else:
        with pytest.raises(InvalidUrl):
            parse(text)
