"""Tables read as grids."""

from __future__ import annotations

import pytest

from runvil.extract import render


def md(body: str) -> list[str]:
    return render(body, "https://a.example/", raw=True).text.splitlines()


def test_a_wide_cell_leaves_its_neighbours_in_their_columns() -> None:
    assert md("<table><tr><th colspan=2>ab<th>c<tr><td>1<td>2<td>3</table>") == [
        "| ab |  | c |",
        "| --- | --- | --- |",
        "| 1 | 2 | 3 |",
    ]


def test_a_tall_cell_leaves_room_below_it() -> None:
    assert md("<table><tr><th>a<th rowspan=3>b<th>c<tr><td>1<td>2<tr><td>3<td>4<tr><td>5<td>6<td>7</table>") == [
        "| a | b | c |",
        "| --- | --- | --- |",
        "| 1 |  | 2 |",
        "| 3 |  | 4 |",
        "| 5 | 6 | 7 |",
    ]


def test_a_tall_cell_at_the_end_leaves_room_too() -> None:
    assert md("<table><tr><td>a<td rowspan=2>b<tr><td>c<tr><td>d<td>e</table>")[3:] == ["| c |  |", "| d | e |"]


@pytest.mark.parametrize("span", ["0", "-1", "x", "", "1.5", "٣"])
def test_a_span_that_is_no_number_is_one(span: str) -> None:
    assert md(f"<table><tr><td colspan='{span}'>a<td>b<tr><td>c<td>d</table>")[3] == "| c | d |"


def test_spans_cannot_ask_for_more_cells_than_there_is_room_for() -> None:
    rows = "<tr>" + "<td colspan=65534 rowspan=65534>x" * 50
    lines = md(f"<table>{rows * 50}</table>")
    assert "\n".join(lines).count("x") == 2500
    assert sum(map(len, lines)) < 100_000


def test_a_ragged_table_is_filled_up() -> None:
    assert md("<table><tr><th>a<th>b<th>c<tr><td>1<tr><td>2<td>3</table>") == [
        "| a | b | c |",
        "| --- | --- | --- |",
        "| 1 |  |  |",
        "| 2 | 3 |  |",
    ]


def test_a_table_that_takes_too_much_filling_comes_apart() -> None:
    lines = md(f"<table><tr>{'<td>x' * 1_000}{'<tr><td>y' * 1_000}</table>")
    assert lines.count("y") == 1_000
    assert lines.count("x") == 1_000


def test_a_wide_cell_in_a_short_row_fills_it() -> None:
    assert md("<table><tr><th>a<th>b<th>c<tr><td colspan=2>wide</table>")[2] == "| wide |  |  |"


def test_a_table_of_one_column_is_no_table() -> None:
    assert md("<table><tr><td><p>one<tr><td><p>two</table>") == ["one", "", "two"]


def test_a_table_around_headings_is_layout() -> None:
    assert md("<table><tr><td><h2>Left</h2>text<td><h2>Right</h2>words</table>") == [
        "## Left", "", "text", "", "## Right", "", "words",
    ]  # fmt: skip


def test_a_table_that_says_it_is_layout_is_layout() -> None:
    assert md("<table role=presentation><tr><td>a<td>b</table>") == ["a", "", "b"]


def test_a_list_in_a_cell_stays_in_its_row() -> None:
    assert md("<table><tr><th>a<th>b<tr><td>1<td><ul><li>x<li>y</ul></table>")[2].startswith("| 1 | ")


def test_a_table_without_headers_has_an_empty_one() -> None:
    assert md("<table><tr><td>a<td>b<tr><td>1<td>2</table>")[0] == "|  |  |"


def test_a_column_of_headers_heads_no_table() -> None:
    assert md("<table><tr><th>a<td>1<tr><th>b<td>2</table>")[2] == "| a | 1 |"


def test_a_footer_comes_last() -> None:
    lines = md("<table><thead><tr><th>h<th>i</thead><tfoot><tr><td>s<td>3</tfoot><tbody><tr><td>1<td>2</table>")
    assert lines[2:] == ["| 1 | 2 |", "| s | 3 |"]
