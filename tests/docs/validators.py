"""What cannot be run is read by whoever would read it: shell lines by the commands' own parsers, configurations by the
programs that they are for, drawings by what they draw."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import click

from bench import comparison_peers
from runvil.core.envelope import wrap
from runvil.doors.cli import cli
from runvil.gateway.app import Gateway
from runvil.gateway.config import read_config
from runvil.runtime.guest import compiled
from tests.docs.blocks import ROOT, Block
from tests.docs.tables import helps
from tests.unit.layers import EDGES, ROOMS

Validate = Callable[[Block], None]

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
SOURCES = "\n".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src").rglob("*.py")))

# --- the shell ---


def shell(block: Block) -> None:
    """Every command of every line is one that there is, with arguments that it takes."""
    for line in block.text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words:
            end = words.index("&&") if "&&" in words else len(words)
            command(words[:end])
            words = words[end + 1 :]


def command(words: Sequence[str]) -> None:
    name, *arguments = words
    if re.fullmatch(r"[A-Z_]+=.*", name):
        variable(name.partition("=")[0])
        return command(arguments) if arguments else None
    assert Path(name).name in WORDS, f"nothing checks the command {name}"
    WORDS[Path(name).name](arguments)
    return None


def variable(name: str) -> None:
    """Somebody reads it: the code, or the files in deploy/ and .ci/."""
    others = "".join((ROOT / path).read_text(encoding="utf-8") for path in ("deploy/compose.yaml", ".ci/full"))
    assert name in SOURCES + others, f"nobody reads {name}"


def runvil(arguments: Sequence[str]) -> None:
    accepted(cli, "runvil", arguments)


def accepted(group: click.Command, name: str, arguments: Sequence[str]) -> None:
    """The command takes these arguments."""
    if isinstance(group, click.Group) and arguments and not arguments[0].startswith("-"):
        inner = group.get_command(click.Context(group), arguments[0])
        assert inner is not None, f"{name} has no command {arguments[0]}"
        return accepted(inner, arguments[0], arguments[1:])
    with group.make_context(name, list(arguments)):
        return None


def pip(arguments: Sequence[str]) -> None:
    """It installs this project, with extras that it has, or what a benchmark names as a peer."""
    verb, *words = arguments
    assert verb == "install"
    for word in (word for word in words if not word.startswith("-")):
        project = re.fullmatch(r"(?:\.|runvil)(?:\[(.*)\])?", word)
        assert project or word in PEERS, f"what is {word}?"
        extras = (project[1] or "").split(",") if project else []
        assert [extra for extra in extras if extra and extra not in EXTRAS] == []


PEERS = {
    *("aiohttp", "aiodns", "httpx2"),
    *comparison_peers.ALSO,
    *(peer.package for peer in comparison_peers.PEERS.values()),
}
"""What pages have installed beside the project: bench/clients.py and bench/comparison_peers.py need them."""


def python(arguments: Sequence[str]) -> None:
    """A module of this project with options that it takes, a virtual environment, or pytest."""
    if arguments[0] != "-m":
        assert (ROOT / arguments[0]).is_file(), f"no file {arguments[0]}"
        return
    module, *options = arguments[1:]
    if module in ("venv", "pytest"):
        return
    found = import_module(module)
    if hasattr(found, "main"):
        accepted(found.main, module, options)


def claude(arguments: Sequence[str]) -> None:
    """`claude mcp add NAME -- COMMAND`."""
    assert list(arguments[:2]) == ["mcp", "add"]
    command(arguments[arguments.index("--") + 1 :])


def llm(arguments: Sequence[str]) -> None:
    """Its plugin is there, and the tool that -T names."""
    assert [entry.value for entry in entry_points(group="llm", name="runvil")] == ["runvil.doors.adapters.llm"]
    assert arguments[0] == "-T"
    assert arguments[1] in ("web_fetch", "web_search")


def docker(arguments: Sequence[str]) -> None:
    """The files it is given are there; the engine is not, so no image is built here."""
    files = [arguments[at + 1] for at, word in enumerate(arguments) if word == "-f"]
    assert files
    assert [name for name in files if not (ROOT / name).is_file()] == []


def a_file_of_the_repository(name: str) -> Callable[[Sequence[str]], None]:
    def check(arguments: Sequence[str]) -> None:
        assert (ROOT / name).is_file()

    return check


def mkdocs(arguments: Sequence[str]) -> None:
    """tests/docs/test_site.py runs it."""
    assert list(arguments) == ["build", "--strict"]


WORDS: Mapping[str, Callable[[Sequence[str]], None]] = {
    "runvil": runvil,
    "pip": pip,
    "python": python,
    "python3": python,
    "claude": claude,
    "llm": llm,
    "docker": docker,
    "mkdocs": mkdocs,
    "check": a_file_of_the_repository("scripts/check"),
    "full": a_file_of_the_repository(".ci/full"),
}
"""First word of a command -> what checks the others."""

# --- configurations ---

STDIO = {"type", "command", "args", "env", "timeout"}
HTTP = {"type", "url", "headers", "bearer_token_env_var"}
ROOTS = {"mcpServers", "servers", "context_servers", "mcp_servers"}
"""The members that MCP clients document, as read in their own documents in November 2026."""


def mcp_client(block: Block) -> None:
    """A client's configuration is of the documented form and asks for a command that there is."""
    read: Mapping[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads}
    ((root, servers),) = read[block.language](block.text).items()
    assert root in ROOTS
    for server in servers.values():
        assert set(server) <= (STDIO if "command" in server else HTTP)
        if "command" in server:
            assert (server["command"], server["args"][0]) == ("runvil", "mcp")
            accepted(cli, "runvil", server["args"])


