"""The text that is left when a page's worker is lost."""

from __future__ import annotations

from itertools import pairwise

import pytest

from runvil.core.salvage import SLICE, Salvage, salvage


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (b"", ""),
        (b"plain", "plain"),
        (b"<p>one<p>two", "one\ntwo"),
        (b"a<br>b<BR/>c", "a\nb\nc"),
        (b"in<b>li</b>ne", "inline"),
        (b"<tr><td>1<td>2</tr><tr><th>3", "1 2\n3"),
        (b"  many \t\n blanks ", "many blanks"),
        (b"&lt;b&gt; &amp;amp; &eacute;&#x4e2d;&#20013; &nosuch; &", "<b> &amp; é中中 &nosuch; &"),
        (b"a<script>var x='<p>no</p>';</script>b", "ab"),
        (b"a<SCRIPT src=x>no</ScRiPt >b", "ab"),
        (b"a<style>p{no}</style>b<template>no</template>c<svg><text>no</text></svg>d", "abcd"),
        (b"a<!-- no --><!-- > no --!> no -->b", "ab"),
        (b"a<!doctype html><?php no ?>b", "ab"),
        (b"a<script>no", "a"),
        (b"a<!-- no", "a"),
        (b"a<scripture>yes</scripture>", "ayes"),
        (b"1 < 2 and 3<4", "1 < 2 and 3<4"),
        (b"<a href='x", ""),
        (b"<?<p>one<i <p>two", "one\ntwo"),
        ("\u4e2d\u6587".encode() + b"\xff<p>x", "\u4e2d\u6587\ufffd\nx"),
        (b"<title>T</title><h1>H</h1>", "T\nH"),
    ],
)
def test_the_tags_go_and_the_text_stays(html: bytes, text: str) -> None:
    assert salvage(html, 1_000) == text


def test_no_more_than_the_limit_comes_back() -> None:
    assert salvage(b"<p>abcdef", 3) == "abc"
    assert len(salvage(b"word " * 100_000, 500)) == 500


def test_enough_is_enough() -> None:
    rescue = Salvage(10)
    rescue.feed(b"twelve chars and a blank ")
    assert rescue.full


HTML = (
    "<title>Ein Täst</title><p class='a>b'>one &amp; two</p><script>if (a<b) {'<p>'}</script><!-- c > d --><ul><li>三"
    "<li>vier &eacute;</ul><table><tr><td>x<td>y</table><style>p{}</style>end"
).encode()


@pytest.mark.parametrize("size", range(1, len(HTML)))
def test_a_slice_may_end_anywhere(size: int) -> None:
    rescue = Salvage(1_000)
    cuts = [*range(0, len(HTML), size), len(HTML)]
    for start, end in pairwise(cuts):
        rescue.feed(HTML[start:end])
    assert rescue.text().replace("\n", " ").split() == salvage(HTML, 1_000).replace("\n", " ").split()


def test_a_payload_in_an_attribute_is_no_text() -> None:
    html = b"<p>before<img src='data:," + b"A" * (5 * SLICE) + b"'>after"
    assert salvage(html, 10_000) == "before after".replace(" ", "")


def test_text_without_a_single_blank_is_kept_whole() -> None:
    html = "水".encode() * SLICE
    assert salvage(html, 10 * SLICE).count("水") >= SLICE - 6


@pytest.mark.parametrize(
    "hidden",
    [
        b"<!-- " + b"no " * SLICE + b"-->",
        b"<script data-x='" + b"x" * 3 * SLICE + b"'>no</script>",
        b"<script>" + b"no<no " * SLICE + b"</script>",
        b"<style>" + b"no" * SLICE + b"</style>",
    ],
)
def test_what_is_silent_for_long_is_silent(hidden: bytes) -> None:
    assert salvage(b"<p>one</p>" + hidden + b"<p>two", 10_000) == "one\ntwo"
