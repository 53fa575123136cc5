"""Spans where an OpenTelemetry SDK is in the process, and nothing where it is not."""

from __future__ import annotations

import pytest

from runvil.gateway import spans
from tests.gateway.support import BEARER, LOST, SEARCH, Scripted, opened, scripts, text

trace = pytest.importorskip("opentelemetry.sdk.trace", reason="opentelemetry-sdk is not installed")

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def test_a_request_and_each_attempt_at_a_vendor_have_spans_in_the_callers_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), trace.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: provider)
    monkeypatch.setattr("opentelemetry.trace.get_tracer", provider.get_tracer)
    async with opened(text(), scripts(brave=Scripted(LOST))) as gateway:
        headers = {**BEARER, "traceparent": PARENT}
        await gateway.http.post(SEARCH, json={"query": "private words"}, headers=headers)
    attempt, request = exporter.get_finished_spans()
    assert (request.name, attempt.name) == (f"POST {SEARCH}", "execute_tool web_search")
    assert dict(request.attributes or {})["http.response.status_code"] == 502
    assert attempt.parent is not None
    assert attempt.parent.span_id == request.context.span_id
    assert f"{request.context.trace_id:032x}" == PARENT.split("-")[1]
    assert "private" not in request.to_json() + attempt.to_json()


async def test_without_an_sdk_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not spans.recording()
    monkeypatch.setattr(spans, "trace", None)
    async with opened(text(), scripts(brave=Scripted())) as gateway:
        assert (await gateway.search()).status_code == 200
