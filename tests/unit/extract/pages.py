"""Pages for tests, written for them."""

from __future__ import annotations

ADDRESS = "https://news.example/dir/page.html"


def paragraphs(count: int) -> str:
    """`count` paragraphs, each of which can be told from the others by its number."""
    return "".join(
        f"<p>The ferry to the outer islands left on time again, the harbour office noted, although the tide was "
        f"lower than anybody had expected in that week. ({number})</p>"
        for number in range(count)
    )


def page(body: str, head: str = "") -> str:
    return (
        f"<!doctype html><html><head><title>Ferry report - Example News</title>{head}</head><body>{body}</body></html>"
    )


def has_paragraphs(text: str, count: int) -> bool:
    return all(f"in that week. ({number})" in text for number in range(count))
