"""What each vendor does otherwise than one would think, and what is made of it."""

from __future__ import annotations

from typing import Any

import pytest

from runvil import SearchError, SearchQuery, SearchResult
from runvil.providers import ExaProvider, KagiProvider, SearxngProvider, TavilyProvider
from runvil.providers.codes import COUNTRY_NAMES, since
from tests.support.vendors import MARKER, Asked, FakeVendor, Told
from tests.unit.providers.asking import KINDS, QUERY, ROWS


async def asked(name: str, query: SearchQuery, answer: Any = None) -> Asked:
    async with FakeVendor(Told(answer or KINDS[name].answer(ROWS))) as vendor:
        provider = KINDS[name].provider(vendor.root)
        await provider.search(query)
        await provider.aclose()
    return vendor.asked[0]


async def rows(name: str, answer: Any, query: SearchQuery = QUERY) -> tuple[SearchResult, ...]:
    async with FakeVendor(Told(answer)) as vendor:
        provider = KINDS[name].provider(vendor.root)
        found = await provider.search(query)
        await provider.aclose()
    return tuple(found.results)


async def failure(name: str, told: Told) -> str:
    async with FakeVendor(told) as vendor:
        provider = KINDS[name].provider(vendor.root)
        with pytest.raises(SearchError) as caught:
            await provider.search(QUERY)
        await provider.aclose()
    assert caught.value.kind == "Backend"
    return caught.value.message


# --- Brave ---


@pytest.mark.parametrize(("words", "sent"), [(49, 49), (50, 50), (51, 50), (200, 50)])
async def test_brave_is_sent_fifty_words_and_the_answer_says_what_was_run(words: int, sent: int) -> None:
    query = " ".join(["w"] * words)
    async with FakeVendor(Told({})) as vendor:
        provider = KINDS["brave"].provider(vendor.root)
        found = await provider.search(SearchQuery(query))
        await provider.aclose()
    assert vendor.asked[0].params["q"] == found.query == " ".join(["w"] * sent)


async def test_brave_blames_a_bad_key_with_422() -> None:
    body = {"type": "ErrorResponse", "error": {"code": "SUBSCRIPTION_TOKEN_INVALID", "detail": "The token is invalid."}}
    assert await failure("brave", Told(body, status=422)) == "brave refused the key (HTTP 422): The token is invalid."
    body["error"] = {"code": "VALIDATION", "detail": "Unable to validate request parameter(s)"}
    assert (await failure("brave", Told(body, status=422))).startswith("brave refused the request (HTTP 422): Unable")


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("ja", "jp"), ("JA-jp", "jp"), ("zh", "zh-hans"), ("zh-TW", "zh-hant"), ("zh_Hant", "zh-hant"),
        ("pt-BR", "pt-br"), ("pt", "pt-pt"), ("en-US", "en"), ("en-GB", "en-gb"), ("no", "nb"), ("de-CH", "de"),
        ("eo", None),
        ("german", None), ("?", None),
    ],
)  # fmt: skip
async def test_brave_has_its_own_words_for_languages(written: str, sent: str | None) -> None:
    assert (await asked("brave", SearchQuery("hi", search_lang=written))).params.get("search_lang") == sent


@pytest.mark.parametrize(
    ("written", "sent"), [("us", "us"), ("US", "US"), ("uk", "gb"), ("DE", "DE"), ("lu", None), ("Germany", None)]
)
async def test_brave_gets_no_country_that_it_would_refuse(written: str, sent: str | None) -> None:
    assert (await asked("brave", SearchQuery("hi", country=written))).params.get("country") == sent


async def test_brave_filters_hosts_with_a_goggle_that_no_entry_can_leave() -> None:
    query = SearchQuery("hi", include_domains=("a.example", "evil,boost=9"), exclude_domains=("b.example", "$x"))
    sent = await asked("brave", query)
    assert (sent.method, sent.path) == ("POST", "/res/v1/web/search")
    assert sent.json["goggles"] == ["$discard\n$site=a.example\n$discard,site=b.example"]
    assert sent.json["count"] == 20
    assert sent.headers["x-subscription-token"] == MARKER


