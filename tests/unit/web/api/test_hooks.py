import asyncio
import json
from urllib.parse import urlencode

import pytest

from tests.asgi import ask
from tests.unit.web.insides import Hooks, Hubs, inside, watch
from tidings.clock import HOUR, SECOND, ManualClock
from tidings.errors import SecretError, StoreBusyError, UsageError
from tidings.notification.channel import Message
from tidings.notification.webhook import make_secret, read_secrets, sign_headers
from tidings.service.show.records import rfc3339
from tidings.storage.db import lock
from tidings.storage.observed import hints
from tidings.web.api.hooks import (
    EVENTS_BURST,
    MOST_NOTIFICATION_BYTES,
    MOST_URLS,
    NOTIFICATIONS_BURST,
    SIGNALS_BURST,
    read_params,
)
from tidings.web.routes import application

PATH = "/api/v1/hooks/deploy"
BODY = b'{"version": "1.2"}'
NOW = ManualClock().now()


def run(tmp_path, story, hooks):
    """Run a story on the inside of a service with these hooks."""

    async def act():
        async with inside(tmp_path, hooks=hooks, clock=ManualClock()) as within:
            return await story(within, application(within))

    return asyncio.run(act())


def post(tmp_path, hooks, *requests):
    """Return the answers to POSTs of (headers, body)."""

    async def story(within, app):
        return [await ask(app, PATH, "POST", headers=headers, body=body) for headers, body in requests]

    return run(tmp_path, story, hooks)


def bearer(hooks, **more):
    return {"authorization": f"Bearer {hooks.token.reveal()}", "content-type": "application/json", **more}


def sign(secret, *, body=BODY, at=NOW, webhook_id="msg_1"):
    """Return the headers of a webhook that Tidings signs (Standard Webhooks)."""
    message = Message(
        id=webhook_id,
        address="",
        subject="",
        content_type="application/json",
        body=body,
        attempt=1,
        sent_at=at,
        sequence=1,
    )
    return sign_headers(message, read_secrets(secret))


def test_event_with_the_token_is_accepted(tmp_path):
    """202 has the number of the event. The body has its parameters."""
    hooks = Hooks()
    (answer,) = post(tmp_path, hooks, (bearer(hooks), BODY))

    assert 202 == answer.status
    assert {"record": "event", "id": "1", "name": "deploy", "new": True} == answer.json()
    assert [("deploy", {"version": "1.2"}, "")] == hooks.taken


@pytest.mark.parametrize("header", ["idempotency-key", "webhook-id"])
def test_repeated_request_is_one_event(tmp_path, header):
    """A sender without an answer sends again with the same key, and gets 202 too."""
    hooks = Hooks()
    request = (bearer(hooks, **{header: "k1"}), BODY)
    first, again = post(tmp_path, hooks, request, request)

    assert [202, 202] == [first.status, again.status]
    assert [True, False] == [first.json()["new"], again.json()["new"]]
    assert 1 == len(hooks.taken)


def test_signature_is_accepted_in_place_of_the_token(tmp_path):
    """Standard Webhooks: the token is the secret, and the id is the key."""
    hooks = Hooks()
    (answer,) = post(tmp_path, hooks, (sign(hooks.token.reveal()), BODY))

    assert 202 == answer.status
    assert [("deploy", {"version": "1.2"}, "msg_1")] == hooks.taken


def test_signed_webhook_cannot_be_replayed(tmp_path):
    """Someone who has recorded it cannot use it under another key."""
    hooks = Hooks()
    token = sign(hooks.token.reveal())
    answers = post(tmp_path, hooks, (token, BODY), ({**token, "idempotency-key": "another"}, BODY))

    assert [True, False] == [one.json()["new"] for one in answers]
    assert 1 == len(hooks.taken)


