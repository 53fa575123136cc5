"""Code that a page has planted in the parser runs in a worker that can compute and answer, and nothing else.

The code is run inside a real worker, after it has locked itself in, by a boot text of the test's own.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import pytest

from runvil.net.workers import Workers
from tests.support.workers import boot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the filter of system calls is Linux's")

HANG = 30.0

TRY = """
def tried(code):
    try:
        return repr(eval(code))
    except BaseException as failure:
        return type(failure).__name__ + ' ' + errno.errorcode.get(getattr(failure, 'errno', None), '')
libc = ctypes.CDLL(None, use_errno=True)
def call(*numbers):
    ctypes.set_errno(0)
    result = libc.syscall(*(ctypes.c_long(number) for number in numbers))
    return result if result != -1 else errno.errorcode[ctypes.get_errno()]
"""


async def planted(code: str, before: str = "") -> Any:
    """What `code`, an expression, is worth inside a locked worker; it travels as the text of a page."""
    run = f"import json\n{before}"
    inside = TRY + f"worker.render = lambda *_: Rendered(json.dumps({code}), Extraction.READABILITY)"
    renderer = Workers(1, boot(inside, run))
    try:
        until = asyncio.get_running_loop().time() + HANG
        rendered = await renderer.render(b"<p>x", "https://a.example/", raw=False, limit=100_000, until=until)
        return json.loads(rendered.text)
    finally:
        await renderer.aclose()


REFUSED = "PermissionError EPERM"

ATTEMPTS = {
    "open a file for reading": "open('/etc/passwd')",
    "open a file for writing": "open('/tmp/planted', 'w')",
    "open its own memory": "open('/proc/self/mem', 'r+b')",
    "list a directory": "os.listdir('/')",
    "look at a file": "os.stat('/etc/passwd')",
    "remove a file": "os.unlink('/tmp/planted')",
    "make a directory": "os.mkdir('/tmp/planted-directory')",
    "change its directory": "os.chdir('/')",
    "open a TCP socket": "socket.socket()",
    "open a UDP socket": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "open a local socket": "socket.socket(socket.AF_UNIX)",
    "make a pair of sockets": "socket.socketpair()",
    "make a pipe": "os.pipe()",
    "make a file in memory": "os.memfd_create('x')",
    "double a descriptor": "os.dup(0)",
    "fork": "os.fork()",
    "become another program": "os.execv('/bin/sh', ['sh'])",
    "kill its parent": "os.kill(os.getppid(), 0)",
    "kill anybody": "os.kill(1, 0)",
    "become another user": "os.setuid(0)",
}


async def test_every_attempt_to_reach_out_is_refused() -> None:
    found = await planted(f"{{name: tried(code) for name, code in {ATTEMPTS!r}.items()}}")
    assert found == dict.fromkeys(ATTEMPTS, REFUSED)


async def test_the_same_attempts_mean_something_outside() -> None:
    """Else the test above could pass for reasons of its own."""
    allowed = [
        "os.stat('/etc/passwd')",
        "open('/etc/passwd').close()",
        "os.listdir('/') and 1",
        "socket.socket().close()",
    ]
    before = "import errno\n" + TRY.replace("libc = ", "outer = ") + f"free = [tried(code) for code in {allowed!r}]"
    found = await planted("free", before)
    assert found[1:] == ["None", "1", "None"]
    assert found[0].startswith("os.stat_result")


async def test_no_thread_and_no_process_can_be_started() -> None:
    attempts = [
        "threading.Thread(target=int).start()",
        "subprocess.Popen(['/bin/true'])",
        "os.posix_spawn('/bin/true', ['x'], {})",
    ]
    found = await planted(f"[tried(code) for code in {attempts!r}]")
    assert found[0].startswith("RuntimeError")
    assert found[1:] == [REFUSED, REFUSED]


SYSTEM_CALLS = {
    # the ways around the front doors: x86-64 number
    "ptrace": 101,
    "process_vm_readv": 310,
    "process_vm_writev": 311,
    "pidfd_open": 434,
    "pidfd_getfd": 438,
    "io_uring_setup": 425,
    "bpf": 321,
    "perf_event_open": 298,
    "userfaultfd": 323,
    "keyctl": 250,
    "unshare": 272,
    "setns": 308,
    "mount": 165,
    "clone": 56,
    "clone3": 435,
    "vfork": 58,
    "execveat": 322,
    "openat": 257,
    "openat2": 437,
    "open_by_handle_at": 304,
    "creat": 85,
    "socket": 41,
    "sendmsg": 46,
    "tkill": 200,
    "tgkill": 234,
    "rt_sigqueueinfo": 129,
    "prctl": 157,
    "seccomp": 317,
    "prlimit64": 302,
    "setrlimit": 160,
    "shmget": 29,
    "mq_open": 240,
    "inotify_init1": 294,
    "timer_create": 222,
    "x32 read": 0x40000000,
    "x32 open": 0x40000002,
    "no call at all": 100_000,
}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are x86-64's")
async def test_no_other_system_call_is_a_way_out() -> None:
    found = await planted(f"{{name: call(number, 0, 0, 0, 0, 0) for name, number in {SYSTEM_CALLS!r}.items()}}")
    assert found == dict.fromkeys(SYSTEM_CALLS, "EPERM")


async def test_it_sees_an_empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNVIL_SECRET", "s3cret")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    shown, block = await planted("[dict(os.environ), environ]", "environ = open('/proc/self/environ').read()")
    assert shown.items() <= {"LC_CTYPE": "C.UTF-8"}.items()  # which Python sets by itself (PEP 538)
    assert block == ""


async def test_it_inherits_its_three_pipes_and_nothing_else() -> None:
    reading, writing = os.pipe()
    os.set_inheritable(reading, True)
    os.set_inheritable(writing, True)
    try:
        listed = "sorted(int(name) for name in os.listdir('/proc/self/fd'))"
        before = f"seen = [number for number in {listed} if os.path.exists(f'/proc/self/fd/{{number}}')]"
        assert await planted("seen", before) == [0, 1, 2]
    finally:
        os.close(reading)
        os.close(writing)


async def test_it_gets_no_memory_without_end() -> None:
    found = await planted("tried('bytearray(2 * 1024 ** 3)')")
    assert found == "MemoryError "


async def test_it_dies_with_its_parent() -> None:
    """A parent that is killed takes its workers along, even those that wait for something else than it."""
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", _PARENT, *sys.path, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    gone = asyncio.Event()
    async with asyncio.timeout(HANG):
        worker = os.pidfd_open(int(await parent.stdout.readline()))
        asyncio.get_running_loop().add_reader(worker, gone.set)
        try:
            assert not gone.is_set()
            parent.kill()
            await parent.wait()
            await gone.wait()
        finally:
            asyncio.get_running_loop().remove_reader(worker)
            os.close(worker)


_PARENT = """
import asyncio, sys
sys.path[:] = sys.argv[1:]
from runvil.net.workers import Workers
from tests.support.workers import boot, children

async def main():
    pool = Workers(1, boot("held = threading.Lock(); held.acquire(); held.acquire()"))  # it reads nothing, ever
    pool.warm()
    while not pool.locks:
        await asyncio.sleep(0)
    print(*children(), flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""
