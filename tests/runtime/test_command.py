"""`runvil run` and `runvil check`, as commands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from runvil.core.config import ConfigError
from runvil.doors.cli import run_prompt
from runvil.runtime import AnthropicModel, OpenAICompatibleModel
from runvil.runtime.models.environment import from_environment

PROMPT = "---\nname: p\ndescription: d\nrunvil: 0\n---\n\n# P\n\n## A\n\n```lua\n{}\n```\n"


def command(*arguments: str, stdin: str = "", env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    cleaned = {name: value for name, value in os.environ.items() if not name.startswith(("RUNVIL_", "ANTHROPIC_"))}
    return subprocess.run(
        [sys.executable, "-m", "runvil", *arguments],
        capture_output=True,
        text=True,
        input=stdin,
        timeout=60,
        env={**cleaned, **(env or {})},
        check=False,
    )


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    file = tmp_path / "p.md"
    file.write_text(PROMPT.format("print('seen') return 'hello ' .. (args.who or 'nobody')"))
    return file


@pytest.mark.parametrize("how", [(), ("--untrusted",)])
def test_run_prints_the_result_and_nothing_else(prompt: Path, how: tuple[str, ...]) -> None:
    done = command("run", str(prompt), "--arg", "who=you=me", *how)
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello you=me\n", "")


def test_run_reads_stdin() -> None:
    assert command("run", "-", stdin=PROMPT.format("return 'in'")).stdout == "in\n"


@pytest.mark.parametrize(
    ("lua", "said"),
    [
        ("error('x')", "Lua: -:12: x\n"),
        ("tools.call('web/fetch', { url = 5 })", "Tool: tool call failure: web_fetch: missing url argument\n"),
        ("return = 1", "Parse: -:12:8: lua: unexpected symbol near '='\n"),
        ("while true do end", "Quota: the run's Lua used up its budget of steps or time\n"),
    ],
)  # fmt: skip
def test_a_failed_run_says_its_kind_and_exits_with_1(lua: str, said: str) -> None:
    done = command("run", "-", stdin=PROMPT.format(lua))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)


def test_a_prompt_that_wants_a_model_is_refused_without_one() -> None:
    text = PROMPT.format("return 1").replace("runvil: 0", "runvil: 0\nmodels: {r: {}}")
    done = command("run", "-", stdin=text)
    assert done.returncode == 1
    assert "- role 'r': this host provides no model" in done.stderr


@pytest.mark.parametrize(
    "arguments", [("/nowhere.md",), (), ("-", "--arg", "x"), ("-", "--provider", "no"), ("-", "--model", "m")]
)
def test_wrong_usage_exits_with_2(arguments: tuple[str, ...]) -> None:
    done = command("run", *arguments, stdin=PROMPT.format("return 1"))
    assert done.returncode in (1, 2) if arguments == ("/nowhere.md",) else done.returncode == 2


def test_a_trace_is_a_json_line_an_event(prompt: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    assert command("run", str(prompt), "--trace", str(trace)).returncode == 0
    events = [json.loads(line) for line in trace.read_text().splitlines()]
    assert [event["event"] for event in events] == ["run", "section", "section", "log", "end"]
    assert events[-1]["result"] == "hello nobody"


def test_check_names_file_line_and_column_and_goes_on(prompt: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.md"
    bad.write_text(PROMPT.format("return = 1"))
    latin = tmp_path / "latin.md"
    latin.write_bytes(b"---\n\xff")
    done = command("check", str(bad), str(prompt), str(latin))
    assert (done.returncode, done.stdout) == (1, f"{prompt}: ok\n")
    assert done.stderr == (
        f"Parse: {bad}:12:8: lua: unexpected symbol near '='\nParse: {latin}:2:1: file is not UTF-8\n"
    )
    assert command("check", str(prompt)).returncode == 0


def test_help_loads_none_of_the_extras() -> None:
    for name in ("run", "check"):
        script = (
            "import sys\nfor name in ('lupa', 'yaml', 'markdown_it', 'httpx2'): sys.modules[name] = None\n"
            f"from runvil.doors.cli import run\nsys.exit(run(['{name}', '--help']))"
        )
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr


def test_without_the_extra_it_is_said_how_to_get_it(prompt: Path) -> None:
    for name in (["run", str(prompt)], ["check", str(prompt)], ["run", "--untrusted", str(prompt)]):
        without = "import sys\nsys.modules['yaml'] = None\nfrom runvil.doors.cli import run\n"
        script = f"{without}sys.exit(run({name}))"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=False)
        assert (done.returncode, done.stdout) == (1, "")
        assert (
            done.stderr
            == "runvil: running prompts needs the extra `lua`: pip install 'runvil[lua]' (yaml is missing)\n"
        )


def test_the_model_comes_from_the_environment_or_by_name() -> None:
    env = {"RUNVIL_MODEL_URL": "https://m.example/v1", "RUNVIL_MODEL": "tide", "ANTHROPIC_API_KEY": "key-of-test"}
    assert from_environment(None, {}) is None
    assert isinstance(from_environment(None, env), OpenAICompatibleModel)
    assert isinstance(from_environment("anthropic/x", env), AnthropicModel)
    for name, given in (("m", {}), ("anthropic/m", {}), (None, {"RUNVIL_MODEL": "m"})):
        with pytest.raises(ConfigError, match="in the environment"):
            from_environment(name, given)


def test_progress_is_one_line_for_what_happened() -> None:
    lines: list[tuple[dict[str, Any], str | None]] = [
        ({"event": "section", "section": "A"}, "## A"),
        ({"event": "log", "text": "x"}, "x"),
        ({"event": "tool", "id": "web/fetch", "arguments": "{}", "outcome": "ok", "ms": 3.2}, "web/fetch {} ok, 3 ms"),
        ({"event": "round", "ms": 9.0, "tool_calls": [{"name": "f"}, {"name": "g"}]}, "model, 9 ms: f, g"),
        ({"event": "round", "ms": 9.0, "tool_calls": []}, "model, 9 ms: an answer"),
        ({"event": "round", "ms": 9.0, "error": "down"}, "model, 9 ms: down"),
        ({"event": "run"}, None),
    ]
    for event, line in lines:
        assert run_prompt._line(event) == line
