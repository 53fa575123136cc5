"""What is counted, for Prometheus. Labels take values from the configuration and our own tables, never a client's.

Names follow the house of Prometheus: base units, `_total` for what only grows.
"""

from __future__ import annotations

from functools import cache

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 25.0)
"""From a cached answer to the vendors' deadline."""


class Metrics:
    """The counters of one gateway."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "runvil_gateway_requests", "Requests answered.", ("route", "status", "code"), registry=self._registry
        )
        self._seconds = Histogram(
            "runvil_gateway_request_seconds",
            "From the request's head to the answer's end.",
            ("route",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._open = Gauge("runvil_gateway_open_requests", "Requests under way.", registry=self._registry)
        self._clients = Counter(
            "runvil_gateway_client_requests", "Requests by client.", ("client", "code"), registry=self._registry
        )
        self._cache = Counter(
            "runvil_gateway_cache", "Answers by where they are from.", ("source",), registry=self._registry
        )
        self._vendors = Counter(
            "runvil_gateway_vendor_searches", "Attempts by vendor.", ("vendor", "outcome"), registry=self._registry
        )
        self._vendor_seconds = Histogram(
            "runvil_gateway_vendor_seconds",
            "Seconds of an attempt.",
            ("vendor",),
            buckets=SECONDS,
            registry=self._registry,
        )
        self._reloads = Counter(
            "runvil_gateway_config_reloads",
            "Readings of a changed configuration.",
            ("outcome",),
            registry=self._registry,
        )
        # finding a counter by its labels costs more than counting; the labels are few
        self._request = cache(lambda route, status, code: self._requests.labels(route, str(status), code))
        self._time = cache(self._seconds.labels)
        self._client = cache(self._clients.labels)
        self._source = cache(self._cache.labels)
        self._attempt = cache(self._vendors.labels)
        self._attempt_time = cache(self._vendor_seconds.labels)

    def begun(self) -> None:
        self._open.inc()

    def ended(self, route: str, status: int, code: str, client: str, seconds: float) -> None:
        self._open.dec()
        self._request(route, status, code).inc()
        self._time(route).observe(seconds)
        if client:
            self._client(client, code).inc()

    def cached(self, source: str) -> None:
        self._source(source).inc()

    def vendor(self, name: str, outcome: str, seconds: float) -> None:
        self._attempt(name, outcome).inc()
        self._attempt_time(name).observe(seconds)

    def reloaded(self, outcome: str) -> None:
        self._reloads.labels(outcome).inc()

    def text(self) -> bytes:
        return generate_latest(self._registry)
