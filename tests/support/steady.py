"""Hypothesis without chance: the same examples on every run and machine, no database, no clock."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

EXAMPLES = 100
"""As many as Hypothesis makes by itself."""


def be_steady() -> None:
    """Make the tests steady that do not say it of themselves."""
    settings.register_profile("steady", steady(EXAMPLES))
    settings.load_profile("steady")


def steady(examples: int) -> settings:
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
