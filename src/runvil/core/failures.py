"""Every sentence a model can be told, one class per sentence.

    Failure(Exception)            str(failure) is the contract sentence, nothing else
    |- FetchFailure               what fetch() raises; has .code, .soft, .url, .status
    |  |- Hard                    the call fails with kind InvalidArguments (the eight of spec 1.16, and NotFetchable)
    |  |- Soft                    the sentence is the call's result (the eleven)
    |  `- Unfinished              the call fails with kind Other
    `- SearchFailure              always fails the call; .kind says how (spec 2.2, 2.3, 2.6)
       |- BadSearch               InvalidArguments
       |- SearchFailed            Transport or Backend, in the provider's words; EmptyUrl is one
       `- Unrenderable            Other

    SearchError(Exception)        what a provider raises; the search turns it into SearchFailed

A sentence is built from typed fields that are already redacted (`Url.shown`, spec 1.17) by whoever raises it. What a
library said stays in `__cause__` and never reaches a message. Sentences: spec 1.16.
"""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar


class Failure(Exception):
    """The root of everything the house tells a model went wrong."""


class ToolErrorKind(StrEnum):
    """How a tool call failed (contract 1): by its arguments or the policy, by the network, by whoever answered."""

    INVALID_ARGUMENTS = "InvalidArguments"
    TRANSPORT = "Transport"
    BACKEND = "Backend"
    OTHER = "Other"