async def test_brave_rewrites_a_query_and_the_answer_says_so() -> None:
    async with FakeVendor(Told({"query": {"original": "hi", "altered": "high"}})) as vendor:
        provider = KINDS["brave"].provider(vendor.root)
        found = await provider.search(QUERY)
        await provider.aclose()
    assert (found.query, found.results) == ("high", ())


async def test_braves_rows_keep_their_age_site_and_snippets() -> None:
    row = {
        "title": "T", "url": "https://www.a.example/", "description": "D", "age": "2 days ago",
        "meta_url": {"hostname": "www.a.example"}, "extra_snippets": ["one <strong>two</strong>", "", 5, "x" * 2000],
    }  # fmt: skip
    found = await rows("brave", {"web": {"results": [row]}})
    snippets = ("one two", "x" * 1024)
    assert found == (SearchResult("T", "https://www.a.example/", "D", "2 days ago", "www.a.example", snippets),)


# --- SearXNG ---


async def test_searxng_without_rows_and_with_silent_engines_has_failed() -> None:
    body = {"results": [], "unresponsive_engines": [["google", "too many requests"], ["bing", "<b>timeout</b>"]]}
    expected = "searxng: no engine answered (google: too many requests; bing: timeout)"
    assert await failure("searxng", Told(body)) == expected


async def test_searxng_with_rows_and_a_silent_engine_has_answered() -> None:
    body = KINDS["searxng"].answer(ROWS) | {"unresponsive_engines": [["google", "CAPTCHA"]]}
    assert len(await rows("searxng", body)) == 2


async def test_searxng_that_found_nothing_is_an_empty_list() -> None:
    assert await rows("searxng", KINDS["searxng"].answer([])) == ()


async def test_searxng_without_its_json_format_is_told_as_such() -> None:
    page = Told(b"<!DOCTYPE html><title>403 Forbidden", status=403, kind="text/html")
    assert await failure("searxng", page) == "searxng refused access (HTTP 403): a web page: a block or a challenge"
    error = Told({"error": "Invalid value decade for parameter time_range"}, status=400)
    assert (await failure("searxng", error)).endswith("(HTTP 400): Invalid value decade for parameter time_range")


async def test_searxng_has_no_count_so_a_second_page_is_asked_for_and_the_rows_are_cut() -> None:
    def page(asked: Asked) -> Told:
        first = 10 * (int(asked.params["pageno"]) - 1)
        return Told(KINDS["searxng"].answer([(str(n), f"https://a.example/{n}", "") for n in range(first, first + 12)]))

    async with FakeVendor(page) as vendor:
        provider = SearxngProvider(vendor.root)
        found = await provider.search(SearchQuery("hi", count=15))
        assert [row.title for row in found.results] == [str(n) for n in range(15)]
        assert [each.params["pageno"] for each in vendor.asked] == ["1", "2"]
        await provider.search(SearchQuery("hi", count=12))
        await provider.search(QUERY)
        await provider.aclose()
    assert [each.params["pageno"] for each in vendor.asked] == ["1", "2", "1", "1"]


async def test_a_second_page_that_fails_does_not_take_the_first_ones_rows() -> None:
    async with FakeVendor(Told(KINDS["searxng"].answer(ROWS)), Told(status=500)) as vendor:
        provider = SearxngProvider(vendor.root)
        found = await provider.search(SearchQuery("hi", count=20))
        await provider.aclose()
    assert len(found.results) == 2


@pytest.mark.parametrize(
    ("language", "country", "sent"),
    [("de", "ch", "de-CH"), ("de", None, "de"), ("de-AT", None, "de-AT"), (None, "ch", None), ("?", "ch", None)],
)
async def test_searxng_has_one_word_for_language_and_country(
    language: str | None, country: str | None, sent: str | None
) -> None:
    query = SearchQuery("hi", search_lang=language, country=country)
    assert (await asked("searxng", query)).params.get("language") == sent


