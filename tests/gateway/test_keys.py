"""Client keys, and what wrong ones cost."""

from __future__ import annotations

import re

import pytest

from runvil.gateway.attempts import MAX_PEERS, TRIES, WINDOW, Attempts
from runvil.gateway.keys import Client, Keys, digest, is_name, mint, name_in


def test_a_key_carries_its_name_and_256_random_bits() -> None:
    key = mint("agents")
    assert re.fullmatch(r"rv_agents_[0-9a-f]{64}", key)
    assert name_in(key) == "agents"
    assert mint("agents") != key


@pytest.mark.parametrize("name", ["", "default", "a b", "a_b", "-a", "a" * 64, "\u0436", "a\n"])
def test_what_is_no_name_gets_no_key(name: str) -> None:
    assert not is_name(name)
    with pytest.raises(ValueError, match="not a name"):
        mint(name)


def test_a_key_is_found_by_its_name_and_its_whole_text() -> None:
    one, other, simple = mint("one"), mint("other"), "plain-key"
    clients = [Client("one", digest(one)), Client("other", digest(other)), Client("default", digest(simple), False)]
    keys = Keys(clients)
    assert [keys.find(key) for key in (one, other, simple)] == clients
    swapped = other.replace("other", "one")
    for wrong in ("", "rv_", "rv_one_", one[:-1], one + "0", one.upper(), swapped, "x" * 10_000, "\udcff"):
        assert keys.find(wrong) is None


def test_two_keys_of_one_name_are_both_good_while_one_replaces_the_other() -> None:
    old, new = mint("a"), mint("a")
    keys = Keys([Client("a", digest(old)), Client("a", digest(new))])
    assert keys.find(old)
    assert keys.find(new)
    assert Keys([Client("a", digest(new))]).find(old) is None


def test_a_client_never_shows_its_digest() -> None:
    assert "digest" not in repr(Client("a", b"x" * 32))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_peer_may_fail_so_often_in_a_window_and_no_oftener() -> None:
    clock = Clock()
    attempts = Attempts(clock)
    for _ in range(TRIES):
        assert attempts.wait("192.0.2.1") is None
        attempts.failed("192.0.2.1")
    assert attempts.wait("192.0.2.1") == WINDOW
    assert attempts.wait("192.0.2.2") is None
    clock.now = WINDOW - 0.5
    assert attempts.wait("192.0.2.1") == 0.5
    clock.now = WINDOW
    assert attempts.wait("192.0.2.1") is None


def test_a_host_with_a_whole_ipv6_network_is_one_peer() -> None:
    attempts = Attempts(Clock())
    for at in range(TRIES):
        attempts.failed(f"2001:db8::{at:x}")
    assert attempts.wait("2001:db8::ffff") is not None
    assert attempts.wait("2001:db8:0:1::1") is None
    for _ in range(TRIES):
        attempts.failed("::ffff:192.0.2.1")
    assert attempts.wait("::ffff:192.0.2.2") is None


def test_the_peers_remembered_are_bounded() -> None:
    attempts = Attempts(Clock())
    for at in range(MAX_PEERS + 5):
        attempts.failed(f"peer {at}")
    assert len(attempts._failed) == MAX_PEERS
