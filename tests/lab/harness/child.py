"""The life of one test: enter a network of its own, start the internet, run the body, leave a readable trace."""

from __future__ import annotations

import asyncio
import ctypes
import gc
import importlib
import inspect
import logging
import os
import resource
import signal
import socket
import sys
import tempfile
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.lab.harness import internet, namespace
from tests.lab.harness.lab import Lab

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from tests.lab.harness.authority import Authority

PR_SET_PDEATHSIG = 1
BODY_LIMIT = 100.0
OPEN_FILES = 4096
VALUE_ROOM = 400
LAB = str(Path(__file__).parents[1])

# What the outer machine may have set and a lab test must not see.
FOREIGN = ("proxy", "ssl_cert", "ssl_key", "runvil_", "netrc", "localdomain", "res_options", "hostaliases")

Report = str | None


def find(module: str, name: str) -> Callable[..., Any]:
    """The body that `in_lab` wrapped."""
    wrapped: Callable[..., Any] = getattr(importlib.import_module(module), name).body
    return wrapped


def live(body: Callable[..., Any] | None, arguments: Mapping[str, object], authority: Authority, output: int) -> int:
    """Be the test. Returns the exit status; what went wrong is written to `output`."""
    try:
        _detach(output)
        with tempfile.TemporaryDirectory() as place:
            namespace.enter(Path(place))
            _own_environment(authority, place)
            if body is not None:
                _run(body, arguments, authority, Path(place))
    except namespace.Unavailable as reason:
        print(reason)
        return 2
    except BaseException as error:
        print(_readable(error))
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def _readable(error: BaseException) -> str:
    """The trace with the values of the locals: the bodies run without pytest's rewritten asserts."""
    trace = traceback.TracebackException.from_exception(error, capture_locals=True)
    one: traceback.TracebackException | None = trace
    while one is not None:
        for frame in one.stack:
            ours = LAB in frame.filename and frame.filename != __file__
            frame.locals = {name: value[:VALUE_ROOM] for name, value in (frame.locals or {}).items()} if ours else None
        one = one.__cause__ or one.__context__
    return "".join(trace.format())


def _detach(output: int) -> None:
    os.setsid()
    die_with_parent()
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(null)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard if hard < OPEN_FILES else OPEN_FILES, hard))
    warnings.simplefilter("error")


def die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _own_environment(authority: Authority, home: str) -> None:
    for name in list(os.environ):
        if any(part in name.lower() for part in FOREIGN):
            del os.environ[name]
    os.environ["SSL_CERT_FILE"] = str(authority.trusted_file)
    os.environ["HOME"] = home


def _run(body: Callable[..., Any], arguments: Mapping[str, object], authority: Authority, place: Path) -> None:
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        die_with_parent()
        internet.host(authority, theirs)
    theirs.close()
    with ours, _Complaints() as complaints:
        lab = Lab(ours, authority, place)
        lab.wait_ready()
        call = body(lab, **arguments)
        if inspect.iscoroutine(call):
            asyncio.run(_bounded(call))
        gc.collect()
        lab.verify()
    assert not complaints.heard, "said on the side:\n" + "\n".join(complaints.heard)


async def _bounded(call: Any) -> None:
    async with asyncio.timeout(BODY_LIMIT):
        await call


class _Complaints(logging.Handler):
    """What Python only mutters: exceptions in finalizers, tasks and callbacks nobody awaited, unclosed things."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[str] = []

    def __enter__(self) -> _Complaints:
        logging.getLogger("asyncio").addHandler(self)
        sys.unraisablehook = self._unraisable
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger("asyncio").removeHandler(self)
        sys.unraisablehook = sys.__unraisablehook__

    def emit(self, record: logging.LogRecord) -> None:
        self.heard.append(self.format(record))

    def _unraisable(self, what: sys.UnraisableHookArgs) -> None:
        lines = traceback.format_exception(what.exc_type, what.exc_value, what.exc_traceback)
        self.heard.append(f"{what.err_msg or 'ignored'} {what.object!r}\n{''.join(lines)}")
