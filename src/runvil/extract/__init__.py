"""HTML -> markdown: pure functions of (text, address). No file, socket or clock; `worker` locks them in."""

from runvil.core.page import Rendered
from runvil.extract.page import render

__all__ = ["Rendered", "render"]
