"""The house's layers as data, and the checker that reads imports off the syntax trees (architecture section 3).

Each rule takes a house, `{module: source}`, and returns its complaints. Imports inside functions, under TYPE_CHECKING
and by name through `import_module` count like any other.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

House = Mapping[str, str]

FACE = "runvil"

ROOMS: tuple[str, ...] = (
    "core", "extract", "ports", "budget", "fetch", "search", "tools", "sync", "assemble", "trust", "net", "providers",
    "runtime", "gateway", "doors", "doors.cli", "doors.mcp", "doors.adapters", "batch", "testing", "__main__",
)  # fmt: skip
"""Every module belongs to the longest of these that its name begins with; `runvil/__init__` is the face."""

_DOORS = ("tools", "testing", "assemble", "runtime", "gateway", "batch", "providers", "extract", "core", "doors", FACE)

EDGES: Mapping[str, tuple[str, ...]] = {
    FACE: ("core", "ports", "tools", "sync", "search", "providers"),
    "__main__": ("doors", "doors.cli"),
    "doors": ("core",),
    "doors.cli": (*_DOORS, "doors.cli", "doors.mcp"),
    "doors.mcp": (*_DOORS, "doors.mcp"),
    "doors.adapters": (*_DOORS, "doors.adapters"),
    "batch": ("tools", "assemble", "core", "batch"),
    "runtime": ("tools", "assemble", "trust", "core", "runtime"),
    "gateway": ("providers", "ports", "core", "gateway"),
    "sync": ("tools", "core"),
    "tools": ("assemble", "fetch", "search", "ports", "core"),
    "assemble": ("net", "providers", "trust", "ports", "core"),
    "fetch": ("budget", "ports", "core"),
    "search": ("ports", "core"),
    "budget": (),
    "trust": ("core",),  # who is believed is one question, whether a fetch or a search asks it
    "net": ("trust", "ports", "core", "net"),
    "providers": ("trust", "ports", "core", "providers"),
    "testing": ("ports", "core", "testing"),
    # beyond the plan's list: core.page defines the room's answer, core.frames what its worker says to the parent
    "extract": ("core.url", "core.content", "core.failures", "core.page", "core.frames", "extract"),
    "ports": ("core",),
    "core": ("core",),
}
"""room -> what it may import, rooms or modules of a room. `doors.cli` starts the MCP door as its command."""

CORE_STDLIB = frozenset({
    "__future__", "collections", "dataclasses", "enum", "functools", "ipaddress", "itertools", "json", "math", "re",
    "typing", "zlib",
})  # fmt: skip
"""All that core may take from the standard library: nothing that does I/O, waits, tells the time or guesses."""

CORE_BEYOND_THE_PLAN: Mapping[str, str] = {
    "codecs": "the type and the incremental form of the decoders that webencodings names",
    "html": "the tag-stripper of last resort needs the names of the character references",
}
"""What core takes beyond the plan's list, each pure, each with its reason; anything else is a complaint."""

LIBRARIES: Mapping[str, tuple[str, ...]] = {
    "ada_url": ("core",),
    "brotli": ("core",),
    "webencodings": ("core",),
    "turbohtml": ("extract",),
    "aiohappyeyeballs": ("net",),
    "certifi": ("trust",),
    "h11": ("net", "providers"),
    "httpx2": ("providers", "runtime"),
    "pycares": ("net",),
    "click": ("doors.cli",),
    "mcp": ("doors.mcp",),
    "mcp_types": ("doors.mcp",),
    "anyio": ("doors.mcp",),
    "agents": ("doors.adapters",),
    "haystack": ("doors.adapters",),
    "langchain_core": ("doors.adapters",),
    "llama_index": ("doors.adapters",),
    "llm": ("doors.adapters",),
    "pydantic_ai": ("doors.adapters",),
    "smolagents": ("doors.adapters",),
    "prometheus_client": ("gateway",),
    "redis": ("gateway",),
    "starlette": ("gateway", "doors.mcp"),
    "uvicorn": ("gateway", "doors.mcp"),
    "opentelemetry": ("gateway",),
    "lupa": ("runtime",),
    "markdown_it": ("runtime",),
    "yaml": ("runtime",),
    "ray": ("batch",),
    "pyarrow": ("batch",),
}
"""Third-party import -> the rooms that may hold it. What is not here is in no room."""

RESERVED: Mapping[str, tuple[str, ...]] = {
    "socket": ("net", "testing"),
    "ssl": ("net", "assemble", "testing", "trust"),
    "subprocess": ("net", "batch"),
    "multiprocessing": (),
    "pickle": (),
    "urllib": (),  # a second parser, a second client, proxies from the environment
    "http": (),
    "netrc": (),
}
"""Standard modules that only these rooms may import."""

SANCTIONED = frozenset({FACE, "runvil.providers", "runvil.doors.cli", "runvil.doors.mcp"})
"""Modules that may load our own ones late: public names on first use, a command when it is asked for, and the MCP door
when it is served, so that `runvil mcp --help` needs no SDK."""


@dataclass(frozen=True, slots=True)
class Import:
    """source imports target, both full module names. late: inside a function, or by name."""

    source: str
    target: str
    line: int
    late: bool = False

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target}"


