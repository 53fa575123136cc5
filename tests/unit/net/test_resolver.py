"""Resolvers: the parsing of answers, and getaddrinfo in threads. Real DNS is the lab's (tests/lab)."""

from __future__ import annotations

import asyncio
import socket
import threading
from ipaddress import ip_address

import pytest

from runvil.core.url import Name
from runvil.net.resolver import MAX_ANSWERS, DnsResolver, SystemResolver, addresses
from runvil.ports import LookupBroken

IN_TIME = 15.0  # seconds; a guard against a hang


def test_a_scope_is_dropped_a_repeat_is_one_and_what_is_no_address_is_none() -> None:
    assert addresses(["fe80::1%eth0", "1.1.1.1", "1.1.1.1", "nonsense", "0177.0.0.1"]) == (
        ip_address("fe80::1"),
        ip_address("1.1.1.1"),
    )


def test_only_so_many_answers_are_taken() -> None:
    assert len(addresses(f"1.1.{n // 256}.{n % 256}" for n in range(MAX_ANSWERS * 2))) == MAX_ANSWERS


async def test_the_hosts_file_is_read_by_both_resolvers() -> None:
    for made in (DnsResolver(), SystemResolver()):
        found = await asyncio.wait_for(made.lookup(Name("localhost")), IN_TIME)
        assert ip_address("127.0.0.1") in found
        await made.aclose()


class Script:
    """A getaddrinfo that does as told and can be held."""

    def __init__(self, result: object) -> None:
        self.result = result
        self.gate = threading.Event()
        self.calls = 0

    def __call__(self, _name: bytes, _port: object, **_hints: int) -> object:
        self.calls += 1
        self.gate.wait(IN_TIME)
        if isinstance(self.result, Exception):
            raise self.result
        return self.result


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Script:
    made = Script([(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("1.1.1.1", 0))])
    monkeypatch.setattr(socket, "getaddrinfo", made)
    return made


async def test_a_name_without_an_address_is_an_empty_answer(script: Script) -> None:
    script.gate.set()
    script.result = socket.gaierror(socket.EAI_NODATA, "no data")
    made = SystemResolver()
    assert list(await asyncio.wait_for(made.lookup(Name("a.example")), IN_TIME)) == []
    await made.aclose()


@pytest.mark.parametrize("error", [socket.gaierror(socket.EAI_NONAME, "x"), socket.gaierror(socket.EAI_AGAIN, "x")])
async def test_any_other_failure_is_a_broken_lookup(script: Script, error: Exception) -> None:
    script.gate.set()
    script.result = error
    made = SystemResolver()
    with pytest.raises(LookupBroken):
        await asyncio.wait_for(made.lookup(Name("a.example")), IN_TIME)
    await made.aclose()


async def test_hanging_lookups_use_a_bounded_number_of_threads_and_can_be_cancelled(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SystemResolver, "MAX_THREADS", 4)
    made = SystemResolver()
    tasks = [asyncio.create_task(made.lookup(Name(f"n{n}.example"))) for n in range(32)]
    await asyncio.sleep(0)
    assert sum(t.name == "runvil-resolver" for t in threading.enumerate()) <= 4
    for task in tasks:
        task.cancel()
    assert all(isinstance(r, asyncio.CancelledError) for r in await asyncio.gather(*tasks, return_exceptions=True))
    script.gate.set()
    assert list(await asyncio.wait_for(made.lookup(Name("a.example")), IN_TIME)) == [ip_address("1.1.1.1")]
    await made.aclose()
    await asyncio.wait_for(asyncio.to_thread(_until_gone), IN_TIME)


def _until_gone() -> None:
    for thread in threading.enumerate():
        if thread.name == "runvil-resolver":
            thread.join(IN_TIME)
    assert not any(t.name == "runvil-resolver" for t in threading.enumerate())
