"""The command and the synchronous doors, as a user meets them. The bodies are plain functions: no loop is running."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

import runvil
from runvil import WebFetch
from tests.lab.harness import namespace
from tests.lab.harness.answers import redirect
from tests.lab.harness.lab import Dial
from tests.lab.harness.marks import in_lab
from tests.lab.support import ARTICLE, EXAMPLE, NAVIGATION, SENTENCE, plain

if TYPE_CHECKING:
    from tests.lab.harness.lab import Lab

pytestmark = pytest.mark.lab


@in_lab
def test_fetch_prints_what_a_model_would_be_given(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, ARTICLE)
    done = lab.command("fetch", "https://example.com/")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("url: https://example.com/\ntruncated: false\nextraction: readability\n\n")
    assert SENTENCE in done.stdout
    assert NAVIGATION not in done.stdout
    assert lab.dialled() == [Dial(EXAMPLE, 443)]


@in_lab
def test_fetch_json_tells_everything_about_a_page(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, redirect("/page?x=1"))
    lab.serve("https://example.com/page?x=1", ARTICLE)
    done = lab.command("fetch", "https://example.com/", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    told = told[0] if isinstance(told, list) else told
    assert {key: told[key] for key in ("url", "final_url", "kind", "truncated", "extraction", "title", "status")} == {
        "url": "https://example.com/",
        "final_url": "https://example.com/page?x=1",
        "kind": "ok",
        "truncated": False,
        "extraction": "readability",
        "title": "The harbour",
        "status": 200,
    }
    assert SENTENCE in told["text"]


@in_lab
def test_a_refusal_by_policy_exits_3_and_says_why(lab: Lab) -> None:
    lab.name("inward.example", "10.0.0.5")
    for url, said in {
        "https://inward.example/": "host inward.example has no allowed address",
        "https://localhost/": "host localhost has no allowed address",
        "https://169.254.169.254/": "ip literal host not allowed: 169.254.169.254",
        "https://example.com:8080/": "port not allowed: 8080",
        "nonsense": "invalid url",
    }.items():
        done = lab.command("fetch", url)
        assert done.returncode == 3, (url, done)
        assert said in done.stdout + done.stderr
    assert lab.dialled() == []


@in_lab
def test_a_soft_failure_exits_1_and_the_worst_of_several_counts(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("fine"))
    soft = lab.command("fetch", "https://example.com/missing")
    assert soft.returncode == 1
    assert "https://example.com/missing answered HTTP 404; try a different URL" in soft.stdout + soft.stderr
    several = lab.command("fetch", "https://example.com/", "https://example.com/missing", "https://127.0.0.1/")
    assert several.returncode == 3
    assert "--- https://example.com/\n" in several.stdout
    assert "fine" in several.stdout


@in_lab
def test_call_works_as_a_model_makes_it(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("fine"))
    expected = {"ok": "https://example.com/", "soft": "https://example.com/missing", "hard": "https://10.0.0.5/"}
    for kind, url in expected.items():
        done = lab.command("call", "web/fetch", json.dumps({"url": url}), "--json")
        told = json.loads(done.stdout)
        assert told["kind"] == kind
        assert told["error_kind"] == ("InvalidArguments" if kind == "hard" else None)


@in_lab
def test_a_machine_without_network_is_told_in_one_line(lab: Lab) -> None:
    namespace.run_ip(b"link set lo down\n")
    done = lab.command("fetch", "https://example.com/")
    said = (done.stdout + done.stderr).strip()
    assert done.returncode == 1, done
    assert said.count("\n") == 0
    assert "dns resolution failed for example.com" in said


@in_lab
def test_the_command_is_the_same_under_hostile_variables(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("fine"))
    done = lab.command(
        "fetch",
        "https://example.com/",
        HTTPS_PROXY="http://10.0.0.9:3128",
        ALL_PROXY="socks5://10.0.0.9:1080",
        LOCALDOMAIN="inward.example",
        RES_OPTIONS="ndots:9",
        PYTHONWARNINGS="error",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert lab.dialled() == [Dial(EXAMPLE, 443)]
    assert {name for name, _ in lab.queries()} == {"example.com."}


# --- doors without a loop, and inside one ---


@in_lab
def test_one_client_serves_several_runs_one_after_the_other(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, ARTICLE)
    fetch = WebFetch()
    for _ in range(2):
        page = asyncio.run(fetch.fetch("https://example.com/"))
        assert SENTENCE in page.text
    asyncio.run(fetch.aclose())


@in_lab
def test_a_run_that_ends_in_the_tick_its_fetch_does_leaves_no_connection(lab: Lab) -> None:
    """An empty text needs no further turn of the loop, so nothing the client left to a task has begun."""
    lab.site("example.com", EXAMPLE, plain(""))
    fetch = WebFetch()
    for _ in range(2):
        assert asyncio.run(fetch.fetch("https://example.com/")).text == ""
    asyncio.run(lab.until("gone", 2))
    asyncio.run(fetch.aclose())


@in_lab
def test_fetch_sync_needs_no_loop(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, ARTICLE)
    for _ in range(2):
        assert SENTENCE in runvil.fetch_sync("https://example.com/").text


@in_lab
async def test_fetch_sync_works_inside_a_running_loop(lab: Lab) -> None:
    lab.site("example.com", EXAMPLE, plain("fine"))
    assert runvil.fetch_sync("https://example.com/").text == "fine"


@in_lab
def test_fetch_sync_raises_what_fetch_raises(lab: Lab) -> None:
    lab.name("inward.example", "10.0.0.5")
    with pytest.raises(runvil.FetchFailure) as caught:
        runvil.fetch_sync("https://inward.example/")
    assert str(caught.value) == "host inward.example has no allowed address"
