"""MkDocs hooks: what pages link to outside docs/ is part of the site, so that a link works here and in the repository.

A document of PAGES becomes a page. Any other file is copied as it is, below `repository/`. Nothing else is published.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from posixpath import normpath, relpath
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[1]
DOCS = "docs"

PAGES = {"SECURITY.md": "security.md", "bench/README.md": "benchmarks.md"}
"""Document of the repository -> its place in the site."""

LINK = re.compile(r"\]\((?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")
"""A relative markdown link: what holds a colon has a scheme."""

FENCE = re.compile(r"^(`{3,}).*?^\1", re.MULTILINE | re.DOTALL)


def on_files(files: Any, *, config: Any) -> Any:
    """Add the files that pages link to, and those that these link to in turn."""
    waiting = [*PAGES, *(str(path.relative_to(ROOT)) for path in (ROOT / DOCS).rglob("*.md"))]
    added: set[str] = set()
    for source in waiting:  # at most the two tables' length: only pages are read, and each is listed once
        outside = {path for path in _linked(source) if not path.startswith(f"{DOCS}/")}
        for path in {source, *outside} if source in PAGES else outside:
            if path not in added:
                added.add(path)
                files.append(File.generated(config, _place(path), abs_src_path=str(ROOT / path)))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Point links that leave docs/ to where the site has what they mean."""
    source = _source(page.file.src_uri)
    fences = [match.span() for match in FENCE.finditer(markdown)]

    def moved(match: re.Match[str]) -> str:
        target = _target(source, match["path"])
        if target is None or any(start <= match.start() < end for start, end in fences):
            return match[0]
        path = relpath(_place(target), str(PurePosixPath(page.file.src_uri).parent))
        return f"]({path}{match['anchor'] or ''})"

    return LINK.sub(moved, markdown)


def _linked(source: str) -> set[str]:
    text = FENCE.sub("", (ROOT / source).read_text(encoding="utf-8"))
    return {target for match in LINK.finditer(text) if (target := _target(source, match["path"]))}


def _target(source: str, path: str) -> str | None:
    """The file of the repository that a link in `source` means, or None."""
    target = normpath(str(PurePosixPath(source).parent / path))
    return target if not target.startswith("..") and (ROOT / target).is_file() else None


def _source(uri: str) -> str:
    """The document that became the page at `uri`."""
    return next((source for source, place in PAGES.items() if place == uri), f"{DOCS}/{uri}")


def _place(path: str) -> str:
    """Where the site has a file of the repository."""
    if path.startswith(f"{DOCS}/"):
        return path.removeprefix(f"{DOCS}/")
    plain = ".txt" if path.endswith(".md") else ""  # a prompt is to be read as it is, not as a page
    return PAGES.get(path, f"repository/{path}{plain}")
