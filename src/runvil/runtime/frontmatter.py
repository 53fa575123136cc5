"""The YAML block at the head of a prompt file, read key by key (spec 3.2).

PyYAML's composer does the reading: it is the one YAML parser that is kept up, everywhere, and gives the place of every
node. Its constructors are not used at all. Nodes become values here, by the core tags alone: no object is ever made
from a tag, a date stays text, anchors and aliases (which make a small file a large one) and repeated keys are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runvil.runtime.errors import Place, RunError, RunErrorKind
from runvil.runtime.extras import of_the_extra

VERSION: Final = "0"
DEFAULT_ROUNDS: Final = 24
MOST_ROUNDS: Final = 1000

MAX_BYTES: Final = 64 * 1024
"""A frontmatter names some Packs and roles: longer is no frontmatter, and the parser is written in Python."""

MAX_DEPTH: Final = 16
"""Levels of YAML, its stream and document among them: a role's keywords are at six."""

_REFERENCE: Final = re.compile(r"[a-z0-9._-]+(?:/[a-z0-9._-]+)?")
_TAG: Final = "tag:yaml.org,2002:"
_HOUSE: Final = "runvil"


@dataclass(frozen=True, slots=True)
class Role:
    """What a prompt says of a model it wants. min_context: tokens that must fit, 0 for any."""

    label: str
    keywords: tuple[str, ...] = ()
    min_context: int = 0
    description: str = ""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """uses: full names, vendor/pack, in the order of the file without exact repeats."""

    name: str
    description: str
    uses: tuple[str, ...] = ()
    models: tuple[Role, ...] = ()
    max_tool_iterations: int = DEFAULT_ROUNDS


@dataclass(frozen=True, slots=True)
class _Node:
    """A YAML value with its place. value: str, int, bool, None, a list of _Node, or a map of _Node."""

    value: Any
    place: Place
    text: str = ""  # a scalar as it is written
    keys: Mapping[str, Place] = field(default_factory=dict)


def read(text: str, file: str, first_line: int) -> Frontmatter:
    """Read the lines between the delimiters. first_line: the file's number of the first. Raises RunError."""
    root = _Reader(file, first_line).root(text)
    if root.value is None or (isinstance(root.value, dict) and "runvil" not in root.value):
        raise RunError(RunErrorKind.PARSE, "not a runvil prompt: no runvil version", root.place)
    if not isinstance(root.value, dict):
        raise _bad(root, "expected a map of keys")
    _check_version(root.value["runvil"])
    _check_keys(root, tuple(_KEYS))
    values = {name: convert(root.value[name]) for name, convert in _KEYS.items() if name in root.value}
    for name in ("name", "description"):
        if name not in values:
            raise _bad(root, f"missing field `{name}`")
    del values["runvil"]
    return Frontmatter(**values)


def _check_version(node: _Node) -> None:
    if not isinstance(node.value, int | float) or isinstance(node.value, bool):
        raise _bad(node, "`runvil` must be a number")
    if node.text != VERSION:
        raise RunError(
            RunErrorKind.VERSION, f"unsupported runvil version: {node.text} (this build supports major 0)", node.place
        )


def _check_keys(node: _Node, known: Sequence[str]) -> None:
    for key, place in node.keys.items():
        if key not in known:
            names = ", ".join(f"`{name}`" for name in known)
            raise _bad(_Node(None, place), f"unknown field `{key}`, expected one of {names}")


def _bad(node: _Node, detail: str) -> RunError:
    return RunError(RunErrorKind.PARSE, f"invalid frontmatter: {detail}", node.place)


def _string(what: str) -> Callable[[_Node], str]:
    def convert(node: _Node) -> str:
        if not isinstance(node.value, str):
            raise _bad(node, f"`{what}` must be a string")
        return node.value

    return convert


def _integer(what: str, least: int, most: int) -> Callable[[_Node], int]:
    def convert(node: _Node) -> int:
        if type(node.value) is not int or not least <= node.value <= most:
            raise _bad(node, f"`{what}` must be an integer from {least} to {most}")
        return node.value

    return convert


def _uses(node: _Node) -> tuple[str, ...]:
    if not isinstance(node.value, list):
        raise _bad(node, "`uses` must be a list of Packs")
    found: dict[str, str] = {}
    for item in node.value:
        if not isinstance(item.value, str) or not _REFERENCE.fullmatch(item.value):
            raise _bad(item, "an entry of `uses` must be a Pack id or vendor/pack, of a-z 0-9 - _ .")
        name = full_name(item.value)
        if found.setdefault(pack_id(name), name) != name:
            raise _bad(item, f"`uses` names two Packs with the id {pack_id(name)}")
    return tuple(found.values())


def full_name(reference: str) -> str:
    return reference if "/" in reference else f"{_HOUSE}/{reference}"


def pack_id(name: str) -> str:
    return name.rpartition("/")[2]


