"""One process, started once, that forks a fresh child for every lab test.

Starting Python and its libraries for each test would cost most of a second; a fork costs milliseconds. The nursery
itself never opens a socket and never starts a thread, so that what it forks is clean and may enter a user namespace.
Requests and replies are lines of JSON on its stdin and stdout. It ends when its stdin does.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tests.lab.harness.authority import Authority

TEST_LIMIT = 120.0
REPLY_LIMIT = TEST_LIMIT + 15.0
END_LIMIT = 10.0
TRACE_ROOM = 40_000
ROOT = Path(__file__).resolve().parents[3]


class Nursery:
    """The side pytest holds."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def probe(self) -> str | None:
        """Why the lab cannot work here, or None."""
        return self._ask({"module": None})

    def run(self, module: str, name: str, arguments: Mapping[str, object]) -> str | None:
        """Run one body in a child of its own. The answer is what went wrong, or None."""
        return self._ask({"module": module, "name": name, "arguments": dict(arguments)})

    def close(self) -> None:
        try:
            self._process.communicate(timeout=END_LIMIT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate(timeout=END_LIMIT)

    def _ask(self, request: Mapping[str, object]) -> str | None:
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        if not select.select([process.stdout], [], [], REPLY_LIMIT)[0]:
            process.kill()
            return f"the lab's nursery gave no answer in {REPLY_LIMIT:.0f} s and was stopped"
        line = process.stdout.readline()
        if not line:
            return "the lab's nursery has ended"
        answer: str | None = json.loads(line)
        return answer


def tend(requests: Iterable[bytes], replies: BinaryIO) -> None:
    """The nursery's own side: one request, one child, one reply."""
    from tests.lab.harness.authority import Authority

    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        authority = Authority(Path(place))
        for line in requests:
            replies.write(json.dumps(_serve(json.loads(line), authority)).encode() + b"\n")
            replies.flush()


def _serve(request: dict[str, Any], authority: Authority) -> str | None:
    from tests.lab.harness.child import find

    if request["module"] is None:
        return _raise_child(None, {}, authority)
    try:
        body = find(request["module"], request["name"])
    except Exception:
        return traceback.format_exc()
    return _raise_child(body, request["arguments"], authority)


def _raise_child(
    body: Callable[..., object] | None, arguments: Mapping[str, object], authority: Authority
) -> str | None:
    from tests.lab.harness.child import live

    with tempfile.TemporaryFile() as output:
        pid = os.fork()
        if pid == 0:
            os._exit(live(body, arguments, authority, output.fileno()))
        status = _outlive(pid)
        text = _tail(output)
    if status is None:
        return f"the test did not end in {TEST_LIMIT:.0f} s and was stopped\n{text}"
    return None if status == 0 else text.strip() or f"the child ended with status {status}"


def _outlive(pid: int) -> int | None:
    """Wait for the child, then end whatever it left of its session. None: it had to be stopped."""
    descriptor = os.pidfd_open(pid)
    ended = select.select([descriptor], [], [], TEST_LIMIT)[0]
    os.close(descriptor)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) if ended else None


def _tail(output: Any) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(0, size - TRACE_ROOM))
    text: str = output.read().decode(errors="replace")
    return text


if __name__ == "__main__":
    tend(sys.stdin.buffer, sys.stdout.buffer)
