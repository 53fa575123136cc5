"""A network of the benchmark's own, as the lab's tests have it: the default policy runs unchanged, no packet leaves.

Linux only, as root or through a user namespace. Where that is not permitted a benchmark says so and ends well.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import click
from tests.lab.harness import internet, namespace
from tests.lab.harness.authority import Authority
from tests.lab.harness.lab import Lab

KEPT_ENVIRONMENT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH")
"""What of the environment a run sees. Proxies, roots and resolver options of the machine are not part of it."""

END_SECONDS = 10.0

fork = get_context("fork")  # servers: they share what was made before, certificates above all
spawn = get_context("spawn")  # clients: nothing but their own imports is in their memory


@dataclass(frozen=True)
class Place:
    """Where a benchmark runs: its certificate authority, which the environment names, and a directory."""

    authority: Authority
    directory: Path


@contextmanager
def own_network() -> Iterator[Place]:
    """Leave the machine's network for one of our own. Ends the program, successfully, where that is not possible."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        directory.chmod(0o755)
        authority = Authority(directory)
        try:
            namespace.enter(directory)
        except namespace.Unavailable as reason:
            click.echo(f"not measured: this benchmark needs a network namespace, and {reason}")
            raise SystemExit(0) from None
        _own_environment(authority)
        yield Place(authority, directory)


@contextmanager
def serving(*servers: Callable[[], None]) -> Iterator[None]:
    """Run each server in a process of its own. A server listens before this returns if it was bound before."""
    processes = [fork.Process(target=server, daemon=True) for server in servers]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.terminate()
            process.join(END_SECONDS)


@contextmanager
def lab(place: Place) -> Iterator[Lab]:
    """The lab's internet in a process of its own, for what is scripted rather than fast."""
    ours, theirs = socket.socketpair()
    process = fork.Process(target=_be_the_internet, args=(place.authority, ours, theirs), daemon=True)
    process.start()
    theirs.close()
    with ours:
        handle = Lab(ours, place.authority, place.directory)
        handle.wait_ready()
        yield handle
    process.join(END_SECONDS)


def _be_the_internet(authority: Authority, ours: socket.socket, theirs: socket.socket) -> None:
    ours.close()
    internet.host(authority, theirs)


def _own_environment(authority: Authority) -> None:
    for name in set(os.environ) - set(KEPT_ENVIRONMENT):
        del os.environ[name]
    os.environ["SSL_CERT_FILE"] = str(authority.trusted_file)
