"""The libraries of the extra `lua`, imported when a prompt is read: `import runvil.runtime` works without them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

HOW: Final = "running prompts needs the extra `lua`: pip install 'runvil[lua]' ({library} is missing)"


class MissingExtra(ImportError):
    """A library of the extra is not installed; `str()` says how to get it."""


@contextmanager
def of_the_extra() -> Iterator[None]:
    """Around an import. Raises MissingExtra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra(HOW.format(library=error.name)) from error
