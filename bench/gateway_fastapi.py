"""The same route as FastAPI would have it written: a model for what comes in, a model for what goes out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel, ConfigDict, Field

from runvil.core.results import SearchQuery
from runvil.ports import SearchProvider


class Asked(BaseModel):
    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1)
    count: int = Field(default=10, ge=0)
    freshness: str | None = Field(default=None, pattern=r"^(pd|pw|pm|py)?$")
    country: str | None = Field(default=None, pattern=r"^([A-Za-z]{2})?$")
    search_lang: str | None = Field(default=None, pattern=r"^([A-Za-z]{2,3})?$")
    safesearch: str | None = Field(default=None, pattern=r"^(off|moderate|strict)?$")
    include_domains: list[str] = Field(default_factory=list, max_length=20)
    exclude_domains: list[str] = Field(default_factory=list, max_length=20)


class Row(BaseModel):
    title: str
    url: str
    description: str
    age: str | None = None
    site_name: str | None = None
    extra_snippets: list[str] = Field(default_factory=list)


class Found(BaseModel):
    query: str
    results: list[Row]


def application(
    vendor: SearchProvider,
    found: Callable[[SearchProvider, SearchQuery], Awaitable[dict[str, Any]]],
    known: Callable[[str | None], bool],
) -> FastAPI:
    app = FastAPI()

    @app.post("/v1/tools/web_search", response_model_exclude_none=True)
    async def search(asked: Asked, authorization: Annotated[str | None, Header()] = None) -> Found:
        if not known(authorization):
            raise HTTPException(401)
        query = SearchQuery(
            asked.query.strip(),
            min(asked.count, 20),
            asked.freshness,
            asked.country,
            asked.search_lang,
            asked.safesearch,
            tuple(asked.include_domains),
            tuple(asked.exclude_domains),
        )
        return Found.model_validate(await found(vendor, query))

    return app
