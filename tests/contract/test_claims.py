"""The claims manifest, both ways: every rule has a test that keeps it, and no test keeps a rule that is not there."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
TESTS = HERE.parent
MANIFEST = tomllib.loads((HERE / "claims.toml").read_text(encoding="utf-8"))

CLAIMS = {
    (chapter, section, name): sentence
    for chapter, sections in MANIFEST.items()
    for section, rules in sections.items()
    for name, sentence in rules.items()
}
IDS = [name for _, _, name in CLAIMS]

COLLECT = """
import json, sys, pytest
class Collected:
    def pytest_collection_finish(self, session):
        held = [(item.nodeid, mark.args) for item in session.items for mark in item.iter_markers("claim")]
        barred = [i.nodeid for i in session.items for m in i.iter_markers() if m.name in ("skip", "skipif", "xfail")]
        print(json.dumps([held, barred]))
status = pytest.main(["--collect-only", "-qq", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[Collected()])
sys.exit(int(status))
"""


@pytest.fixture(scope="module")
def collected() -> tuple[list[tuple[str, list[str]]], list[str]]:
    """The tests of this directory as pytest collects them: (test, claim), and those that might not run."""
    done = subprocess.run(
        [sys.executable, "-c", COLLECT, str(HERE)],
        cwd=TESTS.parent,
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    held, barred = next(json.loads(line) for line in done.stdout.splitlines() if line.startswith("[["))
    return held, barred


def test_every_claim_is_kept_by_a_test(collected: tuple[list[tuple[str, list[str]]], list[str]]) -> None:
    held, barred = collected
    kept = {claim for node, claims in held if node not in barred for claim in claims}
    assert sorted(set(IDS) - kept) == []


def test_every_mark_names_one_claim_that_exists(collected: tuple[list[tuple[str, list[str]]], list[str]]) -> None:
    held, _ = collected
    assert len(held) > len(IDS)
    assert [(node, claims) for node, claims in held if len(claims) != 1 or claims[0] not in IDS] == []


def marks_in(source: str) -> Iterator[str]:
    """The ids of every `claim("...")` in a source text."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == "claim":
            yield from (str(argument.value) for argument in node.args if isinstance(argument, ast.Constant))


def test_marks_elsewhere_in_the_tests_name_claims_that_exist() -> None:
    marks = {(path.name, name) for path in TESTS.rglob("*.py") for name in marks_in(path.read_text(encoding="utf-8"))}
    assert [(file, name) for file, name in sorted(marks) if name not in IDS] == []


def test_the_search_for_marks_finds_them() -> None:
    assert list(marks_in('@claim("a.b")\n@pytest.mark.claim("c.d")\ndef f(): other("e")')) == ["a.b", "c.d"]


def test_an_id_is_given_once_and_begins_with_its_chapter() -> None:
    prefixes = {"web-pack": "pack.", "web-fetch": "fetch."}
    assert len(IDS) == len(set(IDS)) > 150
    assert [name for chapter, _, name in CLAIMS if not name.startswith(prefixes[chapter])] == []


def test_every_claim_is_a_sentence() -> None:
    assert [sentence for sentence in CLAIMS.values() if len(sentence) < 20 or sentence[-1] != "."] == []
