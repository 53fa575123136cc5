"""How the outcome of one fetch is told: as text, as JSON, as an exit status (contract 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from runvil.core.failures import FetchFailure, Unfinished
from runvil.core.page import Page
from runvil.doors.cli.statuses import FAILED, OK, REFUSED


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one URL: a page or a failure."""

    url: str
    result: Page | FetchFailure

    @property
    def kind(self) -> str:
        if isinstance(self.result, Page):
            return "ok"
        return "soft" if self.result.soft else "hard"

    @property
    def status(self) -> int:
        if isinstance(self.result, Unfinished):
            return FAILED  # nobody refused it
        return {"ok": OK, "soft": FAILED, "hard": REFUSED}[self.kind]

    def as_json(self) -> dict[str, Any]:
        """One object a URL, its members always the same."""
        page = self.result if isinstance(self.result, Page) else None
        failure = self.result if isinstance(self.result, FetchFailure) else None
        return {
            "url": self.url,
            "final_url": page.url if page else failure and failure.url,
            "kind": self.kind,
            "code": failure.code if failure else None,
            "message": str(failure) if failure else None,
            "truncated": page.truncated if page else None,
            "extraction": page.extraction if page else None,
            "title": page.title if page else None,
            "status": page.status if page else failure and failure.status,
            "content_type": page.content_type if page else None,
            "text": page.text if page else None,
        }
