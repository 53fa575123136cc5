"""Test seams, public and documented (contract 4): a scripted network, and a real web site on loopback.

`FakeNet` answers from a script, without a socket; `LoopbackSite` is a real server behind the real transport. Both are
passed to `WebFetch(net=...)` as arguments, and the address filter runs in front of them, never inside.
"""

from runvil.testing.certificate import Certificate
from runvil.testing.fake import (
    NXDOMAIN,
    Behaviour,
    DnsAnswer,
    FakeNet,
    FakeResponse,
    Rebinding,
    Reply,
    UnexpectedRequest,
)
from runvil.testing.model import ScriptedModel, asks
from runvil.testing.provider import FakeProvider
from runvil.testing.site import Answer, LoopbackSite, Request

__all__ = [
    "NXDOMAIN",
    "Answer",
    "Behaviour",
    "Certificate",
    "DnsAnswer",
    "FakeNet",
    "FakeProvider",
    "FakeResponse",
    "LoopbackSite",
    "Rebinding",
    "Reply",
    "Request",
    "ScriptedModel",
    "UnexpectedRequest",
    "asks",
]
