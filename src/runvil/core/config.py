"""The fetch policy: what a deployment may set, within which ceilings, and the text of every mistake (spec 1.21)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Literal, TypeVar, cast

from runvil.core.addresses import Address, Network, Range
from runvil.core.failures import InvalidUrl
from runvil.core.url import ipv6_hex, parse

T = TypeVar("T")

MIB = 1024 * 1024
MAX_PORT = 65535

CEILINGS: Mapping[str, int] = {"max_bytes": 64 * MIB, "max_chars": 10_000_000, "max_redirects": 20}
DURATION_CEILINGS: Mapping[str, int] = {"connect_timeout": 60, "timeout": 300, "pool_idle_timeout": 600}  # seconds

_HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*")  # RFC 9110 5.5 without obs-text; h11 sends nothing else either


class ConfigError(ValueError):
    """A policy or an environment that cannot be used. It is the operator's to read and never reaches a model."""


@dataclass(frozen=True, slots=True)
class HostAddress:
    """The one way to a blocked address: this host at this address (spec 1.21, contract 1).

    host: a domain name or an IP literal, with or without brackets; lower case, without its trailing dot, once a
    policy holds it. address: an address or its text. ports: TCP ports beside the policy's, and http: plain http; both
    hold for this pair alone.
    """

    host: str
    address: Address | str
    ports: tuple[int, ...] = ()
    http: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchConfig:
    """A fetch policy, checked when it is built (spec 1.20 and 1.21). Raises ConfigError naming the first bad field.

    allow_http: `http:` URLs too. allow_ports: TCP ports that a URL may name, in place of the default ones.
    allow_ip_literals: hosts that are addresses; they are judged like any others. deny_cidrs: ranges that are blocked
    beside the table, such as "203.0.114.0/24". allow_host_addresses: exact pairs that beat every range (HostAddress).
    supplement: the ranges that the table lacks (spec 1.6).

    max_redirects: hops, 0 to 20. max_bytes: bytes of a body after decompression, at most 64 MiB. max_chars: Unicode
    characters of text, at most 10,000,000. connect_timeout, timeout, pool_idle_timeout: seconds for a hop's connection
    (at most 60), for a whole fetch (300), for an idle connection to be kept (600).

    user_agent: the header's text. resolver: "dns" asks name servers, "system" getaddrinfo. max_concurrent: fetches of
    one WebFetch at once. max_inflight_bytes: bytes that all of these may hold, at least max_bytes.
    """

    allow_http: bool = False
    allow_ports: tuple[int, ...] = (80, 443)
    allow_ip_literals: bool = False
    deny_cidrs: tuple[str, ...] = ()
    allow_host_addresses: tuple[HostAddress | tuple[str, Address | str], ...] = ()
    max_redirects: int = 5
    max_bytes: int = 8 * MIB
    max_chars: int = 40_000
    connect_timeout: float = 5.0
    timeout: float = 20.0
    pool_idle_timeout: float = 10.0
    user_agent: str = "harness-webfetch/0.0"
    supplement: bool = True
    resolver: Literal["dns", "system"] = "dns"
    max_concurrent: int = 256
    max_inflight_bytes: int = 256 * MIB
    denied: tuple[Range, ...] = field(init=False, repr=False)
    """`deny_cidrs` as ranges: what the rules read. Not an argument."""

    def __post_init__(self) -> None:
        if not isinstance(self.user_agent, str) or not _HEADER_VALUE.fullmatch(self.user_agent):
            raise ConfigError("user agent is not a valid http header value")
        for name in ("max_bytes", "max_chars", "max_redirects"):
            _check_count(name, getattr(self, name), ceiling=CEILINGS[name], zero=name == "max_redirects")
        for name, ceiling in DURATION_CEILINGS.items():
            _check_duration(name, getattr(self, name), ceiling)
        cidrs = tuple(_items("deny_cidrs", self.deny_cidrs))
        denied = _unique(_denied(cidr) for cidr in cidrs)
        pairs = _unique(_pair(entry) for entry in _items("allow_host_addresses", self.allow_host_addresses))
        ports = _unique(_port("allow_ports", port) for port in _items("allow_ports", self.allow_ports))
        for name in ("allow_http", "allow_ip_literals", "supplement"):
            _check_bool(name, getattr(self, name))
        _check_count("max_concurrent", self.max_concurrent, ceiling=None)
        _check_count("max_inflight_bytes", self.max_inflight_bytes, ceiling=None)
        if self.max_inflight_bytes < self.max_bytes:
            raise ConfigError(f"max_inflight_bytes ({self.max_inflight_bytes}) is below max_bytes ({self.max_bytes})")
        if self.resolver not in ("dns", "system"):
            raise ConfigError(f'resolver must be "dns" or "system", not {_shown(self.resolver)}')
        canonical = {"denied": denied, "allow_host_addresses": pairs, "allow_ports": ports}
        for name, value in (canonical | {"deny_cidrs": _unique(cidrs)}).items():
            object.__setattr__(self, name, value)

    @property
    def pairs(self) -> tuple[HostAddress, ...]:
        """`allow_host_addresses` as it is once checked: canonical, each once; what the rules read."""
        return cast("tuple[HostAddress, ...]", self.allow_host_addresses)

    @classmethod
    def builder(cls) -> FetchConfigBuilder:
        """The chained form of spec 1.21: setters return the builder, `build()` validates once."""
        return FetchConfigBuilder()


