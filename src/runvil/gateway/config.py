"""The configuration: TOML text in, one frozen object out (contract 2). Every error is the operator's to read.

`${VAR}` is replaced after the TOML is parsed, in strings alone, so that a value can never become structure. A message
names the place and never the value: it may be a key. Whatever is not known is refused.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from runvil.core.calls import MAX_RESULTS, SAFESEARCH
from runvil.core.config import ConfigError
from runvil.gateway.keys import SIMPLE, STRONG, Client, digest, is_name
from runvil.gateway.rates import Rate, read_bind, read_rate, read_time
from runvil.gateway.request import FRESHNESS_PATTERN, Defaults
from runvil.gateway.rows import RowRules

T = TypeVar("T")
Table = Mapping[str, Any]

MAX_FILE = 1024 * 1024
"""Bytes of a configuration: thousands of keys take less."""

MEMORY = "memory://"
STORES = (MEMORY, "redis://", "rediss://")
"""Stores of limits and cache. Valkey speaks the same protocol under the same scheme."""

_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_DIGEST = re.compile(r"[0-9a-fA-F]{64}")


@dataclass(frozen=True, slots=True)
class VendorConfig:
    """How one vendor is reached. base_url: "" for the vendor's own."""

    name: str
    api_key: str = field(default="", repr=False)
    base_url: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SearchConfig:
    """The tool. vendors: in the order in which they are asked."""

    vendors: tuple[VendorConfig, ...]
    defaults: Defaults
    rules: RowRules


@dataclass(frozen=True, slots=True)
class Config:
    """All of it. limits, cache: where they are kept; they may hold a password. cache_ttl: seconds, 0 for no cache."""

    host: str
    port: int
    clients: tuple[Client, ...]
    limits: str = field(default=MEMORY, repr=False)
    cache: str = field(default=MEMORY, repr=False)
    cache_ttl: int = 600
    log_queries: bool = False
    trusted_proxies: tuple[str, ...] = ()
    search: SearchConfig | None = None
    hidden: tuple[str, ...] = field(default=(), repr=False)
    """The texts that may appear nowhere: the vendors' keys and the stores' addresses."""


def read_config(data: bytes, environment: Mapping[str, str]) -> Config:
    """Raises ConfigError."""
    if len(data) > MAX_FILE:
        raise ConfigError("the configuration is too large")
    try:
        raw = tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"the configuration is not TOML{_place(error)}") from error
    return _config(_Reader(_interpolated(raw, environment, ""), "", known=("server", "tools")))


def _place(error: Exception) -> str:
    """Where the parser stopped; its message also quotes what it found, which may be a key."""
    found = re.search(r"\(at (line \d+, column \d+|end of document)\)", str(error))
    return f" ({found[1]})" if found else ""


def _interpolated(value: Any, environment: Mapping[str, str], path: str) -> Any:
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: _variable(found[1], environment, path), value)
    if isinstance(value, dict):
        return {name: _interpolated(one, environment, f"{path}.{name}".lstrip(".")) for name, one in value.items()}
    if isinstance(value, list):
        return [_interpolated(one, environment, f"{path}[{at}]") for at, one in enumerate(value)]
    return value


def _variable(name: str, environment: Mapping[str, str], path: str) -> str:
    if name not in environment:
        raise ConfigError(f"{path}: the environment variable {name} is not set")
    return environment[name]


class _Reader:
    """One table: each getter takes a member; what is not among `known` is refused at once."""

    def __init__(self, table: Any, path: str, known: tuple[str, ...]) -> None:
        self.path = path
        if not isinstance(table, dict):
            raise ConfigError(f"{path} is not a table")
        self.table: Table = table
        for name in table:
            if name not in known:
                raise ConfigError(f"{self.at(name)} is not known here; known: {', '.join(known)}")

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def text(self, name: str, default: str = "") -> str:
        return self._typed(name, default, str, "a string")

    def flag(self, name: str, default: bool) -> bool:
        return self._typed(name, default, bool, "true or false")

    def number(self, name: str, default: int, most: int) -> int:
        value = self._typed(name, default, int, "a whole number")
        if not 1 <= value <= most:
            raise ConfigError(f"{self.at(name)} is not between 1 and {most}")
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        values: list[Any] = self._typed(name, [], list, "a list")
        if not all(isinstance(value, str) for value in values):
            raise ConfigError(f"{self.at(name)} is not a list of strings")
        return tuple(values)

    def tables(self, name: str, known: tuple[str, ...]) -> list[_Reader]:
        values: list[Any] = self._typed(name, [], list, "a list of tables")
        return [_Reader(value, f"{self.at(name)}[{at}]", known) for at, value in enumerate(values)]

    def inner(self, name: str, known: tuple[str, ...]) -> _Reader:
        return _Reader(self.table.get(name, {}), self.at(name), known)

    def read(self, name: str, default: str, parse: Callable[[str], T], what: str) -> T:
        text = self.text(name, default)
        try:
            return parse(text)
        except ValueError as error:
            raise ConfigError(f"{self.at(name)} is not {what}") from error

    def rate(self, name: str, default: Rate | None) -> Rate | None:
        if not self.text(name):
            return default
        return self.read(name, "", read_rate, 'a rate such as "100/minute"')

    def _typed(self, name: str, default: T, kind: type, what: str) -> T:
        value: T = self.table.get(name, default)
        if type(value) is not kind:
            raise ConfigError(f"{self.at(name)} is not {what}")
        return value


