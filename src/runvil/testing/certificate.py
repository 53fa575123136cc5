"""The certificate of a `LoopbackSite`: self-signed, for the reserved example names, believed by its own client alone.

Its private key is no secret and meant to be none: the number is a sentence that says so. Nothing but a TLS context made
here, and passed on as an argument, ever trusts it.
"""

from __future__ import annotations

import base64
import ssl
import tempfile
from dataclasses import dataclass
from pathlib import Path

PUBLIC_KEY_NUMBER = b"runvil demo, this key is public!"
"""The private key of NAMES' certificate: 32 bytes, read as a number on the curve P-256."""

NAMES = ("*.demo.example", "demo.example", "*.rogue.example", "rogue.example", "example.com", "*.example.com")

_CERTIFICATE = """\
-----BEGIN CERTIFICATE-----
MIIB7DCCAZGgAwIBAgIBATAKBggqhkjOPQQDAjAWMRQwEgYDVQQDDAtydW52aWwg
ZGVtbzAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFjEUMBIGA1UE
AwwLcnVudmlsIGRlbW8wWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATiy0lwv3EW
RcOF7AKNwWEIw3Hd4f2bra9qiqRImFk+kXHmBjLMr9MhY1dhuG5u9Sry2Ovwrsil
3yfpo65O3WXJo4HNMIHKMBIGA1UdEwEB/wQIMAYBAf8CAQAwDgYDVR0PAQH/BAQD
AgKEMBMGA1UdJQQMMAoGCCsGAQUFBwMBMHAGA1UdEQRpMGeCDiouZGVtby5leGFt
cGxlggxkZW1vLmV4YW1wbGWCDyoucm9ndWUuZXhhbXBsZYINcm9ndWUuZXhhbXBs
ZYILZXhhbXBsZS5jb22CDSouZXhhbXBsZS5jb22CC2V4YW1wbGUub3JnMB0GA1Ud
DgQWBBSZL7tbrpbMZeIFjCXBIxZ6j4NhRDAKBggqhkjOPQQDAgNJADBGAiEA7HRF
eVNZPekicBKNfg5xBPMehwxD/kxJaGkNOxa2tQcCIQCDrLAfELFVBdE8h1qxCSBd
9sQiizP1uqhr9/jc7Au3NQ==
-----END CERTIFICATE-----
"""

# RFC 5915: SEQUENCE { INTEGER 1, OCTET STRING of 32 bytes, [0] OID prime256v1 }
_KEY_BEFORE = bytes.fromhex("30310201010420")
_KEY_AFTER = bytes.fromhex("a00a06082a8648ce3d030107")


@dataclass(frozen=True)
class Certificate:
    """What a site serves with and what its client believes: a pair of TLS contexts."""

    server: ssl.SSLContext
    client: ssl.SSLContext

    @classmethod
    def public(cls) -> Certificate:
        """The one for example.com, demo.example, rogue.example and names below them, good until 2120."""
        server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        server.set_alpn_protocols(["http/1.1"])
        with tempfile.TemporaryDirectory() as folder:  # OpenSSL reads a key from a file only
            file = Path(folder) / "pair.pem"
            file.write_text(_CERTIFICATE + _private_key())
            server.load_cert_chain(file)
        client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        client.set_alpn_protocols(["http/1.1"])
        client.load_verify_locations(cadata=_CERTIFICATE)
        return cls(server, client)


def _private_key() -> str:
    text = base64.encodebytes(_KEY_BEFORE + PUBLIC_KEY_NUMBER + _KEY_AFTER).decode()
    kind = "EC PRIVATE KEY"
    return f"-----BEGIN {kind}-----\n{text}-----END {kind}-----\n"
