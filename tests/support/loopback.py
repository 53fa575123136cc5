"""`runvil.testing.LoopbackSite` with a certificate for whatever names a test's DNS holds, or for somebody else's."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence

import trustme

from runvil import FetchConfig, assemble
from runvil.ports import Net, Resolver
from runvil.testing import Answer, Certificate, DnsAnswer, LoopbackSite, Rebinding

LITERALS = ("1.1.1.1", "2606:4700:4700::1111")  # hosts of tests that permit IP literals


class Loopback(LoopbackSite):
    def __init__(
        self,
        answers: Mapping[str, Answer | Sequence[Answer]],
        dns: Mapping[str, DnsAnswer | Rebinding] | None = None,
        *,
        bad_certificate: bool = False,
        refused: frozenset[str] = frozenset(),
        silent: frozenset[str] = frozenset(),
        late: bytes = b"",
    ) -> None:
        names = sorted({name.removesuffix(".") for name in dns or {}}) or ["example.com"]
        certificate = (
            certificate_for("somebody-else.example") if bad_certificate else certificate_for(*names, *LITERALS)
        )
        super().__init__(answers, dns, certificate=certificate, refused=refused, silent=silent, late=late)

    def net(self, config: FetchConfig, resolver: Resolver | None = None) -> Net:
        """The real transport over this server."""
        return assemble.seamed(config, resolver or self.resolver, self.certificate.client, self.dial)


def certificate_for(*names: str) -> Certificate:
    authority = trustme.CA()
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for context in (server, client):
        context.set_alpn_protocols(["http/1.1"])
    authority.issue_cert(*names).configure_cert(server)
    authority.configure_trust(client)
    return Certificate(server, client)


__all__ = ["Answer", "Loopback", "certificate_for"]