FORGED = {
    "another secret": lambda token: (sign(make_secret()), BODY),
    "another body": lambda token: (sign(token), b'{"version": "6.6"}'),
    "another id": lambda token: ({**sign(token), "webhook-id": "msg_2"}, BODY),
    "an old one": lambda token: (sign(token, at=NOW - 301 * SECOND), BODY),
    "one from the future": lambda token: (sign(token, at=NOW + 301 * SECOND), BODY),
    "no time": lambda token: ({**sign(token), "webhook-timestamp": "soon"}, BODY),
    "no id": lambda token: (sign(token, webhook_id=""), BODY),
    "no signature": lambda token: ({**sign(token), "webhook-signature": ""}, BODY),
    "non-ASCII in the signature": lambda token: ({**sign(token), "webhook-signature": "v1,\xff v2"}, BODY),
    "another token": lambda token: ({"authorization": "Bearer x"}, BODY),
    "a prefix of the token": lambda token: ({"authorization": f"Bearer {token[:-1]}"}, BODY),
    "a token with non-ASCII": lambda token: ({"authorization": "Bearer \xff"}, BODY),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_forged_request_learns_nothing(tmp_path, forge):
    """A wrong proof gives the same 404 for an existing hook and for an unknown one."""
    hooks = Hooks()

    async def story(within, app):
        headers, body = forge(hooks.token.reveal())
        return [
            await ask(app, path, "POST", headers=headers, body=body) for path in (PATH, PATH.replace("deploy", "x"))
        ]

    known, unknown = run(tmp_path, story, hooks)

    assert [404, 404] == [known.status, unknown.status]
    assert known.json()["message"].replace("deploy", "x") == unknown.json()["message"]
    assert [] == hooks.taken


def test_request_without_a_token_is_401(tmp_path):
    """This is decided before anything is read. A token in the address does not count (H-095)."""
    hooks = Hooks()

    async def story(within, app):
        path = f"{PATH}?token={hooks.token.reveal()}"
        return [await ask(app, one, "POST", body=BODY) for one in (PATH, path, PATH.replace("deploy", "x"))]

    answers = run(tmp_path, story, hooks)

    assert [401] * 3 == [one.status for one in answers]
    assert [] == hooks.taken


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (UsageError("the params are too large"), 400),
        (StoreBusyError("somebody holds the database"), 503),
        (SecretError("/home/anna/secrets.key is gone"), 503),
    ],
)
def test_event_that_cannot_be_stored_is_not_acknowledged(tmp_path, fault, status):
    """The answer is no 202, and has no path of this machine."""
    hooks = Hooks(fault=fault)
    (answer,) = post(tmp_path, hooks, (bearer(hooks), BODY))

    assert status == answer.status
    assert "/home" not in answer.json()["message"]


def test_too_many_events_are_429(tmp_path):
    """`Retry-After` has the wait. Requests without the token do not count."""
    hooks = Hooks()
    requests = [({"authorization": "Bearer x"}, BODY)] * 3 + [(bearer(hooks), b"")] * (EVENTS_BURST + 1)
    answers = post(tmp_path, hooks, *requests)

    assert [404] * 3 + [202] * EVENTS_BURST + [429] == [one.status for one in answers]
    assert "1" == answers[-1].headers["retry-after"]
    assert EVENTS_BURST == len(hooks.taken)


def test_form_is_accepted(tmp_path):
    """`curl -d version=1.2` is enough."""
    hooks = Hooks()
    (answer,) = post(
        tmp_path, hooks, (bearer(hooks) | {"content-type": "application/x-www-form-urlencoded"}, b"version=1.2")
    )

    assert 202 == answer.status
    assert [("deploy", {"version": "1.2"}, "")] == hooks.taken


def test_invalid_body_is_refused(tmp_path):
    """The answer names the reason, and never the token."""
    hooks = Hooks()
    answers = post(tmp_path, hooks, (bearer(hooks), b"[1]"), (bearer(hooks), b"x" * 70_000))

    assert [400, 413] == [one.status for one in answers]
    assert [] == hooks.taken
    assert all(hooks.token.reveal() not in json.dumps(one.json()) for one in answers)


SIGNALS_PATH = "/api/v1/signals"
SHOP, BOARD = "https://shop.example/", "https://board.example/"


def run_signals(tmp_path, story, **serve):
    """Run a story on the inside of a service that watches two pages."""

    async def act():
        async with inside(tmp_path, clock=ManualClock(), **serve) as within:
            for name in ("shop", "board"):
                await watch(within, name)
            return await story(within, application(within))

    return asyncio.run(act())


async def send_signal(app, text, **headers):
    body = text if isinstance(text, bytes) else json.dumps(text).encode()
    return await ask(app, SIGNALS_PATH, "POST", headers={"content-type": "application/json", **headers}, body=body)


def waiting(rows):
    return {(row.page_id, row.kind): row.waiting for row in rows[1]}


