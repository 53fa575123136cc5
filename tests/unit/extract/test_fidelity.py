"""The markdown of every construct in the table, rendered back, is the tree that the table says (bench/fidelity.py)."""

from __future__ import annotations

import pytest
from bench.fidelity import ADDRESS, Construct, constructs, rendered, tree

from runvil.extract import render

CONSTRUCTS = list(constructs())


def test_the_table_is_long_and_names_nothing_twice() -> None:
    assert len(CONSTRUCTS) >= 80
    assert len({(each.group, each.name) for each in CONSTRUCTS}) == len(CONSTRUCTS)


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda each: f"{each.group}: {each.name}")
def test_a_construct_reads_back(construct: Construct) -> None:
    pytest.importorskip("markdown_it")
    markdown = render(construct.html, ADDRESS, raw=True).text
    assert tree(rendered(markdown)) == tree(construct.want), markdown
