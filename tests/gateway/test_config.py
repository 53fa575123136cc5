"""The configuration: what it may say, and that an error names the place and never the value."""

from __future__ import annotations

import pytest

from runvil.core.config import ConfigError
from runvil.gateway.app import Gateway
from runvil.gateway.config import MEMORY, VendorConfig, read_config
from runvil.gateway.keys import digest
from runvil.gateway.rates import Rate, read_bind, read_rate, read_time
from tests.gateway.support import TOKEN, VENDOR_KEY, config, text

HASH = "a" * 64


def refused(toml: str, **environment: str) -> str:
    with pytest.raises(ConfigError) as raised:
        Gateway(read_config(toml.encode(), environment))
    return str(raised.value)


def test_the_contracts_example_is_read() -> None:
    toml = f"""
    [server]
    bind = "127.0.0.1:8081"
    api_key = "${{RUNVIL_GATEWAY_API_KEY}}"
    [[server.keys]]
    name = "agents"
    hash = "{HASH}"
    rate = "100/minute"
    quota = "5000/day"
    [server.limits]
    store = "memory://"
    [server.cache]
    ttl = "10m"
    store = "memory://"
    [tools.web_search]
    provider = "brave"
    api_key = "${{BRAVE_SEARCH_API_KEY}}"
    base_url = "https://search.example"
    failover = ["tavily"]
    default_count = 10
    max_count = 20
    max_per_host = 2
    default_freshness = ""
    default_safesearch = ""
    strip_tracking = true
    [tools.web_search.providers.tavily]
    api_key = "t"
    """
    read = read_config(toml.encode(), {"RUNVIL_GATEWAY_API_KEY": TOKEN, "BRAVE_SEARCH_API_KEY": "b"})
    agents, simple = read.clients
    assert (agents.name, agents.digest.hex(), agents.rate, agents.quota) == (
        "agents", HASH, Rate(100, 60), Rate(5000, 86_400),
    )  # fmt: skip
    assert (simple.name, simple.digest, simple.rate, simple.strong) == ("default", digest(TOKEN), None, False)
    assert (read.host, read.port, read.limits, read.cache, read.cache_ttl) == ("127.0.0.1", 8081, MEMORY, MEMORY, 600)
    assert read.search is not None
    assert read.search.vendors == (
        VendorConfig("brave", "b", "https://search.example"),
        VendorConfig("tavily", "t"),
    )
    Gateway(read)


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        ("[server]\nbind =", "the configuration is not TOML (end of document)"),
        ("[server]\napi_key = secret", "the configuration is not TOML"),
        ("", "no client key: set server.api_key, or make one with `runvil gateway key new NAME`"),
        ("[server]\n", "no client key"),
        ('[server]\napi_key = ""', "server.api_key is empty"),
        ('[server]\napi_key = "a b"', "server.api_key is empty, or holds what no header can carry"),
        ("[server]\napi_key = 5", "server.api_key is not a string"),
        ('[server]\napi_key = "${NOT_SET}"', "server.api_key: the environment variable NOT_SET is not set"),
        ('[server]\napi_key = "k"\nport = 5', "server.port is not known here; known: bind, "),
        ('[other]\nx = 1\n[server]\napi_key = "k"', "other is not known here; known: server, tools"),
        ('[server]\napi_key = "k"\nbind = "nowhere"', "server.bind is not an address"),
        ('[server]\napi_key = "k"\nbind = "h:70000"', "server.bind is not an address"),
        ('server = "x"', "server is not a table"),
        (f'[[server.keys]]\nname = "a b"\nhash = "{HASH}"', "server.keys[0].name is not a name"),
        (f'[[server.keys]]\nname = "default"\nhash = "{HASH}"', "server.keys[0].name is not a name"),
        ('[[server.keys]]\nname = "a"\nhash = "abc"', "server.keys[0].hash is not a SHA-256 in hex"),
        (f'[[server.keys]]\nname = "a"\nhash = "{HASH}"\nrate = "many"', "server.keys[0].rate is not a rate"),
        (f'[[server.keys]]\nname = "a"\nhash = "{HASH}"\nsecret = "s"', "server.keys[0].secret is not known here"),
        (
            f'[[server.keys]]\nname = "a"\nhash = "{HASH}"\nrate = "1/day"\n'
            f'[[server.keys]]\nname = "a"\nhash = "{HASH}"',
            "server.keys: keys of one name share their limits",
        ),
        ('[server]\napi_key = "k"\nlimits.store = "memcached://h"', "server.limits.store is not one of memory://"),
        ('[server]\napi_key = "k"\nlimits.store = "memory://x"', "server.limits.store is not one of"),
        ('[server]\napi_key = "k"\ncache.ttl = "soon"', "server.cache.ttl is not a time"),
        ('[server]\napi_key = "k"\ncache.ttl = 600', "server.cache.ttl is not a string"),
        ('[server]\napi_key = "k"\n[tools.web_fetch]', "tools.web_fetch is not known here"),
        ('[server]\napi_key = "k"\n[tools.web_search]', "tools.web_search.provider is missing"),
        ('[server]\napi_key = "k"\n[tools.web_search]\nprovider = "bing"', "no provider named 'bing'"),
        ('[server]\napi_key = "k"\n[tools.web_search]\nprovider = "brave"', "brave needs an api_key"),
        ('[server]\napi_key = "k"\n[tools.web_search]\nprovider = "searxng"', "searxng needs a base_url"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_refused_with_its_place(toml: str, said: str) -> None:
    assert said in refused(toml)


TOOL = '[server]\napi_key = "k"\n[tools.web_search]\nprovider = "brave"\napi_key = "b"\n'


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("max_count = 21", "tools.web_search.max_count is not between 1 and 20"),
        ("max_count = true", "tools.web_search.max_count is not a whole number"),
        ("default_count = 0", "tools.web_search.default_count is not between 1 and 20"),
        ("max_per_host = 0", "tools.web_search.max_per_host is not between 1 and 20"),
        ('default_freshness = "soon"', "tools.web_search.default_freshness is not a span of time"),
        ('default_safesearch = "on"', "tools.web_search.default_safesearch is not off, moderate or strict"),
        ("strip_tracking = 1", "tools.web_search.strip_tracking is not true or false"),
        ('base_url = "nowhere"', "tools.web_search: brave: "),
        ('base_url = "http://192.0.2.1"', "tools.web_search: brave: "),
        ('failover = "tavily"', "tools.web_search.failover is not a list"),
        ("failover = [5]", "tools.web_search.failover is not a list of strings"),
        ('failover = ["brave"]', "tools.web_search.failover names a provider twice"),
        ('failover = ["tavily"]', "tavily needs an api_key"),
        ('providers.tavily.api_key = "t"', "tools.web_search.providers.tavily is not known here"),
    ],
)
def test_a_tool_that_cannot_be_used_is_refused_with_its_place(line: str, said: str) -> None:
    assert said in refused(TOOL + line)