def test_signal_is_stored_in_the_database(tmp_path):
    """202 counts the pages. The next poller finds the hints there."""

    async def story(within, app):
        answers = [
            await send_signal(app, {"url": SHOP}),
            await send_signal(app, {"urls": [SHOP, BOARD, "https://shop.example"], "kind": "cms"}),
            await send_signal(app, {"page": "1", "at": rfc3339(NOW - HOUR)}),
            await ask(
                app,
                SIGNALS_PATH,
                "POST",
                headers={"content-type": "application/x-www-form-urlencoded"},
                body=urlencode([("urls", SHOP), ("urls", BOARD)]).encode(),
            ),
        ]
        return answers, await within.store.read(hints.load)

    answers, kept = run_signals(tmp_path, story)

    assert [202] * 4 == [one.status for one in answers]
    plain = {"record": "signal", "pages": 1, "weighed": 1, "new": True, "unknown": []}
    assert plain == answers[0].json()
    assert [1, 2, 1, 2] == [one.json()["pages"] for one in answers]
    assert {
        (1, "api"): (NOW, NOW - HOUR),
        (2, "api"): (NOW,),
        (1, "cms"): (NOW,),
        (2, "cms"): (NOW,),
    } == waiting(kept)


def test_hint_without_effect_is_counted_separately(tmp_path):
    """A page with a fixed interval ignores hints: it is not counted as weighed."""

    async def story(within, app):
        await watch(within, "prices", more="Fetch every 1 hour")
        return (await send_signal(app, {"urls": [SHOP, "https://prices.example/"]})).json()

    answer = run_signals(tmp_path, story)

    assert (2, 1) == (answer["pages"], answer["weighed"])


def test_unknown_page_is_listed(tmp_path):
    """The answer is 404 if all pages are unknown."""

    async def story(within, app):
        answers = [
            await send_signal(app, {"url": "https://other.example/"}),
            await send_signal(app, {"page": 77}),
            await send_signal(app, {"urls": [SHOP, "https://other.example/", "ftp://x"]}),
        ]
        return answers, await within.store.read(hints.load)

    answers, kept = run_signals(tmp_path, story)

    assert [404, 404, 202] == [one.status for one in answers]
    assert answers[0].json()["hint"]
    assert ["https://other.example/", "ftp://x"] == answers[2].json()["unknown"]
    assert {(1, "api")} == set(waiting(kept))


def test_repeated_key_is_one_signal(tmp_path):
    """This holds after a restart too, whatever the body is."""

    async def story(within, app):
        first = await send_signal(app, {"url": SHOP}, **{"idempotency-key": "k1"})
        within.signals.tracker.begin(1, within.clock.advance(HOUR))
        again = await send_signal(app, {"url": SHOP}, **{"idempotency-key": "k1"})
        other = await send_signal(app, {"url": SHOP}, **{"idempotency-key": "k" * 201})
        return first, again, other, await within.store.read(hints.load)

    first, again, other, kept = run_signals(tmp_path, story)

    assert [202, 202, 400] == [one.status for one in (first, again, other)]
    assert [True, False] == [one.json()["new"] for one in (first, again)]
    assert {(1, "api"): (NOW,)} == waiting(kept)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"url": 5},
        {"urls": SHOP + "x" * 9000},
        {"urls": {"a": 1}},
        {"urls": [SHOP] * (MOST_URLS + 1)},
        {"page": "x"},
        {"page": True},
        {"page": "1" * 19},
        {"url": SHOP, "at": "yesterday"},
        {"url": SHOP, "at": "2026-05-01"},
        {"url": SHOP, "at": 5},
        {"url": SHOP, "kind": "websub"},
        {"url": SHOP, "kind": "Up"},
        {"url": SHOP, "kind": "a" * 41},
        {"url": SHOP, "look": "now"},
        b"[1]",
        b"{",
    ],
    ids=str,
)
def test_invalid_signal_is_refused_completely(tmp_path, body):
    """400 has the reason, and nothing is stored."""

    async def story(within, app):
        return await send_signal(app, body), await within.store.read(hints.load)

    answer, kept = run_signals(tmp_path, story)

    assert 400 == answer.status
    assert "problem" == answer.json()["record"]
    assert ([], []) == kept


def test_too_many_signals_are_429(tmp_path):
    """`Retry-After` has the wait. A body that is too large is not read."""

    async def story(within, app):
        within_burst = [(await send_signal(app, {"url": SHOP})).status for _ in range(SIGNALS_BURST)]
        late = await send_signal(app, {"url": SHOP})
        within.clock.advance(SECOND)
        return within_burst, late, await send_signal(app, b'{"url": "' + b"x" * 70_000 + b'"}')

    taken, late, large = run_signals(tmp_path, story)

    assert {202} == set(taken)
    assert (429, "1") == (late.status, late.headers["retry-after"])
    assert 413 == large.status


