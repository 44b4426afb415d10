import asyncio
import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from tests.asgi import HOST, ask
from tidings.clock import ManualClock
from tidings.web.request_guard import SECURITY, RequestGuard, find_token

TOKEN = "0123456789abcdef01234567"
HOSTS = {
    "127.0.0.1:8780": True,
    "127.0.0.1": True,
    "localhost:8780": True,
    "LOCALHOST": True,
    "localhost.": True,
    "[::1]:8780": True,
    "192.168.1.5:8780": True,
    "tidings.example.org": True,
    "Tidings.Example.org:443": True,
    "evil.example": False,
    "evil.example:8780": False,
    "127.0.0.1.evil.example": False,
    "localhost.evil.example": False,
    "tidings.example.org.evil.example": False,
    "127.0.0.1:8780@evil.example": False,
    "127.0.0.1:x": False,
    "2130706433": False,
    "0x7f.1": False,
    "": False,
    "[::1": True,
    "a:b:c": False,
}
OTHERS = {
    "a read by another site": ("GET", {"origin": "https://evil.example"}),
    "a post by another site": ("POST", {"origin": "https://evil.example"}),
    "an opaque origin": ("POST", {"origin": "null"}),
    "another port of this machine": ("POST", {"origin": "http://127.0.0.1:9000"}),
    "an image of another site": ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}),
    "a form of another site": ("POST", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}),
    "a sibling": ("GET", {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}),
}
OWN = {
    "curl": ("GET", {}),
    "a form of curl": ("POST", {}),
    "a typed address": ("GET", {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}),
    "a followed link": ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}),
    "a browser with another purpose": ("GET", {"sec-purpose": "other", "purpose": ""}),
    "a page of ours": ("POST", {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}),
}


AHEAD = [
    {"sec-purpose": "prefetch"},
    {"sec-purpose": "prefetch;prerender"},
    {"sec-purpose": "prefetch;anonymous-client-ip"},
    {"purpose": "prefetch"},
    {"Purpose": "Prefetch", "sec-fetch-site": "none", "sec-fetch-mode": "navigate"},
    {"x-moz": "prefetch"},
]


def ask_guarded(method="GET", headers=()):
    """Return the answer of an application behind the guard."""
    inner = PlainTextResponse("in", headers={"x-inner": "1"})
    guard = RequestGuard(inner, ManualClock(), frozenset({"tidings.example.org"}))
    return asyncio.run(ask(guard, "/x", method, headers=headers))


@pytest.mark.parametrize(("host", "is_own"), HOSTS.items())
def test_only_own_host_names_are_accepted(host, is_own):
    """DNS rebinding: a name that an attacker points to this machine is refused. Addresses and names
    of the settings are accepted.
    """
    answer = ask_guarded(headers={"host": host})

    assert (200 if is_own else 421) == answer.status
    assert is_own or "serve.names" in answer.json()["hint"]


@pytest.mark.parametrize("headers", [[("host", HOST), ("host", "evil.example")], [("host", "evil.example"), ("host", HOST)]])  # fmt: skip
def test_two_host_headers_are_refused(headers):
    """A client must not choose which of two names is checked."""
    assert 421 == ask_guarded(headers=headers).status


@pytest.mark.parametrize(("method", "headers"), OTHERS.values(), ids=OTHERS)
def test_requests_of_other_sites_are_refused(method, headers):
    """H-087: a browser sends them for another site, to read or to write."""
    assert 403 == ask_guarded(method, headers).status


@pytest.mark.parametrize("headers", AHEAD)
def test_prefetch_is_refused(headers):
    """Searches are logged, results count as opened, and pages are fetched: only for a person."""
    assert 403 == ask_guarded("GET", headers).status


@pytest.mark.parametrize(("method", "headers"), OWN.values(), ids=OWN)
def test_requests_of_users_and_programs_are_accepted(method, headers):
    """No other site has caused them."""
    assert 200 == ask_guarded(method, headers).status


@pytest.mark.parametrize("headers", [{}, {"host": "evil.example"}, {"origin": "https://evil.example"}])
def test_every_answer_has_security_headers(headers):
    """No answer is run, framed, sniffed or readable for other origins (no CORS). This includes
    refusals.
    """
    answer = ask_guarded(headers=headers)

    assert SECURITY.items() <= answer.headers.items()
    assert "Tue, 14 Nov 2023 22:13:20 GMT" == answer.headers["date"]
    assert not [name for name in answer.headers if name.startswith("access-control")]


def basic(text):
    return f"Basic {base64.b64encode(text.encode()).decode()}"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (f"Bearer {TOKEN}", TOKEN),
        (f"bearer   {TOKEN} ", TOKEN),
        (basic(f"anna:{TOKEN}"), TOKEN),
        (basic(f":{TOKEN}"), TOKEN),
        (basic("anna:a:b"), "a:b"),
        (basic("anna"), ""),
        ("Basic !!!", ""),
        ("Basic /w==", ""),
        (f"Digest {TOKEN}", ""),
        (TOKEN, ""),
        ("", ""),
    ],
)
def test_token_is_read_from_the_authorization_header(given, shown):
    """The token is a bearer token, or the password of basic authentication for readers that support
    nothing else.
    """
    assert shown == find_token(Headers({"authorization": given}))


NAMES = st.from_regex(r"[a-z0-9-]{1,20}(\.[a-z]{2,5}){1,3}\.?(:[0-9]{1,5})?", fullmatch=True)


@given(NAMES)
def test_unknown_host_name_is_never_accepted(host):
    """An attacker may register any name and point it to this machine."""
    assert not RequestGuard(PlainTextResponse("in"), ManualClock()).is_own(host)


@given(st.text(max_size=40), st.binary(max_size=60))
def test_any_header_value_is_handled(host, authorization):
    """No Host and no Authorization raises an exception."""
    RequestGuard(PlainTextResponse("in"), ManualClock()).is_own(host)
    shown = find_token(Headers(raw=[(b"authorization", authorization)]))

    assert len(shown) <= len(authorization)
