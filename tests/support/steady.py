"""Hypothesis without chance: the same examples on every run and machine, no database, no clock."""

from __future__ import annotations

from hypothesis import HealthCheck, settings


def steady(examples: int) -> settings:
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    )
