"""Names to addresses, asked anew each time: nothing is cached, no search list and no environment alias is used.

A fresh c-ares channel per lookup, because c-ares caches answers with no switch to turn that off (architecture 6). It
reads the system's servers and hosts file. It only ever answers; whether an address may be dialled is `vet`'s to say.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import threading
from collections.abc import Iterable, Sequence
from ipaddress import ip_address
from itertools import islice
from queue import SimpleQueue
from typing import Any

import pycares
from pycares import errno as ares

from runvil.core.addresses import Address
from runvil.core.url import Name
from runvil.ports import LookupBroken

FLAGS = pycares.ARES_FLAG_NOSEARCH | pycares.ARES_FLAG_NOALIASES
"""The name is absolute: no search list (resolv.conf, LOCALDOMAIN) and no HOSTALIASES."""

NO_SORT = 1 << 7
"""ARES_AI_NOSORT: sorting by RFC 6724 would connect a UDP socket to every address before any of them was judged."""

MAX_ANSWERS = 8192
"""Addresses taken from one lookup: what two DNS messages of 64 KiB can hold, so that no public one is overlooked."""

TICK = 0.25
"""Seconds between looks at c-ares' own time-outs; the fetch's deadline is the real bound."""


class DnsResolver:
    """The default resolver (`resolver="dns"`)."""

    async def lookup(self, name: Name) -> Sequence[Address]:
        """A name's addresses; empty when it exists without one. Raises LookupBroken."""
        query = _Query(asyncio.get_running_loop())
        try:
            return await query.run(name.removesuffix("."))
        finally:
            query.close()

    async def aclose(self) -> None:
        return None


class _Query:
    """One lookup on a channel of its own, driven by the event loop: no thread, no socket outlives it."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._answer: asyncio.Future[Sequence[Address]] = loop.create_future()
        self._watched: set[int] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._threaded = _threaded(loop)
        try:
            self._channel = pycares.Channel(flags=FLAGS, sock_state_cb=None if self._threaded else self._watch)
        except pycares.AresError as error:
            raise LookupBroken("no resolver") from error

    async def run(self, name: str) -> Sequence[Address]:
        done = self._done_elsewhere if self._threaded else self._done
        try:
            self._channel.getaddrinfo(name, None, flags=NO_SORT, callback=done)
        except (pycares.AresError, ValueError) as error:
            raise LookupBroken("bad name") from error
        if not self._threaded:
            self._tick()
        return await self._answer

    def _tick(self) -> None:
        if not self._answer.done():
            self._channel.process_fd(pycares.ARES_SOCKET_BAD, pycares.ARES_SOCKET_BAD)
            self._timer = self._loop.call_later(TICK, self._tick)

    def _watch(self, fd: int, readable: bool, writable: bool) -> None:
        if fd in self._watched:
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
            self._watched.discard(fd)
        if readable:
            self._loop.add_reader(fd, self._channel.process_read_fd, fd)
        if writable:
            self._loop.add_writer(fd, self._channel.process_write_fd, fd)
        if readable or writable:
            self._watched.add(fd)

    def _done_elsewhere(self, result: Any, error: int) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is gone, and with it whoever asked
            self._loop.call_soon_threadsafe(lambda: self._done(result, error))

    def _done(self, result: Any, error: int | None) -> None:
        if self._answer.done():
            return
        if error == ares.ARES_ENODATA:
            self._answer.set_result(())
        elif error is not None or result is None:
            self._answer.set_exception(LookupBroken(ares.strerror(error or ares.ARES_EFORMERR)))
        else:
            self._answer.set_result(addresses(node.addr[0].decode("ascii") for node in result.nodes))

    def close(self) -> None:
        """Stop at once. Cancelling first closes the sockets here, in the loop's thread, where they are watched."""
        self._answer.cancel()
        if self._timer is not None:
            self._timer.cancel()
        with contextlib.suppress(pycares.AresError):
            self._channel.cancel()
        for fd in self._watched:
            self._loop.remove_reader(fd)
            self._loop.remove_writer(fd)
        self._watched.clear()
        self._channel.close()


def _threaded(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether the loop cannot watch a socket for us (Windows' default one); c-ares then brings a thread per lookup."""
    return sys.platform == "win32" and isinstance(loop, asyncio.ProactorEventLoop)


def addresses(texts: Iterable[str]) -> tuple[Address, ...]:
    """Parse a resolver's answers: a `%scope` is dropped, repeats are one, and what is no address is none (spec 6)."""
    found: dict[Address, None] = {}
    for text in islice(texts, MAX_ANSWERS):
        with contextlib.suppress(ValueError):
            found[ip_address(text.partition("%")[0])] = None
    return tuple(found)


class SystemResolver:
    """getaddrinfo in daemon threads (`resolver="system"`): for hosts whose names come from other NSS modules.

    A thread that hangs in getaddrinfo cannot be stopped, so there are at most MAX_THREADS, and a cancelled lookup
    leaves its thread to finish alone. asyncio's default pool is no alternative: six hanging names stall it
    (architecture 6).
    """

    MAX_THREADS = 128

    def __init__(self) -> None:
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0

    async def lookup(self, name: Name) -> Sequence[Address]:
        """A name's addresses; empty when it exists without one. Raises LookupBroken."""
        job = _Job(name.encode("ascii"), asyncio.get_running_loop())
        self._jobs.put(job)
        self._staff()
        return await job.answer

    def _staff(self) -> None:
        with self._lock:
            if self._jobs.qsize() <= self._idle or self._threads >= self.MAX_THREADS:
                return
            self._threads += 1
        threading.Thread(target=self._work, name="runvil-resolver", daemon=True).start()

    def _work(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            job = self._jobs.get()
            with self._lock:
                self._idle -= 1
            if job is None:
                break
            job.run()
        with self._lock:
            self._threads -= 1

    async def aclose(self) -> None:
        """Send the threads home. One that hangs in getaddrinfo follows when that returns."""
        for _ in range(self._threads):
            self._jobs.put(None)


class _Job:
    def __init__(self, name: bytes, loop: asyncio.AbstractEventLoop) -> None:
        self._name = name
        self._loop = loop
        self.answer: asyncio.Future[Sequence[Address]] = loop.create_future()

    def run(self) -> None:
        """In a worker thread. A loop that is gone by then wants no answer."""
        if self.answer.cancelled():
            return
        try:
            found: Sequence[Address] | LookupBroken = addresses(_system_lookup(self._name))
        except (OSError, UnicodeError) as error:
            found = LookupBroken(str(error))
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._settle, found)

    def _settle(self, found: Sequence[Address] | LookupBroken) -> None:
        if self.answer.done():
            return
        if isinstance(found, LookupBroken):
            self.answer.set_exception(found)
        else:
            self.answer.set_result(found)


_NO_ADDRESS = {getattr(socket, name) for name in ("EAI_NODATA", "EAI_ADDRFAMILY") if hasattr(socket, name)}
"""A name that exists without an address; an empty answer, not a failed lookup (spec 1.6)."""


def _system_lookup(name: bytes) -> Iterable[str]:
    try:
        return [str(info[4][0]) for info in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)]
    except socket.gaierror as error:
        if error.errno in _NO_ADDRESS:
            return ()
        raise
