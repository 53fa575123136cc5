"""What a vector's `expected` asks of a tool's outcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runvil import Tool, ToolError


@dataclass
class Outcome:
    """A call's outcome in the vectors' words. kind: ok, soft or hard."""

    kind: str
    text: str
    error_kind: str | None = None
    untrusted: bool = True


async def call(tool: Tool, arguments: Any) -> Outcome:
    try:
        output = await tool.call(arguments)
    except ToolError as error:
        return Outcome("hard", str(error), error.kind)
    return Outcome("soft" if output.soft else "ok", output.text, untrusted=output.untrusted)


def verify_outcome(outcome: Outcome, expected: Mapping[str, Any]) -> None:
    assert outcome.kind == expected["kind"], outcome.text
    assert outcome.error_kind == expected.get("tool_error_kind")
    assert outcome.untrusted
    text = expected["text"]
    match expected.get("match", "exact"):
        case "exact":
            assert outcome.text in (text, *expected.get("accept_also", ()))
        case "contains":
            assert text in outcome.text
        case "checks":
            _verify_checks(outcome.text, text)
        case "structured":
            header = "".join(f"{name}: {value}\n" for name, value in text["header"].items())
            assert outcome.text == header + "\n" + text["body"]["repeat"] * text["body"]["count"]
        case other:
            raise AssertionError(f"unknown match: {other}")
    for absent in expected.get("text_must_not_contain", ()):
        assert absent not in outcome.text


def _verify_checks(text: str, checks: Mapping[str, Any]) -> None:
    header, _, body = text.partition("\n\n")
    for name, wanted in checks.items():
        match name:
            case "header_line":
                assert wanted in header.split("\n")
            case "header_lines":
                assert len(header.split("\n")) == wanted
            case "contains":
                assert [part for part in wanted if part not in text] == []
            case "not_contains":
                assert [part for part in wanted if part in text] == []
            case "body_chars":
                assert len(body) == wanted
            case "body_blank":
                assert body.strip() == ""
            case other:
                raise AssertionError(f"unknown check: {other}")
