"""What every suite needs: processes of its own, and no background that outlives its test."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from runvil import sync
from tests.support.workers import forget_others

if find_spec("hypothesis"):  # the frameworks' environments do without
    from tests.support.steady import be_steady

    be_steady()


@pytest.fixture(autouse=True)
def own_processes() -> None:
    """What a test says of processes is about those it started."""
    forget_others()


@pytest.fixture
def own_background(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A loop thread of the test's own for `fetch_sync`, ended with the test."""
    monkeypatch.setattr(sync, "_background", None)
    yield
    if sync._background is not None:
        sync._background.close()
