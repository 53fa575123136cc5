"""Signs of markdown are escaped where they would mean something, and nowhere else."""

from __future__ import annotations

import pytest

from runvil.extract import render
from runvil.extract.edges import MAX_TEXTS
from runvil.extract.reserved import MARK_CLOSES, MARK_OPENS, SIGNS, SPACES, has_reserved

ADDRESS = "https://a.example/dir/page"


def md(body: str) -> str:
    return render(f"<body>{body}", ADDRESS, raw=True).text


@pytest.mark.parametrize(
    "text",
    [
        "snake_case and a__b",
        "see [66], [citation needed] and [a] [b]",
        "C:\\Users\\x",
        "2 * 3 ~ 6",
        "-30% off",
        "+2 more",
        "#14 of 20",
        "1.0.0",
        "12)a",
    ],
)
def test_a_sign_that_means_nothing_stands_as_it_is(text: str) -> None:
    assert md(f"<p>{text}") == text
    assert md(f"<p>x <a href=y>{text}</a>, z") == f"x [{text}](https://a.example/dir/y), z"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("_a_ and __b__", "\\_a\\_ and \\_\\_b\\_\\_"),
        ("[a](b)", "\\[a\\](b)"),
        ("[a][b]", "\\[a\\][b]"),
        ("[a]: b", "\\[a\\]: b"),
        ("[^1] a", "\\[^1\\] a"),
        ("[x] a", "\\[x\\] a"),
        ("[ ] a", "\\[ \\] a"),
        ("[a]<a href=b>c</a>", "\\[a\\][c](https://a.example/dir/b)"),
        ("[a]<b>(b)</b>", "\\[a\\]**(b)**"),
        ("a\\*b\\_c", "a\\\\\\*b\\\\\\_c"),
        ("* a", "\\* a"),
        ("- a", "\\- a"),
        ("+ a", "\\+ a"),
        ("# a", "\\# a"),
        ("1. a", "1\\. a"),
        ("1.", "1\\."),
        ("---", "\\---"),
        ("~a~ and 1~2", "\\~a\\~ and 1\\~2"),
        ("*a* and 2*3*4", "\\*a\\* and 2\\*3\\*4"),
    ],
)
def test_a_sign_that_would_mean_something_is_escaped(html: str, markdown: str) -> None:
    assert md(f"<p>{html}") == markdown


def test_code_stands_as_it_is() -> None:
    assert md("<pre>a_b [c] \\d</pre><p><code>a_b [c] \\d</code> e_f") == "```\na_b [c] \\d\n```\n\n`a_b [c] \\d` e_f"


@pytest.mark.parametrize("character", [MARK_OPENS, MARK_CLOSES, *SPACES, *SIGNS])
def test_a_page_cannot_write_a_sign_by_what_stands_for_it(character: str) -> None:
    opened, closed = SIGNS[1], SIGNS[2]
    link = f"{opened}a{closed}(javascript:alert(1)){character}"
    image = f'<img src="/i{character}" alt="{link}" title="{link}">'
    text = md(f'<p>a_b 1&nbsp;m <a href="/x{character}" title="{link}">{link}</a> {image} <code>{link}</code>')
    assert "](javascript" not in text
    assert not has_reserved(text)


def test_a_page_of_too_many_texts_has_all_its_signs_escaped() -> None:
    assert "a_b" in md("<i>a_b</i> " * 100)
    assert "a_b" not in md("<i>a_b</i> " * MAX_TEXTS)
