"""The flat lists of a page say what its tree says."""

from __future__ import annotations

import pytest
import turbohtml
from turbohtml import Element, Text

from runvil.extract import survey as surveys
from runvil.extract.kinds import EMPTYABLE, INLINE, LINK, SHOWN, kinds, marks
from runvil.extract.survey import Survey, survey

PAGE = """<body><div id=a><p>one <a href=x>two</a> three<p><b><i>four</i></b></div>tail
<section><ul><li>x<ul><li><img src=y></li></ul></li><li></li></ul><pre><div></div></pre></section></body>"""


def surveyed(html: str) -> Survey:
    root = turbohtml.parse(html).root
    assert root is not None
    page = survey(root)
    assert page is not None
    return page


def below(node: Element) -> list[Element]:
    return [node, *(each for each in node.descendants if type(each) is Element)]


def test_what_is_below_an_element_follows_it_without_a_gap() -> None:
    page = surveyed(PAGE)
    for at, node in enumerate(page.nodes):
        assert page.nodes[at : page.end[at]] == below(node)


def test_each_element_knows_its_parent_and_its_place() -> None:
    page = surveyed(PAGE)
    assert page.parent[0] == -1
    for at, node in enumerate(page.nodes[1:], 1):
        assert page.nodes[page.parent[at]] == node.parent
        assert page.place[node] == at


def test_a_sum_is_that_of_the_whole_subtree() -> None:
    page = surveyed(PAGE)
    sums = page.sums(page.own)
    for at, node in enumerate(page.nodes):
        written = (each.data.strip() for each in node.descendants if type(each) is Text)
        assert sums[at] == sum(map(len, written))
    assert list(sums) == [sums[at] for at in range(len(page.nodes))]


def test_a_sum_leaves_out_what_is_marked() -> None:
    page = surveyed(PAGE)
    marked = bytearray(tag == "p" for tag in page.tags)
    assert page.sums(page.own, marked)[0] == len("tail") + len("x")


def test_ideographs_count_twice() -> None:
    assert sum(surveyed("<p>日本語の文章").own) == 2 * len("日本語の文章")


def test_an_empty_block_goes_but_not_one_in_code_nor_one_with_a_picture() -> None:
    page = surveyed(PAGE)
    nothing = bytearray(len(page.nodes))
    out = [page.nodes[at] for at in page.clear(0, nothing, page.fullness(nothing))]
    assert [node.tag for node in out] == ["li"]


def test_a_page_of_too_many_elements_is_not_surveyed(monkeypatch: pytest.MonkeyPatch) -> None:
    root = turbohtml.parse("<p>" * 7).root  # with html, head and body
    assert root is not None
    monkeypatch.setattr(surveys, "MAX_ELEMENTS", 10)
    assert survey(root) is not None
    monkeypatch.setattr(surveys, "MAX_ELEMENTS", 9)
    assert survey(root) is None


def test_a_tag_is_of_every_kind_that_lists_it_and_an_unknown_one_of_none() -> None:
    of = kinds(["a", "div", "img", "x-own"])
    assert marks(of, LINK) == bytes([1, 0, 0, 0])
    assert marks(of, LINK | EMPTYABLE) == bytes([1, 1, 0, 0])
    assert marks(of, INLINE | SHOWN) == bytes([1, 0, 1, 0])
