"""The lab's one fixture: the nursery that forks a child for every test, or the reason there is none."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.lab.harness import namespace
from tests.lab.harness.nursery import Nursery

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def nursery() -> Iterator[Nursery]:
    """One for the whole run. Without namespaces all lab tests are skipped, or fail where RUNVIL_LAB_REQUIRED is set."""
    waived = os.environ.get("RUNVIL_NO_LAB")
    if waived:
        pytest.skip(f"the lab is waived by RUNVIL_NO_LAB: {waived}")
    _stop_unless_none(namespace.missing())
    nursery = Nursery()
    try:
        _stop_unless_none(nursery.probe())
        yield nursery
    finally:
        nursery.close()


def _stop_unless_none(reason: str | None) -> None:
    if reason is None:
        return
    text = f"the lab cannot work here: {reason}"
    if os.environ.get("RUNVIL_LAB_REQUIRED"):
        pytest.fail(text + " (RUNVIL_LAB_REQUIRED is set; RUNVIL_NO_LAB=reason waives it)")
    pytest.skip(text)
