"""How a worker locks itself in before it sees a page: afterwards it can compute, read its requests, write its replies.

A page that takes over the parser finds a process that can open no file and no socket, start no other process or
program, and dies when it computes for too long. Each lock is put on by itself and named in the answer; a platform that
lacks one goes without it (`runvil doctor` shows which). Standard library only: ctypes, resource, signal.
"""

from __future__ import annotations

import os
import platform
import signal
import struct
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Final

try:
    import ctypes
except ImportError:  # a Python built without libffi: the locks that need it do not hold
    ctypes = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_MEMORY = 1536 * 1024 * 1024
"""Bytes of address space. The largest hostile page measured took 0.7 GB; more than twice that is an attack."""

PAGE_SECONDS = 3.0
"""CPU time for one page: 8 MiB of any markup measured takes under one second, most pages some milliseconds."""

LIFE_SECONDS = 60
"""CPU time of a worker, after which it ends between two pages; a thousand ordinary pages take about ten."""

_DESCRIPTORS: Final = 3
_GRACE: Final = 2 * int(PAGE_SECONDS)

_PR_SET_PDEATHSIG: Final = 1
_PR_SET_SECCOMP: Final = 22
_PR_SET_NO_NEW_PRIVS: Final = 38
_SECCOMP_MODE_FILTER: Final = 2

_KILL_PROCESS: Final = 0x80000000
_REFUSE: Final = 0x00050000 | 1  # SECCOMP_RET_ERRNO with EPERM
_ALLOW: Final = 0x7FFF0000
_X32: Final = 0x40000000
"""Set in the numbers of x86-64's second, 32-bit-pointer system call table, which would bypass the list."""

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06  # BPF: ld word abs, jeq, jge, ret (linux/filter.h)

_ARCHITECTURES: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # linux/audit.h
_CALLS: Final = {
    # name: (x86_64, aarch64)          what the interpreter needs it for once everything is imported
    "read": (0, 63),  # requests; no descriptor can be made, so these are the pipes it was born with
    "write": (1, 64),
    "close": (3, 57),
    "fstat": (5, 80),
    "mmap": (9, 222),  # memory
    "mprotect": (10, 226),
    "munmap": (11, 215),
    "brk": (12, 214),
    "mremap": (25, 216),
    "madvise": (28, 233),
    "rt_sigaction": (13, 134),  # signals to itself
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "setitimer": (38, 103),  # the CPU budget of each page
    "futex": (202, 98),  # locks
    "sched_yield": (24, 124),
    "getpid": (39, 172),
    "gettid": (186, 178),
    "gettimeofday": (96, 169),  # clocks
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "getrandom": (318, 278),
    "restart_syscall": (219, 128),
    "exit": (60, 93),
    "exit_group": (231, 94),
}
"""The system calls that stay allowed. Any other fails with EPERM."""


def lock(parent: int) -> tuple[str, ...]:
    """Put on every lock this platform has; the names of those that hold. `parent` is the process id that started us."""
    return tuple(name for name, put_on in LOCKS.items() if _holds(put_on, parent))


def budget(seconds: float) -> None:
    """Die after `seconds` more of CPU time, in whatever code that is, or with 0 never."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _holds(put_on: Callable[[int], bool], parent: int) -> bool:
    try:
        return put_on(parent)
    except (OSError, ValueError, ImportError, AttributeError):
        return False


def _die_with_parent(parent: int) -> bool:
    held = _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if held and os.getppid() != parent:
        os._exit(1)  # it died before we asked
    return held


def _no_new_privileges(_: int) -> bool:
    return _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def _limit(name: str, most: int) -> Callable[[int], bool]:
    def put_on(_: int) -> bool:
        resource = import_module("resource")  # there is none on Windows
        resource.setrlimit(getattr(resource, name), (most, most))
        return True

    return put_on


def _cpu_timer(_: int) -> bool:
    return hasattr(signal, "setitimer") and signal.getsignal(signal.SIGPROF) == signal.SIG_DFL


def _system_calls(_: int) -> bool:
    machine = platform.machine()
    if sys.platform != "linux" or machine not in _ARCHITECTURES:
        return False
    column = list(_ARCHITECTURES).index(machine)
    rows = _filter(_ARCHITECTURES[machine], [numbers[column] for numbers in _CALLS.values()])
    instructions = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *row) for row in rows))  # sock_filter
    program = ctypes.create_string_buffer(struct.pack("@HP", len(rows), ctypes.addressof(instructions)))  # sock_fprog
    return _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.addressof(program))


def _filter(architecture: int, allowed: list[int]) -> list[tuple[int, int, int, int]]:
    """The BPF program: kill for a foreign architecture, then look the number up, then refuse."""
    to_allow = len(allowed) + 1
    return [
        (_LOAD, 0, 0, 4),  # seccomp_data.arch
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL_PROCESS),
        (_LOAD, 0, 0, 0),  # seccomp_data.nr
        (_AT_LEAST, len(allowed), 0, _X32),
        *((_EQUAL, to_allow - at - 1, 0, number) for at, number in enumerate(allowed)),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]


def _prctl(option: int, *arguments: int) -> bool:
    if sys.platform != "linux":
        return False
    call = ctypes.CDLL(None, use_errno=True).prctl
    padded = (*arguments, 0, 0, 0, 0)[:4]
    return bool(call(ctypes.c_int(option), *(ctypes.c_ulong(value) for value in padded)) == 0)


LOCKS: Final[dict[str, Callable[[int], bool]]] = {
    # in this order: a filter needs no-new-privileges, and afterwards nothing else can be put on
    "parent-death": _die_with_parent,
    "no-new-privileges": _no_new_privileges,
    "memory": _limit("RLIMIT_AS", MAX_MEMORY),
    "cpu": _limit("RLIMIT_CPU", LIFE_SECONDS + _GRACE),
    "core-dump": _limit("RLIMIT_CORE", 0),
    "file-size": _limit("RLIMIT_FSIZE", 0),
    "descriptors": _limit("RLIMIT_NOFILE", _DESCRIPTORS),
    "processes": _limit("RLIMIT_NPROC", 0),
    "cpu-timer": _cpu_timer,
    "system-calls": _system_calls,
}
"""Every lock there is, name -> how it is put on; `runvil doctor` compares it with what a worker reports."""
