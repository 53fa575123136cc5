"""The lab's certificate authorities: the one `SSL_CERT_FILE` names, and another one that nobody trusts at first."""

from __future__ import annotations

import datetime
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING

import trustme

if TYPE_CHECKING:
    from pathlib import Path

BEGINNING = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
LONG_PAST = datetime.datetime(2001, 1, 1, tzinfo=datetime.UTC)
ALPN = ["h2", "http/1.1"]  # what the web offers; what the client chose is recorded


@dataclass(frozen=True)
class Certificate:
    """What a server shows. name: for whom it was made out, None: for whom the client asked."""

    name: str | None = None
    expired: bool = False
    trusted: bool = True
    newest: ssl.TLSVersion | None = None


GOOD = Certificate()


class Authority:
    """Makes the certificates. Built once for all tests; files go to `directory`."""

    def __init__(self, directory: Path) -> None:
        self._trusted = trustme.CA()
        self._other = trustme.CA()
        self.trusted_file = directory / "trusted.pem"
        self.other_file = directory / "other.pem"
        self._trusted.cert_pem.write_to_path(self.trusted_file)
        self._other.cert_pem.write_to_path(self.other_file)
        self._contexts: dict[tuple[str, Certificate], ssl.SSLContext] = {}

    def context(self, name: str, certificate: Certificate) -> ssl.SSLContext:
        key = (name, certificate)
        if key not in self._contexts:
            self._contexts[key] = self._issue(certificate.name or name, certificate)
        return self._contexts[key]

    def _issue(self, name: str, certificate: Certificate) -> ssl.SSLContext:
        authority = self._trusted if certificate.trusted else self._other
        if certificate.expired:
            leaf = authority.issue_cert(name, not_before=BEGINNING, not_after=LONG_PAST)
        else:
            leaf = authority.issue_cert(name)
        context = bare_context()
        if certificate.newest is not None:
            context.maximum_version = certificate.newest
            context.set_ciphers("DEFAULT:@SECLEVEL=0")  # OpenSSL speaks old versions at no other level
        leaf.configure_cert(context)
        return context


def bare_context() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.MINIMUM_SUPPORTED
    context.set_alpn_protocols(ALPN)
    return context