class FetchConfigBuilder:
    """Collects knobs, each under its name in FetchConfig; nothing is checked before `build()`."""

    def __init__(self) -> None:
        self._values: dict[str, Any] = {}

    def allow_http(self, value: bool) -> FetchConfigBuilder:
        return self._set(allow_http=value)

    def allow_ports(self, ports: Iterable[int]) -> FetchConfigBuilder:
        return self._set(allow_ports=ports)

    def allow_ip_literals(self, value: bool) -> FetchConfigBuilder:
        return self._set(allow_ip_literals=value)

    def deny_cidr(self, cidr: str) -> FetchConfigBuilder:
        return self._set(deny_cidrs=(*self._values.get("deny_cidrs", ()), cidr))

    def allow_host_address(
        self, host: str, address: Address | str, *, ports: Iterable[int] = (), http: bool = False
    ) -> FetchConfigBuilder:
        entry = HostAddress(host, address, tuple(ports), http)
        return self._set(allow_host_addresses=(*self._values.get("allow_host_addresses", ()), entry))

    def max_redirects(self, count: int) -> FetchConfigBuilder:
        return self._set(max_redirects=count)

    def max_bytes(self, count: int) -> FetchConfigBuilder:
        return self._set(max_bytes=count)

    def max_chars(self, count: int) -> FetchConfigBuilder:
        return self._set(max_chars=count)

    def connect_timeout(self, seconds: float) -> FetchConfigBuilder:
        return self._set(connect_timeout=seconds)

    def timeout(self, seconds: float) -> FetchConfigBuilder:
        return self._set(timeout=seconds)

    def pool_idle_timeout(self, seconds: float) -> FetchConfigBuilder:
        return self._set(pool_idle_timeout=seconds)

    def user_agent(self, text: str) -> FetchConfigBuilder:
        return self._set(user_agent=text)

    def supplement(self, value: bool) -> FetchConfigBuilder:
        return self._set(supplement=value)

    def resolver(self, kind: Literal["dns", "system"]) -> FetchConfigBuilder:
        return self._set(resolver=kind)

    def max_concurrent(self, count: int) -> FetchConfigBuilder:
        return self._set(max_concurrent=count)

    def max_inflight_bytes(self, count: int) -> FetchConfigBuilder:
        return self._set(max_inflight_bytes=count)

    def build(self) -> FetchConfig:
        """The policy. Raises ConfigError naming the first bad field in the order of spec 1.21."""
        return FetchConfig(**self._values)

    def _set(self, **values: object) -> FetchConfigBuilder:
        self._values.update(values)
        return self


