"""What stands at the edge of a line and shows nothing there is not written; within a line it is what it is."""

from __future__ import annotations

import pytest

from runvil.extract import render
from runvil.extract.edges import MAX_AROUND, MAX_BREAKS, MAX_LOOSE, without_repeated_blank_lines

ADDRESS = "https://a.example/dir/page"


def md(body: str) -> str:
    return render(f"<body>{body}", ADDRESS, raw=True).text


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p><br>a", "a"),
        ("<p>a<br></p>b", "a\n\nb"),
        ("<p><b><br>a</b>", "**a**"),
        ("<div>a<p>b</p><br>c</div>", "a\n\nb\n\nc"),
        ("<p>&nbsp;<br>a<br>&nbsp;</p>", "a"),
        ("<ul><li><br>a</ul>", "- a"),
        ("<p>a<br>b", "a  \nb"),
        ("<pre>a<br><br>b</pre>", "```\na\n\nb\n```"),
    ],
)
def test_a_break_at_the_edge_of_a_block_is_nothing(html: str, markdown: str) -> None:
    assert md(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>a<br>&nbsp;<br>b", "a\n\nb"),
        ("<p>a<br>\n<br> <br>b", "a\n\nb"),
        ("<table><tr><td>a<br><br>b</table>", "a\n\nb"),
        ("<table><tr><th>h<th>i<tr><td>a<br><br>b<td>c</table>", "| h | i |\n| --- | --- |\n| a b | c |"),
    ],
)
def test_two_breaks_with_nothing_between_part_paragraphs(html: str, markdown: str) -> None:
    assert md(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>&nbsp;a&nbsp;</p>", "a"),
        ("<p>a</p>&nbsp;<p>\u200b</p><p>\u200d</p><p>b", "a\n\nb"),
        ("<p>\u3000\u3000段落", "段落"),
        ("<p>&nbsp;# a", "\\# a"),
        ("<p>a&nbsp;<br>b", "a  \nb"),
        ("<p>a <b>&nbsp;</b></p>", "a"),
        ("<h2>a <a href=#a>\u200b</a></h2>", "## a"),
    ],
)
def test_white_space_at_the_edge_of_a_line_is_nothing(html: str, markdown: str) -> None:
    assert md(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>10&nbsp;km", "10\xa0km"),
        ("<h2>10&nbsp;km&#8239;?</h2>", "## 10\xa0km\u202f?"),
        ("<p>a<br>&nbsp;&nbsp;b", "a  \n\xa0\xa0b"),
        ("<p>a<b>&nbsp;b</b>", "a\xa0**b**"),
        ("<pre>a&nbsp;\n&nbsp;b</pre>", "```\na\xa0\n\xa0b\n```"),
        ("<h2>a\u2028b</h2>", "## a b"),
        ("<p>നല്ല അവന്\u200d</p>", "നല്ല അവന്\u200d"),
    ],
)
def test_white_space_within_a_line_stays_what_it_is(html: str, markdown: str) -> None:
    assert md(html) == markdown


def test_a_break_far_from_the_edge_is_left_alone() -> None:
    assert md(f"<p>{'<!-- -->' * MAX_AROUND}<br>a") == "\\\na"


def test_breaks_with_nothing_beside_them_are_few_but_in_code() -> None:
    assert md(f"<p>a{'<i><br></i>' * 100}b").count("\\\n") <= MAX_LOOSE
    assert md("<p>" + "<b>a</b><br><i>b</i>" * 100).count("\n") == 100
    assert md(f"<pre>a{'<br>' * 100}b</pre>") == "```\na" + "\n" * 100 + "b\n```"


def test_breaks_beyond_the_bound_part_nothing() -> None:
    assert "\n\n" in md("<p>a" + "<br>" * MAX_BREAKS + "b")
    assert "\n\n" not in md("<p>a" + "<br>" * (MAX_BREAKS + 1) + "b")


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("a\n\n\n\nb", "a\n\nb"),
        ("> a\n>\n>\n> b", "> a\n>\n> b"),
        ("> a\n>\n\n\nb", "> a\n>\n\nb"),
        ("```\na\n\n\nb\n```\n\n\nc", "```\na\n\n\nb\n```\n\nc"),
        ("- ````\n  ```\n\n\n  ````\n\n\nc", "- ````\n  ```\n\n\n  ````\n\nc"),
        ("> ```\n> a\n>\n>\n> b\n> ```\n\n\nc", "> ```\n> a\n>\n>\n> b\n> ```\n\nc"),
    ],
)
def test_one_blank_line_is_enough_but_in_code(written: str, kept: str) -> None:
    assert without_repeated_blank_lines(written) == kept


def test_phrases_that_show_nothing_leave_no_blank_lines() -> None:
    assert md("<p>a</p> <div> <a> </a> </div> <div><b> </b></div> <p>b</p><pre>c\n\n\nd</pre>") == (
        "a\n\nb\n\n```\nc\n\n\nd\n```"
    )
