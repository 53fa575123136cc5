"""How elements read as markdown: links, images, code, formulas, frames."""

from __future__ import annotations

import pytest

from runvil.extract import render
from runvil.extract.addresses import MAX_ADDRESS, is_place

ADDRESS = "https://a.example/dir/page"


def md(body: str, head: str = "") -> str:
    return render(f"<head>{head}</head><body>{body}", ADDRESS, raw=True).text


@pytest.mark.parametrize(
    ("href", "address"),
    [
        ("x", "https://a.example/dir/x"),
        ("../x", "https://a.example/x"),
        ("/x", "https://a.example/x"),
        ("//b.example/x", "https://b.example/x"),
        ("?q", "https://a.example/dir/page?q"),
        ("#f", "https://a.example/dir/page#f"),
        ("https://b.example/x", "https://b.example/x"),
        ("mailto:a@b.example", "mailto:a@b.example"),
    ],
)
def test_a_link_becomes_absolute(href: str, address: str) -> None:
    assert md(f"<p><a href='{href}'>text</a>") == f"[text]({address})"


def test_a_link_is_relative_to_the_base() -> None:
    assert md("<p><a href=x>text</a><img src=i alt=a>", "<base href=//b.example/c/>") == (
        "[text](https://b.example/c/x)![a](https://b.example/c/i)"
    )


@pytest.mark.parametrize(
    "href",
    [
        "javascript:alert(1)",
        " JaVaScRiPt:alert(1)",
        "java\nscript:alert(1)",
        "\x01javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "blob:https://a.example/1",
        "https://a.example/?" + "x" * MAX_ADDRESS,
    ],
)
def test_a_payload_is_no_address_but_its_text_stays(href: str) -> None:
    assert not is_place(href)
    assert md(f'<p>before <a href="{href}">text</a> after') == "before text after"


@pytest.mark.parametrize("address", ["//[x", "//x]", " /\\[x", "https://[x", "\\\\[::1"])
def test_an_address_that_cannot_be_joined_costs_no_other(address: str) -> None:
    page = f"<p><a href='{address}'>one</a> <img src='{address}' alt=two> <a href=/y>three</a>"
    assert md(page) == "one two [three](https://a.example/y)"


@pytest.mark.parametrize("href", ["", " ", "&#10;"])
def test_a_link_to_nowhere_is_its_text(href: str) -> None:
    assert md(f"<p><a href='{href}'>text</a>") == "text"


def test_an_address_is_read_as_a_browser_reads_it() -> None:
    assert md("<p><a href=' /x&#10;y '>text</a><img src=' /i.png&#9;' alt=a>") == (
        "[text](https://a.example/xy)![a](https://a.example/i.png)"
    )


def test_an_anchor_without_words_is_no_link() -> None:
    assert md("<h2>Title<a href=#t>¶</a></h2><p>x<a name=y></a><a href=z> </a>") == "## Title\n\nx"


def test_a_linked_image_stays() -> None:
    assert md("<a href=x><img src=i alt=a></a>") == "[![a](https://a.example/dir/i)](https://a.example/dir/x)"


@pytest.mark.parametrize(
    ("image", "text"),
    [
        ("<img src=i alt=a>", "![a](https://a.example/dir/i)"),
        ("<img src='data:image/gif;base64,R0' data-src=i alt=a>", "![a](https://a.example/dir/i)"),
        ("<img src=placeholder.gif data-original=i alt=a>", "![a](https://a.example/dir/i)"),
        ("<img srcset='i 1x, j 2x' alt=a>", "![a](https://a.example/dir/i)"),
        ("<img data-srcset='i 480w' alt=a>", "![a](https://a.example/dir/i)"),
        ("<img src='data:image/png;base64,AAAA' alt='a chart'>", "a chart"),
        ("<img src='javascript:x' alt=a>", "a"),
        ("<img src='data:image/png;base64,AAAA'>", ""),
        ("<img>", ""),
    ],
)
def test_an_image_shows_where_it_is_or_what_it_is(image: str, text: str) -> None:
    assert md(f"<p>{image}") == text


