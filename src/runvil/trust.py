"""The TLS context: who is believed (contract 3), and nothing the environment could add to it.

A bare `SSLContext`, because `create_default_context` would write session keys to SSLKEYLOGFILE. One per `WebFetch`: a
context costs some 25 ms, a handshake with a shared one 1 ms.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass

from runvil.core.config import ConfigError

CERTIFI, SYSTEM = "certifi's list", "the operating system's store"


@dataclass(frozen=True, slots=True)
class Trust:
    """Where the roots come from. The default is certifi's list."""

    cafile: str | None = None
    cadir: str | None = None
    extra: str | None = None
    system: bool = False

    @classmethod
    def from_environment(cls, env: Mapping[str, str]) -> Trust:
        """Read SSL_CERT_FILE, SSL_CERT_DIR, RUNVIL_EXTRA_CA and RUNVIL_CA (contract 3). Raises ConfigError."""
        choice = env.get("RUNVIL_CA", "")
        if choice not in ("", "system", "certifi"):
            raise ConfigError(f'RUNVIL_CA must be "system" or "certifi", not "{choice}"')
        return cls(
            cafile=env.get("SSL_CERT_FILE") or None,
            cadir=env.get("SSL_CERT_DIR") or None,
            extra=env.get("RUNVIL_EXTRA_CA") or None,
            system=choice == "system",
        )

    @property
    def described(self) -> str:
        """The sources in one line, for `runvil doctor`."""
        named = {"SSL_CERT_FILE": self.cafile, "SSL_CERT_DIR": self.cadir}
        replaced = [f"{name}={value}" for name, value in named.items() if value is not None]
        roots = replaced or [SYSTEM if self.system else CERTIFI]
        return " and ".join((*roots, *([f"RUNVIL_EXTRA_CA={self.extra}"] if self.extra else [])))


def context(trust: Trust) -> ssl.SSLContext:
    """A client context that verifies certificate and name, TLS 1.2 or newer, HTTP/1.1 alone.

    Raises ConfigError when a file of roots cannot be read or holds none.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.minimum_version = ssl.TLSVersion.TLSv1_2
    made.set_alpn_protocols(["http/1.1"])
    _load_roots(made, trust)
    if trust.extra is not None:
        _load(made, "RUNVIL_EXTRA_CA", trust.extra, None)
    return made


def _load_roots(made: ssl.SSLContext, trust: Trust) -> None:
    if trust.cafile is not None or trust.cadir is not None:
        if trust.cafile is not None:
            _load(made, "SSL_CERT_FILE", trust.cafile, None)
        if trust.cadir is not None:
            _load(made, "SSL_CERT_DIR", None, trust.cadir)
    elif trust.system:
        made.load_default_certs(ssl.Purpose.SERVER_AUTH)
    else:
        import certifi  # noqa: PLC0415  a list of 300 kB that the other choices do without

        _load(made, "certifi", certifi.where(), None)


def _load(made: ssl.SSLContext, name: str, cafile: str | None, cadir: str | None) -> None:
    try:
        made.load_verify_locations(cafile=cafile, capath=cadir)
    except OSError as error:  # ssl.SSLError is one
        failure = ConfigError("http client construction failed")  # the text of spec 1.21; the note says which
        failure.add_note(f"{name} holds no usable certificates")
        raise failure from error
