"""`python -m bench.gateway`: what the gateway takes and adds, beside the same route in bare Starlette and in FastAPI.

Each server runs in a process of its own, the load and the vendor in others. A server with an instant vendor shows the
frame alone; one with a vendor on loopback shows what a client feels. Ratios compare turns of one round.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import click

from bench.gateway_peers import KEY, SEARCH, SERVERS, rows
from bench.report import bar, heading, installed, table

ROUNDS = 5
REQUESTS = 4000
CONCURRENCY = 16
WARM = 200
READY = 30.0
STARLETTE_BAR, FASTAPI_BAR = 0.7, 1.0

OURS, CACHED, STARLETTE, FASTAPI = SERVERS
VENDOR = "the vendor itself"
WAYS = {FASTAPI: ("fastapi", "pip install fastapi")}
"""Peers that may be absent, and how to have them."""


@dataclass(frozen=True)
class Sample:
    """One turn. rate: answers a second. cpu: answers per CPU-second of the server. p99: seconds."""

    rate: float
    cpu: float
    p50: float
    p99: float


@click.command()
@click.option("--quick", is_flag=True, help="One small round: that it works, not what it is worth.")
def main(quick: bool) -> None:
    heading(
        "the gateway and the same route in bare Starlette and in FastAPI",
        f"keep-alive connections, {len(rows())} rows from the vendor, 10 to the client; medians of the rounds",
        packages=("starlette", "uvicorn", "fastapi", "h11", "httptools", "uvloop"),
    )
    rounds, requests = (1, 200) if quick else (ROUNDS, REQUESTS)
    names = _present()
    with _vendor() as root:
        instant = _rounds([name for name in names if name != CACHED], "", rounds, requests)
        remote = _rounds([VENDOR, *names], root, rounds, max(200, requests // 4))
        alone = _rounds([VENDOR, *names], root, rounds, max(200, requests // 4), connections=1)
    _show(f"instant vendor, {CONCURRENCY} at once", instant)
    _show(f"vendor on loopback, {CONCURRENCY} at once", remote)
    _show("vendor on loopback, one at a time", alone)
    _bars(instant)


def _present() -> list[str]:
    names = list(SERVERS)
    for name, (package, how) in WAYS.items():
        if installed(package) is None:
            click.echo(f"{name} is left out; to have it: {how}")
            names.remove(name)
    return names


def _rounds(
    names: Sequence[str], root: str, rounds: int, requests: int, connections: int = CONCURRENCY
) -> dict[str, list[Sample]]:
    taken: dict[str, list[Sample]] = {name: [] for name in names}
    for _ in range(rounds):
        for name in names:
            taken[name].append(_turn(name, root, requests, connections))
    return taken


def _turn(name: str, root: str, requests: int, connections: int) -> Sample:
    if name == VENDOR:
        return _loaded(int(root.rpartition(":")[2]), None, requests, connections, distinct=True)
    with _server(name, root) as (port, pid):
        distinct = name != CACHED
        _loaded(port, pid, WARM, connections, distinct=distinct)
        return _loaded(port, pid, requests, connections, distinct=distinct)


def _loaded(port: int, pid: int | None, requests: int, connections: int, *, distinct: bool) -> Sample:
    before, started = _cpu(pid), perf_counter()
    taken = sorted(asyncio.run(_load(port, requests, connections, distinct=distinct)))
    seconds, cpu = perf_counter() - started, _cpu(pid) - before
    return Sample(
        requests / seconds, requests / cpu if cpu else 0.0, taken[len(taken) // 2], taken[len(taken) * 99 // 100]
    )


async def _load(port: int, requests: int, connections: int, *, distinct: bool) -> list[float]:
    each = requests // connections
    told = await asyncio.gather(*(_client(port, each, at * each if distinct else None) for at in range(connections)))
    return [seconds for one in told for seconds in one]


async def _client(port: int, requests: int, first: int | None) -> list[float]:
    """One connection; each answer is read whole and must be a 200."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    taken = []
    for at in range(requests):
        query = "the same" if first is None else f"query {first + at} {os.urandom(4).hex()}"
        body = json.dumps({"query": query}).encode()
        head = f"POST {SEARCH} HTTP/1.1\r\nHost: g\r\nAuthorization: Bearer {KEY}\r\nContent-Type: application/json\r\n"
        started = perf_counter()
        writer.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in answer[:20], answer
        length = next(line for line in answer.lower().split(b"\r\n") if line.startswith(b"content-length"))
        await reader.readexactly(int(length.partition(b":")[2]))
        taken.append(perf_counter() - started)
    writer.close()
    return taken


def _cpu(pid: int | None) -> float:
    if pid is None:
        return 0.0
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def _server(name: str, root: str) -> Iterator[tuple[int, int]]:
    port = _free_port()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "bench.gateway_peers", name, str(port), root, f"{folder}/gateway.toml"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # noqa: S603  our own
        try:
            _wait(port)
            yield port, process.pid
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


def _wait(port: int) -> None:
    until = perf_counter() + READY
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if perf_counter() > until:
                raise


@contextmanager
def _vendor() -> Iterator[str]:
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve_vendor, args=(theirs,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}"
    finally:
        process.kill()
        process.join()


def serve_vendor(pipe: object) -> None:
    asyncio.run(_serve_vendor(pipe))


async def _serve_vendor(pipe: object) -> None:
    """Brave's shape, whatever is asked, as fast as can be."""
    body = json.dumps({"web": {"results": rows()}}).encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                if head.startswith(b"POST"):
                    length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
                    await reader.readexactly(int(length.partition(b":")[2]))
                writer.write(answer)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(exchange, "127.0.0.1", 0)
    pipe.send(server.sockets[0].getsockname()[1])  # type: ignore[attr-defined]
    await server.serve_forever()


def _show(title: str, taken: dict[str, list[Sample]]) -> None:
    median = {
        name: [statistics.median(getattr(one, of) for one in samples) for of in ("rate", "cpu", "p50", "p99")]
        for name, samples in taken.items()
    }
    base = median.get(VENDOR, [0, 0, 0, 0])[3]
    cells = [
        [name, f"{rate:,.0f}", f"{cpu:,.0f}", f"{p50 * 1e3:.2f}", f"{p99 * 1e3:.2f}", f"{(p99 - base) * 1e3:.2f}"]
        for name, (rate, cpu, p50, p99) in median.items()
    ]
    table([title, "answers/s", "answers/CPU-s", "p50 ms", "p99 ms", "p99 added ms"], cells)


def _bars(taken: dict[str, list[Sample]]) -> None:
    for peer, limit in ((STARLETTE, STARLETTE_BAR), (FASTAPI, FASTAPI_BAR)):
        if peer in taken:
            for of in ("rate", "cpu"):
                ratios = [getattr(a, of) / getattr(b, of) for a, b in zip(taken[OURS], taken[peer], strict=True)]
                bar(f"gateway / {peer}, {of}", statistics.median(ratios), limit, least=True)


if __name__ == "__main__":
    main()