@pytest.mark.parametrize(
    ("block", "fence"),
    [
        ("<pre><code class=language-go>c</code></pre>", "```go"),
        ("<pre class='brush: java'>c</pre>", "```java"),
        ("<div class='highlight highlight-source-python'><pre>c</pre></div>", "```python"),
        ("<pre data-lang=rust><code>c</code></pre>", "```rust"),
        ("<pre><code class='hljs c++'>c</code></pre>", "```c++"),
        ("<pre>c</pre>", "```"),
        ("<pre class=wide>c</pre>", "```"),
    ],
)
def test_a_code_block_says_its_language(block: str, fence: str) -> None:
    assert md(block) == f"{fence}\nc\n```"


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        ("<math alttext='a_1^2'><mi>a</mi></math>", "$a_1^2$"),
        ("<math display=block alttext='\\frac{a}{b}'><mi>a</mi></math>", "$$\\frac{a}{b}$$"),
        ("<script type='math/tex'>x_1 < 2</script>", "$x_1 < 2$"),
        (
            "<span class=katex><span class=katex-mathml><math><semantics><mi>x</mi><annotation "
            "encoding='application/x-tex'>x*y</annotation></semantics></math></span>"
            "<span class=katex-html aria-hidden=true>x∗y</span></span>",
            "$x*y$",
        ),
    ],
)
def test_a_formula_reads_as_it_was_written(formula: str, text: str) -> None:
    assert md(f"<p>So {formula} holds.") == f"So {text} holds."


def test_a_film_is_a_link_to_it() -> None:
    assert md("<p>x</p><iframe src=//v.example/1 title='A film'></iframe>") == "x\n\n[A film](https://v.example/1)"
    assert md("<video><source src=f.mp4></video>") == "[video](https://a.example/dir/f.mp4)"
    assert md("<p>x</p><iframe src='about:blank'></iframe><video></video>") == "x"


def test_indices_and_powers_can_be_told_from_the_line() -> None:
    assert md("<p>H<sub>2</sub>O, x<sup>2</sup>") == "H<sub>2</sub>O, x<sup>2</sup>"


def test_many_links_of_a_page_with_a_long_address_do_not_multiply_it() -> None:
    base = "https://a.example/" + "x" * 8_000
    text = render("<a href=y>z</a>" * 100_000, base, raw=True).text
    assert len(text) < 4_000_000
    assert text.count("[z](y)") == 100_000


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p><span>Seats</span><span>120</span>", "Seats 120"),
        ("<p><a href=/a>Bags</a><span>61</span>", "[Bags](https://a.example/a) 61"),
        ("<p><span class=c>2026</span><span class=c>10h</span>", "2026 10h"),
        ("<p><span>T</span><span>he</span>", "The"),
        ("<p><span>un</span><span>believable</span>", "unbelievable"),
        ("<p><code><span>ab</span><span>12</span></code>", "`ab12`"),
    ],
)
def test_phrases_that_only_style_sets_apart_do_not_grow_together(html: str, text: str) -> None:
    assert md(html) == text


def test_a_pages_own_element_of_our_raw_tag_means_nothing() -> None:
    assert md("<p><x-runvil-raw># [a](b) &lt;c></x-runvil-raw>") == r"\# \[a\](b) \<c>"


def test_a_formula_that_a_page_asks_for_again_and_again_stands_once() -> None:
    formula = "<math alttext='" + "x" * 1_000 + "'></math>"
    assert md(f"<p>{formula}" + "\ufdd00\ufdd1" * 1_000).count("x") == 1_000


def test_a_formula_brings_no_control_characters() -> None:
    assert md("<p><math alttext='a\x1b[31mb'></math>") == "$a[31mb$"


def test_a_line_of_digits_in_a_million_pieces_is_one_number() -> None:
    text = render(f"<p>{'<i></i>5' * 3_000}<p>12<span>34</span>", ADDRESS, raw=True).text
    assert text == "5" * 3_000 + "\n\n1234"


def test_letters_of_windows_1252_are_read_as_such() -> None:
    assert md("<p>we\x92re \x81fine\x85 \x9b31m") == "we’re fine… ›31m"
