"""What a client may do to `runvil mcp` at the other end of two pipes: leave, stop reading, write what is no message."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("mcp", reason="the extra runvil[mcp] is not installed")

import anyio
import mcp_types as types
from mcp.shared.message import SessionMessage

from runvil.doors.mcp.pipes import MAX_CALLS, MAX_LINE, Flow, Incoming, Lines, Outgoing
from tests.doors.mcp_support import IN_TIME, INITIALIZE, heard, say, spoken_to

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")

MIB = 1024 * 1024

# --- lines ---


@given(st.lists(st.binary(max_size=12)))
def test_lines_are_the_same_however_the_bytes_are_cut(pieces: list[bytes]) -> None:
    lines = Lines(most=5)
    found = [line for piece in pieces for line in lines.of(piece)]
    found += lines.end()
    whole = b"".join(pieces).split(b"\n")
    expected = [line if len(line) <= 5 else None for line in whole]
    assert found == (expected if whole[-1] else expected[:-1])
    assert list(lines.end()) == []


# --- the two ends, in this process ---


class Pipe(asyncio.WriteTransport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Any] = []

    def write(self, data: Any) -> None:
        self.lines.append(json.loads(data))


def ends() -> tuple[asyncio.StreamReader, Incoming, Outgoing, Flow, Pipe]:
    reader = asyncio.StreamReader()
    pipe, flow = Pipe(), Flow(reader.feed_eof)
    outgoing = Outgoing(pipe, flow)
    return reader, Incoming(reader, outgoing), outgoing, flow, pipe


def ping(number: int) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "ping"}).encode() + b"\n"


def answer(number: int) -> SessionMessage:
    return SessionMessage(types.JSONRPCResponse(jsonrpc="2.0", id=number, result={}))


async def idle() -> None:
    """As many turns of the loop as anything here could need."""
    for _ in range(10):
        await asyncio.sleep(0)


OVER = ("answered", "cancelled", "the answer is not written")


@pytest.mark.parametrize("over", OVER)
async def test_no_more_calls_are_read_than_the_bound_until_one_is_over(over: str) -> None:
    reader, incoming, outgoing, flow, _ = ends()
    reader.feed_data(b"".join(ping(number) for number in range(MAX_CALLS + 1)))
    read = [await incoming.receive() for _ in range(MAX_CALLS)]
    next_one = asyncio.create_task(incoming.receive())
    await idle()
    assert not next_one.done()
    if over == "answered":
        await outgoing.send(answer(0))
    elif over == "cancelled":
        await read[0].metadata.on_request_unanswered()  # type: ignore[union-attr,misc]
    else:
        flow.connection_lost(None)
        with pytest.raises(anyio.BrokenResourceError):
            await outgoing.send(answer(0))
    assert (await asyncio.wait_for(next_one, IN_TIME)).message.id == MAX_CALLS  # type: ignore[union-attr]


async def test_nothing_is_put_into_bytes_while_the_client_does_not_read_and_answers_keep_their_order() -> None:
    _, _, outgoing, flow, pipe = ends()
    flow.pause_writing()
    sending = [asyncio.create_task(outgoing.send(answer(number))) for number in range(3)]
    await idle()
    assert pipe.lines == []
    flow.resume_writing()
    await asyncio.gather(*sending)
    assert [line["id"] for line in pipe.lines] == [0, 1, 2]


async def test_an_answer_that_is_cancelled_while_it_waits_lets_the_next_one_through() -> None:
    _, _, outgoing, flow, pipe = ends()
    flow.pause_writing()
    first, second = (asyncio.create_task(outgoing.send(answer(number))) for number in range(2))
    await idle()
    first.cancel()
    flow.resume_writing()
    await asyncio.wait_for(second, IN_TIME)
    assert [line["id"] for line in pipe.lines] == [1]


async def test_a_message_is_read_however_its_bytes_are_cut_and_the_last_one_needs_no_end() -> None:
    reader, incoming, _, _, _ = ends()
    for piece in (ping(1)[:7], ping(1)[7:] + ping(2)[:9], ping(2)[9:].rstrip()):
        reader.feed_data(piece)
    reader.feed_eof()
    assert [item.message.id async for item in incoming] == [1, 2]  # type: ignore[union-attr]


# --- the process ---

REFUSED = (
    (b"not json", types.PARSE_ERROR),
    (b"[[[" * 100_000, types.PARSE_ERROR),
    (b'{"jsonrpc": "2.0"', types.PARSE_ERROR),
    (b"\xff\xfe", types.PARSE_ERROR),
    (b"[]", types.INVALID_REQUEST),
    (b'{"jsonrpc": "2.0"}', types.INVALID_REQUEST),
    (b'{"id": 7, "method": "ping"}', types.INVALID_REQUEST),
    (b"x" * (MAX_LINE + 1), types.INVALID_REQUEST),
)


async def test_a_line_that_is_no_message_is_answered_as_such_and_ends_nothing() -> None:
    async with spoken_to() as process:
        say(process, INITIALIZE)
        assert (await heard(process))["result"]["serverInfo"]["name"] == "runvil"
        for line, code in REFUSED:
            say(process, line)
            message = await heard(process)
            assert (message["id"], message["error"]["code"]) == (None, code), line[:20]
        for line in (b"", b"  \t\r", ping(2).strip()):
            say(process, line)
        assert await heard(process) == {"jsonrpc": "2.0", "id": 2, "result": {}}
        process.stdin.close()  # type: ignore[union-attr]
    assert process.returncode == 0


@linux
async def test_of_a_line_of_a_hundred_megabytes_nothing_is_kept() -> None:
    async with spoken_to() as process:
        say(process, INITIALIZE)
        await heard(process)
        before = peak(process.pid)
        for _ in range(100):
            process.stdin.write(b"x" * MIB)  # type: ignore[union-attr]
            await process.stdin.drain()  # type: ignore[union-attr]
        say(process, ping(2).strip())  # the long line's end, and no message of its own
        say(process, ping(3).strip())
        assert (await heard(process))["error"]["code"] == types.INVALID_REQUEST
        assert (await heard(process))["id"] == 3
        assert peak(process.pid) - before < 5 * MAX_LINE
        process.stdin.close()  # type: ignore[union-attr]


def peak(pid: int) -> int:
    with open(f"/proc/{pid}/status") as lines:
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


async def test_a_client_that_writes_thousands_of_calls_before_it_reads_is_answered_all() -> None:
    calls = 5 * MAX_CALLS
    async with spoken_to() as process:
        say(process, INITIALIZE)
        for number in range(calls):
            say(process, b'{"jsonrpc": "2.0", "id": %d, "method": "tools/list"}' % (number + 2))
        answers = [await heard(process) for _ in range(calls + 1)]
        process.stdin.close()  # type: ignore[union-attr]
    assert {message["id"] for message in answers} == set(range(1, calls + 2))
    assert all("result" in message for message in answers)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
async def test_a_server_that_is_told_to_end_does_so_at_once_and_in_silence(number: int, status: int) -> None:
    async with spoken_to() as process:
        say(process, INITIALIZE)
        await heard(process)
        process.send_signal(number)
    assert process.returncode == status


async def test_a_client_that_leaves_ends_the_server() -> None:
    async with spoken_to() as process:
        say(process, INITIALIZE)
        await heard(process)
        process.stdin.close()  # type: ignore[union-attr]
        process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
    assert process.returncode == 0


async def test_a_client_that_closes_only_the_end_it_reads_ends_the_server_too_however_it_goes_on_writing() -> None:
    async with spoken_to() as process:
        say(process, INITIALIZE)
        await heard(process)
        process._transport.get_pipe_transport(1).close()  # type: ignore[attr-defined]
        with suppress(ConnectionError):
            while True:  # until the server has gone, which the client's timeout bounds
                say(process, ping(2).strip())
                await process.stdin.drain()  # type: ignore[union-attr]
                await asyncio.sleep(0)
    assert process.returncode == 0


async def test_a_server_whose_stdin_is_a_file_answers_too() -> None:
    async with spoken_to(pipes=False) as process:
        assert process.stdout is not None
        assert await process.stdout.read() == b""
    assert process.returncode == 0


SHELL = (
    ('runvil_mcp <&-', "", 2, "stdin and stdout must be open"),
    ('runvil_mcp </dev/null >&-', "", 2, "stdin and stdout must be open"),
    ('cat | runvil_mcp >/dev/full', INITIALIZE.decode() + "\n", 1, "cannot write the result: No space left on device"),
)  # fmt: skip


@linux
@pytest.mark.parametrize(("line", "given_", "status", "words"), SHELL)
def test_streams_that_cannot_be_used_are_told_in_words(line: str, given_: str, status: int, words: str) -> None:
    script = f'runvil_mcp() {{ "{sys.executable}" -m runvil mcp; }}; {line}'
    done = subprocess.run(
        ["sh", "-c", script], check=False, capture_output=True, text=True, input=given_, timeout=IN_TIME,
        env={**os.environ},
    )  # fmt: skip
    assert done.returncode == status
    assert words in done.stderr
    assert "Traceback" not in done.stderr


@linux
async def test_who_starts_it_at_a_terminal_is_told_what_it_waits_for_and_ends_it_with_ctrl_c() -> None:
    terminal, its_end = os.openpty()
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "runvil", "mcp", stdin=its_end, stdout=its_end, stderr=asyncio.subprocess.PIPE
        )
        assert process.stderr is not None
        async with asyncio.timeout(IN_TIME):
            assert b"waiting for an MCP client" in await process.stderr.readline()
            os.write(terminal, INITIALIZE + b"\n")
            said = b""
            while b'"serverInfo"' not in said:
                said += await asyncio.to_thread(os.read, terminal, 65536)
            process.send_signal(signal.SIGINT)
            assert (await process.wait(), await process.stderr.read()) == (130, b"")
    finally:
        os.close(its_end)
        os.close(terminal)
