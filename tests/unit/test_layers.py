"""Who may import whom (architecture section 3): over the real sources, and over small ones that break each rule."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path

import pytest

import runvil
from tests.unit import layers
from tests.unit.layers import EDGES, FACE, ROOMS, House

SOURCES = Path(runvil.__file__).parent
HOUSE = layers.house_at(SOURCES)

Rule = Callable[[House], list[str]]

RULES: list[Rule] = [
    layers.homeless_modules,
    layers.forbidden_edges,
    layers.cycles,
    layers.late_imports,
    layers.foreign_imports,
    layers.clashing_names,
    layers.eager_face,
]


@pytest.mark.parametrize("rule", RULES)
def test_the_house_keeps_the_rule(rule: Rule) -> None:
    assert rule(HOUSE) == []


def test_the_whole_house_is_read() -> None:
    assert {"runvil", "runvil.core.url", "runvil.net.transport", "runvil.doors.cli.fetch"} <= set(HOUSE)
    assert len(layers.imports(HOUSE)) > 100


def test_every_room_has_a_row_and_every_row_a_room() -> None:
    assert set(EDGES) == {*ROOMS, FACE}


def test_adapters_and_mcp_and_batch_and_runtime_and_net_and_providers_never_meet() -> None:
    for one, other in (("doors.adapters", "doors.mcp"), ("batch", "runtime"), ("net", "providers")):
        assert other not in EDGES[one]
        assert one not in EDGES[other]


def test_the_walk_and_the_rules_know_no_implementation() -> None:
    for room in ("core", "ports", "fetch", "search", "budget", "extract", "testing"):
        assert not {"net", "assemble", "tools"} & set(EDGES[room])


def test_the_face_loads_late_what_it_names_for_the_type_checker() -> None:
    """What a reader of the types sees is what a program gets."""
    named = {
        (alias.name, node.module)
        for node in ast.walk(ast.parse(HOUSE[FACE]))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runvil.")
        for alias in node.names
    }
    assert named == set(runvil._HOMES.items())
    assert sorted(runvil._HOMES) == sorted(runvil.__all__)


BROKEN: list[tuple[Rule, dict[str, str], str]] = [
    (layers.homeless_modules, {"runvil.attic": ""}, "runvil.attic"),
    (layers.homeless_modules, {"runvil.corer": ""}, "runvil.corer"),
    (layers.forbidden_edges, {"runvil.core.url": "import runvil.net.wire"}, "runvil.net.wire"),
    (layers.forbidden_edges, {"runvil.core.url": "from runvil import net", "runvil.net": ""}, "runvil.net"),
    (layers.forbidden_edges, {"runvil.core.url": "from ..net import wire", "runvil.net.wire": ""}, "runvil.net.wire"),
    (layers.forbidden_edges, {"runvil.core": "from .. import net", "runvil.core.url": "", "runvil.net": ""}, "net"),
    (layers.forbidden_edges, {"runvil.fetch": "def f():\n from runvil.net import wire"}, "runvil.fetch:2"),
    (layers.forbidden_edges, {"runvil.fetch": "if TYPE_CHECKING:\n import runvil.assemble"}, "runvil.assemble"),
    (layers.forbidden_edges, {"runvil.net.workers": "from runvil.extract import render"}, "runvil.extract"),
    (layers.forbidden_edges, {"runvil.extract.page": "from runvil.core.config import FetchConfig"}, "core.config"),
    (
        layers.forbidden_edges,
        {"runvil.extract.page": "from runvil.core import calls", "runvil.core.calls": ""},
        "calls",
    ),
    (layers.forbidden_edges, {"runvil.tools": "from runvil import WebFetch"}, "imports runvil"),
    (layers.forbidden_edges, {"runvil.budget": "from runvil.core.url import Url"}, "runvil.core.url"),
    (layers.forbidden_edges, {"runvil.doors.mcp": "import runvil.doors.adapters.x"}, "runvil.doors.adapters.x"),
    (layers.forbidden_edges, {"runvil.net.a": "import_module('runvil.fetch')", "runvil.fetch": ""}, "runvil.fetch"),
    (layers.cycles, {"runvil.core.a": "import runvil.core.b", "runvil.core.b": "import runvil.core.a"}, "a <-> "),
    (
        layers.cycles,
        {
            "runvil.core.a": "import runvil.core.b",
            "runvil.core.b": "def f():\n import runvil.core.c",
            "runvil.core.c": "if TYPE_CHECKING:\n from runvil.core.a import A",
        },
        "runvil.core.a <-> runvil.core.b <-> runvil.core.c",
    ),
    (
        layers.cycles,
        {
            "runvil.core.a": "from importlib import import_module\nX = 'runvil.core.b'",
            "runvil.core.b": "import runvil.core.a",
        },
        "runvil.core.a <-> runvil.core.b",
    ),
    (layers.late_imports, {"runvil.fetch": "def f():\n from runvil.core.url import parse"}, "runvil.core.url"),
    (layers.late_imports, {"runvil.tools": "importlib.import_module('runvil.fetch')", "runvil.fetch": ""}, "fetch"),
    (layers.foreign_imports, {"runvil.core.url": "import socket"}, "socket"),
    (layers.foreign_imports, {"runvil.core.url": "def f():\n import os.path"}, "os.path"),
    (layers.foreign_imports, {"runvil.core.url": "from logging import getLogger"}, "logging"),
    (layers.foreign_imports, {"runvil.core.url": "import h11"}, "h11"),
    (layers.foreign_imports, {"runvil.net.pool": "import brotli"}, "brotli"),
    (layers.foreign_imports, {"runvil.fetch": "import requests"}, "requests"),
    (layers.foreign_imports, {"runvil.fetch": "import ssl"}, "ssl"),
    (layers.foreign_imports, {"runvil.net.transport": "import urllib.request"}, "urllib.request"),
    (layers.foreign_imports, {"runvil.doors.cli.fetch": "import mcp"}, "mcp"),
    (layers.clashing_names, {"runvil": "__all__ = ['fetch']", "runvil.fetch": ""}, "runvil.fetch"),
    (layers.clashing_names, {"runvil.extract": "__all__ = ['render']", "runvil.extract.render": ""}, "extract.render"),
    (layers.eager_face, {"runvil": "from runvil.tools import WebFetch", "runvil.tools": ""}, "runvil.tools"),
]


@pytest.mark.parametrize(("rule", "house", "complaint"), BROKEN)
def test_a_house_that_breaks_the_rule_is_told(rule: Rule, house: dict[str, str], complaint: str) -> None:
    complaints = rule(house)
    assert len(complaints) == 1
    assert complaint in complaints[0]


SOUND: House = {
    "runvil": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n from runvil.tools import WebFetch\n"
        "__all__ = ['WebFetch']\n"
        "def __getattr__(n):\n from importlib import import_module\n return import_module('runvil.tools')"
    ),
    "runvil.tools": "from runvil import assemble\nfrom runvil.core.url import parse",
    "runvil.assemble": "from runvil.net import wire\nimport ssl",
    "runvil.net": "",
    "runvil.net.wire": "from . import pool\nimport socket, h11\ndef f():\n import pycares",
    "runvil.net.pool": "import asyncio",
    "runvil.core": "",
    "runvil.core.url": "import ada_url\nfrom collections.abc import Iterable",
    "runvil.doors": "",
    "runvil.doors.cli": "from runvil import __version__\nimport click",
}


@pytest.mark.parametrize("rule", RULES)
def test_a_sound_house_is_left_in_peace(rule: Rule) -> None:
    assert rule(SOUND) == []


def test_nothing_is_excused_that_nobody_needs() -> None:
    taken = {found.target for found in layers.imports(HOUSE) if layers.room_of(found.source) == "core"}
    assert set(layers.CORE_BEYOND_THE_PLAN) <= taken


def test_every_rule_is_shown_to_fail() -> None:
    assert {rule for rule, _, _ in BROKEN} == set(RULES)
