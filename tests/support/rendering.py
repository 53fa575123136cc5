"""A renderer in this process, for the thousands of cases; the worker processes have tests of their own."""

from __future__ import annotations

from runvil.core.page import Rendered
from runvil.extract import render


class InProcess:
    """`ports.Renderer` without a worker."""

    def __init__(self) -> None:
        self.warmed = 0

    def warm(self) -> None:
        self.warmed += 1

    async def render(self, html: bytes, address: str, *, raw: bool, limit: int, until: float) -> Rendered:
        return render(html.decode("utf-8", "replace").removeprefix("\ufeff"), address, raw)

    async def aclose(self) -> None:
        return None
