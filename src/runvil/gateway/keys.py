"""Client keys: `rv_<name>_<secret>`. The gateway keeps the SHA-256 of a key and never the key.

The secret is 256 random bits, so that a fast hash is enough: there is no dictionary of it. A key is looked up by its
name, and only digests are compared, in constant time, one comparison whether the name is known or not.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field

from runvil.gateway.rates import Rate

PREFIX = "rv_"
SECRET_BYTES = 32

MAX_KEY = 512
"""Characters of a key that is presented; a longer one is none of ours."""

STRONG = 32
"""Characters from which a key that was not made here is taken to be beyond guessing (128 bits in hex)."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,62}")


@dataclass(frozen=True, slots=True)
class Client:
    """Who may ask. digest: SHA-256 of the key. strong: the key cannot be guessed. rate, quota: None for no limit."""

    name: str
    digest: bytes = field(repr=False)
    strong: bool = True
    rate: Rate | None = None
    quota: Rate | None = None


_NOBODY = [Client("", bytes(32))]
"""Compared when a name is unknown; no text is known whose SHA-256 is zero."""


class Keys:
    """The clients. Several may share a name while a key is being replaced: all of their keys are good."""

    def __init__(self, clients: Sequence[Client]) -> None:
        self._by_name: dict[str, list[Client]] = {}
        for client in clients:
            self._by_name.setdefault(client.name, []).append(client)
        self._simple = [client for client in clients if client.name == SIMPLE]

    def find(self, presented: str) -> Client | None:
        """The client whose key this is."""
        if len(presented) > MAX_KEY:
            return None
        shown = digest(presented)
        named = self._by_name.get(name_in(presented), _NOBODY)
        found: Client | None = None
        for client in (*named, *self._simple):
            if hmac.compare_digest(shown, client.digest):
                found = client
        return found


SIMPLE = "default"
"""The name of the one client of `server.api_key`."""


def digest(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()


def mint(name: str) -> str:
    """A new key. Raises ValueError for what is no name."""
    if not is_name(name):
        raise ValueError("not a name")
    return f"{PREFIX}{name}_{secrets.token_hex(SECRET_BYTES)}"


def is_name(text: str) -> bool:
    """Letters, digits, dots and hyphens: a name stands inside a key, in metrics and in logs."""
    return _NAME.fullmatch(text) is not None and text != SIMPLE


def name_in(key: str) -> str:
    """The name that a key of our own form carries, or ""."""
    return key[len(PREFIX) :].rpartition("_")[0] if key.startswith(PREFIX) else ""
