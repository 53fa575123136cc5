"""OpenTelemetry spans when an SDK is there; nothing when it is not. No query text, no key, no vendor's words."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

try:
    from opentelemetry import propagate, trace
except ImportError:  # an extra of its own
    trace = None  # type: ignore[assignment]

Headers = Iterable[tuple[bytes, bytes]]

CARRIED = (b"traceparent", b"tracestate", b"baggage")
"""The headers that continue somebody else's trace (W3C Trace Context, Baggage)."""


def recording() -> bool:
    """Whether spans go anywhere: the API alone makes none."""
    return trace is not None and not isinstance(trace.get_tracer_provider(), _IDLE)


_IDLE: tuple[type, ...] = () if trace is None else (trace.ProxyTracerProvider, trace.NoOpTracerProvider)


def request_span(method: str, route: str, headers: Headers) -> AbstractContextManager[Any]:
    """The server's span of a request, in the caller's trace if it names one; its value is the span or None."""
    if not recording():
        return nullcontext()
    carrier = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers if name in CARRIED}
    return trace.get_tracer("runvil.gateway").start_as_current_span(
        f"{method} {route}",
        context=propagate.extract(carrier),
        kind=trace.SpanKind.SERVER,
        attributes={"http.request.method": method, "http.route": route},
        record_exception=False,
        set_status_on_exception=False,
    )


def vendor_span(vendor: str) -> AbstractContextManager[Any]:
    """The client's span of one attempt."""
    if not recording():
        return nullcontext()
    return trace.get_tracer("runvil.gateway").start_as_current_span(
        "execute_tool web_search",
        kind=trace.SpanKind.CLIENT,
        attributes={
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "web_search",
            "server.address": vendor,
        },
        record_exception=False,
        set_status_on_exception=False,
    )
