"""Every kind of hostile page (bench/hostile_pages.py) comes back from a worker, with the text at its bottom."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from bench.hostile_pages import BOTTOM, PAGES

from runvil.net.workers import Workers
from tests.unit.extract.pages import ADDRESS

pytestmark = pytest.mark.slow

HANG = 60.0
WHOLE = 40_000_000


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def renderer() -> AsyncIterator[Workers]:
    pool = Workers(2)
    yield pool
    await pool.aclose()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("kind", PAGES)
async def test_a_hostile_page_gives_its_last_words(renderer: Workers, kind: str) -> None:
    until = asyncio.get_running_loop().time() + HANG
    async with asyncio.timeout(HANG):
        rendered = await renderer.render(PAGES[kind]().encode(), ADDRESS, raw=False, limit=WHOLE, until=until)
    assert BOTTOM in rendered.text