ENVIRONMENT = {"RUNVIL_GATEWAY_API_KEY": "k" * 32, "BRAVE_SEARCH_API_KEY": "b" * 32}


def gateway(block: Block) -> None:
    """The gateway can serve it."""
    Gateway(read_config(block.text.encode(), ENVIRONMENT))


# --- help texts ---


def help_text(block: Block) -> None:
    """Some command prints it; that each has its own, under its name, is the page's test (test_generated.py)."""
    assert block.text.rstrip("\n") in dict(helps(cli, "runvil", None)).values()


# --- prompts ---


def prompt(block: Block) -> None:
    """`runvil check` takes it."""
    compiled(block.text, str(block))


def lua(block: Block) -> None:
    """It compiles as the block of a prompt."""
    compiled(f"---\nname: p\ndescription: d\nrunvil: 0\n---\n# P\n## A\n```lua\n{block.text}```\n", str(block))


def envelope(block: Block) -> None:
    """It is what the envelope puts around a text."""
    nonce = "0" * 32
    assert block.text.replace("{nonce}", nonce).rstrip("\n") == wrap("...", nonce)


# --- drawings ---

STEPS = ("parse", "admit", "lookup", "vet", "open", "follow", "plan", "read", "render")
VALUES = ("Url", "Admitted", "Route", "Head", "Plan", "Page", "ToolOutput")


def drawing(block: Block) -> None:
    """Either the walk, whose steps and values the code has, or the layers, as the layer test knows them."""
    if block.text.startswith("text --parse--> Url"):
        assert [name for name in STEPS if not re.search(rf"\b{name}\b", block.text)] == []
        assert [name for name in VALUES if f"class {name}" not in SOURCES or name not in block.text] == []
    else:
        assert drawn(block.text) == {room: _edges(room) for room in HOUSE}


HOUSE = {room.partition(".")[0] for room in ROOMS} - {"__main__", "batch"}
"""The rooms that are drawn: `batch` is not built."""


def _edges(room: str) -> set[str]:
    found = {edge.partition(".")[0] for one, edges in EDGES.items() if one.partition(".")[0] == room for edge in edges}
    return (found & HOUSE) - {room}


def drawn(text: str) -> dict[str, set[str]]:
    """A line a room: `room (of which) -> rooms (why)`; what stands after a colon is prose."""
    lines = (re.sub(r"\(.*?\)|:.*", "", line).partition("->") for line in text.splitlines())
    return {
        room.strip(): ({name.partition(".")[0] for name in re.findall(r"[a-z.]+", after)} & HOUSE) - {room.strip()}
        for room, _, after in lines
    }


VALIDATORS: Mapping[tuple[str, str], Validate] = {
    ("*", "sh"): shell,
    ("docs/mcp.md", "json"): mcp_client,
    ("docs/mcp.md", "toml"): mcp_client,
    ("docs/gateway.md", "toml"): gateway,
    ("docs/recipes/container.md", "toml"): gateway,
    ("docs/commands.md", "text"): help_text,
    ("docs/prompts.md", "markdown"): prompt,
    ("docs/prompts.md", "lua"): lua,
    ("docs/prompts.md", "text"): envelope,
    ("docs/architecture.md", "text"): drawing,
}
"""(page, language) -> how such a block is checked; "*" is any page. What is run is in session.py."""


def validator(block: Block) -> Validate | None:
    return VALIDATORS.get((block.page, block.language)) or VALIDATORS.get(("*", block.language))
