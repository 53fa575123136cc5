"""HTML -> markdown: pure functions of (text, address). No file, socket, process or clock; `worker` runs them locked in."""

from runvil.core.page import Rendered
from runvil.extract.page import render

__all__ = ["Rendered", "render"]
