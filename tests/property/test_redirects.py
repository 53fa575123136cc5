"""Any response leads nowhere, to an admitted hop, or to a refusal in one line without a secret."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from runvil import FetchConfig
from runvil.core.admission import REDIRECT_STATUSES, Admitted, follow
from runvil.core.content import Head
from runvil.core.failures import RedirectRefused
from runvil.core.url import parse
from tests.property import urls
from tests.property.urls import SECRET
from tests.support.sentences import SOFT
from tests.support.steady import steady

SOURCE = parse(f"https://example.com/dir/page?from={SECRET}")
POLICIES = [
    FetchConfig(),
    FetchConfig(max_redirects=0),
    FetchConfig(allow_http=True, allow_ip_literals=True, allow_ports=(80, 443, 8080)),
]

locations = st.one_of(urls.texts.map(lambda text: text.encode("utf-8", "surrogatepass")), st.binary(max_size=40))
statuses = st.one_of(st.sampled_from(sorted(REDIRECT_STATUSES)), st.integers(100, 599))


@steady(700)
@given(statuses, st.one_of(st.none(), locations), st.integers(0, 6), st.sampled_from(POLICIES))
@example(302, f"https://{SECRET}:{SECRET}@b.example:8443/x?{SECRET}#{SECRET}".encode(), 0, POLICIES[0])
@example(302, b"http://127.0.0.1/", 0, POLICIES[2])
def test_any_location_leads_nowhere_or_onward_or_is_refused(
    status: int, location: bytes | None, hops: int, config: FetchConfig
) -> None:
    head = Head(status, () if location is None else ((b"location", location),))
    try:
        target = follow(SOURCE, head, hops, config)
    except RedirectRefused as refusal:
        told = str(refusal)
        assert status in REDIRECT_STATUSES
        assert SOFT.fullmatch(told)
        assert told.startswith("redirect from https://example.com/dir/page to ")
        assert told.splitlines() == [told]
        assert "?" not in told
        assert "#" not in told
    else:
        assert target is None or (hops < config.max_redirects and is_admissible(target, config))


def is_admissible(target: Admitted, config: FetchConfig) -> bool:
    url = target.url
    literal = not isinstance(url.host, str)
    return (
        url.scheme == "https"  # whatever the policy: the source speaks https
        and not url.has_userinfo
        and url.port in config.allow_ports
        and (config.allow_ip_literals or not literal)
    )


@steady(400)
@given(locations, st.sampled_from([200, 201, 300, 304, 305, 306, 404]))
def test_no_other_status_leads_anywhere(location: bytes, status: int) -> None:
    assert follow(SOURCE, Head(status, ((b"location", location),)), 0, FetchConfig()) is None


@steady(400)
@given(urls.secure)
def test_a_refusal_tells_neither_query_nor_credentials_nor_fragment(text: str) -> None:
    location = text.replace("https://", f"https://{SECRET}:{SECRET}@", 1)
    location = location.partition("#")[0].partition("?")[0] + f"?{SECRET}#{SECRET}"
    told = ""
    try:
        follow(SOURCE, Head(302, ((b"location", location.encode()),)), 0, FetchConfig())
    except RedirectRefused as refusal:
        told = str(refusal)
    assert SECRET not in told
