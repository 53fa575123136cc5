"""TLS: the certificate must be good, for the right name, and from a root the operator trusts."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from runvil import FetchConfig, WebFetch
from tests.lab.harness.answers import redirect
from tests.lab.harness.authority import Certificate
from tests.lab.harness.lab import Dial
from tests.lab.harness.marks import in_lab
from tests.lab.support import EXAMPLE, OTHER, failure, plain

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

pytestmark = pytest.mark.lab

NETWORK_ERROR = "fetch failed for https://example.com/: network error; try a different URL"

# By name, because parameters must survive JSON.
BAD = {
    "made out for another name": Certificate(name="other.example"),
    "made out for a name below": Certificate(name="www.example.com"),
    "made out for the names below": Certificate(name="*.example.com"),
    "expired": Certificate(expired=True),
    "from an unknown authority": Certificate(trusted=False),
    "spoken in an old version": Certificate(newest=ssl.TLSVersion.TLSv1_1),
}


@pytest.mark.parametrize("fault", list(BAD))
@in_lab
async def test_a_bad_certificate_is_a_network_error_and_no_request_is_sent(lab: Lab, fault: str) -> None:
    lab.site("example.com", EXAMPLE, plain("not to be read"))
    lab.certify("example.com", BAD[fault])
    async with WebFetch() as fetch:
        refused = await failure(fetch, "https://example.com/")
    assert str(refused) == NETWORK_ERROR
    assert refused.soft
    assert lab.requests() == []
    assert set(lab.dialled()) == {Dial(EXAMPLE, 443)}


@in_lab
async def test_a_wildcard_certificate_serves_a_name_below(lab: Lab) -> None:
    lab.site("www.example.com", EXAMPLE, plain("below"))
    lab.certify("www.example.com", Certificate(name="*.example.com"))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://www.example.com/")).text == "below"


@in_lab
async def test_tls_1_2_is_still_spoken(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("older"))
    lab.certify("example.com", Certificate(newest=ssl.TLSVersion.TLSv1_2))
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://example.com/")).text == "older"


@in_lab
async def test_the_certificate_is_checked_on_every_hop_and_the_requested_url_is_named(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, redirect("https://bad.example/"))
    lab.site("bad.example", OTHER, plain("not to be read"))
    lab.certify("bad.example", Certificate(name="example.com"))
    async with WebFetch() as fetch:
        assert str(await failure(fetch, "https://example.com/")) == NETWORK_ERROR
    assert [request.header("host") for request in lab.requests()] == ["example.com"]


@in_lab
async def test_a_host_that_never_answers_the_handshake_times_out(lab: Lab) -> None:
    lab.name("example.com", EXAMPLE)
    lab.deafen(EXAMPLE)
    async with WebFetch(FetchConfig(timeout=1.0)) as fetch:
        refused = await failure(fetch, "https://example.com/")
    assert str(refused) == "request to https://example.com/ timed out; try again or use a different URL"
    await lab.until("gone", 1)


# --- whose certificates count ---


@in_lab
async def test_only_certifis_roots_count_when_the_environment_names_none(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("text"))
    del os.environ["SSL_CERT_FILE"]
    async with WebFetch() as fetch:
        assert str(await failure(fetch, "https://example.com/")) == NETWORK_ERROR
    assert lab.requests() == []


@in_lab
async def test_ssl_cert_file_replaces_the_roots(lab: Lab) -> None:
    _two_sites(lab)
    os.environ["SSL_CERT_FILE"] = lab.other_file
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://other.example/")).text == "other"
        assert str(await failure(fetch, "https://example.com/")) == NETWORK_ERROR


@in_lab
async def test_runvil_extra_ca_adds_to_the_roots(lab: Lab) -> None:
    _two_sites(lab)
    os.environ["RUNVIL_EXTRA_CA"] = lab.other_file
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://other.example/")).text == "other"
        assert (await fetch.fetch("https://example.com/")).text == "first"


@in_lab
async def test_runvil_extra_ca_adds_to_certifis_roots_too(lab: Lab) -> None:
    _two_sites(lab)
    del os.environ["SSL_CERT_FILE"]
    os.environ["RUNVIL_EXTRA_CA"] = lab.other_file
    async with WebFetch() as fetch:
        assert (await fetch.fetch("https://other.example/")).text == "other"
        assert str(await failure(fetch, "https://example.com/")) == NETWORK_ERROR


@in_lab
async def test_no_key_log_is_written(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("text"))
    log = Path(os.environ["HOME"]) / "keys"
    os.environ["SSLKEYLOGFILE"] = str(log)
    async with WebFetch() as fetch:
        await fetch.fetch("https://example.com/")
    assert not log.exists()


def _two_sites(lab: Lab) -> None:
    """One under each authority."""
    lab.site("example.com", EXAMPLE, plain("first"))
    lab.site("other.example", OTHER, plain("other"))
    lab.certify("other.example", Certificate(trusted=False))
