"""What the documents and the deployment show is what the gateway reads and says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from runvil.gateway.app import Gateway
from runvil.gateway.config import _SERVER, _TOOL, MAX_FILE, read_config
from runvil.gateway.refusals import CODES
from runvil.gateway.vendors import KINDS

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "gateway.md").read_text()
(EXAMPLE,) = re.findall(r"^```toml\n(.*?)^```$", DOCUMENT, re.MULTILINE | re.DOTALL)
DEPLOYED = (ROOT / "deploy" / "config" / "gateway.toml").read_text()
ENVIRONMENT = {"RUNVIL_GATEWAY_API_KEY": "k" * 32, "BRAVE_SEARCH_API_KEY": "b" * 32}


@pytest.mark.parametrize("toml", [EXAMPLE, DEPLOYED])
def test_a_configuration_that_is_shown_can_be_served(toml: str) -> None:
    Gateway(read_config(toml.encode(), ENVIRONMENT))


def test_the_example_shows_every_key_there_is() -> None:
    headings = ".".join(re.findall(r"^\[+([a-z_.]+)\]", EXAMPLE, re.MULTILINE))
    shown = {*re.findall(r"^([a-z_]+) = ", EXAMPLE, re.MULTILINE), *headings.split(".")}
    assert {*_SERVER, *_TOOL} - shown == set()
    assert [name for name in KINDS if name not in EXAMPLE] == []
    assert len(EXAMPLE) < MAX_FILE


def test_the_table_of_codes_is_the_codes() -> None:
    rows = [
        f"| `{name}` | {code.status or 'the vendor' + chr(39) + 's'} | {code.meaning} |" for name, code in CODES.items()
    ]
    assert re.findall(r"^\| `.*$", DOCUMENT, re.MULTILINE) == rows


def test_every_bound_the_document_names_is_the_bound() -> None:
    from runvil.gateway import app, attempts, cache, request, rows, search, serve, store, vendors, wire

    assert (request.MAX_BODY, serve.MAX_HEAD, rows.MAX_ANSWER) == (64 * 1024, 16 * 1024, 256 * 1024)
    assert (app.BODY_TIME, wire.HEAD_TIME, wire.TAKE_TIME) == (10, 5, 10)
    assert (wire.MAX_CONNECTIONS, search.MAX_AT_ONCE) == (1000, 256)
    assert (vendors.DEADLINE, serve.GRACE, serve.LOOK, store.ANSWER) == (25, 30, 1, 2)
    assert (attempts.TRIES, attempts.WINDOW, cache.EMPTY_TTL) == (10, 60, 60)
    assert (cache.MAX_ENTRIES, cache.MAX_BYTES) == (2048, 32 * 1024 * 1024)
