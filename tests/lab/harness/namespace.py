"""The network and mount namespace a lab test lives in: every address of the internet is local, nothing else exists.

Nothing may be sent before `verify_alone` has looked: a mistake here must end the test, never reach a real network.
Linux only. Everything works on the calling process, so call it in a fresh, single-threaded child.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

CLONE_NEWNS = 0x00020000
CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x40000

COMMAND_LIMIT = 10.0

RESOLV_CONF = "nameserver 127.0.0.1\noptions timeout:1 attempts:2\n"
HOSTS = "127.0.0.1 localhost\n::1 localhost ip6-localhost\n"
NSSWITCH = "passwd: files\ngroup: files\nhosts: files dns\n"
SYSTEM_FILES = {"resolv.conf": RESOLV_CONF, "hosts": HOSTS, "nsswitch.conf": NSSWITCH}

# The family of a route is told by its address, so one run of `ip` does all of it.
WIRING = b"link set lo up\nroute add local 0.0.0.0/0 dev lo\nroute add local ::/0 dev lo\n"

_libc = ctypes.CDLL(None, use_errno=True)


class Unavailable(Exception):
    """This machine does not allow what the lab needs. The text is the reason a test is skipped with."""


def missing() -> str | None:
    """What the lab lacks here that can be told without trying, or None."""
    if sys.platform != "linux":
        return f"network namespaces need Linux, this is {sys.platform}"
    if shutil.which("ip") is None:
        return "the ip command (iproute2) is not installed"
    return None


def enter(directory: Path) -> None:
    """Leave the machine's network for one of our own. `directory` receives the files mounted over those in /etc."""
    reason = missing()
    if reason is not None:
        raise Unavailable(reason)
    _leave()
    _mount("none", "/", MS_REC | MS_PRIVATE)
    verify_alone()
    run_ip(WIRING)
    _own_system_files(directory)


def verify_alone() -> None:
    """Stop unless this network holds nothing but `lo`."""
    names = interfaces()
    if names != ["lo"]:
        raise SystemExit(f"the lab's network is not its own, it holds {names}: nothing was sent")


def interfaces() -> list[str]:
    lines = Path("/proc/self/net/dev").read_text().splitlines()[2:]
    return [line.partition(":")[0].strip() for line in lines]


def run_ip(batch: bytes) -> None:
    done = subprocess.run(["ip", "-batch", "-"], input=batch, capture_output=True, timeout=COMMAND_LIMIT, check=False)
    if done.returncode != 0:
        raise Unavailable(f"ip failed: {done.stderr.decode(errors='replace').strip()}")


def _leave() -> None:
    """As root a plain unshare does; without its rights, a user namespace gives them over the new network alone."""
    try:
        _unshare(CLONE_NEWNET | CLONE_NEWNS)
    except OSError:
        uid, gid = os.getuid(), os.getgid()
        try:
            _unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWNS)
            Path("/proc/self/setgroups").write_text("deny")
            Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
            Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
        except OSError as error:
            raise Unavailable(f"namespaces are not permitted: {error}") from error


def _unshare(flags: int) -> None:
    if _libc.unshare(flags) != 0:
        raise _os_error("unshare")


def _mount(source: str, target: str, flags: int) -> None:
    if _libc.mount(source.encode(), target.encode(), None, flags, None) != 0:
        error = _os_error(f"mount {target}")
        raise Unavailable(f"mounts are not permitted: {error}") from error


def _os_error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, f"{what}: {os.strerror(number)}")


def _own_system_files(directory: Path) -> None:
    for name, text in SYSTEM_FILES.items():
        file = directory / name
        file.write_text(text)
        file.chmod(0o644)
        _mount(str(file), f"/etc/{name}", MS_BIND)
