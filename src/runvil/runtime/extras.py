"""The libraries of the extra `lua`, imported when a prompt is read: `import runvil.runtime` works without them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Final

HOW: Final = "running prompts needs the extra `lua`: pip install 'runvil[lua]' ({library} is missing)"


LIBRARIES: Final = ("lupa", "markdown_it", "yaml")


class MissingExtra(ImportError):
    """A library of the extra is not installed; `str()` says how to get it."""


@contextmanager
def of_the_extra() -> Iterator[None]:
    """Around an import. Raises MissingExtra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(HOW.format(library=error.name)) from error


def require() -> None:
    """See that all are there, without importing them. Raises MissingExtra."""
    for library in LIBRARIES:
        if sys.modules.get(library, library) is None or (library not in sys.modules and find_spec(library) is None):
            raise MissingExtra(HOW.format(library=library))
