"""Blocks, lists, definitions and white space that the renderer would read otherwise than a browser."""

from __future__ import annotations

import pytest

from runvil.extract import render
from runvil.extract.code import MAX_LINES

ADDRESS = "https://a.example/dir/page"


def md(body: str) -> str:
    return render(f"<body>{body}", ADDRESS, raw=True).text


@pytest.mark.parametrize(
    "tag", ["center", "dialog", "fieldset", "form", "hgroup", "legend", "search", "optgroup", "option"]
)
def test_what_begins_a_line_in_a_browser_is_a_block(tag: str) -> None:
    assert md(f"<div>a<{tag} open>b</{tag}>c</div>") == "a\n\nb\n\nc"


@pytest.mark.parametrize("tag", ["listing", "xmp"])
def test_old_tags_for_code_are_code(tag: str) -> None:
    assert md(f"<{tag}>a\n *b*</{tag}>") == "```\na\n *b*\n```"


@pytest.mark.parametrize("tag", ["menu", "dir"])
def test_old_tags_for_lists_are_lists(tag: str) -> None:
    assert md(f"<{tag}><li>a<li>b</{tag}>") == "- a\n- b"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<x-card>One thing</x-card><x-card>Another</x-card>", "One thing Another"),
        ("<p>Press<button>Start</button>now", "Press Start now"),
        ("<p>At <x-time>10 am</x-time>, then", "At 10 am, then"),
        ("<p><x-c>a</x-c><x-c>b</x-c>", "ab"),
    ],
)
def test_elements_that_stand_apart_do_not_grow_together(html: str, markdown: str) -> None:
    assert md(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>x</p><ul><ul><ul><li>a<li>b</ul></ul></ul>", "x\n\n- a\n- b"),
        ("<ul><ul><li>a</ul><li>b</ul>", "- a\n- b"),
        ("<ol><ul><li>a</ul><li>b</ol>", "1. a\n2. b"),
        ("<ul><li>a</li><ul><li>b</li></ul><li>c</ul>", "- a\n  - b\n- c"),
        ("<ul><li>a</li><ul><ul><li>b</li></ul></ul></ul>", "- a\n  - b"),
    ],
)
def test_a_list_without_an_item_around_it_is_not_indented_into_code(html: str, markdown: str) -> None:
    assert md(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<dl><dt>t<dd>a</dl>", "t\n\n: a"),
        ("<dl><dt>t<dd><p>a<p>b</dl>", "t\n\n: a\n\nb"),
        ("<dl><dt>t<dd> &nbsp;<div><p><b>a</b> b</div></dl>", "t\n\n: **a** b"),
        ("<dl><dt>t<dd><ul><li>a</ul></dl>", "t\n\n- a"),
        ("<dl><dt>t<dd><pre>a</pre></dl>", "t\n\n```\na\n```"),
    ],
)
def test_the_mark_of_a_definition_stands_before_its_text(html: str, markdown: str) -> None:
    assert md(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p style='white-space:pre-wrap'>a <b>b</b>", "a **b**"),
        ("<h2 style='WHITE-SPACE: pre-line'>a</h2>", "## a"),
        ("<p>a <span style='white-space: pre'>b</span> c", "a b c"),
        ("<p>a <code style='white-space:pre'>b</code> c", "a `b` c"),
        ("<ul style='white-space:break-spaces'><li>a<li>b</ul>", "- a\n- b"),
        ("<div style='white-space:pre-wrap'>\n <p>a</p>\n <p>b</p>\n</div>", "a\n\nb"),
    ],
)
def test_text_whose_white_space_a_style_keeps_is_no_code(html: str, markdown: str) -> None:
    assert md(html) == markdown


def test_text_whose_white_space_a_style_keeps_ends_its_lines() -> None:
    post = "<div style='white-space:pre-line'>One.\nTwo <b>three</b>.\n\nFour.\n<pre>a\n b</pre></div>"
    assert md(post) == "One.  \nTwo **three**.\n\nFour.\n\n```\na\n b\n```"


@pytest.mark.parametrize("style", ["font-family: Consolas, 'Courier New', monospace; white-space: pre", "x"])
def test_letters_of_one_width_whose_white_space_is_kept_are_code(style: str) -> None:
    pasted = f'<div style="{style}"><div><span>def</span> f():</div><div>    return 1</div></div>'
    assert md(pasted) == ("def f():\n\nreturn 1" if style == "x" else "```\ndef f():\n    return 1\n```")


def test_line_ends_beyond_the_bound_are_spaces() -> None:
    lines = "a\n" * MAX_LINES
    assert md(f"<p style='white-space:pre'>{lines}</p><p style='white-space:pre'>b\nc</p>").endswith("a\n\nb c")
