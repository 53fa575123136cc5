"""`runvil` as a person or a script uses it: output, errors, exit statuses. Fetches that succeed are the lab's."""

from __future__ import annotations

import io
import json
import os
import pty
import signal
import subprocess
import sys
from collections.abc import Sequence

import pytest

from runvil.core.failures import StatusFailed, Unfinished
from runvil.core.page import Extraction, Page
from runvil.doors.cli import COMMANDS, run
from runvil.doors.cli.output import say
from runvil.doors.cli.report import Outcome

IN_TIME = 30.0  # seconds; a guard against a hang
HARD = "https://127.1/"
SOFT = "http://example.com/"
HARD_TEXT = "ip literal host not allowed: 127.0.0.1"
SOFT_TEXT = "scheme not allowed: http"


def command(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runvil", *arguments],
        input=stdin,
        check=False,
        capture_output=True,
        text=True,
        timeout=IN_TIME,
    )


def told(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = run(list(arguments))
    out, err = capfd.readouterr()
    return status, out, err


def test_a_soft_failure_is_the_result_and_a_hard_one_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    assert told(capfd, "fetch", SOFT) == (1, SOFT_TEXT + "\n", "")
    assert told(capfd, "fetch", HARD) == (3, "", HARD_TEXT + "\n")


def test_several_urls_are_printed_in_order_and_the_highest_status_counts(capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = told(capfd, "fetch", HARD, SOFT)
    assert status == 3
    assert out == f"--- {HARD}\n--- {SOFT}\n{SOFT_TEXT}\n"


def test_a_json_object_has_all_members_whatever_happened(capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = told(capfd, "fetch", "--json", HARD)
    assert (status, err) == (3, "")
    assert json.loads(out) == {
        "url": HARD, "final_url": None, "kind": "hard", "code": "ip-literal-refused", "message": HARD_TEXT,
        "truncated": None, "extraction": None, "title": None, "status": None, "content_type": None, "text": None,
    }  # fmt: skip


def test_a_page_and_a_failure_fill_the_members_they_have() -> None:
    page = Page("https://b.example/", "t", True, Extraction.PLAIN, 200, "text/plain", "T")
    told_page = Outcome("https://a.example/", page).as_json()
    assert told_page == {
        "url": "https://a.example/", "final_url": "https://b.example/", "kind": "ok", "code": None, "message": None,
        "truncated": True, "extraction": "plain", "title": "T", "status": 200, "content_type": "text/plain",
        "text": "t",
    }  # fmt: skip
    failure = Outcome("https://a.example/", StatusFailed("https://b.example/", 404))
    assert (failure.kind, failure.status) == ("soft", 1)
    assert (failure.as_json()["status"], failure.as_json()["final_url"]) == (404, "https://b.example/")
    unfinished = Outcome("https://a.example/", Unfinished())
    assert (unfinished.kind, unfinished.status) == ("hard", 1)


def test_ndjson_is_one_object_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    _, out, _ = told(capfd, "fetch", "--ndjson", HARD, SOFT)
    assert [json.loads(line)["kind"] for line in out.splitlines()] == ["hard", "soft"]


def test_a_dash_reads_urls_from_stdin() -> None:
    done = command("fetch", "--ndjson", "-", stdin=f"{HARD}\n\n  {SOFT}\n")
    assert [json.loads(line)["url"] for line in done.stdout.splitlines()] == [HARD, SOFT]
    assert done.returncode == 3


def test_a_call_is_what_a_model_makes_and_gets(capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = told(capfd, "call", "web/fetch", json.dumps({"url": SOFT}), "--json")
    assert (status, json.loads(out)) == (1, {"kind": "soft", "error_kind": None, "text": SOFT_TEXT})
    status, out, _ = told(capfd, "call", "web_fetch", json.dumps({"url": HARD}), "--json")
    assert (status, json.loads(out)) == (3, {"kind": "hard", "error_kind": "InvalidArguments", "text": HARD_TEXT})
    assert told(capfd, "call", "web/fetch", "[]") == (3, "", "web_fetch: missing url argument\n")


def test_a_call_reads_its_arguments_from_stdin() -> None:
    done = command("call", "web/fetch", "-", stdin=json.dumps({"url": SOFT}))
    assert (done.returncode, done.stdout) == (1, SOFT_TEXT + "\n")


WRONG: dict[str, tuple[Sequence[str], str]] = {
    "no command": (["bogus"], "No such command 'bogus'"),
    "no URL": (["fetch"], "Missing argument 'URL...'"),
    "no characters": (["fetch", "--max-chars", "0", SOFT], "--max-chars"),
    "not a range": (["fetch", "--deny-cidr", "10.0.0.1", SOFT], "invalid deny cidr 10.0.0.1"),
    "not a pair": (["fetch", "--allow-host-address", "wiki", SOFT], "--allow-host-address wants HOST=IP"),
    "not a host": (["fetch", "--allow-host-address", "a b=10.0.0.1", SOFT], 'invalid exact host "a b"'),
    "not an address": (["fetch", "--allow-host-address", "wiki=ten", SOFT], "invalid address 'ten'"),
    "too long": (["fetch", "--timeout", "301", SOFT], "timeout (301s) exceeds the maximum of 300s"),
    "not a port": (["fetch", "--allow-port", "70000", SOFT], "allow_ports: 70000 is not a port"),
    "no such tool": (["call", "web/cook", "{}"], "no tool named 'web/cook'; there is: web/fetch"),
    "not JSON": (["call", "web/fetch", "{"], "the arguments are not JSON"),
    "JSON without end": (["call", "web/fetch", "[" * 100_000], "the arguments are not JSON"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_command_line_says_what_is_wrong(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    arguments, words = WRONG[name]
    status, out, err = told(capfd, *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert "Traceback" not in err


def test_an_option_of_the_policy_is_in_force(capfd: pytest.CaptureFixture[str]) -> None:
    literal = "https://10.0.0.5/"
    assert told(capfd, "fetch", "--allow-ip-literals", literal) == (3, "", "host 10.0.0.5 is not fetchable\n")
    port = "https://example.com:8081/"
    assert told(capfd, "fetch", "--allow-port", "8080", port) == (3, "", "port not allowed: 8081\n")


@pytest.mark.parametrize("name", [[], *([name] for name in COMMANDS)])
def test_help_teaches(name: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = told(capfd, *name, "--help")
    assert status == 0
    assert out.startswith("Usage: runvil")
    assert "Try: " in out or "Exit" in out or "Example" in out


def test_a_closed_pipe_ends_the_command_without_a_word() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "runvil", "fetch", SOFT],
        stdout=writing,
        check=False,
        stderr=subprocess.PIPE,
        timeout=IN_TIME,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full on this platform")
def test_a_full_disk_is_one_line() -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "runvil", "fetch", SOFT],
            stdout=full,
            check=False,
            stderr=subprocess.PIPE,
            timeout=IN_TIME,
        )
    assert (done.returncode, done.stderr) == (1, b"runvil: cannot write the result: No space left on device\n")


MORE_THAN_A_PIPE_HOLDS = "\n" * 300_000


def test_ctrl_c_is_one_line_and_status_130() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "runvil", "fetch", "-"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write(MORE_THAN_A_PIPE_HOLDS)  # returns when the command has begun to read
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=IN_TIME)
    assert (process.returncode, err.strip()) == (130, "runvil: interrupted")


def test_a_page_cannot_send_escape_sequences_to_a_terminal() -> None:
    controller, terminal = pty.openpty()
    with os.fdopen(terminal, "w") as stream:
        say("a\x1b]0;owned\x07b\x9bc\rd", stream)
        shown = os.read(controller, 1000).decode()
    os.close(controller)
    assert shown == "a\ufffd]0;owned\ufffdb\ufffdc\ufffdd\r\n"


def test_a_pipe_gets_the_text_as_it_is() -> None:
    stream = io.StringIO()
    say("a\x1b[31mb", stream)
    assert stream.getvalue() == "a\x1b[31mb\n"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_comes_for_the_common_shells(shell: str) -> None:
    environment = os.environ | {"_RUNVIL_COMPLETE": f"{shell}_source"}
    done = subprocess.run(
        [sys.executable, "-m", "runvil"], env=environment, check=False, capture_output=True, text=True, timeout=IN_TIME
    )
    assert done.returncode == 0
    assert "_RUNVIL_COMPLETE" in done.stdout
