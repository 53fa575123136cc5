"""A secret that is sent and never shown."""

from __future__ import annotations

import re

from runvil.core.config import ConfigError

_SENDABLE = re.compile(r"[\x21-\x7e]{1,4096}")
"""What a header can carry as it is: a line break would start another header, and libraries quote what is wrong."""

TOO_SHORT_TO_HIDE = 8
"""Shorter keys are not searched for in answers: a word of two letters is everywhere and no secret."""


class Credential:
    """A key and the header it is sent in. Raises ConfigError when no header can carry it."""

    __slots__ = ("_key", "_name", "_prefix")

    def __init__(self, name: str, key: str, prefix: str = "") -> None:
        if not isinstance(key, str) or not _SENDABLE.fullmatch(key):
            raise ConfigError("the key is empty, or holds what no header can carry")
        self._name, self._key, self._prefix = name, key, prefix

    def header(self) -> dict[str, str]:
        return {self._name: self._prefix + self._key}

    def scrubbed(self, body: bytes) -> bytes:
        """An answer without the key: a server may repeat what it was sent, and answers are shown."""
        return body if len(self._key) < TOO_SHORT_TO_HIDE else body.replace(self._key.encode(), b"[key]")

    def __repr__(self) -> str:
        return f"Credential({self._name}: ...)"


def bearer(key: str) -> Credential:
    return Credential("Authorization", key, "Bearer ")
