"""A plugin for `llm` (entry point group `llm`): `llm -T web_fetch 'what does https://example.com/ say?'`.

web_search is there when the environment names who answers searches. A refusal is a result that says so.
"""

# mypy: disable-error-code="import-not-found,import-untyped,untyped-decorator"
from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import llm

from runvil import Tool, WebFetch, WebSearch
from runvil.core.calls import FETCH, SEARCH, Declaration, fetch_schema, search_schema
from runvil.core.config import FetchConfig
from runvil.doors.adapters.calls import Blocking
from runvil.providers import LocalIndex, from_environment
from runvil.providers.environment import chosen


@llm.hookimpl
def register_tools(register: Callable[[llm.Tool], None]) -> None:
    """What `llm` asks of a plugin. The tools are opened by their first call."""
    register(_made(FETCH, fetch_schema(FetchConfig().max_chars), WebFetch))
    if chosen(None, os.environ).name != "local" or LocalIndex().exists():
        register(_made(SEARCH, search_schema(), lambda: WebSearch(from_environment())))


def _made(declaration: Declaration, schema: dict[str, Any], opening: Callable[[], Tool]) -> llm.Tool:
    return llm.Tool(declaration.wire_name, declaration.description, schema, Blocking(opening))


def tools(*ours: Tool) -> list[llm.Tool]:
    """Tools of one's own for `model.chain(prompt, tools=tools(fetch))`."""
    return [
        llm.Tool(tool.wire_name, tool.description, tool.parameters, Blocking(partial(_same, tool))) for tool in ours
    ]


def _same(tool: Tool) -> Tool:
    return tool
