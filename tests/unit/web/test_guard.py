import asyncio
import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from tests.asgi import HOST, ask
from tidings.clock import ManualClock
from tidings.web.guard import SECURITY, RequestGuard, find_token

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
    "a page of another site that reads": ("GET", {"origin": "https://evil.example"}),
    "one that posts": ("POST", {"origin": "https://evil.example"}),
    "one without an origin of its own": ("POST", {"origin": "null"}),
    "another port of this machine": ("POST", {"origin": "http://127.0.0.1:9000"}),
    "an image of another site": ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}),
    "a form of another site": ("POST", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}),
    "a sibling": ("GET", {"sec-fetch-site": "same-site", "sec-fetch-mode": "cors"}),
}
OWN = {
    "curl": ("GET", {}),
    "a form of curl": ("POST", {}),
    "an address that somebody typed": ("GET", {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}),
    "a link that somebody followed": ("GET", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}),
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
    """Return the answer of an application behind the door."""
    inner = PlainTextResponse("in", headers={"x-inner": "1"})
    guard = RequestGuard(inner, ManualClock(), frozenset({"tidings.example.org"}))
    return asyncio.run(ask(guard, "/x", method, headers=headers))


@pytest.mark.parametrize(("host", "is_own"), HOSTS.items())
def test_it_is_asked_by_its_own_names_only(host, is_own):
    """DNS rebinding: a name that an attacker lets point to this machine is refused; addresses and the names that were set are not."""
    answer = ask_guarded(headers={"host": host})

    assert (200 if is_own else 421) == answer.status
    assert is_own or "serve.names" in answer.json()["hint"]


@pytest.mark.parametrize("headers", [[("host", HOST), ("host", "evil.example")], [("host", "evil.example"), ("host", HOST)]])  # fmt: skip
def test_two_hosts_are_none(headers):
    """Nobody may choose which of two names is looked at."""
    assert 421 == ask_guarded(headers=headers).status


@pytest.mark.parametrize(("method", "headers"), OTHERS.values(), ids=OTHERS)
def test_pages_of_other_sites_are_not_let_in(method, headers):
    """H-087: what a browser does on behalf of another site is refused, reading as well as writing."""
    assert 403 == ask_guarded(method, headers).status


@pytest.mark.parametrize("headers", AHEAD)
def test_nothing_is_fetched_ahead_of_a_click(headers):
    """Searches are logged, results count as opened, pages are fetched: only for a person."""
    assert 403 == ask_guarded("GET", headers).status


@pytest.mark.parametrize(("method", "headers"), OWN.values(), ids=OWN)
def test_people_and_programs_are(method, headers):
    """What somebody asks for himself is answered."""
    assert 200 == ask_guarded(method, headers).status


@pytest.mark.parametrize("headers", [{}, {"host": "evil.example"}, {"origin": "https://evil.example"}])
def test_every_answer_is_harmless(headers):
    """No answer is run, framed, guessed at or readable for other origins (no CORS), refusals neither."""
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
def test_a_token_is_shown_in_one_header(given, shown):
    """As a bearer, or as the password of a login for readers that know nothing else."""
    assert shown == find_token(Headers({"authorization": given}))


NAMES = st.from_regex(r"[a-z0-9-]{1,20}(\.[a-z]{2,5}){1,3}\.?(:[0-9]{1,5})?", fullmatch=True)


@given(NAMES)
def test_no_name_is_own_unless_it_was_set(host):
    """Whatever name an attacker registers and lets point here."""
    assert not RequestGuard(PlainTextResponse("in"), ManualClock()).is_own(host)


@given(st.text(max_size=40), st.binary(max_size=60))
def test_whatever_a_header_says_is_judged(host, authorization):
    """No Host and no token of a stranger is a fault of ours."""
    RequestGuard(PlainTextResponse("in"), ManualClock()).is_own(host)
    shown = find_token(Headers(raw=[(b"authorization", authorization)]))

    assert len(shown) <= len(authorization)