def reference(name: str) -> str:
    """A Pack as messages name it: by its id alone when it is the house's own."""
    return pack_id(name) if name.startswith(f"{_HOUSE}/") else name


def _models(node: _Node) -> tuple[Role, ...]:
    if not isinstance(node.value, dict):
        raise _bad(node, "`models` must be a map of roles")
    return tuple(_role(label, entry) for label, entry in node.value.items())


def _role(label: str, node: _Node) -> Role:
    if node.value is None:
        return Role(label)
    if not isinstance(node.value, dict):
        raise _bad(node, f"the role `{label}` must be a map")
    _check_keys(node, tuple(_ROLE_KEYS))
    return Role(
        label, **{name: convert(node.value[name]) for name, convert in _ROLE_KEYS.items() if name in node.value}
    )


def _keywords(node: _Node) -> tuple[str, ...]:
    if not isinstance(node.value, list) or not all(isinstance(item.value, str) for item in node.value):
        raise _bad(node, "`keywords` must be a list of strings")
    return tuple(item.value for item in node.value)


_KEYS: Final[Mapping[str, Callable[[_Node], Any]]] = {
    "name": _string("name"),
    "description": _string("description"),
    "runvil": lambda node: node.value,
    "uses": _uses,
    "models": _models,
    "max_tool_iterations": _integer("max_tool_iterations", 1, MOST_ROUNDS),
}
"""Every key there is; any other fails the parse."""

_ROLE_KEYS: Final[Mapping[str, Callable[[_Node], Any]]] = {
    "keywords": _keywords,
    "min_context": _integer("min_context", 0, 2**31),
    "description": _string("description"),
}

_SCALARS: Final[Mapping[str, Callable[[str], Any]]] = {
    "str": str,
    "null": lambda _: None,
    "bool": lambda text: text.lower() in ("true", "yes", "on"),
    "int": lambda text: int(text) if re.fullmatch(r"[-+]?(?:0|[1-9][0-9]{0,17})", text) else text,
    "float": lambda text: float(text) if re.fullmatch(r"[-+]?[0-9]{1,18}\.[0-9]{0,18}", text) else text,
    "timestamp": str,
}
"""Core tags -> the value. Octal, base sixty, underscores and what else YAML 1.1 knows for numbers is text."""


class _Reader:
    def __init__(self, file: str, first_line: int) -> None:
        self._file = file
        self._first_line = first_line

    def root(self, text: str) -> _Node:
        with of_the_extra():
            import yaml  # noqa: PLC0415
        if len(text.encode("utf-8", "replace")) > MAX_BYTES:
            raise self._failed(f"longer than {MAX_BYTES} bytes")
        try:
            self._check(yaml.parse(text, Loader=yaml.SafeLoader))
            root = yaml.compose(text, Loader=yaml.SafeLoader)
        except yaml.MarkedYAMLError as error:
            raise self._failed(error.problem or "not YAML", error.problem_mark) from error
        except (yaml.YAMLError, RecursionError, ValueError) as error:
            raise self._failed("not YAML") from error
        if root is None:
            return _Node(None, Place(self._file, self._first_line))
        return self._node(root)

    def _check(self, events: Iterable[Any]) -> None:
        """Before the composer sees it: depth, which costs the scanner quadratic time, and anchors."""
        depth = 0
        for event in events:
            name = type(event).__name__
            depth += name.endswith("StartEvent") - name.endswith("EndEvent")
            if depth > MAX_DEPTH:
                raise self._failed("nested too deep", event.start_mark)
            if getattr(event, "anchor", None) is not None:
                raise self._failed("anchors and aliases are not supported", event.start_mark)

    def _node(self, node: Any) -> _Node:
        place = self._place(node.start_mark)
        kind = node.tag.removeprefix(_TAG)
        match node.id, kind:
            case "scalar", _ if kind in _SCALARS:
                return _Node(_SCALARS[kind](node.value), place, node.value)
            case "sequence", "seq":
                return _Node([self._node(item) for item in node.value], place)
            case "mapping", "map":
                return self._map(node, place)
        raise self._failed(f"tag {node.tag} is not supported", node.start_mark)

    def _map(self, node: Any, place: Place) -> _Node:
        values: dict[str, _Node] = {}
        keys: dict[str, Place] = {}
        for key_node, value_node in node.value:
            key = self._node(key_node)
            if not isinstance(key.value, str):
                raise self._failed("a key must be a string", key_node.start_mark)
            if key.value in values:
                raise self._failed(f"duplicate field `{key.value}`", key_node.start_mark)
            values[key.value] = self._node(value_node)
            keys[key.value] = key.place
        return _Node(values, place, keys=keys)

    def _place(self, mark: Any) -> Place:
        line, column = (mark.line, mark.column) if mark is not None else (0, 0)
        return Place(self._file, self._first_line + line, column + 1)

    def _failed(self, detail: str, mark: Any = None) -> RunError:
        return RunError(RunErrorKind.PARSE, f"invalid frontmatter: {detail}", self._place(mark))