def house_at(root: Path) -> dict[str, str]:
    """The sources below a package directory."""
    return {_module_name(root, path): path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}


def _module_name(root: Path, path: Path) -> str:
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(house: House) -> list[Import]:
    return [found for module, source in house.items() for found in _imports_of(module, ast.parse(source), house)]


def _imports_of(module: str, tree: ast.Module, house: House) -> Iterator[Import]:
    late = {id(node) for function in ast.walk(tree) if _is_function(function) for node in ast.walk(function)}
    for node in ast.walk(tree):
        for target in _targets(module, node, house):
            yield Import(module, target, getattr(node, "lineno", 0), id(node) in late)
    if _loads_by_name(tree):
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in house:
                yield Import(module, node.value, node.lineno, late=True)


def _is_function(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)


def _loads_by_name(tree: ast.Module) -> bool:
    named = (getattr(node, "id", getattr(node, "attr", None)) for node in ast.walk(tree))
    aliased = (alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names)
    return bool({"import_module", "__import__"} & {*named, *aliased})


def _targets(module: str, node: ast.AST, house: House) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = _base(module, node, house)
        return [full if (full := f"{base}.{alias.name}") in house else base for alias in node.names]
    return []


def _base(module: str, node: ast.ImportFrom, house: House) -> str:
    if node.level == 0:
        return node.module or ""
    is_package = any(other.startswith(f"{module}.") for other in house)
    parts = module.split(".")[: None if (up := node.level - is_package) == 0 else -up]
    return ".".join([*parts, *([node.module] if node.module else [])])


def room_of(module: str) -> str | None:
    if module == FACE:
        return FACE
    name = module.removeprefix(f"{FACE}.")
    return max((room for room in ROOMS if _within(name, room)), key=len, default=None)


def _within(name: str, room: str) -> bool:
    return name == room or name.startswith(f"{room}.")


def _is_ours(name: str) -> bool:
    return _within(name, FACE)


def homeless_modules(house: House) -> list[str]:
    """Modules in no room."""
    return [f"{module} belongs to no room" for module in house if room_of(module) is None]


def forbidden_edges(house: House) -> list[str]:
    """Imports of our own modules that the table does not hold."""
    return [str(found) for found in imports(house) if _is_ours(found.target) and not _allowed(found)]


def _allowed(found: Import) -> bool:
    room = room_of(found.source)
    if room is None:
        return False
    if found.target == FACE:
        return FACE in EDGES[room]
    name = found.target.removeprefix(f"{FACE}.")
    return room_of(found.target) in EDGES[room] or any(_within(name, one) for one in EDGES[room] if one not in ROOMS)


def cycles(house: House) -> list[str]:
    """Import cycles, late imports included; each as its modules, once."""
    graph: dict[str, set[str]] = {module: set() for module in house}
    for found in imports(house):
        if found.target in house:
            graph[found.source].add(found.target)
    reach = {module: _reachable(graph, module) for module in graph}
    rings = {frozenset({m, *(o for o in reach[m] if m in reach[o])}) for m in graph if m in reach[m]}
    return sorted(" <-> ".join(sorted(ring)) for ring in rings)


def _reachable(graph: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = list(graph[start])
    while waiting:
        if (module := waiting.pop()) not in found:
            found.add(module)
            waiting.extend(graph[module])
    return found


def late_imports(house: House) -> list[str]:
    """Our own modules imported inside functions or by name, outside the sanctioned places."""
    late = [found for found in imports(house) if found.late and _is_ours(found.target)]
    return [f"{found} late" for found in late if found.source not in SANCTIONED]


def foreign_imports(house: House) -> list[str]:
    """Third-party imports outside the rooms that hold them, and standard modules outside the rooms they are kept to."""
    return [str(found) for found in imports(house) if not _is_ours(found.target) and not _may_hold(found)]


def _may_hold(found: Import) -> bool:
    library = found.target.partition(".")[0]
    room = room_of(found.source)
    if room == "core" and library in sys.stdlib_module_names:
        return library in CORE_STDLIB or library in CORE_BEYOND_THE_PLAN
    if library in sys.stdlib_module_names:
        return room in RESERVED.get(library, (room,))
    return room in LIBRARIES.get(library, ())


def clashing_names(house: House) -> list[str]:
    """Submodules named like a public function or class of a package: the import would shadow it."""
    public = {(package, name) for package, source in house.items() for name in _public(ast.parse(source))}
    return [
        f"{package}.{name} is a module and a public name" for package, name in public if f"{package}.{name}" in house
    ]


def _public(tree: ast.Module) -> list[str]:
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def eager_face(house: House) -> list[str]:
    """Our own modules that the face imports outright, rather than on first use or for the type checker."""
    tree = ast.parse(house[FACE])
    typing_only = {id(n) for node in tree.body if _guards_typing(node) for n in ast.walk(node)}
    bare = [node for node in tree.body if id(node) not in typing_only]
    found = (replace(i, late=False) for i in _imports_of(FACE, ast.Module(bare, []), house) if not i.late)
    return [str(each) for each in found if _is_ours(each.target)]


def _guards_typing(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
