"""`runvil extract`: HTML from a file or stdin to markdown, as a person or a script uses it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from runvil.core.page import Extraction
from runvil.doors.cli import run
from runvil.extract import render
from tests.unit.extract.pages import has_paragraphs, page, paragraphs

IN_TIME = 30.0  # seconds; a guard against a hang
HTML = page(f"<nav>Menu</nav><article><h1>Ferries</h1>{paragraphs(3)}<p><a href=x>More</a> of it.</p></article>")
ADDRESS = "https://news.example/dir/page"


def told(capfd: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = run(["extract", *arguments])
    out, err = capfd.readouterr()
    return status, out, err


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "page.html"
    path.write_text(HTML, encoding="utf-8")
    return path


def test_a_file_gives_its_article(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = told(capfd, str(file), "--url", ADDRESS)
    assert (status, err) == (0, "")
    assert out == render(HTML, ADDRESS).text + "\n"
    assert has_paragraphs(out, 3)
    assert "[More](https://news.example/dir/x)" in out
    assert "Menu" not in out


@pytest.mark.parametrize("arguments", [(), ("-",)])
def test_stdin_gives_the_same(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "runvil", "extract", *arguments],
        input=HTML.encode(), capture_output=True, timeout=IN_TIME, check=True,
    )  # fmt: skip
    assert done.stdout.decode() == render(HTML, "").text + "\n"
    assert done.stderr == b""


def test_without_an_address_links_stay_as_they_are_unless_the_page_has_a_base(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    file.write_text("<p><a href=x>t</a>")
    assert told(capfd, str(file))[1] == "[t](x)\n"
    file.write_text("<base href=https://b.example/c/><p><a href=x>t</a>")
    assert told(capfd, str(file))[1] == "[t](https://b.example/c/x)\n"


def test_raw_gives_the_whole_page(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert told(capfd, str(file), "--raw")[1].startswith("Menu\n")


def test_json_has_three_members(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, _ = told(capfd, str(file), "--json", "--url", ADDRESS)
    rendered = render(HTML, ADDRESS)
    assert status == 0
    assert json.loads(out) == {
        "title": "Ferry report - Example News", "extraction": Extraction.READABILITY, "text": rendered.text,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (b"<p>caf\xc3\xa9", "café"),
        (b"\xef\xbb\xbf<p>caf\xc3\xa9", "café"),
        (b"<meta charset=windows-1252><p>caf\xe9", "café"),
        (b"<meta http-equiv=content-type content='text/html; charset=ISO-8859-1'><p>caf\xe9", "café"),
        (b"<meta charset=x-no-such><p>caf\xc3\xa9", "café"),
        (b"<p>caf\xe9", "caf\ufffd"),
    ],
)
def test_a_page_is_read_as_it_says_it_is_encoded(
    html: bytes, text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(html)
    assert told(capfd, str(file))[1] == text + "\n"


def test_what_cannot_be_read_is_a_usage_error(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    status, out, err = told(capfd, str(tmp_path / "absent.html"))
    assert (status, out) == (2, "")
    assert "absent.html: No such file or directory" in err
    status, out, err = told(capfd, "-", "--url", "http://")
    assert (status, out) == (2, "")


def test_nothing_from_the_page_reaches_the_terminals_controls(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "page.html"
    file.write_text("<title>t&#27;]0;x</title><p>a&#27;[31mb&#x2028;c", encoding="utf-8")
    out = told(capfd, str(file), "--json")[1]
    assert "\\u001b" not in out
    assert "\x1b" not in out
    assert "\u2028" not in out
