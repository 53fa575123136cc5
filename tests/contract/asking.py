"""The words the claim tests are written in: a scripted site, one question, what a model is told."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import pytest

from runvil import FetchConfig, Page, ToolError, WebFetch
from runvil.core.failures import FetchFailure
from runvil.ports import Net
from runvil.testing import DnsAnswer, FakeNet, Rebinding, Reply
from tests.support.rendering import InProcess

HOST = "example.com"
URL = "https://example.com/"
ADDRESS = "93.184.216.34"
OTHER = "8.8.8.8"
IN_TIME = 10.0  # seconds; a guard against a hang, not a measure

claim = pytest.mark.claim

PARAGRAPH = "<p>The harbour master counted eleven ferries before noon, two more than the timetable asked for. ({})</p>"


def paragraphs(count: int) -> str:
    return "".join(PARAGRAPH.format(i) for i in range(count))


def article(body: str = "", title: str = "Ferries") -> bytes:
    """An HTML page with boilerplate around an article that is long enough to be one."""
    return (
        f"<!doctype html><html><head><title>{title}</title></head><body><nav><a href='/'>Front page</a></nav>"
        f"<article><h1>Ferries</h1>{body or paragraphs(4)}</article><footer>Imprint</footer></body></html>"
    ).encode()


def reply(body: bytes | str | Iterable[bytes] = b"hello", content_type: str | bytes | None = "text/plain") -> Reply:
    return typed(content_type, body.encode() if isinstance(body, str) else body)


def typed(
    content_type: str | bytes | None, body: bytes | Iterable[bytes] = b"hello", *more: tuple[str, str | bytes]
) -> Reply:
    headers = [] if content_type is None else [("Content-Type", content_type)]
    return Reply(headers=[*headers, *more], body=body)


def html(body: bytes | str = b"") -> Reply:
    return reply(body or article(), "text/html")


def moved(target: str | bytes, status: int = 302) -> Reply:
    return Reply(status, [("Location", target), ("Content-Type", "text/html")], b"<p>moved away</p>")


def unread() -> Iterator[bytes]:
    """A body that must not be downloaded."""
    raise AssertionError("the body was read")
    yield b""


def site(
    answer: Reply | Mapping[str, Reply] | None = None, dns: Mapping[str, DnsAnswer | Rebinding] | None = None
) -> FakeNet:
    """A network that holds one page at URL, or those given; every host of them is public unless `dns` says more."""
    replies = {URL: answer or reply()} if answer is None or isinstance(answer, Reply) else dict(answer)
    hosts = {url.split("/")[2].partition(":")[0]: (ADDRESS,) for url in replies}
    return FakeNet({**hosts, **(dns or {})}, replies)


@dataclass(frozen=True, slots=True)
class Told:
    """What came of a call. kind: ok, soft or hard."""

    kind: str
    text: str
    error_kind: str | None = None
    untrusted: bool = True

    @property
    def body(self) -> str:
        assert self.kind == "ok", self.text
        return self.text.partition("\n\n")[2]

    @property
    def header(self) -> dict[str, str]:
        assert self.kind == "ok", self.text
        lines = self.text.partition("\n\n")[0].split("\n")
        return dict(line.split(": ", 1) for line in lines)


async def ask(net: Net, arguments: object = URL, config: FetchConfig | None = None) -> Told:
    """Call the tool over `net`; a text is short for a call with that url alone."""
    given = {"url": arguments} if isinstance(arguments, str) else arguments
    async with WebFetch(config, net=net, renderer=InProcess()) as fetch:
        return await call(fetch, given)


async def call(fetch: WebFetch, arguments: object) -> Told:
    """Call a tool that is open already."""
    try:
        output = await asyncio.wait_for(fetch.call(arguments), IN_TIME)  # type: ignore[arg-type]
    except ToolError as error:
        return Told("hard", str(error), str(error.kind))
    return Told("soft" if output.soft else "ok", output.text, None, output.untrusted)


async def fetch(net: Net, url: str = URL, config: FetchConfig | None = None) -> Page | FetchFailure:
    """The typed form of the same walk."""
    async with WebFetch(config, net=net, renderer=InProcess()) as tool:
        try:
            return await asyncio.wait_for(tool.fetch(url), IN_TIME)
        except FetchFailure as failure:
            return failure


def hard(text: str) -> Told:
    return Told("hard", text, "InvalidArguments")


def soft(text: str) -> Told:
    return Told("soft", text)


def ok(text: str, url: str = URL, *, truncated: bool = False, extraction: str = "plain") -> Told:
    return Told("ok", f"url: {url}\ntruncated: {str(truncated).lower()}\nextraction: {extraction}\n\n{text}")


def untouched(net: FakeNet) -> bool:
    """Nothing was asked of the network."""
    return not (net.lookups or net.dialled or net.requests)