_SERVER = ("bind", "api_key", "keys", "limits", "cache", "log_queries", "trusted_proxies")


def _config(root: _Reader) -> Config:
    server = root.inner("server", _SERVER)
    limits = server.inner("limits", ("store", "rate", "quota"))
    cache = server.inner("cache", ("ttl", "store"))
    host, port = server.read("bind", "127.0.0.1:8081", read_bind, "an address such as 127.0.0.1:8081")
    search = _search(root)
    stores = (_store(limits), _store(cache))
    keys = tuple(vendor.api_key for vendor in search.vendors if vendor.api_key) if search else ()
    return Config(
        host=host,
        port=port,
        clients=_clients(server, limits),
        limits=stores[0],
        cache=stores[1],
        cache_ttl=cache.read("ttl", "10m", read_time, 'a time such as "10m"'),
        log_queries=server.flag("log_queries", False),
        trusted_proxies=server.texts("trusted_proxies"),
        search=search,
        hidden=(*keys, *(store for store in stores if store != MEMORY)),
    )


def _store(table: _Reader) -> str:
    store = table.text("store", MEMORY)
    if not store.startswith(STORES) or (store.startswith(MEMORY) and store != MEMORY):
        raise ConfigError(f"{table.at('store')} is not one of {', '.join(STORES)}")
    return store


def _clients(server: _Reader, limits: _Reader) -> tuple[Client, ...]:
    rate, quota = limits.rate("rate", None), limits.rate("quota", None)
    clients = [_client(table, rate, quota) for table in server.tables("keys", ("name", "hash", "rate", "quota"))]
    if "api_key" in server.table:
        key = server.text("api_key")
        if not key or not key.isascii() or not key.isprintable() or " " in key:
            raise ConfigError("server.api_key is empty, or holds what no header can carry")
        clients.append(Client(SIMPLE, digest(key), len(key) >= STRONG, rate, quota))
    if not clients:
        raise ConfigError("no client key: set server.api_key, or make one with `runvil gateway key new NAME`")
    limited = {(client.name, client.rate, client.quota) for client in clients}
    if len(limited) != len({client.name for client in clients}):
        raise ConfigError("server.keys: keys of one name share their limits and must state the same")
    return tuple(clients)


def _client(table: _Reader, rate: Rate | None, quota: Rate | None) -> Client:
    name, hashed = table.text("name"), table.text("hash")
    if not is_name(name):
        raise ConfigError(f"{table.at('name')} is not a name: letters, digits, dots, hyphens; not {SIMPLE}")
    if not _DIGEST.fullmatch(hashed):
        raise ConfigError(f"{table.at('hash')} is not a SHA-256 in hex")
    return Client(name, bytes.fromhex(hashed), True, table.rate("rate", rate), table.rate("quota", quota))


_TOOL = (
    "provider", "api_key", "base_url", "failover", "providers", "default_count", "max_count", "max_per_host",
    "default_freshness", "default_safesearch", "strip_tracking",
)  # fmt: skip


def _search(root: _Reader) -> SearchConfig | None:
    tools = root.inner("tools", ("web_search",))
    if "web_search" not in tools.table:
        return None
    tool = tools.inner("web_search", _TOOL)
    most = tool.number("max_count", MAX_RESULTS, MAX_RESULTS)
    return SearchConfig(
        vendors=_vendors(tool),
        defaults=Defaults(
            default_count=min(tool.number("default_count", 10, MAX_RESULTS), most),
            max_count=most,
            default_freshness=tool.read("default_freshness", "", _one(FRESHNESS_PATTERN), "a span of time such as pw"),
            default_safesearch=tool.read(
                "default_safesearch", "", _one("|".join(("", *SAFESEARCH))), "off, moderate or strict"
            ),
        ),
        rules=RowRules(
            max_per_host=tool.number("max_per_host", 2, MAX_RESULTS), strip_tracking=tool.flag("strip_tracking", True)
        ),
    )


def _one(pattern: str) -> Callable[[str], str]:
    shape = re.compile(pattern)

    def parse(text: str) -> str:
        if not shape.fullmatch(text):
            raise ValueError
        return text

    return parse


def _vendors(tool: _Reader) -> tuple[VendorConfig, ...]:
    first = tool.text("provider")
    if not first:
        raise ConfigError(f"{tool.at('provider')} is missing")
    names = (first, *tool.texts("failover"))
    if len(set(names)) != len(names):
        raise ConfigError(f"{tool.at('failover')} names a provider twice")
    others = tool.inner("providers", names[1:])
    tables = [others.inner(name, ("api_key", "base_url")) for name in names[1:]]
    configs = [VendorConfig(first, tool.text("api_key"), tool.text("base_url"))]
    configs += [
        VendorConfig(name, table.text("api_key"), table.text("base_url"))
        for name, table in zip(names[1:], tables, strict=True)
    ]
    return tuple(configs)
