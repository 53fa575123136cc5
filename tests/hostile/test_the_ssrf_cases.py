"""Every collected SSRF case, over real sockets on loopback under the default policy: what was dialled is what counts.

`ssrf_cases.json` holds published bypasses of other tools as data. A `recommended` outcome is the one we keep: it is the
supplement's (spec 1.6), and where the supplement has no row (100:0:0:1::/64) the table's silence stands.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from runvil import FetchConfig, WebFetch
from runvil.core.addresses import Address, Blocked, judge
from runvil.core.failures import InvalidUrl
from runvil.core.url import Name, parse
from runvil.net.resolver import addresses
from runvil.ports import LookupBroken
from tests.support.loopback import Answer, Loopback
from tests.support.rendering import InProcess
from tests.vectors.expectations import Outcome, call

Case = dict[str, Any]

CASES: list[Case] = json.loads(Path(__file__).with_name("ssrf_cases.json").read_text())
PUBLIC = "93.184.216.34"
IN_TIME = 15.0  # seconds; a guard against a hang
SHORT = FetchConfig(timeout=0.5)  # for cases in which the deadline is the point
OK = Answer(200, [("Content-Type", b"text/plain")], b"fetched")
NOT_IN_THE_SUPPLEMENT = {"dns-dummy6"}


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in CASES if case["kind"] == kind]


class Names:
    """A resolver: the case's own answers, else a public address for every name."""

    def __init__(self, case: Case) -> None:
        self._entry = case.get("dns") or {}
        self.asked: list[str] = []

    async def lookup(self, name: Name) -> Sequence[Address]:
        self.asked.append(name)
        if name != self._entry.get("host"):
            return addresses([PUBLIC])
        if self._entry.get("error") == "hang":
            await asyncio.get_running_loop().create_future()
        if "error" in self._entry:
            raise LookupBroken(self._entry["error"])
        sequence = self._entry.get("sequence") or [self._entry["answers"]]
        return addresses(sequence[min(self.asked.count(name), len(sequence)) - 1])

    async def aclose(self) -> None:
        return None


class Everywhere(dict[str, Answer]):
    """Answers to every URL: the scripted ones, else a plain page."""

    def get(self, url: str, default: Any = None) -> Any:
        return super().get(url, OK)


async def outcome_of(
    case: Case, answers: dict[str, Answer], *, config: FetchConfig | None = None, calls: int = 1, bad: bool = False
) -> tuple[Outcome, Loopback, Names]:
    """The last of `calls` identical calls. No dialled address is one that the policy refuses."""
    config = config or FetchConfig()
    names = Names(case)
    known = {parse(url).host_text: [PUBLIC] for url in [case["url"], *answers] if _parses(url)}
    dialled_names = {host.strip("."): [PUBLIC] for host in known} | {"b.example": [PUBLIC], "example.com": [PUBLIC]}
    site = Loopback(Everywhere(answers), dns=dialled_names, bad_certificate=bad)
    async with site, WebFetch(config, net=site.net(config, names), renderer=InProcess()) as fetch:
        for _ in range(calls):
            outcome = await asyncio.wait_for(call(fetch, {"url": case["url"]}), IN_TIME)
    assert [a for a in site.dialled if isinstance(judge(addresses([a])[0]), Blocked)] == []
    return outcome, site, names


def _parses(url: str) -> bool:
    """Whether a certificate can be made out to the URL's host."""
    try:
        parsed = parse(url)
    except InvalidUrl:
        return False
    return parsed.scheme == "https" and isinstance(parsed.host, str) and parsed.host.strip(".") != ""


def verify(case: Case, outcome: Outcome) -> None:
    chosen = "recommended" if "recommended" in case and case["id"] not in NOT_IN_THE_SUPPLEMENT else "expected"
    expected = case[chosen]
    assert outcome.kind == expected["kind"], outcome.text
    if "message" in expected:
        assert outcome.text == expected["message"]


def urls(*, admitted: bool) -> list[Any]:
    chosen = [c for c in CASES if c["kind"] == "url" and (c["expected"]["kind"] == "ok") is admitted]
    return [pytest.param(case, id=case["id"]) for case in chosen]


@pytest.mark.parametrize("case", urls(admitted=False))
async def test_a_hostile_url_is_refused_before_any_connection(case: Case) -> None:
    outcome, site, names = await outcome_of(case, {})
    verify(case, outcome)
    assert site.dialled == []
    assert site.requests == []
    assert names.asked == []


@pytest.mark.parametrize("case", urls(admitted=True))
async def test_an_admitted_url_names_one_host_everywhere(case: Case) -> None:
    outcome, site, names = await outcome_of(case, {})
    host = case["expected"]["detail"]
    assert outcome.kind == "ok"
    assert names.asked == [host]
    assert [r.sni for r in site.requests] == [host.removesuffix(".")]
    assert [r.header("host") for r in site.requests] == [host]
    assert parse(outcome.text.split("\n")[0].removeprefix("url: ")).host == host
    assert [name for name, _ in site.requests[0].headers if name.lower() == "x-injected"] == []


