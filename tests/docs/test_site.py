"""The site builds without a network and without a warning, its links lead somewhere, nothing loads from elsewhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from runvil import extract, providers, runtime, testing
from tests.docs.blocks import DOCS, FENCE, PAGES, ROOT, name_of, text_of
from tests.lab.harness import namespace

pytest.importorskip("mkdocs", reason="the extra docs is not installed")
pytest.importorskip("material", reason="the extra docs is not installed")

IN_TIME = 300.0  # seconds; a guard against a hang, not a limit of the build

ALONE = """
import sys
from pathlib import Path
from tests.lab.harness import namespace
if sys.argv[1] == "alone":
    try:
        namespace.enter(Path(sys.argv[2]))
    except namespace.Unavailable as reason:
        sys.exit(f"unavailable: {reason}")
from mkdocs.__main__ import cli
cli(["build", "--strict", "--site-dir", sys.argv[3]])
"""
"""Builds the site, in a network of its own that holds nothing but `lo` where that is asked for."""

ADDRESSES: Mapping[str, Sequence[str]] = {
    "link": ("href",), "script": ("src",), "img": ("src", "srcset"), "iframe": ("src",), "source": ("src", "srcset"),
    "video": ("src", "poster"), "audio": ("src",), "object": ("data",), "embed": ("src",), "form": ("action",),
    "base": ("href",), "use": ("href",), "image": ("href",), "input": ("src",), "a": (), "body": ("background",),
}  # fmt: skip
"""Element -> attributes from which a browser loads something by itself, or sends something to."""


NOT_FOUND = "404.html"
"""The one page that a server shows under any address, so that its links begin at the root."""


@dataclass
class Html(HTMLParser):
    """What a page holds: ids, links of `<a>`, and what a browser would load."""

    ids: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.loads += [given[name] for name in ADDRESSES.get(tag, ("src", "href")) if name in given]
        self.loads += re.findall(r"url\(['\"]?([^'\")]+)", given.get("style", ""))


def built(where: Path, mode: str, place: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-c", ALONE, mode, str(place), str(where)],
        cwd=ROOT, env=environment, capture_output=True, text=True, timeout=IN_TIME, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("site")
    done = built(where, "here", where)
    assert done.returncode == 0, done.stdout + done.stderr
    return where


@cache
def page(path: Path) -> Html:
    html = Html()
    html.feed(path.read_text(encoding="utf-8"))
    return html


def pages(site: Path) -> list[Path]:
    found = sorted(site.rglob("*.html"))
    assert len(found) > len(list(DOCS.rglob("*.md")))
    return found


@pytest.mark.lab
def test_the_site_builds_where_there_is_no_network(tmp_path: Path) -> None:
    reason = os.environ.get("RUNVIL_NO_LAB") or namespace.missing()
    place = tmp_path / "etc"
    place.mkdir()
    done = None if reason else built(tmp_path / "site", "alone", place)
    if done is not None and "unavailable: " in done.stderr:
        reason = done.stderr.partition("unavailable: ")[2].strip()
    if reason:
        assert not os.environ.get("RUNVIL_LAB_REQUIRED") or os.environ.get("RUNVIL_NO_LAB"), reason
        pytest.skip(f"no network namespace here: {reason}")
    assert done is not None
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site" / "index.html").is_file()


def test_every_link_inside_the_site_leads_to_a_page_and_its_anchor(site: Path) -> None:
    lost = [
        f"{path.relative_to(site)}: {link}"
        for path in pages(site)
        for link in page(path).links
        if not urlsplit(link).scheme and not _leads(site, path, link)
    ]
    assert lost == []


def _leads(site: Path, source: Path, link: str) -> bool:
    parts = urlsplit(link)
    base = site if source.name == NOT_FOUND and parts.path.startswith("/") else source.parent
    target = (base / unquote(parts.path).removeprefix("/")).resolve() if parts.path else source
    if not target.is_file() or (parts.path.startswith("/") and base != site):
        return False
    return not parts.fragment or target.suffix != ".html" or unquote(parts.fragment) in page(target).ids


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    foreign = [
        f"{path.relative_to(site)}: {load}" for path in pages(site) for load in page(path).loads if _foreign(load)
    ]
    assert foreign == []


def test_no_style_sheet_loads_anything_from_elsewhere(site: Path) -> None:
    sheets = sorted(site.rglob("*.css"))
    assert sheets
    loads = [
        load
        for sheet in sheets
        for load in re.findall(r"url\(['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)", sheet.read_text())
    ]
    assert [load for pair in loads for load in pair if _foreign(load)] == []


def _foreign(address: str) -> bool:
    return not address.startswith("data:") and bool(urlsplit(address).scheme or address.startswith("//"))


def test_no_script_that_the_site_needs_comes_from_elsewhere(site: Path) -> None:
    """The theme's bundle knows two addresses for what pages here do not have: diagrams, and a repository's numbers."""
    sources = "".join(path.read_text(encoding="utf-8") for path in pages(site))
    assert 'class="mermaid"' not in sources
    assert 'data-md-component="source"' not in sources
    known = re.compile(r"https://(unpkg\.com/mermaid|unpkg\.com/resize-observer|api\.github\.com|gitlab|\$)")
    scripts = [script for script in site.rglob("*.js") if script.name.startswith(("bundle", "search.", "iframe"))]
    assert len(scripts) == 3
    for script in scripts:
        fetched = re.findall(r"""["'`](https://[^"'`]+)""", script.read_text(encoding="utf-8"))
        assert [address for address in fetched if not known.match(address)] == []


def test_search_finds_pages_from_a_directory(site: Path) -> None:
    """Offline, the index is a script: a browser reads no JSON from a file address."""
    script = (site / "search" / "search_index.js").read_text(encoding="utf-8")
    index = json.loads(script.removeprefix("var __index = "))
    titles = {entry["title"] for entry in index["docs"]}
    assert {"The boundary", "web_fetch", "NAT64-only networks"} <= titles
    assert "iframe-worker.js" in (site / "index.html").read_text(encoding="utf-8")


def test_every_public_name_has_its_place_in_the_reference(site: Path) -> None:
    """The face's names, and those of the packages that it documents as public."""
    import runvil

    ids = page(site / "reference.html").ids
    homes = {"runvil": runvil, "runvil.extract": extract, "runvil.providers": providers,
             "runvil.runtime": runtime, "runvil.testing": testing}  # fmt: skip
    assert [
        f"{home}.{name}" for home, module in homes.items() for name in module.__all__ if f"{home}.{name}" not in ids
    ] == []


def test_a_docstring_in_the_reference_holds_no_example() -> None:
    """Nothing would run it: an example belongs on a page."""
    import inspect
    from importlib import import_module

    names = re.findall(r"^::: ([\w.]+)$", text_of("docs/reference.md"), re.MULTILINE)
    assert names
    for name in names:
        home, _, own = name.rpartition(".")
        text = inspect.getdoc(getattr(import_module(home), own)) or ""
        assert not re.search(r"^(    |```|>>>)", text, re.MULTILINE), name


# --- the repository's own view of the same documents ---

LINK = re.compile(r"\]\((?P<path>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")


@pytest.mark.parametrize("name", [name_of(path) for path in PAGES])
def test_every_link_of_a_document_leads_somewhere_in_the_repository_too(name: str) -> None:
    prose = FENCE.sub("", text_of(name))
    for match in LINK.finditer(prose):
        path = (ROOT / name).parent / match["path"] if match["path"] else ROOT / name
        if urlsplit(match["path"]).scheme:
            continue
        assert path.exists(), match[0]
        assert not match["anchor"] or match["anchor"] in anchors(path), match[0]


def anchors(path: Path) -> set[str]:
    """The anchors that a repository's view gives headings: lower case, without punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", path.read_text(encoding="utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
