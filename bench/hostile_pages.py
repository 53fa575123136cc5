"""Pages made to hang, swell or crash a renderer, up to 8 MiB. BOTTOM is to be found in what is made of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle, islice

MIB = 1024 * 1024
CAP = 8 * MIB
"""Bytes: the most that a fetch hands to the renderer."""

BOTTOM = "The text at the very bottom of this page."
DEEP = 100_000

Make = Callable[[], str]

NESTED = (
    ("div",), ("span",), ("p", "div"), ("ul", "li"), ("dl", "dd"), ("blockquote",), ("table", "tr", "td"), ("b",),
    ("i", "div"), ("a", "div"), ("form", "div"), ("section",), ("article",), ("h1",), ("pre",), ("pre", "code"),
    ("button",), ("ruby", "rt"), ("noscript",), ("x-unknown",), ("figure",), ("details",), ("font",), ("nobr",),
    ("div hidden",), ("p style=display:none",), ("fieldset",), ("center",), ("math",), ("label",), ("sub",), ("sup",),
    ("dd",), ("li",), ("summary",), ("span", "div"), ("div class=collapse aria-hidden=true",),
    ("ul",), ("ol", "ul"), ("x-a", "x-b"), ("div style=white-space:pre",), ("code style=white-space:pre",),
    ("p style=font-size:0", "i style=font-size:1em"), ("td style=font-size:0",), ("option",), ("xmp",),
)  # fmt: skip


def nested(*tags: str) -> Make:
    return lambda: "".join(f"<{tag}>" for tag in tags) * (DEEP // len(tags)) + BOTTOM


def filled(piece: str, *, before: str = "", after: str = "") -> Make:
    """`piece` over and over, up to the cap."""
    return lambda: before + piece * ((CAP - 4096) // len(piece.encode())) + after + f"<p>{BOTTOM}"


def numbered(template: str, count: int, *, before: str = "", after: str = "") -> Make:
    return lambda: before + "".join(template.format(number) for number in range(count)) + after + BOTTOM


def bomb(*tags: str) -> Make:
    """Five thousand formatting elements that HTML5 opens again in every one of two hundred thousand paragraphs."""
    opened = "".join(f"<{tag} x{number}>" for number, tag in enumerate(islice(cycle(tags), 5_000)))
    return lambda: f"<p>{opened}{'<p>x' * 200_000}{BOTTOM}"


PAGES: Mapping[str, Make] = {
    **{f"nested {' '.join(tags)}": nested(*tags) for tags in NESTED},
    "8 MiB of <div>": lambda: "<div>" * ((CAP - 100) // 5) + BOTTOM,
    "a million cells": lambda: f"<table>{('<tr>' + '<td>7' * 1_000) * 1_000}</table>{BOTTOM}",
    "bomb of <b>": bomb("b"),
    "bomb of many tags": bomb("b", "i", "u", "em", "font"),
    "bomb in attributes": numbered('<b x{}="</b>">', 5_000, before="<p>", after="<p>x" * 200_000),
    "bomb in upper case": numbered("<B\nx{}>", 5_000, before="<p>", after="<p>x" * 200_000),
    "bomb of links": numbered("<a x{0}><b x{0}>", 5_000, before="<p>", after="<p>x" * 200_000),
    "bomb in a cell": numbered("<b x{}>", 5_000, before="<table><tr><td>", after="<p>x" * 200_000),
    "spans of 65,534": lambda: f"<table>{'<tr><td colspan=65534 rowspan=65534>x' * 100_000}</table>{BOTTOM}",
    "one wide row over many": lambda: f"<table><tr>{'<td>x' * 100_000}{'<tr><td>y' * 100_000}</table>{BOTTOM}",
    "tables in cells": lambda: "<table><tr><td>x" * 20_000 + BOTTOM,
    "said again and again": filled(
        f"{'the same text ' * 8}<br>", before="<meta property=og:type content=product>" + "<span>" * 500
    ),
    "quoted again and again": filled(f"{'the same text ' * 8}<br>", before="<blockquote>" * 500),
    "a line of digits": filled("<i></i>5", before="<p>"),
    "a line of digits in spans": filled("<span>5</span>", before="<p>"),
    "a line of digits with readings": filled("<ruby>5<rt>5</ruby>", before="<p>"),
    "deep, then breaks": filled("<br>", before="<div>" * 500),
    "deep, then few enough breaks": numbered("<br>{}", 49_000, before="<div>" * 500),
    "deep in code, then items": filled("<li>x", before="<pre>" * 500),
    "deep in code, then line numbers": filled("<b class=lineno>1</b>", before="<pre>" * 500),
    "deep in items, then boxes": filled("<input type=checkbox>", before="<div>" * 500),
    "deep in definitions": filled("x ", before="<dl><dd>" * 250),
    "deep in folds": filled("<li>x", before="<details><summary>" * 250),
    "deep in indices, then definitions": filled("<dd>x", before="<sup>" * 500),
    "deep in links": filled("<b>x</b>", before="<a href=x><table><tr><td>" * 120),
    "deep in films": filled("<source src=x>", before="<video>" * 500, after="</video>" * 500),
    "images of nothing": filled("<img>"),
    "items apart": numbered("\n<div class=katex-html></div><li>{}</li>", 150_000),
    "images in one picture": filled("<img href=/x>", before="<picture>"),
    "menus in menus": filled("<a>x</a>", before="<nav>" * 500),
    "menus in menus, few enough to be judged": numbered("<a>{}</a>", 95_000, before="<nav>" * 500),
    "cards in cards": filled(f"<li><p>{'the same text ' * 8}<ul>"),
    "articles side by side": filled(f"<article>{'the same text ' * 8}</article>"),
    "tables side by side": filled("<table><tr><td>x<td>y</table>"),
    "foster-parented text": filled("<table>x"),
    "attributes": numbered(" a{}=x", 600_000, before="<div", after=">"),
    "one attribute": lambda: f"<div title='{'x' * (CAP - 100)}'>{BOTTOM}</div>",
    "class names": lambda: f"<div class='{'social-share ' * 600_000}'>{BOTTOM}</div>",
    "ids": numbered("<i id=n{}>x</i>", 150_000),
    "styles": lambda: f"<div style='{'font-size:0' * 700_000}x'>{BOTTOM}</div>",
    "names of folds": filled("<div hidden class=tab-panel>x</div>"),
    "controls of folds": lambda: f"<a aria-controls='{'x ' * 2_000_000}'>y</a>{BOTTOM}",
    "entities": filled("&lt;"),
    "broken entities": filled("&#xZ;&am"),
    "long entities": filled("&CounterClockwiseContourIntegral;"),
    "zeros": filled("\0"),
    "control characters": filled("a&#27;&#8;"),
    "one word": filled("x"),
    "one word of ideographs": filled("漢"),
    "marks upon marks": filled("e\u0301\u0301\u0301"),
    "right-to-left overrides": filled("\u202ea\u202d"),
    "markdown's own signs": filled("*_`[<!|~#\\"),
    "backticks in code": lambda: f"<pre>{'`' * (CAP - 200)}</pre><p>{BOTTOM}",
    "brackets": filled("[]("),
    "lines of signs": filled("<br># - 1. &gt; "),
    "links": filled("<a href=x>y</a>"),
    "links around blocks": filled("<a href=x><h2>y</h2><ul><li>z</ul></a>"),
    "links of one base": lambda: f"<base href='https://a.example/{'x' * 8_000}/'>{'<a href=y>z</a>' * 200_000}{BOTTOM}",
    "images": filled("<img src=x alt=y>"),
    "image candidates": lambda: f"<img srcset='{'x 1x,' * 1_600_000}' alt=y>{BOTTOM}",
    "payload images": filled("<img src='data:image/gif;base64,R0lGODlhAQABAAAAACw='>"),
    "line breaks": filled("x<br>"),
    "nothing but line breaks": filled("<br>"),
    "paragraphs": filled("<p>x"),
    "empty divisions": filled("<div></div>"),
    "items without a list": filled("<li>x"),
    "lists": filled("<ul><li>x</ul>"),
    "headings": filled("<h2>x</h2>"),
    "definitions": filled("<dl><dt>x<dd>y</dl>"),
    "indices": filled("<sub>2</sub><sup>3</sup>"),
    "ruby": filled("<ruby>漢<rt>kan</ruby>"),
    "formulas": filled("<math alttext='x'><mi>x</mi></math>"),
    "boxes": filled("<li><input type=checkbox>x"),
    "emphasis": filled("<b>x</b> "),
    "emphasis inside words": filled("x<b>y</b>z<i>w</i>"),
    "misnested": filled("<a><b><i></a></b>x"),
    "unclosed tags": filled("<div <p <b <a "),
    "unclosed comment": lambda: f"<p>{BOTTOM}</p><!-- {'x' * (CAP - 200)}",
    "comments": filled("<!---->"),
    "options": filled("<option>x", before="<select>", after="</select>"),
    "text areas": filled("<textarea>x</textarea>"),
    "frames": filled("<iframe src=x></iframe>"),
    "templates": filled("<template shadowrootmode=open><p>x</template>"),
    "namespaces": filled("<svg><desc><math><mi>x</svg>"),
    "linked data, deep": lambda: f"<script type=application/ld+json>{'[' * 250_000}</script><p>{BOTTOM}",
    "linked data, wide": lambda: f"<script type=application/ld+json>[{'{},' * 90_000}{{}}]</script><p>{BOTTOM}",
    "linked data, often": lambda: f"{'<script type=application/ld+json>[{}]</script>' * 100_000}<p>{BOTTOM}",
    "descriptions": lambda: (
        f"{'<meta name=description content=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx>' * 90_000}<p>{BOTTOM}"
    ),
    "one long description": lambda: (
        f"<meta name=description content='{'word ' * 500_000}'>{'<p>word word word word word' * 120_000}<p>{BOTTOM}"
    ),
    "articles": filled("<article><h1>x</h1><p>y</article>"),
    "hard white space": filled("&nbsp;"),
    "hard white space and breaks": filled("x&nbsp;<br>&nbsp;"),
    "hard white space in phrases": filled("<i>&nbsp;</i>", before="<p>"),
    "paragraphs of hard white space": filled("<p>&nbsp;"),
    "phrases of white space": filled("<p>x</p> <b> </b>"),
    "phrases of white space beside code": filled("<pre>x\n\n\ny</pre> <b> </b>"),
    "breaks and comments": filled("<!----><br>", before="<p>"),
    "breaks in phrases": filled("<i><br></i>", before="<p>"),
    "elements of its own": filled("<x-a>one</x-a>"),
    "elements of many names": numbered("<x-{0}>one</x-{0}>", 200_000),
    "buttons": filled("<button>one</button>"),
    "lists in a list": filled("<ul><li>x</ul>", before="<ul>", after="</ul>"),
    "empty lists in a list": filled("<ul> </ul>", before="<ul><li>x", after="</ul>"),
    "definitions after comments": filled("<!----> ", before="<dl><dd>" * 400, after="x</dl>"),
    "lines that a style keeps": filled("x\n", before="<div style=white-space:pre>"),
    "texts that a style keeps": filled("<p style=white-space:pre>x\ny"),
    "code that a style keeps": filled("<code style=white-space:pre>x\ny</code>"),
    "many styles": numbered("<i style='text-indent:-{}px;color:red;background:red'>x</i>", 100_000),
    "comments in styles": numbered("<p style='{}" + "/*" * 4_900 + "'>x", 800),
    "open comments in styles": numbered("<p style='{}" + "/*a" * 2_500 + "'>x", 1_000),
    "zeros in styles": numbered("<p style='opacity:{}" + "0" * 9_000 + "#;color:rgba(,,," + "0" * 900 + "'>x", 800),
    "functions in styles": numbered("<p style='transform:{}" + "translate(" * 500 + "scale(" * 800 + "'>x", 800),
    "numbers in styles": numbered("<p style='margin:{}" + "-9" * 4_900 + "'>x", 800),
    "colours in styles": numbered("<p style='color:rgba({}" + "," * 9_900 + "'>x", 800),
    "sizes in sizes": filled("<i style=font-size:1em>x</i>", before="<p style=font-size:0>" * 400),
    "broken addresses": filled("<a href='//[x' title='['>y</a>"),
    "addresses in white space": lambda: f"<a href='{' ' * 1_900}x'>y</a>" * 3_500 + BOTTOM,
    "letters of windows-1252": filled("\x92"),
    "line separators": filled("\u2028"),
    "details": filled("<details><summary>x</summary>y</details>"),
    "bases": filled("<base href=https://a.example/>"),
    "titles": filled("<title>x</title>"),
}
