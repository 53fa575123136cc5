"""A planted key: it may be in the request's own header, and in nothing that anybody can read."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path
from typing import Any

import pytest

from runvil import ConfigError, SearchError
from runvil.providers import BraveProvider, client, from_environment
from runvil.providers.environment import WAYS
from runvil.providers.key import Credential
from runvil.providers.root import root_of
from tests.support.loopback import certificate_for
from tests.support.vendors import DROP, HANG, MARKER, FakeVendor, Told
from tests.unit.providers.asking import KINDS, QUERY, ROWS, SHORT, VENDORS

ECHO = MARKER.encode()

REPEATS: dict[str, object] = {
    "an answer": lambda kind: Told(kind.answer([(MARKER, f"https://a.example/{MARKER}", MARKER)])),
    "an error": lambda kind: Told({"error": {"detail": MARKER, "message": MARKER}, "detail": MARKER}, status=422),
    "a page": lambda kind: Told(b"<html>" + ECHO, status=403, kind="text/html"),
    "no JSON": lambda kind: Told(ECHO),
    "a redirect": lambda kind: Told(ECHO, status=302),
    "a status": lambda kind: Told(ECHO, status=599),
    "half an answer": lambda kind: Told(ECHO, cut=True),
    "a wrong coding": lambda kind: Told(ECHO, headers=[("Content-Encoding", "gzip")]),
    "a hang": lambda kind: HANG,
    "a dropped connection": lambda kind: DROP,
}


@pytest.mark.parametrize("case", REPEATS)
@pytest.mark.parametrize("name", KINDS)
async def test_a_server_that_repeats_the_key_does_not_make_it_known(
    name: str, case: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    script: Any = REPEATS[case]
    seen = []
    with caplog.at_level(logging.DEBUG):
        async with FakeVendor(script(KINDS[name])) as vendor:
            provider = KINDS[name].provider(vendor.root, deadline=SHORT)
            try:
                seen.append(repr(await provider.search(QUERY)))
            except SearchError as error:
                seen += ["".join(traceback.format_exception(error)), repr(error), repr(vars(error))]
                seen += [repr(each) for each in (error.__cause__, error.__context__)]
            seen += [repr(provider), str(provider), repr(vars(provider))]
            await provider.aclose()
    if name != "searxng":  # which has no key; what it repeats is just a word
        assert MARKER not in "".join([*seen, caplog.text, *capfd.readouterr()])


async def test_the_key_is_not_in_what_shows_an_objects_parts() -> None:
    credential = Credential("X-Key", MARKER)
    assert MARKER not in f"{credential} {credential!r} {[credential]}"
    assert credential.header() == {"X-Key": MARKER}
    assert not hasattr(credential, "__dict__")


@pytest.mark.parametrize("key", ["", " ", "two words", "line\nbreak", "null\0", "é", "x" * 5000])
@pytest.mark.parametrize("way", [way for way in WAYS if way.variables and way.name not in ("gateway", "searxng")])
def test_a_key_that_no_header_can_carry_is_refused_without_being_quoted(way: Any, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        way.made(key)
    assert str(caught.value) == "the key is empty, or holds what no header can carry"


@pytest.mark.parametrize("root", ["http://vendor.example", "http://10.0.0.1", "http://127.0.0.1.example"])
def test_a_key_is_not_sent_in_the_clear(root: str) -> None:
    with pytest.raises(ConfigError, match="over https or to this machine alone"):
        root_of(root, keyed=True)
    assert root_of(root, keyed=False).scheme == "http"


def test_what_is_wrong_with_an_address_is_said_without_it() -> None:
    env = {"SEARXNG_URL": f"https://user:{MARKER}@searx.example/"}
    with pytest.raises(ConfigError) as caught:
        from_environment(env=env)
    assert str(caught.value) == "SEARXNG_URL: the address must hold no credentials, query or fragment"


@pytest.mark.parametrize("name", KINDS)
async def test_proxies_of_the_environment_are_not_used(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with FakeVendor(Told({})) as proxy, FakeVendor(Told(KINDS[name].answer(ROWS))) as vendor:
        for variable in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(variable, proxy.root)
            monkeypatch.setenv(variable.lower(), proxy.root)
        provider = KINDS[name].provider(vendor.root)
        await provider.search(QUERY)
        await provider.aclose()
    assert (len(vendor.asked), proxy.asked) == (1, [])


async def test_a_proxy_that_is_set_is_used() -> None:
    kind = KINDS["searxng"]
    async with FakeVendor(Told(kind.answer(ROWS))) as proxy:
        provider = kind.provider("http://searx.example", proxy=proxy.root)
        await provider.search(QUERY)
        await provider.aclose()
    assert proxy.asked[0].target.startswith("http://searx.example/search?")


@pytest.mark.parametrize("proxy", ["socks5://127.0.0.1:1", "not an address", f"ftp://{MARKER}@127.0.0.1"])
def test_a_proxy_that_cannot_be_used_is_told_when_the_provider_is_made(proxy: str) -> None:
    with pytest.raises(ConfigError) as caught:
        KINDS["searxng"].provider("https://searx.example", proxy=proxy)
    assert str(caught.value) == "the proxy's address is not an http or https URL"


@pytest.mark.parametrize("name", VENDORS)
async def test_a_key_is_sent_only_to_whom_a_certificate_names(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    right, wrong = certificate_for("127.0.0.1"), certificate_for("somebody-else.example")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    for certificate, trust, reached in (
        (right, right.client, True), (right, None, False), (right, wrong.client, False), (wrong, wrong.client, False),
    ):  # fmt: skip
        async with FakeVendor(Told(KINDS[name].answer(ROWS)), tls=certificate.server) as vendor:
            provider = KINDS[name].provider(vendor.root, trust=trust)
            if reached:
                assert len((await provider.search(QUERY)).results) == 2
            else:
                with pytest.raises(SearchError, match="could not be reached"):
                    await provider.search(QUERY)
            await provider.aclose()
        assert bool(vendor.asked) == reached


async def test_roots_that_cannot_be_used_fail_the_search_and_say_why_in_the_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    monkeypatch.setenv("SSL_CERT_FILE", str(empty))
    client._trust.cache_clear()
    provider = BraveProvider("a-key")
    with pytest.raises(SearchError, match=r"^request failed$"):
        await provider.search(QUERY)
    assert "SSL_CERT_FILE holds no usable certificates" in caplog.text
