"""`runvil doctor` says what is in force; `runvil demo` shows the boundary at work and leaves nothing behind."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import pytest

from runvil import assemble
from runvil.core.config import FetchConfig
from runvil.doors.cli import demo, run
from runvil.doors.cli.demo_rows import ROGUE_ROWS, SITE_ROWS, Row
from runvil.extract.sandbox import LOCKS
from runvil.net.findings import findings
from runvil.net.resolver import DnsResolver
from runvil.net.transport import Dial, SocketNet, dial
from runvil.ports import Resolver
from tests.support.loopback import certificate_for

IN_TIME = 60.0  # seconds; a guard against a hang


def told(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = run(list(arguments))
    out, err = capfd.readouterr()
    return status, out, err


def facts(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, str]:
    _, out, _ = told(capfd, "doctor", "--offline", "--json", *arguments)
    return dict(json.loads(out)["facts"])


def test_doctor_names_what_is_in_force(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR", "RUNVIL_EXTRA_CA", "RUNVIL_CA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://10.0.0.9:3128")
    monkeypatch.setenv("BRAVE_SEARCH_API_KEY", "a-secret-key")
    shown = facts(capfd)
    assert shown["policy"].startswith("https alone; ports 80, 443; no IP literals")
    assert shown["addresses"] == "30 ranges blocked; a supplement of 4 and ISATAP"
    assert shown["limits"].startswith("20 s a fetch, 5 s a connection, 5 redirects; 8388608 bytes, 40000 characters")
    assert shown["trust"].startswith("certifi's list: ")
    assert shown["resolver"].endswith("nothing is cached")
    assert shown["proxies"] == "ignored, though set: HTTPS_PROXY"
    assert "BRAVE_SEARCH_API_KEY" in shown["search"]
    assert "a-secret-key" not in json.dumps(shown)
    assert shown["internet"] == "not asked"


@pytest.mark.skipif(sys.platform != "linux", reason="the locks are Linux's")
def test_doctor_lists_the_locks_that_a_worker_wears(capfd: pytest.CaptureFixture[str]) -> None:
    assert facts(capfd)["workers"] == "locks: " + ", ".join(LOCKS)


def test_doctor_follows_the_policy_options(capfd: pytest.CaptureFixture[str]) -> None:
    shown = facts(capfd, "--allow-http", "--allow-host-address", "Wiki.corp.=10.0.5.42", "--resolver", "system")
    assert shown["policy"].startswith("https and http")
    assert shown["addresses"].endswith("exception: wiki.corp at 10.0.5.42")
    assert shown["resolver"].startswith("the system's getaddrinfo")


@pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "RUNVIL_EXTRA_CA"])
def test_roots_that_cannot_be_read_are_wrong_and_named(
    variable: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    empty = tmp_path / "empty.pem"
    empty.write_text("")
    monkeypatch.setenv(variable, str(empty))
    status, out, _ = told(capfd, "doctor", "--offline")
    assert status == 1
    assert f"wrong      http client construction failed; {variable} holds no usable certificates" in out
    status, out, err = told(capfd, "fetch", "https://example.com/")
    assert (status, out) == (1, "")
    assert err == f"Error: http client construction failed; {variable} holds no usable certificates\n"


def test_extra_roots_are_added_to_the_others(tmp_path: Path) -> None:
    pem = tmp_path / "extra.pem"
    authority = certificate_for("example.com").client.get_ca_certs(binary_form=True)[0]
    pem.write_bytes(_pem(authority))
    plain = findings(FetchConfig(), {})
    more = findings(FetchConfig(), {"RUNVIL_EXTRA_CA": str(pem)})
    alone = findings(FetchConfig(), {"SSL_CERT_FILE": str(pem)})
    assert (more.roots, alone.roots) == (plain.roots + 1, 1)
    assert more.trust == f"certifi's list and RUNVIL_EXTRA_CA={pem}"


def _pem(der: bytes) -> bytes:
    return ssl.DER_cert_to_PEM_cert(der).encode()


def test_an_unknown_choice_of_roots_is_wrong() -> None:
    assert findings(FetchConfig(), {"RUNVIL_CA": "none"}).trust_error.startswith("RUNVIL_CA must be")


def test_a_store_without_roots_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssl.SSLContext.load_default_certs", lambda *_: None)
    assert "no trust root" in findings(FetchConfig(), {"RUNVIL_CA": "system"}).trust_error


def test_the_demo_is_right_in_every_row_and_names_its_exceptions(capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = told(capfd, "demo")
    assert (status, err) == (0, "")
    assert out.count("  ok    ") == len(SITE_ROWS) + len(ROGUE_ROWS)
    assert demo.EXCEPTIONS in out
    assert "WRONG" not in out


def test_a_row_that_came_out_otherwise_is_shown_as_wrong(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (Row("a page", "https://notes.demo.example/gone", "something else", ("93.184.216.34",)),)
    monkeypatch.setattr(demo, "SITE_ROWS", rows)
    monkeypatch.setattr(demo, "ROGUE_ROWS", ())
    status, out, _ = told(capfd, "demo")
    assert status == 1
    assert "WRONG a page" in out
    assert "1 rows are wrong." in out


def test_the_demo_says_that_it_needs_a_temporary_file(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def nowhere(*_: object, **__: object) -> None:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr("tempfile.TemporaryDirectory", nowhere)
    assert run(["demo"]) == 1
    assert "needs a directory for a temporary file (TMPDIR): No usable" in capfd.readouterr().err


def test_the_demo_leaves_no_process_and_no_file(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "runvil", "demo"],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
        timeout=IN_TIME,
        start_new_session=True,
    )
    assert done.returncode == 0
    assert list(tmp_path.iterdir()) == []
    assert done.stdout.endswith("Every row is right.\n")


class Watched(SocketNet):
    """The real network, which shows what it was made of."""

    made: ClassVar[list[tuple[Resolver, ssl.SSLContext, Dial]]] = []

    def __init__(self, config: FetchConfig, resolver: Resolver, trust: ssl.SSLContext, dial: Dial = dial) -> None:
        super().__init__(config, resolver, trust, dial)
        self.made.append((resolver, trust, dial))


def test_a_fetch_is_made_of_the_real_parts_right_after_a_demo(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(assemble, "SocketNet", Watched)
    for name in ("RUNVIL_DEMO", "RUNVIL_TESTING", "RUNVIL_RESOLVER", "RUNVIL_DIAL", "RUNVIL_TRUST"):
        monkeypatch.setenv(name, "1")
    assert told(capfd, "demo")[0] == 0
    assert told(capfd, "fetch", "https://127.1/")[0] == 3
    (_, demo_trust, demo_dial), (resolver, trust, used) = Watched.made
    assert (type(resolver), used) == (DnsResolver, dial)
    assert demo_dial is not dial
    assert demo_trust.get_ca_certs(binary_form=True)[0] not in trust.get_ca_certs(binary_form=True)


def test_only_the_demo_imports_the_test_seams() -> None:
    sources = Path(assemble.__file__).parent
    users = {
        path.relative_to(sources).as_posix()
        for path in sources.rglob("*.py")
        if "from runvil.testing" in path.read_text() and not path.is_relative_to(sources / "testing")
    }
    assert users == {"doors/cli/demo.py", "doors/cli/demo_rows.py"}
