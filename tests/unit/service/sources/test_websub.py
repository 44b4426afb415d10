"""What hubs are named, what they may ask, and whose signatures count (W3C WebSub)."""

import hashlib
import hmac
from dataclasses import replace

import pytest

from tidings.clock import DAY, HOUR, SECOND
from tidings.model.observed.version import LONGEST_HUB, Hub
from tidings.service.sources.websub import (
    LEASE,
    LEASE_LEAST,
    LEASE_MOST,
    LONGEST_CHALLENGE,
    METHODS,
    find_row,
    hub_in,
    is_known,
    is_signed,
    judge_callback,
    secret_of,
)
from tidings.storage.observed.hints import HubRow

NOW = 1_700_000_000 * SECOND
TOPIC = "https://x.example/feed"
HUB = "https://hub.example/"
NAMED = Hub("https://named.example/", "https://x.example/topic")
ROW = HubRow(1, HUB, TOPIC, token="t0ken", state="asked", due_at=NOW, attempts=2, problem="before")


@pytest.mark.parametrize(
    ("link", "named", "expected"),
    [
        ("", NAMED, NAMED),
        ("", Hub(), Hub()),
        (f'<{HUB}>; rel="hub"', NAMED, Hub(HUB, TOPIC)),
        (f"<{HUB}>; rel=hub, </topic>; rel=self", NAMED, Hub(HUB, "https://x.example/topic")),
        (f'<{HUB}>; type="a, b;c"; rel="alternate HUB"', Hub(), Hub(HUB, TOPIC)),
        (f"<{HUB}>; rel=hub, <https://second.example/>; rel=hub", Hub(), Hub(HUB, TOPIC)),
        ("</topic>; rel=self", NAMED, NAMED),
        ("</hub>; rel=hub", Hub(), Hub("https://x.example/hub", TOPIC)),
        ("<ftp://hub.example/>; rel=hub", NAMED, Hub()),
        (f"<{HUB}>; rel=hub, <mailto:x@y>; rel=self", Hub(), Hub()),
        (f"<{HUB}{'x' * LONGEST_HUB}>; rel=hub", Hub(), Hub()),
        ("", Hub(HUB, "x" * LONGEST_HUB), Hub()),
        ("<https://[>; rel=hub", Hub(), Hub()),
    ],
)
def test_hub_is_named_by_the_header_or_the_feed(link, named, expected):
    """The header goes first, addresses are absolute, and one that is invalid or too long is none."""
    assert expected == hub_in({"link": link} if link else {}, named, TOPIC)


def test_callback_is_known_by_its_token():
    """While it is asked for or active; a token of other letters is none."""
    rows = [replace(ROW, page_id=2, token="other"), ROW]

    assert rows[1] == find_row(rows, "t0ken")
    assert [None, None, None] == [find_row(rows, token) for token in ("t0ke", "", "t0ken\udc80")]
    assert [True, True, False, False] == [
        is_known(replace(ROW, state=s)) for s in ("asked", "active", "leaving", "refused")
    ]
    assert not is_known(None)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_signature_is_of_the_subscription(method):
    """By any key of the installation, and over the whole body; no other method counts."""
    keys = [b"new", b"old"]
    body = b"<feed/>"

    def sign(key=b"new", token="t0ken", text=body):
        return f"{method}={hmac.new(secret_of(token, key).encode(), text, method).hexdigest()}"

    def is_valid(signature):
        return is_signed("t0ken", body, signature, keys)

    assert is_valid(sign())
    assert is_valid(sign(b"old"))
    assert is_valid(f" {method}={sign().partition('=')[2].upper()} ")
    others = [
        sign(b"none"),
        sign(token="other"),
        sign(text=b"x"),
        f"{method}=",
        "",
        "md5=" + hashlib.md5(body).hexdigest(),
        f"{method}=é",
    ]
    assert not any(map(is_valid, others))
    assert not is_signed("t0ken", body, sign(), [])


def ask(row=ROW, **more):
    given = {"mode": "subscribe", "topic": TOPIC, "challenge": "c"} | more
    return judge_callback(row, {f"hub.{name}": value for name, value in given.items()}, NOW)


@pytest.mark.parametrize(
    ("seconds", "lease"),
    [
        (None, LEASE),
        ("86400", DAY),
        ("1", LEASE_LEAST),
        (str(10**11), LEASE_MOST),
        ("9" * 5000, LEASE_MOST),
        ("-5", LEASE),
        ("1.5", LEASE),
        ("٣", LEASE),
        ("", LEASE),
    ],
)
def test_verified_subscription_is_active_for_its_lease(seconds, lease):
    """Within bounds; it is renewed after two thirds of it, and what was wrong is forgotten."""
    answer, row = ask(**({} if seconds is None else {"lease_seconds": seconds}))

    assert "c" == answer
    assert replace(ROW, state="active", until=NOW + lease, due_at=NOW + lease * 2 // 3, attempts=0, problem="") == row
    assert HOUR <= LEASE_LEAST <= LEASE <= LEASE_MOST


@pytest.mark.parametrize(
    ("row", "more", "expected"),
    [
        (None, {}, (None, None)),
        (ROW, {"topic": "https://x.example/other"}, (None, ROW)),
        (ROW, {"challenge": ""}, (None, ROW)),
        (ROW, {"challenge": "c" * (LONGEST_CHALLENGE + 1)}, (None, ROW)),
        (ROW, {"mode": "unsubscribe"}, (None, ROW)),
        (ROW, {"mode": "nonsense"}, (None, ROW)),
        (replace(ROW, state="leaving"), {}, (None, replace(ROW, state="leaving"))),
        (replace(ROW, state="leaving"), {"mode": "unsubscribe"}, ("c", None)),
        (replace(ROW, state="refused"), {"mode": "unsubscribe"}, (None, replace(ROW, state="refused"))),
    ],
)
def test_request_that_was_not_ours_is_refused(row, more, expected):
    """Nothing changes then; the end of one that we leave is confirmed."""
    assert expected == ask(row, **more)


def test_longest_challenge_is_answered():
    """As it is."""
    challenge = "c" * LONGEST_CHALLENGE

    assert challenge == ask(challenge=challenge)[0]


@pytest.mark.parametrize(("reason", "text"), [(None, "it gives no reason"), ("no", "no"), ("x" * 300, "x" * 200)])
def test_refusal_is_recorded_and_asked_again_later(reason, text):
    """It needs no challenge."""
    more = {"mode": "denied", "challenge": ""} | ({} if reason is None else {"reason": reason})

    assert ("", replace(ROW, state="refused", problem=f"the hub refuses: {text}", due_at=NOW + DAY)) == ask(**more)