async def test_searxngs_date_is_the_rows_age() -> None:
    row = {"title": "T", "url": "https://a.example/", "content": "C", "publishedDate": "2026-11-03T10:00:00"}
    assert (await rows("searxng", {"results": [row]}))[0].age == "2026-11-03"


# --- Tavily ---


async def test_tavily_without_a_key_asks_for_keyless_access_and_sends_no_credential() -> None:
    async with FakeVendor(Told(KINDS["tavily"].answer(ROWS))) as vendor:
        provider = TavilyProvider(base_url=vendor.root)
        await provider.search(QUERY)
        await provider.aclose()
    (sent,) = vendor.asked
    assert sent.headers["x-tavily-access-mode"] == "keyless"
    assert "authorization" not in sent.headers
    assert "x-tavily-access-mode" not in (await asked("tavily", QUERY)).headers


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, {"detail": {"error": "Unauthorized: missing or invalid API key."}}, "refused the key (HTTP 401): Unauth"),
        (432, {"detail": {"error": "over the plan"}}, "says that the plan's limit is reached (HTTP 432): over"),
        (433, {"detail": {"error": "over the budget"}}, "says that the pay-as-you-go limit is reached (HTTP 433)"),
        (429, {"error": {"code": "x", "message": "slow"}}, "says that its rate limit is reached (HTTP 429): slow"),
    ],
)  # fmt: skip
async def test_tavilys_limits_have_numbers_of_their_own(status: int, body: object, words: str) -> None:
    assert words in await failure("tavily", Told(body, status=status))


@pytest.mark.parametrize(
    ("written", "sent"),
    [("us", "united states"), ("UK", "united kingdom"), ("Germany", "germany"), ("xx", None), ("usa", None)],
)
async def test_tavily_calls_a_country_by_its_name(written: str, sent: str | None) -> None:
    assert (await asked("tavily", SearchQuery("hi", country=written))).json.get("country") == sent


def test_the_names_of_the_countries_are_whole() -> None:
    assert all(len(code) == 2 and name == name.lower().strip() != "" for code, name in COUNTRY_NAMES.items())
    assert len(set(COUNTRY_NAMES.values())) == len(COUNTRY_NAMES) > 150


# --- Exa ---


async def test_exas_filters_exclude_each_other_so_one_is_sent_and_both_are_kept() -> None:
    query = SearchQuery("hi", count=5, include_domains=("a.example",), exclude_domains=("b.a.example",))
    answer = KINDS["exa"].answer([("1", "https://a.example/", ""), ("2", "https://b.a.example/", "")])
    sent = await asked("exa", query, answer)
    assert sent.json["includeDomains"] == ["a.example"]
    assert "excludeDomains" not in sent.json
    assert sent.json["numResults"] > 5
    assert [row.title for row in await rows("exa", answer, query)] == ["1"]
    alone = await asked("exa", SearchQuery("hi", count=5, exclude_domains=("b.example",)))
    assert (alone.json["excludeDomains"], alone.json["numResults"]) == (["b.example"], 5)


@pytest.mark.parametrize("name", ["exa", "kagi"])
@pytest.mark.parametrize(("level", "sent"), [("off", False), ("moderate", True), ("strict", True), (None, None)])
async def test_safe_search_that_is_a_switch_is_off_only_when_it_is_switched_off(
    name: str, level: str | None, sent: bool | None
) -> None:
    member = {"exa": "moderation", "kagi": "safe_search"}[name]
    assert (await asked(name, SearchQuery("hi", safesearch=level))).json.get(member) is sent


@pytest.mark.parametrize("freshness", ["pd", "pw", "pm", "py"])
async def test_freshness_becomes_a_date_where_there_is_no_word_for_it(freshness: str) -> None:
    query = SearchQuery("hi", freshness=freshness)
    day = str(since(freshness))
    assert (await asked("exa", query)).json["startPublishedDate"] == f"{day}T00:00:00.000Z"
    assert (await asked("kagi", query)).json["filters"] == {"after": day}


