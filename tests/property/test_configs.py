"""Whatever a policy is built from, it is a sound FetchConfig or a ConfigError; a sound one is what it was told."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv6Address
from typing import Any, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runvil import ConfigError, FetchConfig, HostAddress
from runvil.core.config import CEILINGS, DURATION_CEILINGS, KNOBS
from tests.support.steady import steady

MIB = 1024 * 1024

scalars: st.SearchStrategy[Any] = st.one_of(
    st.none(), st.booleans(), st.integers(), st.integers(-2, 1000), st.floats(), st.text(max_size=12),
    st.binary(max_size=5),
    st.sampled_from([10**400, -(10**400), 2**63, 1e308, float("nan"), float("inf"), "\ud800", object(), [], {}, set()]),
)  # fmt: skip
hosts = st.one_of(
    scalars,
    st.sampled_from(
        [
            "wiki.corp",
            "WIKI.corp.",
            "[::1]",
            "::1",
            "1.2.3.4",
            "a/b",
            "a@b",
            "a:b",
            " a ",
            "",
            "é",
            "xn--a",
            "%41",
            "a..b",
            "[",
            "[]",
            "1.2.3",
            "a" * 300,
        ]
    ),
)
addresses = st.one_of(
    scalars,
    st.ip_addresses(),
    st.ip_addresses().map(str),
    st.sampled_from(["10.0.5.42", "::1%eth0", "10.0.0.0/8", "010.0.0.1"]),
)
cidrs = st.one_of(
    scalars,
    st.builds(lambda address, prefix: f"{address}/{prefix}", st.ip_addresses(), st.integers(-1, 130)),
    st.sampled_from(
        ["10.99.0.0/16", "fd00::/8", "10.0.0.1/8", "10.0.0.0/255.0.0.0", "10.0.0.0/0.255.255.255", "/8", "10.0.0.0/"]
    ),
)
pairs = st.one_of(
    scalars,
    st.tuples(hosts, addresses),
    st.lists(st.one_of(hosts, addresses), max_size=4),
    st.builds(HostAddress, hosts, addresses, st.one_of(scalars, st.lists(scalars, max_size=2)), scalars),
)


def listed(items: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.lists(items, max_size=3), st.lists(items, max_size=3).map(tuple), scalars)


FIELDS: dict[str, st.SearchStrategy[Any]] = {
    **dict.fromkeys(KNOBS, scalars),
    "allow_ports": listed(st.one_of(st.integers(-1, 70_000), scalars)),
    "deny_cidrs": listed(cidrs),
    "allow_host_addresses": listed(pairs),
    "max_bytes": st.one_of(scalars, st.integers(64 * MIB - 2, 64 * MIB + 2)),
    "connect_timeout": st.one_of(scalars, st.floats(59, 61)),
    "user_agent": st.one_of(scalars, st.text(max_size=20), st.sampled_from(["a\r\nb: c", "é", "\x7f", "a\tb"])),
    "resolver": st.one_of(scalars, st.sampled_from(["dns", "system", "DNS"])),
}


def built(knobs: dict[str, Any]) -> FetchConfig | None:
    try:
        return FetchConfig(**knobs)
    except ConfigError:
        return None


@pytest.mark.parametrize("knob", KNOBS)
def test_any_value_of_a_knob_is_sound_or_a_config_error(knob: str) -> None:
    @steady(60)
    @given(FIELDS[knob])
    def sound(value: Any) -> None:
        verify_sound(built({knob: value}))

    sound()


@steady(300)
@given(st.fixed_dictionaries({}, optional=FIELDS))
@example({"timeout": 10**400})
def test_any_values_together_are_sound_or_a_config_error(knobs: dict[str, Any]) -> None:
    verify_sound(built(knobs))


def verify_sound(config: FetchConfig | None) -> None:
    if config is None:
        return
    for name, ceiling in CEILINGS.items():
        assert (0 if name == "max_redirects" else 1) <= getattr(config, name) <= ceiling
    for name, ceiling in DURATION_CEILINGS.items():
        assert 0 < getattr(config, name) <= ceiling
    assert config.max_inflight_bytes >= config.max_bytes
    assert all(type(port) is int and 0 < port < 65536 for port in config.allow_ports)
    assert config.user_agent.isascii()
    assert not set(config.user_agent) & set("\r\n\0\x7f")
    assert len(config.denied) == len(set(config.denied))
    for pair in config.pairs:
        assert isinstance(pair.address, IPv4Address | IPv6Address)
        assert pair.host == pair.host.lower().strip()
        assert pair.host
        assert not pair.host.endswith(".")
    assert hash(config) == hash(config)
    assert FetchConfig(**{knob: getattr(config, knob) for knob in KNOBS}) == config  # checking it again changes nothing


@pytest.mark.parametrize("knob", [knob for knob in KNOBS if knob not in ("max_concurrent", "max_inflight_bytes")])
def test_a_number_too_long_to_be_printed_is_a_config_error_too(knob: str) -> None:
    with pytest.raises(ConfigError):
        FetchConfig(**{knob: cast("Any", 10**5000)})  # CPython refuses to write more than 4,300 digits


def test_a_list_that_can_be_walked_once_is_kept() -> None:
    config = FetchConfig(deny_cidrs=(cidr for cidr in ("10.99.0.0/16",)))  # type: ignore[arg-type]
    assert config.deny_cidrs == ("10.99.0.0/16",)
    assert [str(row.network) for row in config.denied] == ["10.99.0.0/16"]
