"""The boundary's three decisions: may this URL be tried, which of its addresses may be dialled, where may it redirect.

Pure: text and answers in, a value or a failure out. `Route` is what the transport dials, and only `vet` makes one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import ip_network

from runvil.core.addresses import Address, Allowed, Blocked, Range, address_text, judge
from runvil.core.config import FetchConfig, HostAddress, canonical_host
from runvil.core.content import Head
from runvil.core.failures import (
    FetchFailure,
    Hard,
    InvalidUrl,
    LiteralRefused,
    NoAllowedAddress,
    NotFetchable,
    PortRefused,
    RedirectRefused,
    SchemeRefused,
    UserinfoRefused,
)
from runvil.core.url import Name, Url, parse

REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
"""The statuses that are followed (spec 1.8); any other 3xx is an HTTP error status."""

MAX_LABEL_BYTES = 63  # RFC 1035 2.3.4
MAX_NAME_BYTES = 253


@dataclass(frozen=True, slots=True)
class Admitted:
    """A URL that passed the five checks of spec 1.4."""

    url: Url

    @property
    def tls_name(self) -> str:
        """The host without its trailing dot: for SNI, the certificate and exception pairs."""
        return canonical_host(self.url.host)


@dataclass(frozen=True, slots=True)
class Route:
    """An admitted URL with the addresses that may be dialled for it now: at least one, each judged (spec 1.6)."""

    url: Url
    tls_name: str
    addresses: tuple[Address, ...]


def admit(url: Url, config: FetchConfig) -> Admitted:
    """Checks 2 to 5 of spec 1.4, in order; `parse` was the first. Raises the first broken one's failure."""
    admitted = Admitted(url)
    pairs = _pairs_of(admitted, config)
    if not (url.scheme == "https" or (url.scheme == "http" and (config.allow_http or any(p.http for p in pairs)))):
        raise SchemeRefused(url.scheme)
    if url.has_userinfo:
        raise UserinfoRefused
    if url.port not in config.allow_ports and not any(url.port in p.ports for p in pairs):
        raise PortRefused(url.port)
    if not isinstance(url.host, str) and not config.allow_ip_literals:
        raise LiteralRefused(address_text(url.host))
    return admitted


def resolvable(name: Name) -> bool:
    """Whether a resolver may see the name: labels of 1 to 63 bytes, 253 in all. Libraries choke on the rest (C71)."""
    bare = name.removesuffix(".")
    return len(bare) <= MAX_NAME_BYTES and all(0 < len(label) <= MAX_LABEL_BYTES for label in bare.split("."))


def vet(
    admitted: Admitted, answers: Iterable[Address], config: FetchConfig
) -> tuple[Route | Hard, tuple[Blocked, ...]]:
    """Judge every address a name resolved to, or the literal itself (spec 1.6).

    Returns the route over the allowed ones, or the failure to raise when there is none; and the blocked ones, which the
    caller writes to the debug log. The failure names the host only.
    """
    url = admitted.url
    verdicts = [_verdict(admitted, address, config) for address in dict.fromkeys(answers)]
    kept = tuple(v.address for v in verdicts if isinstance(v, Allowed))
    dropped = tuple(v for v in verdicts if isinstance(v, Blocked))
    if kept:
        return Route(url, admitted.tls_name, kept), dropped
    if isinstance(url.host, str):
        return NoAllowedAddress(url.host_text), dropped
    return NotFetchable(url.host_text), dropped


def follow(source: Url, head: Head, hops: int, config: FetchConfig) -> Admitted | None:
    """Where a response leads: the next hop, or None when it is no redirect with a usable Location (spec 1.8).

    hops: how many were followed before this one. Raises RedirectRefused for the first of the three rules it breaks.
    """
    target = _location(source, head)
    if target is None:
        return None
    if hops >= config.max_redirects:
        raise RedirectRefused(source.shown, target.shown, f"exceeded max redirects ({config.max_redirects})")
    if source.scheme == "https" and target.scheme == "http":
        raise RedirectRefused(source.shown, target.shown, "refusing https to http downgrade")
    try:
        return admit(target, config)
    except FetchFailure as reason:
        raise RedirectRefused(source.shown, target.shown, str(reason)) from reason


def _location(source: Url, head: Head) -> Url | None:
    value = head.first(b"location")
    if head.status not in REDIRECT_STATUSES or not value:
        return None
    try:
        return parse(_header_text(value), source)
    except InvalidUrl:
        return None  # spec C-29: the status speaks


def _header_text(value: bytes) -> str:
    """Servers write non-ASCII targets in UTF-8; anything else is read byte by byte, as browsers do."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def _pairs_of(admitted: Admitted, config: FetchConfig) -> Sequence[HostAddress]:
    return [p for p in config.pairs if p.host == admitted.tls_name] if config.pairs else ()


def _verdict(admitted: Admitted, address: Address, config: FetchConfig) -> Allowed | Blocked:
    """An exact pair beats every range; what only a pair opens (a port, http) is open for that pair alone (contract)."""
    url = admitted.url
    pairs = [p for p in _pairs_of(admitted, config) if p.address == address]
    opened = url.port in config.allow_ports or any(url.port in p.ports for p in pairs)
    spoken = url.scheme == "https" or config.allow_http or any(p.http for p in pairs)
    if not (opened and spoken):
        note = f"not_granted {url.scheme} port {url.port}"
        return Blocked(address, Range(ip_network(address), note, "open for another address of this host", "contract"))
    if pairs:
        return Allowed(address)
    return judge(address, supplement=config.supplement, deny=config.denied)
