"""`@in_lab` makes a test body run in a network of its own."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.lab.harness.nursery import Nursery


def in_lab(body: Callable[..., Any]) -> Callable[..., None]:
    """The body's first parameter is the Lab; the others are the test's parameters and must survive JSON.

    pytest sees a plain test; the body itself runs in a child process, where it may be async or not.
    """

    def test(nursery: Nursery, **arguments: object) -> None:
        trace = nursery.run(body.__module__, body.__name__, arguments)
        if trace is not None:
            pytest.fail(trace, pytrace=False)

    own = list(inspect.signature(body).parameters.values())[1:]
    first = inspect.Parameter("nursery", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    vars(test)["__signature__"] = inspect.Signature([first, *own])
    vars(test)["body"] = body
    test.__name__, test.__module__, test.__doc__ = body.__name__, body.__module__, body.__doc__
    return test