class FetchFailure(Failure):
    """A fetch that gave no page. `str()` is the message; what a library said is in `__cause__` alone.

    code: a stable slug, one for each sentence. soft: true when the sentence is an ordinary result (spec 1.16).
    url: the URL that the sentence is about, without query and credentials (spec 1.17), or None. status: the HTTP
    status, or None.
    """

    code: ClassVar[str]
    soft: ClassVar[bool]

    def __init__(self, message: str, *, url: str | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.url = url
        self.status = status

    def __reduce__(self) -> tuple[object, ...]:
        """Batches run in other processes and send their failures home; the cause stays where it was."""
        return _restored, (type(self), str(self), self.url, self.status)


def _restored(kind: type[FetchFailure], message: str, url: str | None, status: int | None) -> FetchFailure:
    failure = kind.__new__(kind)
    FetchFailure.__init__(failure, message, url=url, status=status)
    return failure


class Hard(FetchFailure):
    """Fails the call with kind InvalidArguments."""

    soft = False


class Soft(FetchFailure):
    """Is the call's result: the model reads it and goes on."""

    soft = True


class Unfinished(FetchFailure):
    """The fetch ended without a page and without a reason that is ours. Fails the call with kind Other (spec 1.19)."""

    code = "did-not-finish"
    soft = False

    def __init__(self) -> None:
        super().__init__("web_fetch: the fetch task did not finish")


# --- the eight hard sentences, and the one that only a policy with IP literals can meet ---


class MissingUrl(Hard):
    code = "missing-url"

    def __init__(self) -> None:
        super().__init__("web_fetch: missing url argument")


class BadMaxChars(Hard):
    code = "bad-max-chars"

    def __init__(self) -> None:
        super().__init__("web_fetch: max_chars must be a positive integer")


class BadRaw(Hard):
    code = "bad-raw"

    def __init__(self) -> None:
        super().__init__("web_fetch: raw must be a boolean")


class InvalidUrl(Hard):
    code = "invalid-url"

    def __init__(self) -> None:
        super().__init__("invalid url")


class UserinfoRefused(Hard):
    code = "userinfo-refused"

    def __init__(self) -> None:
        super().__init__("url must not contain userinfo")


class PortRefused(Hard):
    code = "port-refused"

    def __init__(self, port: int) -> None:
        super().__init__(f"port not allowed: {port}")


class LiteralRefused(Hard):
    code = "ip-literal-refused"

    def __init__(self, address: str) -> None:
        super().__init__(f"ip literal host not allowed: {address}")


class NoAllowedAddress(Hard):
    code = "no-allowed-address"

    def __init__(self, host: str) -> None:
        super().__init__(f"host {host} has no allowed address")


class NotFetchable(Hard):
    code = "not-fetchable"

    def __init__(self, host: str) -> None:
        super().__init__(f"host {host} is not fetchable")


# --- the eleven soft sentences ---


class SchemeRefused(Soft):
    code = "scheme-refused"

    def __init__(self, scheme: str) -> None:
        super().__init__(f"scheme not allowed: {scheme}")


class LookupFailed(Soft):
    code = "lookup-failed"

    def __init__(self, host: str) -> None:
        super().__init__(f"dns resolution failed for {host}")


class TimedOut(Soft):
    code = "timed-out"

    def __init__(self, url: str) -> None:
        super().__init__(f"request to {url} timed out; try again or use a different URL", url=url)


class StatusFailed(Soft):
    code = "http-status"

    def __init__(self, url: str, status: int) -> None:
        super().__init__(f"{url} answered HTTP {status}; try a different URL", url=url, status=status)


class RedirectRefused(Soft):
    code = "redirect-refused"

    def __init__(self, source: str, target: str, reason: str) -> None:
        super().__init__(f"redirect from {source} to {target} refused: {reason}", url=target)


class ContentTypeMissing(Soft):
    code = "content-type-missing"

    def __init__(self, url: str) -> None:
        super().__init__(
            f"response from {url} declared no content type; refusing to guess its format; try a different URL", url=url
        )


class ContentTypeRefused(Soft):
    code = "content-type-refused"

    def __init__(self, url: str, content_type: str) -> None:
        super().__init__(
            f"content type {content_type} from {url} cannot be returned as text; "
            "try an HTML version of the page or a different URL",
            url=url,
        )


class CharsetUnknown(Soft):
    code = "charset-unknown"

    def __init__(self, url: str, charset: str) -> None:
        super().__init__(f"response from {url} declared unknown charset {charset}; cannot decode its text", url=url)


class TooLarge(Soft):
    code = "too-large"

    def __init__(self, url: str, limit: int) -> None:
        super().__init__(f"response from {url} exceeds the {limit}-byte size cap", url=url)


class BodyUnreadable(Soft):
    code = "body-unreadable"

    def __init__(self, url: str) -> None:
        super().__init__(f"the response body from {url} could not be read; try again or use a different URL", url=url)


class NetworkFailed(Soft):
    """The catch-all. The one message that keeps the query of the URL as requested (spec 1.10); `.url` is redacted."""

    code = "network-error"

    def __init__(self, requested: str, *, shown: str) -> None:
        super().__init__(f"fetch failed for {requested}: network error; try a different URL", url=shown)


# --- search ---

PREFIX = "web_search: "
"""Every search message begins so, whatever id the tool has (spec 2.6)."""


class SearchError(Exception):
    """A provider could not answer. kind: Transport (nobody was reached) or Backend (an answer without results).

    message: for the model; the tool puts `web_search: ` before it (spec 2.6).
    """

    def __init__(self, kind: ToolErrorKind | str, message: str) -> None:
        super().__init__(message)
        self.kind = ToolErrorKind(kind)
        self.message = message


class SearchFailure(Failure):
    """A search that gave no results to show."""

    def __init__(self, kind: ToolErrorKind, message: str) -> None:
        super().__init__(PREFIX + message)
        self.kind = kind


class BadSearch(SearchFailure):
    """The arguments broke a rule. message: the rule's, without PREFIX."""

    def __init__(self, message: str = "invalid arguments") -> None:
        super().__init__(ToolErrorKind.INVALID_ARGUMENTS, message)


class SearchFailed(SearchFailure):
    """The provider failed."""


class EmptyUrl(SearchFailed):
    def __init__(self, index: int) -> None:
        super().__init__(ToolErrorKind.BACKEND, f"malformed search response: result {index} has an empty url")


class Unrenderable(SearchFailure):
    def __init__(self) -> None:
        super().__init__(ToolErrorKind.OTHER, "the results could not be rendered")
