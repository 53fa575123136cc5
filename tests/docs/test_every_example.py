"""Every fenced block of every document is run or checked; what nothing knows how to check fails here."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tests.docs import session, world
from tests.docs.blocks import PAGES, Block, blocks, name_of, read, stray_fences, text_of
from tests.docs.validators import validator

NAMES = [name_of(page) for page in PAGES]
ALL = [block for name in NAMES for block in blocks(name)]
RUN = (*session.RUNNERS, "output")

PLAYED = [name for name in NAMES if any(block.language in session.RUNNERS for block in blocks(name))]
CHECKED = [block for block in ALL if block.language not in RUN and not block.title]


@pytest.mark.parametrize("name", PLAYED)
def test_the_examples_of_a_page_run_and_print_what_the_page_says(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, own_background: None, capfd: pytest.CaptureFixture[str]
) -> None:
    world.enter(monkeypatch, tmp_path)
    wrong = session.play(list(blocks(name)), capfd)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("block", CHECKED, ids=str)
def test_what_is_not_run_is_checked(block: Block, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    check = validator(block)
    assert check is not None, f"nothing knows how to check a block of {block.language or 'no language'}"
    monkeypatch.chdir(tmp_path)
    check(block)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_holds_no_fence_that_is_not_seen(name: str) -> None:
    assert stray_fences(text_of(name)) == []


def test_an_output_belongs_to_a_program() -> None:
    """Nothing else is compared with it."""
    wrong = [
        str(block)
        for name in NAMES
        for before, block in zip([None, *blocks(name)], blocks(name), strict=False)
        if block.language == "output" and (before is None or before.language != "python")
    ]
    assert wrong == []


def test_a_title_is_a_file_of_the_pages_own_directory() -> None:
    assert [block.title for block in ALL if block.title and Path(block.title).name != block.title] == []


def test_there_is_something_to_run() -> None:
    assert sum(block.language == "python" for block in ALL) > 20
    assert sum(block.language == "console" for block in ALL) > 20


# --- the reader of examples, tried on pages of its own ---


def test_a_block_of_an_unknown_language_has_no_check() -> None:
    (block,) = read("docs/other.md", "```cobol\nSTOP RUN.\n```\n")
    assert validator(block) is None


def test_a_program_that_prints_something_else_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    world.enter(monkeypatch, tmp_path)
    page = "```python\nprint(1)\n```\n\n```output\n2\n```\n```console\n$ runvil fetch https://127.1/\nsomething\n```\n"
    wrong = session.play(list(read("page.md", page)), capfd)
    assert [line.partition(" ")[0] for line in wrong] == ["page.md:1:", "page.md:8:"]
    assert "ip literal host not allowed: 127.0.0.1" in wrong[1]


def test_an_indented_fence_is_told() -> None:
    assert stray_fences("- item\n\n  ```sh\n  rm\n  ```\n") == ["  ```sh", "  ```"]


@pytest.mark.parametrize(
    ("said", "printed", "right"),
    [
        ("a\n", "a\n", True),
        ("a\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\nc\n", True),
        ("a\n...\nc\n", "a\nc\n", True),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("a…b\n", "axxb\n", True),
        ("a…\n", "b\n", False),
        ("", "b\n", False),
    ],
)
def test_what_is_printed_is_compared_line_by_line(said: str, printed: str, right: bool) -> None:
    assert session.matches(said, printed) is right


@pytest.mark.parametrize(
    "line",
    ["runvil fetch --no-such-option https://example.com/", "runvil fetsch x", "pip install '.[no-such-extra]'",
     "pip install left-pad", "python -m bench.no_such", "curl https://example.com/", "RUNVIL_NO_SUCH=1 runvil demo"],
)  # fmt: skip
def test_a_shell_line_that_would_fail_is_told(line: str) -> None:
    (block,) = read("docs/other.md", f"```sh\n{line}\n```\n")
    check = validator(block)
    assert check is not None
    with pytest.raises((AssertionError, click.UsageError, ModuleNotFoundError)):
        check(block)