def test_signal_that_cannot_be_stored_is_503(tmp_path):
    """The store is busy, or another process is the poller: the sender repeats it later."""

    async def story(within, app):
        async def busy(*_, **__):
            raise StoreBusyError("busy")

        write, within.store.write = within.store.write, busy
        refused = await send_signal(app, {"url": SHOP})
        within.store.write = write
        now = within.clock.now()
        await within.store.write(lock.acquire_lease, lock.POLLER, "other", at=now + HOUR, until=now + 2 * HOUR)
        within.clock.advance(2 * HOUR)
        return refused, await send_signal(app, {"url": BOARD})

    refused, stale = run_signals(tmp_path, story)

    assert [503, 503] == [refused.status, stale.status]
    assert "retry-after" in refused.headers


def test_instant_in_the_future_becomes_now(tmp_path):
    """Clocks differ, and a hint for the future would wait."""

    async def story(within, app):
        await send_signal(app, {"url": SHOP, "at": rfc3339(NOW + 5 * HOUR)})
        return await within.store.read(hints.load)

    assert {(1, "api"): (NOW,)} == waiting(run_signals(tmp_path, story))


def test_parameters_of_a_signal_are_read():
    """Addresses count once, numbers may be text, and dates may have any time zone."""
    body = read_params(
        {"url": SHOP, "urls": [BOARD, SHOP], "page": 7, "at": "2023-11-14T23:13:20+01:00", "kind": "cms.v2"}
    )

    assert ((SHOP, BOARD), (7,), NOW, "cms.v2") == (body.urls, body.pages, body.at, body.kind)


HUB_PATH = "/api/v1/websub/secret-path"


def play(tmp_path, hubs, *requests, **serve):
    """Return the answers to requests of (path, method, headers, body)."""

    async def act():
        async with inside(tmp_path, hubs=hubs, **serve) as within:
            app = application(within)
            return [
                await ask(app, path, method, headers=headers, body=body) for path, method, headers, body in requests
            ]

    return asyncio.run(act())


def test_challenge_is_returned_as_plain_text(tmp_path):
    """The challenge is equal byte for byte, and no browser runs it."""
    (answer, other) = play(
        tmp_path,
        Hubs(),
        (f"{HUB_PATH}?hub.mode=subscribe&hub.challenge=%3Cb%3Ex%3C%2Fb%3E", "GET", {}, b""),
        ("/api/v1/websub/other?hub.challenge=x", "GET", {}, b""),
    )

    assert (200, b"<b>x</b>", 404) == (answer.status, answer.body, other.status)
    assert answer.headers["content-type"].startswith("text/plain")
    assert "nosniff" == answer.headers["x-content-type-options"]


def test_content_of_a_hub_is_passed_on_with_its_signature(tmp_path):
    """The body is complete, whatever its type. 202 does not reveal whether the signature is valid."""
    hubs = Hubs()
    (answer,) = play(
        tmp_path,
        hubs,
        (HUB_PATH, "POST", {"x-hub-signature": "sha1=ab", "content-type": "application/atom+xml"}, b"<feed/>"),
    )

    assert (202, [(b"<feed/>", "sha1=ab")]) == (answer.status, hubs.deliveries)


def test_unknown_subscription_is_410(tmp_path):
    """The hub can then delete it; the body is not read."""
    (answer,) = play(tmp_path, Hubs(), ("/api/v1/websub/other", "POST", {}, b"x"))

    assert 410 == answer.status


def test_requests_of_a_hub_are_limited(tmp_path):
    """Size and number are limited."""
    large, *many = play(
        tmp_path,
        Hubs(),
        (HUB_PATH, "POST", {"content-length": str(MOST_NOTIFICATION_BYTES + 1)}, b"x"),
        *[(HUB_PATH, "POST", {}, b"x")] * NOTIFICATIONS_BURST,
    )

    assert 413 == large.status
    assert ([202] * (NOTIFICATIONS_BURST - 1), 429) == ([one.status for one in many[:-1]], many[-1].status)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_busy_store_is_503(tmp_path, method):
    """`Retry-After` has the wait."""
    (answer,) = play(tmp_path, Hubs(fault=StoreBusyError("busy")), (f"{HUB_PATH}?hub.challenge=x", method, {}, b""))

    assert (503, "5") == (answer.status, answer.headers["retry-after"])


def test_host_of_the_public_url_is_accepted(tmp_path):
    """Hubs use it; others are refused."""
    asked = [
        (f"{HUB_PATH}?hub.challenge=x", "GET", {"host": host}, b"") for host in ("tidings.example.org", "evil.example")
    ]
    answers = play(tmp_path, Hubs(), *asked, public_url="https://Tidings.example.org:8443/")

    assert [200, 421] == [one.status for one in answers]