KNOBS: tuple[str, ...] = tuple(f.name for f in fields(FetchConfig) if f.init)
"""The names of everything that can be set."""


def _check_bool(name: str, value: object) -> None:
    if type(value) is not bool:
        raise ConfigError(f"{name} must be true or false")


def _check_count(name: str, value: object, *, ceiling: int | None, zero: bool = False) -> None:
    if type(value) is not int:
        raise ConfigError(f"{name} must be a whole number")
    if value < 0 or (value == 0 and not zero):
        raise ConfigError(f"{name} must {'not be negative' if zero else 'be greater than zero'}")
    if ceiling is not None and value > ceiling:
        raise ConfigError(f"{name} ({_shown(value)}) exceeds the maximum of {ceiling}")


def _check_duration(name: str, value: object, ceiling: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:  # NaN is not
        raise ConfigError(f"{name} must be a positive duration")
    if value > ceiling:
        seconds = _shown(value) if isinstance(value, int) else f"{value:.10g}"
        raise ConfigError(f"{name} ({seconds}s) exceeds the maximum of {ceiling}s")


def _shown(value: object) -> str:
    """A value as it was written. Python refuses to print a number of more than 4,300 digits."""
    try:
        return repr(value)
    except ValueError:
        return "a number of thousands of digits"


def _items(name: str, value: object) -> Iterable[object]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise ConfigError(f"{name} must be a list")
    return value


def _unique(values: Iterable[T]) -> tuple[T, ...]:
    return tuple(dict.fromkeys(values))


def _port(name: str, value: object) -> int:
    if type(value) is not int or not 0 < value <= MAX_PORT:
        raise ConfigError(f"{name}: {_shown(value)} is not a port from 1 to {MAX_PORT}")
    return value


def _denied(cidr: object) -> Range:
    try:
        if not isinstance(cidr, str) or "/" not in cidr:
            raise ValueError("a prefix length is required")
        network: Network = ip_network(cidr)
    except ValueError as error:
        raise ConfigError(f"invalid deny cidr {cidr if isinstance(cidr, str) else _shown(cidr)}") from error
    first = network.network_address
    text = f"{ipv6_hex(first) if isinstance(first, IPv6Address) else first}/{network.prefixlen}"
    return Range(network, f"deny_extra {text}", "denied here", "deny_cidrs")


def _pair(entry: object) -> HostAddress:
    if isinstance(entry, tuple | list) and len(entry) == 2:  # noqa: PLR2004  a pair is two
        entry = HostAddress(*entry)
    if not isinstance(entry, HostAddress):
        raise ConfigError(f"allow_host_addresses: {_shown(entry)} is not a (host, address) pair")
    host = _exact_host(entry.host)
    try:
        address = ip_address(entry.address)
    except ValueError as error:
        raise ConfigError(f"invalid address {_shown(entry.address)} for exact host {_shown(entry.host)}") from error
    _check_bool("http", entry.http)
    return HostAddress(host, address, _unique(_port("ports", p) for p in _items("ports", entry.ports)), entry.http)


def _exact_host(text: object) -> str:
    """The host as a URL would hold it, without brackets and trailing dot, so that pairs compare by equality."""
    host = text.strip() if isinstance(text, str) else ""
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        written = f"[{bare}]" if ":" in bare and _is_address(bare) else bare
        if not bare or set(written) & set("/?#@\\ \t\r\n%") or (":" in written and written[0] != "["):
            raise InvalidUrl
        return canonical_host(parse(f"https://{written}/").host)
    except InvalidUrl as error:
        raise ConfigError(f'invalid exact host "{text}"') from error


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def canonical_host(host: object) -> str:
    """A parsed host as exception pairs compare it: lower case, no trailing dot, an address in its canonical text."""
    return str(host).lower().removesuffix(".")
