"""What the OpenAPI document promises, asked by a generator of requests that knows nothing but the document."""

from __future__ import annotations

import asyncio
import shutil
import sys
from pathlib import Path

import pytest

from tests.gateway.support import client_table, process, text
from tests.support.vendors import FakeVendor, Told

SEED = 20_260_101
EXAMPLES = 100
LIMIT = 240.0

schemathesis = shutil.which("schemathesis", path=str(Path(sys.executable).parent)) or shutil.which("schemathesis")


@pytest.mark.slow
@pytest.mark.skipif(schemathesis is None, reason="schemathesis is not installed")
async def test_every_generated_request_gets_an_answer_that_the_document_allows(tmp_path: Path) -> None:
    path = tmp_path / "gateway.toml"
    key, table = client_table("schemathesis")
    rows = [{"title": "t", "url": f"https://s{at}.com/", "description": "d"} for at in range(20)]
    async with FakeVendor(Told({"web": {"results": rows}})) as vendor:
        path.write_text(text(vendor.root, server=table))
        async with process(path) as gateway:
            assert schemathesis is not None
            asking = await asyncio.create_subprocess_exec(
                *(schemathesis, "run", f"{gateway.root}/openapi.json", "--url", gateway.root),
                *("--header", f"Authorization: Bearer {key}", "--checks", "all", "--no-color"),
                *("--seed", str(SEED), "--max-examples", str(EXAMPLES), "--generation-database", "none"),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                cwd=tmp_path,
            )
            async with asyncio.timeout(LIMIT):
                said, _ = await asking.communicate()
    assert asking.returncode == 0, said.decode()
    codes = {line["code"] for line in gateway.events if line["event"] == "request"}
    assert {"ok", "malformed_request", "unauthorized", "method_not_allowed"} <= codes
    assert "internal_error" not in codes
