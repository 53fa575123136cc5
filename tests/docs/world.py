"""The world of the examples: names, pages and an environment of their own. The policy and its filter are the real."""

from __future__ import annotations

import gzip
import logging
from collections.abc import Mapping
from pathlib import Path

import pytest
import trustme

from runvil import assemble
from runvil.providers.environment import VARIABLES
from runvil.testing import NXDOMAIN, Behaviour, DnsAnswer, FakeNet, Rebinding, Reply

PUBLIC = ["93.184.216.34"]

EXAMPLE = b"""<!doctype html><title>Example Domain</title><h1>Example Domain</h1><p>This domain is for use in
documentation examples without needing permission. Avoid use in operations, and do not rely on it for anything that has
to stay.</p>"""

NAMES: Mapping[str, DnsAnswer | Rebinding] = {
    "example.com": PUBLIC,
    "plain.example.com": PUBLIC,
    "azure.example.com": ["168.63.129.16"],
    "wiki.corp.example": ["10.0.5.42"],
    "other.corp.example": ["10.0.5.42"],
    "moved.corp.example": ["10.0.5.43"],
    "private-ca.example.com": PUBLIC,
    "metadata.attacker.example": ["169.254.169.254"],
    "mapped.attacker.example": ["::ffff:169.254.169.254"],
    "nat64.attacker.example": ["64:ff9b::a9fe:a9fe"],
    "sixtofour.attacker.example": ["2002:a9fe:a9fe::1"],
    "mixed.attacker.example": ["10.0.0.5", *PUBLIC],
    "attacker.example": PUBLIC,
    "collect.attacker.example": PUBLIC,
    "rebind.attacker.example": Rebinding((PUBLIC, ["127.0.0.1"])),
    "gone.example.com": NXDOMAIN,
    "six.example.com": ["2606:4700:4700::1111", "64:ff9b::5db8:d822"],
    "four.example.com": ["93.184.216.34", "64:ff9b::5db8:d822"],
    "only-nat64.example.com": ["64:ff9b::5db8:d822"],
}


def typed(content_type: str, body: bytes) -> Reply:
    return Reply(headers=[("Content-Type", content_type)], body=body)


def text(body: str) -> Reply:
    return typed("text/plain", body.encode())


def to(target: str) -> Reply:
    return Reply(302, [("Location", target)])


PACKED = [("Content-Type", "text/html"), ("Content-Encoding", "gzip")]

PAGES = {
    "https://example.com/": typed("text/html", EXAMPLE),
    "https://example.com/missing": Reply(404),
    "https://example.com/@169.254.169.254/": Reply(404),
    "https://example.com/old": to("/"),
    "https://example.com/slow": Reply(behaviour=Behaviour.HANG_BEFORE_HEADERS),
    "https://example.com/data.json": typed("application/json", b'{"key": "value"}'),
    "https://example.com/notes.txt": text("Note one, note two"),
    "https://example.com/report.pdf": typed("application/pdf", b"%PDF"),
    "https://example.com/guide": typed(
        "text/html", b"<title>Guide</title><h1>Guide</h1>" + b"<p>Words of the guide, one after another.</p>" * 9
    ),
    "https://example.com:8443/": text("on another port"),
    "http://plain.example.com/": text("over plain http"),
    "https://azure.example.com/": text("the host agent"),
    "https://wiki.corp.example/": text("the wiki"),
    "http://wiki.corp.example:8080/start": text("the wiki, in plain http"),
    "https://private-ca.example.com/": Reply(behaviour=Behaviour.BAD_CERTIFICATE),
    "https://mixed.attacker.example/": text("over the public address"),
    "https://attacker.example/hop": to("https://127.1/admin"),
    "https://attacker.example/inward": to("https://metadata.attacker.example/latest/"),
    "https://attacker.example/down": to("http://attacker.example/"),
    "https://attacker.example/loop": to("/loop"),
    "https://attacker.example/bomb": Reply(headers=PACKED, body=gzip.compress(bytes(1 << 20)) * 64),
    "https://rebind.attacker.example/": text("the first time"),
    "https://collect.attacker.example/?said=the+secret": text("thank you"),
    "https://six.example.com/": text("over IPv6"),
    "https://four.example.com/": Reply(behaviour=Behaviour.REFUSE_CONNECTION),
}


def scripted() -> FakeNet:
    return FakeNet(dns=NAMES, replies=PAGES)


FOREIGN = ("SSL_CERT_FILE", "SSL_CERT_DIR", "RUNVIL_EXTRA_CA", "RUNVIL_CA", "RUNVIL_MODEL_URL", "RUNVIL_MCP_KEY")
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY")


def enter(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    """Make this process an example's: scripted network, a bare environment, an empty home and directory."""
    for name in (*VARIABLES, *FOREIGN, *PROXIES, *map(str.lower, PROXIES)):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_DATA_HOME", str(home / "data"))
    monkeypatch.setattr("runvil.providers.index.sys.platform", "linux")
    monkeypatch.setattr(assemble, "network", lambda config: scripted())
    monkeypatch.chdir(home)
    log = logging.getLogger("runvil")  # an example may set it up as its own
    monkeypatch.setattr(log, "handlers", [])
    monkeypatch.setattr(log, "level", log.level)
    trustme.CA().cert_pem.write_to_path(str(home / "corporate.pem"))
