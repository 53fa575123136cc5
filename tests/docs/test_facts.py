"""What a page says of options, variables, bounds and orders, held beside the code that has them."""

from __future__ import annotations

import re
import subprocess
import sys
from urllib.parse import urlsplit

from runvil.core.calls import search_schema
from runvil.core.config import CEILINGS, DURATION_CEILINGS, FetchConfig
from runvil.core.url import MAX_URL_BYTES
from runvil.doors.cli import mcp, search
from runvil.net.workers import MOST_WORKERS
from runvil.providers import LocalIndex, index
from runvil.providers.brave import COUNTRIES, LANGUAGES
from runvil.providers.environment import NAMES, VARIABLES, WAYS
from runvil.providers.support import SUPPORT
from tests.docs.blocks import ROOT, text_of
from tests.docs.validators import EXTRAS

IN_TIME = 60.0  # seconds; a guard against a hang


def prose(name: str) -> str:
    """A document's text on one line, for sentences that are looked for in it."""
    return " ".join(text_of(name).split())


def test_the_readmes_commands_are_what_ci_runs() -> None:
    readme, ci = text_of("README.md"), (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for step in (".venv/bin/pip install -q -e '.[dev]'", ".venv/bin/python -m pytest"):
        assert step in readme
        assert step in ci
    assert subprocess.run([sys.executable, "-m", "runvil", "--version"], check=True, timeout=IN_TIME).returncode == 0


def test_the_start_names_every_extra_that_users_have() -> None:
    named = set(re.findall(r"`\.\[(\w+)\]`", text_of("docs/index.md")))
    assert named == set(EXTRAS) - {"dev", "docs"}


def test_the_table_of_knobs_has_the_defaults_and_the_ceilings() -> None:
    cells = dict(re.findall(r"^\| `(\w+)` \|[^|]*\|(.*)\|$", text_of("docs/fetch.md"), re.MULTILINE))
    config = FetchConfig()
    for name, ceiling in {**CEILINGS, **DURATION_CEILINGS}.items():
        assert [_plain(getattr(config, name)), _plain(ceiling)] == [_number(cell) for cell in cells[name].split("|")]
    assert cells["max_concurrent"].split("|")[0].strip() == f"{config.max_concurrent} fetches"
    assert _number(cells["max_inflight_bytes"].split("|")[0]) == config.max_inflight_bytes


def _plain(value: float) -> int:
    return int(value)


def _number(cell: str) -> int:
    (digits, unit) = re.findall(r"([\d,]+) ?(MiB)?", cell)[0]
    return int(digits.replace(",", "")) * (1024 * 1024 if unit else 1)


def test_the_boundarys_bounds_are_the_policys() -> None:
    page, config = prose("docs/boundary.md"), FetchConfig()
    for said in (
        f"at most {MAX_URL_BYTES // 1024} KiB",
        f"{config.max_bytes // (1024 * 1024)} MiB after decompression",
        f"{config.timeout:.0f} seconds for everything, {config.connect_timeout:.0f} for a connection",
        f"{' and '.join(map(str, config.allow_ports))}, or the policy's",
    ):
        assert said in page
    assert config.max_redirects == 5, "the page says five"


def test_the_standard_library_reads_another_host_behind_the_backslash() -> None:
    (url,) = re.findall(r"^\$ runvil fetch '(.*\\.*)'$", text_of("docs/boundary.md"), re.MULTILINE)
    assert urlsplit(url).hostname == "169.254.169.254"


def test_the_recipe_for_containers_counts_workers_as_they_are() -> None:
    assert MOST_WORKERS == 4
    assert "up to four workers, at most one a core" in prose("docs/recipes/container.md")


# --- search ---

SEARCH = text_of("docs/search.md")


def test_the_numbers_of_the_table_are_the_lists() -> None:
    assert f"its {len(COUNTRIES)} countries" in SUPPORT["brave"]["country"].how
    assert f"its {len(LANGUAGES)} languages" in SUPPORT["brave"]["search_lang"].how


def test_every_variable_name_option_and_bound_of_searching_is_told() -> None:
    assert [name for name in (*VARIABLES, *NAMES) if f"`{name}`" not in SEARCH] == []
    options = [flag for option in search.command.params for flag in option.opts if flag.startswith("--")]
    assert len(options) == len(search_schema()["properties"]) - 1 + 2
    assert [flag for flag in options if f"`{flag}`" not in SEARCH] == []
    assert f"{index.MAX_PAGES:,} pages of at most {index.MAX_TEXT:,} characters, 400 million" in prose("docs/search.md")
    assert (index.MAX_TOTAL, LocalIndex().path.name) == (400_000_000, "pages.sqlite3")


def test_the_providers_are_listed_in_the_order_in_which_they_are_taken() -> None:
    listed = [line for line in SEARCH.splitlines() if re.match(r"\| `\w+Provider\(", line)]
    assert [way.name for way in WAYS][:1] == ["gateway"]
    places = [
        next(i for i, line in enumerate(listed) if f"`{way.variables[0]}`" in line) for way in WAYS if way.variables
    ]
    assert places == sorted(places)


# --- mcp ---


def test_every_option_of_the_mcp_command_has_its_place_in_a_document() -> None:
    told = text_of("docs/mcp.md") + text_of("docs/fetch.md") + SEARCH
    flags = [flag for option in mcp.command.params for flag in option.opts]
    assert [flag for flag in flags if flag not in told] == []


# --- roots ---


def test_every_variable_of_trust_has_its_row() -> None:
    source = (ROOT / "src" / "runvil" / "trust.py").read_text(encoding="utf-8")
    read = set(re.findall(r'env\.get\("(\w+)"', source))
    page = text_of("docs/recipes/corporate-ca.md")
    assert [name for name in read if f"`{name}" not in page] == []
