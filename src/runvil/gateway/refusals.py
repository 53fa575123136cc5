"""Every way the gateway says no: one class, one table of codes, one envelope (spec 2.8).

A message is built from our own words and from the client's own arguments, never from a vendor's or a library's.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Code:
    """status: the HTTP status, or 0 where it is the vendor's. meaning: for the OpenAPI document."""

    status: int
    type: str
    meaning: str


CODES: Mapping[str, Code] = {
    "malformed_request": Code(400, "invalid_request_error", "The body breaks a rule; the message names it."),
    "unauthorized": Code(401, "authentication_error", "No key, or none that is known."),
    "not_found": Code(404, "invalid_request_error", "No such route, or the tool is not configured."),
    "method_not_allowed": Code(405, "invalid_request_error", "The route exists, with another method."),
    "request_timeout": Code(408, "invalid_request_error", "The body did not arrive in time."),
    "request_too_large": Code(413, "invalid_request_error", "The body is larger than the cap."),
    "unsupported_media_type": Code(
        415, "invalid_request_error", "The body is declared to be something other than JSON."
    ),
    "rate_limited": Code(429, "rate_limit_error", "The key's rate is used up; Retry-After says until when."),
    "quota_exceeded": Code(429, "rate_limit_error", "The key's quota is used up; Retry-After says until when."),
    "too_many_attempts": Code(429, "rate_limit_error", "Too many wrong keys from this address."),
    "upstream_client_error": Code(0, "invalid_request_error", "The vendor answered with this 4xx status."),
    "internal_error": Code(500, "server_error", "A defect of the gateway's own."),
    "upstream_transport": Code(502, "server_error", "The vendor could not be reached, or not in time."),
    "upstream_protocol": Code(502, "server_error", "The vendor's answer could not be read."),
    "upstream_error": Code(502, "server_error", "The vendor failed."),
    "queue_full": Code(503, "server_error", "Too many searches at once."),
    "limits_unavailable": Code(503, "server_error", "The store of the limits is lost; nothing passes without it."),
}
"""code -> what it stands for. Those below 429 and `queue_full` are the earlier system's, but for the body's own."""


class Refusal(Exception):
    """An answer that is an error. headers: beside the envelope."""

    def __init__(
        self, code: str, message: str, *, status: int | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.status = CODES[code].status if status is None else status
        self.message = message
        self.headers = headers or {}

    def body(self) -> bytes:
        error = {"message": self.message, "type": CODES[self.code].type, "code": self.code}
        return json.dumps({"error": error}, separators=(",", ":")).encode()


def malformed(what: str) -> Refusal:
    return Refusal("malformed_request", f"malformed request: {what}")


MAX_WAIT = 366 * 86_400
"""Seconds that a client is told to wait at most: a vendor may name any number, infinity included."""


def wait(seconds: float) -> dict[str, str]:
    """The header that says when to come back: whole seconds, rounded up."""
    return {"Retry-After": str(max(1, -int(-min(seconds, MAX_WAIT) // 1)))}
