"""The gateway's benchmark runs, in its tiny form, and prints its tables. What the numbers are is nobody's test."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench import gateway

ROOT = Path(__file__).parents[2]
LIMIT = 120


@pytest.mark.slow
def test_the_benchmark_prints_its_tables() -> None:
    command = [sys.executable, "-m", "bench.gateway", "--quick"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split("|")[1].strip() for line in done.stdout.splitlines() if line.startswith("|")]
    assert {gateway.OURS, gateway.STARLETTE, gateway.VENDOR, gateway.CACHED} <= set(rows)


def test_an_absent_peer_is_named_with_the_way_to_have_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(gateway, "installed", lambda _: None)
    assert gateway.FASTAPI not in gateway._present()
    assert capsys.readouterr().out == "fastapi is left out; to have it: pip install fastapi\n"
