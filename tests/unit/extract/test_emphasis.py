"""Signs of emphasis where they are read as such, tags where they would be read as text."""

from __future__ import annotations

import pytest

from runvil.extract import render
from runvil.extract.emphasis import MAX_EMPHASES, MAX_SPACE, write_emphases

ADDRESS = "https://a.example/dir/page"

LEAD = "\ufdd2"
BOLD, END_OF_BOLD, END_OF_ITALICS = f"{LEAD}\ufdd3", f"{LEAD}\ufdd6", f"{LEAD}\ufdd7"


def md(body: str) -> str:
    return render(f"<body>{body}", ADDRESS, raw=True).text


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>a <b>b</b> c", "a **b** c"),
        ("<p>ein <b>schöner</b> Tag", "ein **schöner** Tag"),
        ("<p>it <i>can’t</i> be", "it *can’t* be"),
        ("<p><b>Note:</b> x", "**Note:** x"),
        ("<p>“<b>Wait…</b>”", "“**Wait…**”"),
        ("<p>a<b> é </b>b", "a **é** b"),
        ("<p>a <del>é</del>", "a ~~é~~"),
    ],
)
def test_emphasis_is_a_sign_in_every_language(html: str, markdown: str) -> None:
    assert md(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>so<b>: x</b>", "so<strong>: x</strong>"),
        ("<p>so<i>(é)</i>is", "so<em>(é)</em>is"),
        ("<p>2<b>€</b>", "2<strong>€</strong>"),
    ],
)
def test_a_sign_that_would_be_read_as_text_is_a_tag(html: str, markdown: str) -> None:
    assert md(html) == markdown


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p><b><i>a</i></b>", "**_a_**"),
        ("<p><i>a <b>b</b></i>", "_a **b**_"),
        ("<p><b>a</b><i>b</i>", "**a**_b_"),
        ("<p><b>a <strong>b</strong></b>", "**a b**"),
        ("<p><b>a</b><strong>b</strong>", "**ab**"),
        ("<p><b>a</b> <b>b</b>", "**a** **b**"),
    ],
)
def test_no_three_stars_meet(html: str, markdown: str) -> None:
    assert md(html) == markdown


@pytest.mark.parametrize("html", ["<p>a<b></b>b", "<p>a<b><i></i></b>b", "<p>a<i><a href=#x>#</a></i>b"])
def test_emphasis_of_nothing_is_nothing(html: str) -> None:
    assert md(html) == "ab"


def test_code_shows_no_signs() -> None:
    assert md("<p><code>a <b>é</b></code> <kbd><i>é</i></kbd>") == "`a é` `é`"
    assert md("<pre>a <b>é</b></pre>") == "```\na é\n```"


def test_what_unfolds_is_headed_in_bold_where_nothing_else_is() -> None:
    assert md("<details><summary>Mehr für alle:</summary>a</details>") == "**Mehr für alle:**\n\na"


def test_emphasis_around_blocks_is_in_each() -> None:
    assert md("<b><p>a</p><p>b</p></b>") == "**a**\n\n**b**"


@pytest.mark.parametrize(
    "text",
    [f"{BOLD}a", f"a{END_OF_BOLD}", f"{END_OF_BOLD}a{BOLD}", f"{BOLD}a{END_OF_ITALICS}", f"{BOLD}{END_OF_BOLD}a"],
)
def test_a_page_that_writes_our_placeholders_says_nothing_by_it(text: str) -> None:
    assert write_emphases(text).strip() == "a"
    assert write_emphases(f"{BOLD}a\n\nb{END_OF_BOLD}") == "a\n\nb"
    assert write_emphases(text.replace(LEAD, LEAD * 3)).strip() == "a"
    assert write_emphases(f"{LEAD}a{LEAD}") == "a"


def test_the_placeholders_of_a_page_made_of_them_are_written_in_one_pass() -> None:
    """What grows with the square of these numbers would take hours."""
    assert LEAD not in write_emphases(f"{BOLD} " * (5 * MAX_EMPHASES))
    assert LEAD not in write_emphases(f"{LEAD} " * (5 * MAX_EMPHASES))
    spaces = " " * (MAX_SPACE + 1)
    assert write_emphases(f"{BOLD}{spaces}a{spaces}{END_OF_BOLD}" * 1_000).count("a") == 1_000
    assert write_emphases(BOLD * MAX_EMPHASES + "a" + END_OF_BOLD * MAX_EMPHASES).count("a") == 1