async def test_exas_snippets_are_its_highlights() -> None:
    row = {
        "url": "https://a.example/",
        "title": None,
        "publishedDate": "2026-01-02T03:04:05.000Z",
        "highlights": ["h", "i"],
    }
    found = await rows("exa", {"results": [row, {"url": "https://b.example/", "text": "whole"}]})
    assert found[0] == SearchResult("", "https://a.example/", "h", "2026-01-02", "a.example", ("i",))
    assert found[1].description == "whole"


@pytest.mark.parametrize(
    ("status", "words"), [(402, "credit is used up"), (403, "refused access"), (401, "refused the key")]
)
async def test_exas_errors_are_told(status: int, words: str) -> None:
    message = await failure("exa", Told({"requestId": "r", "error": "Why", "tag": "T"}, status=status))
    assert message == f"exa {words if status != 402 else 'says that the credit is used up'} (HTTP {status}): Why"


# --- Kagi, Serper ---


async def test_kagis_errors_come_in_an_envelope_whatever_the_status() -> None:
    body = {"meta": {}, "data": [], "error": [{"code": 1, "message": "IP not authorised"}]}
    assert await failure("kagi", Told(body, status=403)) == "kagi refused access (HTTP 403): IP not authorised"
    assert await failure("kagi", Told(body)) == "kagi failed: IP not authorised"


async def test_kagis_filters_are_lenses() -> None:
    query = SearchQuery("hi", count=3, country="uk", include_domains=("a.example",), exclude_domains=("b.example",))
    sent = await asked("kagi", query)
    assert sent.json == {
        "query": "hi", "workflow": "search", "limit": 3, "filters": {"region": "gb"},
        "lens": {"sites_included": ["a.example"], "sites_excluded": ["b.example"]},
    }  # fmt: skip


@pytest.mark.parametrize("name", ["serper", "searxng"])
async def test_operators_go_into_the_query_as_far_as_google_reads_it(name: str) -> None:
    hosts = tuple(f"h{n}.example" for n in range(20))

    def query(text: str, include: tuple[str, ...], exclude: tuple[str, ...]) -> SearchQuery:
        return SearchQuery(text, include_domains=include, exclude_domains=exclude)

    async def sent(wanted: SearchQuery) -> str:
        got = await asked(name, wanted, KINDS[name].answer([]))
        return str(got.json["q"] if got.body else got.params["q"])

    assert await sent(query("hi", hosts[:1], ())) == "hi site:h0.example"
    assert await sent(query("hi", hosts[:2], hosts[2:3])) == "hi (site:h0.example OR site:h1.example) -site:h2.example"
    assert await sent(query("hi", (), ('a"b', "x)y"))) == "hi"
    crowded = " ".join(["w"] * 20)
    assert await sent(query(crowded, hosts, ())) == crowded
    assert (await sent(query(crowded, (), hosts))).count("-site:") == 12


@pytest.mark.parametrize(
    ("written", "sent"), [("de-CH", "de"), ("zh-CN", "zh-cn"), ("pt_BR", "pt-br"), ("en", "en"), ("english", None)]
)
async def test_serpers_language_is_googles(written: str, sent: str | None) -> None:
    assert (await asked("serper", SearchQuery("hi", search_lang=written))).json.get("hl") == sent


async def test_serpers_freshness_and_country_are_googles() -> None:
    sent = await asked("serper", SearchQuery("hi", freshness="pm", country="UK"))
    assert sent.json == {"q": "hi", "tbs": "qdr:m", "gl": "gb"}


def test_vendors_are_asked_at_home_by_default() -> None:
    for provider, host in ((ExaProvider, "api.exa.ai"), (KagiProvider, "kagi.com"), (TavilyProvider, "api.tavily.com")):
        assert f"https://{host}" in vars(vars(vars(provider(MARKER))["_vendor"])["client"])["_root"]