@pytest.mark.parametrize("case", of_kind("dns"))
async def test_a_hostile_answer_is_never_dialled(case: Case) -> None:
    answers = _redirects(case)
    calls = 2 if "sequence" in case["dns"] and case["expected"]["kind"] == "hard" and not answers else 1
    outcome, site, names = await outcome_of(
        case, answers, calls=calls, config=SHORT if case["dns"].get("error") == "hang" else None
    )
    verify(case, outcome)
    if outcome.kind == "ok":
        assert len(site.dialled) == len(names.asked) == 1
    else:
        assert len(site.dialled) == len(names.asked) - 1


@pytest.mark.parametrize("case", of_kind("redirect"))
async def test_a_hostile_redirect_ends_before_its_target(case: Case) -> None:
    outcome, site, _ = await outcome_of(case, _redirects(case))
    verify(case, outcome)
    sources = {hop["from"] for hop in case["redirect_chain"]}
    if outcome.kind != "ok":
        assert {request.url for request in site.requests} <= sources
    for name in ("Cookie", "Authorization", "Referer"):
        assert [request.header(name) for request in site.requests] == [None] * len(site.requests)


def _redirects(case: Case) -> dict[str, Answer]:
    return {
        hop["from"]: Answer(hop["status"], [("Location", hop["location"].encode())], b"")
        for hop in case.get("redirect_chain", ())
    }


def _raw(head: str, body: bytes = b"") -> Callable[[Case], Answer]:
    return lambda _case: Answer(raw=head.replace("\n", "\r\n").encode() + b"\r\n\r\n" + body, then="close")


def _gzip_bomb(case: Case) -> Answer:
    mebibyte = gzip.compress(bytes(1 << 20), 1)  # members one after the other; the real 1 GiB one is in the lab
    return Answer(200, _headers(case), mebibyte * 16)


def _headers(case: Case) -> list[tuple[str, bytes]]:
    given = case["response"].get("headers", {})
    return [(name, value.encode()) for name, value in ({"Content-Type": "text/plain"} | given).items()]


BUILT: dict[str, Callable[[Case], Answer]] = {
    "rs-101": _raw("HTTP/1.1 101 Switching Protocols\nUpgrade: x\nConnection: upgrade"),
    "rs-1xx-flood": _raw("\n".join(["HTTP/1.1 103 Early Hints\n"] * 40) + "HTTP/1.1 200 OK\nContent-Type: text/plain"),
    "rs-gzipbomb": _gzip_bomb,
    "rs-chain": lambda case: Answer(200, _headers(case), gzip.compress(b"x")),
    "rs-gziptrunc": lambda case: Answer(200, _headers(case), gzip.compress(b"<p>" + bytes(999))[:-12]),
    "rs-cl-conflict": _raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 5\nContent-Length: 3", b"hello"),
    "rs-cl-te": _raw(
        "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 3\nTransfer-Encoding: chunked",
        b"5\r\nhello\r\n0\r\n\r\n",
    ),
    "rs-hdrbig": _raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nX: " + "a" * (1 << 20), b""),
    "rs-drip": lambda _: Answer(raw=b"HTTP/1.1 200 X\r\nContent-Type: text/plain\r\n\r\nd", then="hang"),
    "rs-short": _raw("HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 100", b"short"),
}


@pytest.mark.parametrize("case", of_kind("response"))
async def test_a_hostile_response_costs_one_request_and_a_sentence(case: Case) -> None:
    response = case["response"]
    status = response["status"] if isinstance(response.get("status"), int) else 200
    body = str(response.get("body", "")).encode()
    build = BUILT.get(case["id"]) or (lambda c: Answer(status, _headers(c), body))
    case = case | {"url": response.get("url", case["url"])}
    url = case["url"].partition("#")[0]
    config = SHORT if case["id"] == "rs-drip" else None
    outcome, site, _ = await outcome_of(case, {url: build(case)}, config=config, bad="tls" in response)
    verify(case, outcome)
    assert len(site.requests) == {"rs-catchall-query": 0, "rs-redirect-bomb": 2}.get(case["id"], 1)
    if case["id"] == "rs-xxe":
        assert outcome.text.endswith(body.decode())


@pytest.mark.parametrize("case", of_kind("env"))
async def test_the_environment_has_no_effect(case: Case, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name, value in case["env"].items():
        path = tmp_path / name.lower()
        if name not in ("SSLKEYLOGFILE", "SSL_CERT_FILE"):
            path.write_text(value)
        monkeypatch.setenv(name, str(path))
    outcome, site, _ = await outcome_of(case, {})
    verify(case, outcome)
    assert site.requests[0].header("authorization") is None
    assert not (tmp_path / "sslkeylogfile").exists()


async def test_a_bomb_is_refused_before_it_is_expanded() -> None:
    case = next(c for c in CASES if c["id"] == "rs-gzipbomb")
    answer = Answer(200, _headers(case), gzip.compress(bytes(64 << 20), 9))
    tracemalloc.start()
    try:
        outcome, _, _ = await outcome_of(case, {case["url"]: answer})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert outcome.text == case["expected"]["message"]
    assert peak < 40 * 1024 * 1024
