"""What a prompt file is: every way to be none is told with its place, before anything of it runs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runvil.runtime import RunError, RunErrorKind
from runvil.runtime.guest import compiled
from runvil.runtime.prompt import MAX_CHARS, decoded, parse
from tests.runtime.support import failure, text_host, within

HEAD = "---\nname: p\ndescription: d\nrunvil: 0\n---\n"
BODY = "\n# P\n\n## A\n\n```lua\nreturn 'x'\n```\n"


def head(*lines: str) -> str:
    return "---\n" + "\n".join(lines) + "\n---\n" + BODY


GOOD = ("name: p", "description: d", "runvil: 0")

UNKNOWN = (
    "invalid frontmatter: unknown field `plugins`, expected one of `name`, `description`, `runvil`, `uses`, `models`, "
    "`max_tool_iterations`"
)

BROKEN: list[tuple[str, str, int, int]] = [
    # text, message, line, column
    ("", "file must begin with a --- frontmatter delimiter", 1, 1),
    ("\n---\n", "file must begin with a --- frontmatter delimiter", 1, 1),
    ("----\nname: x\n----\n", "file must begin with a --- frontmatter delimiter", 1, 1),
    ("---\nname: x\n", "frontmatter was not closed with ---", 3, 1),
    ("---\n---\n" + BODY, "not a runvil prompt: no runvil version", 2, 1),
    (head("name: p", "description: d"), "not a runvil prompt: no runvil version", 2, 1),
    (head("- a"), "invalid frontmatter: expected a map of keys", 2, 1),
    (head("description: d", "runvil: 0"), "invalid frontmatter: missing field `name`", 2, 1),
    (head("name: p", "runvil: 0"), "invalid frontmatter: missing field `description`", 2, 1),
    (head(*GOOD, "plugins: []"), UNKNOWN, 5, 1),
    (head("name: 5", "description: d", "runvil: 0"), "invalid frontmatter: `name` must be a string", 2, 7),
    (head("name: yes", "description: d", "runvil: 0"), "invalid frontmatter: `name` must be a string", 2, 7),
    (head("name: p", "description: d", "runvil: '0'"), "invalid frontmatter: `runvil` must be a number", 4, 9),
    (head("name: p", "description: d", "runvil: true"), "invalid frontmatter: `runvil` must be a number", 4, 9),
    (head(*GOOD, "uses: web"), "invalid frontmatter: `uses` must be a list of Packs", 5, 7),
    (head(*GOOD, "uses: [web, acme/web]"), "invalid frontmatter: `uses` names two Packs with the id web", 5, 13),
    (head(*GOOD, "models: [r]"), "invalid frontmatter: `models` must be a map of roles", 5, 9),
    (head(*GOOD, "models: {r: 5}"), "invalid frontmatter: the role `r` must be a map", 5, 13),
    (
        head(*GOOD, "models:", "  r: {min_context: big}"),
        "invalid frontmatter: `min_context` must be an integer from 0 to 2147483648",
        6,
        20,
    ),
    (head(*GOOD, "models: {r: {keywords: x}}"), "invalid frontmatter: `keywords` must be a list of strings", 5, 24),
    (
        head(*GOOD, "max_tool_iterations: 0"),
        "invalid frontmatter: `max_tool_iterations` must be an integer from 1 to 1000",
        5,
        22,
    ),
    (
        head(*GOOD, "max_tool_iterations: 1001"),
        "invalid frontmatter: `max_tool_iterations` must be an integer from 1 to 1000",
        5,
        22,
    ),
    (
        head(*GOOD, "max_tool_iterations: true"),
        "invalid frontmatter: `max_tool_iterations` must be an integer from 1 to 1000",
        5,
        22,
    ),
    (head(*GOOD, "name: q"), "invalid frontmatter: duplicate field `name`", 5, 1),
    (head(*GOOD, "uses: &a [web]"), "invalid frontmatter: anchors and aliases are not supported", 5, 7),
    (
        head(*GOOD, "uses: !!python/object:os.system x"),
        "invalid frontmatter: tag tag:yaml.org,2002:python/object:os.system is not supported",
        5,
        7,
    ),
    (head(*GOOD, "5: x"), "invalid frontmatter: a key must be a string", 5, 1),
    (head(*GOOD, "uses: " + "[" * 40 + "]" * 40), "invalid frontmatter: nested too deep", 5, 20),
    (HEAD, "prompt requires an H1 title", 6, 1),
    (HEAD + "\ntext\n", "prompt requires an H1 title", 6, 1),
    (HEAD + "## A\n", "prompt requires an H1 title", 6, 1),
    (HEAD + "```lua\nreturn 1\n```\n# P\n", "prompt requires an H1 title", 6, 1),
    (HEAD + "# P\n\n# Q\n", "prompt must contain exactly one H1 title", 8, 1),
    (HEAD + "#\n", "prompt H1 title must not be empty", 6, 1),
    (HEAD + "# P\n## A\n## B\n## A\n", 'duplicate section heading "A"', 9, 1),
    (HEAD + "# P\n## A\n### X\n### X\n", 'duplicate section heading "X"', 9, 1),
    (HEAD + "# P\n```lua\nreturn 1\n", "code fence was not closed", 7, 1),
    (HEAD + "# P\n```text\n## A\n", "code fence was not closed", 7, 1),
    (
        HEAD + "# P\n```lua\nreturn 1\n````\n",
        "a lua fence must be closed by exactly three backticks at column one",
        9,
        1,
    ),
    (HEAD + "# P\n```lua\nreturn = 1\n```\n", "lua: unexpected symbol near '='", 8, 8),
    (HEAD + "# P\n## A\n### B\n```lua\nlocal x\nx = )\n```\n", "lua: unexpected symbol near ')'", 11, 5),
    (HEAD + "# P\n```lua\nif true then\n```\n", "lua: 'end' expected near <eof>", 8, 13),
    (HEAD + "# P\n```lua\ngoto nowhere\n```\n", "lua: no visible label 'nowhere' for <goto> at line 8", 8, 13),
]


@pytest.mark.parametrize(("text", "message", "line", "column"), BROKEN)
def test_what_is_wrong_is_told_with_its_place(text: str, message: str, line: int, column: int) -> None:
    with pytest.raises(RunError) as caught:
        compiled(text, "file.md")
    assert (caught.value.kind, str(caught.value)) == (RunErrorKind.PARSE, message)
    assert caught.value.located == f"file.md:{line}:{column}: {message}"


@pytest.mark.parametrize("version", ["1", "2", "0.0", "-1", "1.5"])
def test_another_version_is_a_kind_of_its_own(version: str) -> None:
    with pytest.raises(RunError) as caught:
        parse(head("name: p", "description: d", f"runvil: {version}"))
    assert caught.value.kind is RunErrorKind.VERSION
    assert str(caught.value) == f"unsupported runvil version: {version} (this build supports major 0)"


async def test_lua_that_does_not_compile_stops_the_prompt_before_its_first_section_runs() -> None:
    events: list[object] = []
    text = HEAD + "# P\n## A\n```lua\nprint('ran')\n```\n## B\n### C\n```lua\nreturn = 1\n```\n"
    assert (await failure(text_host(), text, observer=events.append)).kind is RunErrorKind.PARSE
    assert [event for event in events if event["event"] != "end"] == []  # type: ignore[index]


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("---\nname", "\ufeff---\nname"), ("---\n", "---  \n")])
async def test_windows_line_ends_and_a_byte_order_mark_are_read(change: tuple[str, str]) -> None:
    text = HEAD + BODY
    changed = "\ufeff" + text if change[1].startswith("\ufeff") else text.replace(*change)
    assert await within(text_host().run(changed)) == "x"


def test_bytes_that_are_no_utf8_are_told_with_their_place() -> None:
    with pytest.raises(RunError) as caught:
        decoded(b"ab\nc\xc3\xa9\xff", "f")
    assert caught.value.located == "f:2:3: file is not UTF-8"
    assert decoded("é".encode(), "f") == "é"


def test_a_file_or_frontmatter_over_its_bound_is_refused() -> None:
    for text in (HEAD + "x" * MAX_CHARS, head(*GOOD, "# " + "x" * 70_000)):
        with pytest.raises(RunError, match="longer than"):
            parse(text)


def test_depth_that_costs_a_scanner_quadratic_time_is_refused_at_once() -> None:
    with pytest.raises(RunError, match="nested too deep"):
        parse("---\n" + "[" * 60_000 + "\n---\n")


def test_uses_and_models_are_read_in_every_form() -> None:
    text = head(*GOOD, "uses: [web, runvil/web, acme/text]", "models:", "  a: {}", "  b:", "  c:",
                "    keywords: [fast]", "    min_context: 8000", "max_tool_iterations: 3")  # fmt: skip
    found = parse(text).head
    assert found.uses == ("runvil/web", "acme/text")
    assert [(role.label, role.keywords, role.min_context) for role in found.models] == [
        ("a", (), 0),
        ("b", (), 0),
        ("c", ("fast",), 8000),
    ]
    assert found.max_tool_iterations == 3


MARKDOWN = HEAD + (
    "# P\n\nTitle's body.\n\n## A\n\n\n  Two\nlines.\n\n```python\n## no heading\n```\n\n```lua\nreturn 1\n```\n\n"
    "After.\n\n```lua\nreturn 2\n```\n\n> ```lua\n> no = code\n> ```\n\n  ```lua\n  also = prose\n  ```\n\n````\n"
    "```lua\nprose too\n```\n````\n\n~~~lua\nprose\n~~~\n\nB\n-\n\n```lua\nreturn 3\n```\n\n- # not at the top\n"
)


def test_a_heading_and_a_fence_are_what_markdown_says_they_are() -> None:
    prompt = parse(MARKDOWN)
    assert [(section.title, section.level, section.line) for section in prompt.walked] == [
        ("P", 1, 6),
        ("A", 2, 10),
        ("B", 2, 48),
    ]
    title, first, second = prompt.walked
    assert title.blocks == []
    assert [block.prose for block in first.blocks] == ["  Two\nlines.\n\n```python\n## no heading\n```", "After."]
    assert [block.lua for block in (*first.blocks, *second.blocks)] == ["return 1", "return 2", "return 3"]
    assert second.blocks[0].prose == ""


def test_lua_counts_the_lines_of_the_file() -> None:
    prompt = parse(MARKDOWN)
    lines = MARKDOWN.split("\n")
    assert [lines[block.line - 1] for block in prompt.blocks] == ["return 1", "return 2", "return 3"]


def outcome(text: str) -> RunErrorKind | None:
    try:
        compiled(text, "f")
    except RunError as error:
        return error.kind
    return None


@given(st.text(alphabet="-#`~>\n lua:{}[]\t&*!'\"na0", max_size=200))
def test_any_text_is_a_prompt_or_a_run_error(text: str) -> None:
    for whole in (text, HEAD + text, f"---\n{text}\n---\n{BODY}", HEAD + "# P\n```lua\n" + text):
        assert outcome(whole) in (None, RunErrorKind.PARSE, RunErrorKind.VERSION)
