"""What every suite needs: nothing that `fetch_sync` started outlives the test that called it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runvil import sync


@pytest.fixture
def own_background(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A loop thread of the test's own for `fetch_sync`, ended with the test."""
    monkeypatch.setattr(sync, "_background", None)
    yield
    if sync._background is not None:
        sync._background.close()
