"""Strategies for URLs: sound ones, odd ones, and text that only looks like one."""

from __future__ import annotations

from hypothesis import strategies as st

SECRET = "s3cr3t"

schemes = st.sampled_from(["https", "http", "HTTPS", "ftp", "wss", "file", "foo", "data", "javascript", "ht\ntps", ""])
slashes = st.sampled_from(["://", ":", ":/", ":///", ":\\\\", ":/\\", "//", ":\t//"])
userinfo = st.sampled_from(["", "", "", "@", "u@", "u:p@", ":p@", f"{SECRET}@", f"u:{SECRET}@", "a@b@", "%40@"])

_number = st.one_of(
    st.integers(0, 300).map(str),
    st.integers(0, 2**33).map(str),
    st.integers(0, 2**33).map(hex),
    st.integers(0, 300).map(oct),
)
numeric_hosts = st.lists(_number, min_size=1, max_size=5).map(".".join)
_letters = st.text(alphabet="abcxyz019-_.%①１。．xX~ßİÄ\u00ad\u200d\t @:/\\[]<>^|#?", min_size=0, max_size=20)
_names = st.lists(st.text(alphabet="abcdefxyz0123456789-", min_size=1, max_size=8), min_size=1, max_size=4).map(
    ".".join
)
_v6 = st.ip_addresses(v=6).map(lambda address: f"[{address}]")
_fixed = st.sampled_from([
    "example.com", "example.com.", "EXAMPLE.com", "localhost", "1.2.3.4.", "127.1", "0x7f.1", "017700000001", "[::1]",
    "[::ffff:127.0.0.1]", "xn--mnchen-3ya.example", "münchen.example", "a..b", ".a", "a" * 64 + ".example", "1.2.3.4.5",
    "①②⑦.⓪.⓪.①", "127。0。0。1", "%31%32%37.0.0.1", "0x", "0X7F000001", "1e3", "256", "1.0x100000000", "a.0x7f", "1.",
])  # fmt: skip
hosts = st.one_of(_fixed, _names, numeric_hosts, _v6, _letters)
ports = st.sampled_from(["", "", "", ":", ":80", ":443", ":0443", ":8080", ":0", ":65535", ":65536", ":x", ":-1"])
_paths = st.text(alphabet="abc/.%2F\\ é\u2028\x85\n\r\t;:@&=+$,'\"<>{}|^`~\x00\x7f", max_size=20)
paths = st.one_of(st.just("/"), _paths.map(lambda path: f"/{path}"), _paths)
queries = st.one_of(
    st.just(""),
    st.just(f"?q={SECRET}"),
    st.text(alphabet="ab=&?/'\"<> \n\r#é\x85\u2028%", max_size=12).map(lambda q: f"?{q}"),
)
fragments = st.sampled_from(["", "", "#", "#frag", f"#{SECRET}", "#a\nurl: b", "#?x"])

_structured = st.builds(
    lambda *parts: "".join(parts), schemes, slashes, userinfo, hosts, ports, paths, queries, fragments
)
secure = st.builds(lambda *parts: "https://" + "".join(parts), hosts, ports, paths, queries, fragments)
"""Text that begins as an https URL does."""

texts = st.one_of(_structured, secure, st.text(max_size=40))
"""Anything a model might pass for a URL, or a server for a target."""