def test_a_default_above_the_ceiling_is_the_ceiling() -> None:
    read = config(text(tool="max_count = 5"))
    assert read.search is not None
    assert (read.search.defaults.default_count, read.search.defaults.max_count) == (5, 5)


def test_a_variable_cannot_become_structure_and_is_replaced_once() -> None:
    read = read_config(b'[server]\napi_key = "x${A}y"', {"A": '"\n[tools]#${B}'.replace("\n", ""), "B": "b"})
    assert read.clients[0].digest == digest('x"[tools]#${B}y')


def test_no_message_and_no_repr_shows_a_value() -> None:
    secret = "hunter2-hunter2"
    for toml in (
        f'[server]\napi_key = "{secret} x"',
        f'[server]\napi_key = "k"\nbind = "{secret}"',
        f'[server]\napi_key = "k"\nlimits.store = "redis-{secret}"',
        f"[server]\napi_key = {secret}",
        TOOL + f'base_url = "http://u:{secret}@h"',
        TOOL.replace('"b"', f'"{secret}\\n"'),
    ):
        assert secret not in refused(toml)
    read = config(text(), VENDOR_KEY=secret)
    assert secret in read.hidden
    assert secret not in repr(read)
    assert VENDOR_KEY not in repr(config(text()))
    assert TOKEN not in repr(read)


@pytest.mark.parametrize(
    ("said", "rate"),
    [
        ("100/minute", Rate(100, 60)),
        ("5000 per day", Rate(5000, 86_400)),
        ("5/10 seconds", Rate(5, 10)),
        ("1/second", Rate(1, 1)),
        ("7 / hour", Rate(7, 3600)),
    ],
)
def test_a_rate_is_an_amount_in_a_time(said: str, rate: Rate) -> None:
    assert read_rate(said) == rate


@pytest.mark.parametrize(
    "said", ["", "0/minute", "5/0 seconds", "-1/day", "5/fortnight", "5", "9999999/day", "\u0665/day"]
)
def test_what_is_no_rate_is_refused(said: str) -> None:
    with pytest.raises(ValueError, match="not a rate"):
        read_rate(said)


def test_times_and_addresses_are_read() -> None:
    assert [read_time(said) for said in ("0", "30s", "10m", "1h", "2d")] == [0, 30, 600, 3600, 172_800]
    assert read_bind("[::1]:80") == ("::1", 80)
    assert read_bind("gateway.example:0") == ("gateway.example", 0)
