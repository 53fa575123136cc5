"""One JSON object a line on stderr. Of an exception, its type and the places it went through, never its words.

Words of libraries hold addresses, queries and keys. A secret that is left is struck out at the end, whoever wrote it.
"""

from __future__ import annotations

import json
import logging
import sys
import traceback
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any, TextIO

STRUCK = "[hidden]"

MAX_PLACES = 12
"""Frames of a traceback: the innermost."""

QUIET = ("httpx2", "httpcore", "redis", "uvicorn.access")
"""Libraries that log addresses, and with them queries."""


class JsonLines(logging.Formatter):
    """hide: the texts that may stand in no line."""

    def __init__(self, hidden: Sequence[str] = ()) -> None:
        super().__init__()
        self.hide(hidden)

    def hide(self, hidden: Sequence[str]) -> None:
        self._hidden = tuple(hidden)

    def format(self, record: logging.LogRecord) -> str:
        when = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {"time": when, "level": record.levelname.lower(), "event": record.getMessage()}
        line |= getattr(record, "fields", {})
        if record.name != "runvil.gateway":
            line["logger"] = record.name
        if record.exc_info and record.exc_info[1] is not None:
            line |= _described(record.exc_info[1])
        text = _encode(line)
        for secret in self._hidden:
            text = text.replace(secret, STRUCK)
        return text


_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode


def _described(error: BaseException) -> dict[str, Any]:
    frames = traceback.extract_tb(error.__traceback__)[-MAX_PLACES:]
    places = [f"{PurePath(frame.filename).name}:{frame.lineno}" for frame in frames]
    cause = error.__cause__
    return {"error": type(error).__name__, "where": places} | ({"cause": type(cause).__name__} if cause else {})


def start_logging(formatter: JsonLines, stream: TextIO | None = None) -> None:
    """All loggers of this process go to the stream, by default stderr, in one form."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter)
    # what no line of ours holds need not be found out (the logging manual's section on optimization)
    logging._srcfile = None
    logging.logThreads = logging.logProcesses = logging.logMultiprocessing = False
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("runvil").setLevel(logging.INFO)
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    for name in QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
