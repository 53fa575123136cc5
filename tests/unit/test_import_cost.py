"""What `import runvil` costs and what it gives: the public names on first use, and nothing else before."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pytest

import runvil

HEAVY = {
    "aiodns", "pycares", "ssl", "socket", "h11", "ada_url", "turbohtml", "asyncio", "click", "brotli", "webencodings",
    "certifi", "aiohappyeyeballs", "logging", "json", "dataclasses", "ipaddress", "concurrent.futures", "threading",
}  # fmt: skip

LIBRARIES = {"ada_url", "h11", "pycares", "brotli", "ssl", "asyncio", "aiohappyeyeballs", "webencodings"}
SERVERS = {"starlette", "uvicorn", "mcp", "lupa", "ray", "redis", "opentelemetry", "http.server", "socketserver"}

PUBLIC = {
    "ConfigError": "runvil.core.config",
    "FetchConfig": "runvil.core.config",
    "FetchFailure": "runvil.core.failures",
    "HostAddress": "runvil.core.config",
    "Page": "runvil.core.page",
    "SearchError": "runvil.core.failures",
    "SearchProvider": "runvil.ports",
    "SearchQuery": "runvil.core.results",
    "SearchResult": "runvil.core.results",
    "SearchResults": "runvil.core.results",
    "Tool": "runvil.tools",
    "ToolError": "runvil.tools",
    "ToolErrorKind": "runvil.core.failures",
    "ToolOutput": "runvil.tools",
    "WebFetch": "runvil.tools",
    "WebSearch": "runvil.tools",
    "fetch_sync": "runvil.sync",
}
"""The names of contract section 1, and where each is defined."""


def loaded_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter holds after `statement`, beyond those of a bare one."""
    script = (
        "import sys; before = set(sys.modules)\n"
        f"{statement}\n"
        "print('\\n' + repr(sorted(set(sys.modules) - before)).replace(\"'\", '\"'))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_importing_runvil_loads_no_library_and_no_loop() -> None:
    loaded = loaded_by("import runvil")
    assert "runvil" in loaded
    assert loaded & HEAVY == set()
    assert {name for name in loaded if name.startswith("runvil.")} == set()


def test_the_check_would_see_a_library() -> None:
    assert loaded_by("import runvil; runvil.WebFetch") >= LIBRARIES


def test_a_policy_can_be_built_without_the_network_stack() -> None:
    loaded = loaded_by("from runvil import FetchConfig, HostAddress, ConfigError, Page; FetchConfig()")
    assert loaded & {"asyncio", "ssl", "h11", "pycares", "turbohtml", "click"} == set()


def test_the_overview_of_the_command_needs_click_alone() -> None:
    loaded = loaded_by("from runvil.doors.cli import run; assert run(['--help']) == 0")
    assert "click" in loaded
    assert loaded & (LIBRARIES | SERVERS) == set()
    assert not {"runvil.tools", "runvil.fetch", "runvil.assemble"} & loaded


@pytest.mark.parametrize("command", ["fetch", "call"])
def test_a_commands_own_help_loads_no_server(command: str) -> None:
    loaded = loaded_by(f"from runvil.doors.cli import run; assert run(['{command}', '--help']) == 0")
    assert "runvil.tools" in loaded
    assert loaded & SERVERS == set()


def seconds_to(statement: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True, timeout=60)
    return time.perf_counter() - start


def ratio_of_starts(runs: int) -> float:
    """The start with `import runvil` over the bare one; the runs alternate, so that noise falls on both."""
    pairs = [(seconds_to("import runvil"), seconds_to("pass")) for _ in range(runs)]
    return statistics.median(a for a, _ in pairs) / statistics.median(b for _, b in pairs)


def test_importing_runvil_takes_at_most_twice_the_start_of_bare_python() -> None:
    """Up to three attempts: what is judged is the import, not what else the machine does meanwhile."""
    assert any(ratio_of_starts(5) <= 2 for _ in range(3))


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_name_is_what_it_says(name: str) -> None:
    value = getattr(runvil, name)
    assert value is getattr(import_module(PUBLIC[name]), name)
    assert value.__module__ == PUBLIC[name]
    assert value.__name__ == name


def test_a_first_use_leaves_the_name_in_place() -> None:
    vars(runvil).pop("Page", None)
    first = runvil.Page
    assert vars(runvil)["Page"] is first


def test_every_public_name_is_listed() -> None:
    assert set(PUBLIC) <= set(runvil.__all__)
    assert set(runvil.__all__) <= set(dir(runvil))
    assert "__version__" in dir(runvil)
    assert dir(runvil) == sorted(dir(runvil))


def test_a_name_that_is_not_public_is_an_attribute_error_as_of_any_module() -> None:
    with pytest.raises(AttributeError, match="module 'runvil' has no attribute 'fetch_async'"):
        _ = runvil.fetch_async


def test_a_star_import_gives_the_public_names_and_no_more() -> None:
    names: dict[str, object] = {}
    exec("from runvil import *", names)
    assert set(names) - {"__builtins__"} == set(runvil.__all__)


def test_the_package_says_that_it_is_typed() -> None:
    assert (Path(runvil.__file__).parent / "py.typed").exists()
