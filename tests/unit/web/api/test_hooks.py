import asyncio
import json

import pytest

from tests.asgi import ask
from tests.unit.web.insides import Hooks, inside
from tidings.clock import SECOND, ManualClock
from tidings.errors import SecretError, StoreBusyError, UsageError
from tidings.notification.channel import Message
from tidings.notification.webhook import make_secret, read_secrets, sign_headers
from tidings.web.api.hooks import BURST
from tidings.web.entrances import application

PATH = "/api/v1/hooks/deploy"
BODY = b'{"version": "1.2"}'
NOW = ManualClock().now()


def run(tmp_path, story, hooks):
    """Play a story before the inside of a service with these hooks."""

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
    """Return the headers of a webhook as Tidings itself signs them (Standard Webhooks)."""
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


def test_an_event_is_taken_once_it_is_shown_who_tells_it(tmp_path):
    """202 with the number of the event, whose params are those of the body."""
    hooks = Hooks()
    (answer,) = post(tmp_path, hooks, (bearer(hooks), BODY))

    assert 202 == answer.status
    assert {"record": "event", "id": "1", "name": "deploy", "new": True} == answer.json()
    assert [("deploy", {"version": "1.2"}, "")] == hooks.taken


@pytest.mark.parametrize("header", ["idempotency-key", "webhook-id"])
def test_what_is_sent_twice_happens_once(tmp_path, header):
    """A sender that has heard no answer sends again under the same key and is told that it was taken."""
    hooks = Hooks()
    told = (bearer(hooks, **{header: "k1"}), BODY)
    first, again = post(tmp_path, hooks, told, told)

    assert [202, 202] == [first.status, again.status]
    assert [True, False] == [first.json()["new"], again.json()["new"]]
    assert 1 == len(hooks.taken)


def test_a_signature_is_as_good_as_the_token(tmp_path):
    """Standard Webhooks: the token is the secret, the id the key."""
    hooks = Hooks()
    (answer,) = post(tmp_path, hooks, (sign(hooks.token.reveal()), BODY))

    assert 202 == answer.status
    assert [("deploy", {"version": "1.2"}, "msg_1")] == hooks.taken


def test_a_signed_webhook_is_not_played_again(tmp_path):
    """Whoever has overheard one cannot let it happen anew under another key."""
    hooks = Hooks()
    heard = sign(hooks.token.reveal())
    answers = post(tmp_path, hooks, (heard, BODY), ({**heard, "idempotency-key": "another"}, BODY))

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
    "signs in it": lambda token: ({**sign(token), "webhook-signature": "v1,\xff v2"}, BODY),
    "another token": lambda token: ({"authorization": "Bearer x"}, BODY),
    "the beginning of the token": lambda token: ({"authorization": f"Bearer {token[:-1]}"}, BODY),
    "a token with signs in it": lambda token: ({"authorization": "Bearer \xff"}, BODY),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forger_is_told_nothing(tmp_path, forge):
    """A wrong proof for a hook that there is reads like any proof for one that there is not, and raises nothing."""
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


def test_who_shows_nothing_is_asked_for_a_token(tmp_path):
    """Before anything is read; a token in the address is none (H-095)."""
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
def test_what_is_not_kept_is_not_acknowledged(tmp_path, fault, status):
    """No 202 without the event; a stranger reads no path of this machine."""
    hooks = Hooks(fault=fault)
    (answer,) = post(tmp_path, hooks, (bearer(hooks), BODY))

    assert status == answer.status
    assert "/home" not in answer.json()["message"]


def test_a_sender_that_has_gone_wild_is_slowed(tmp_path):
    """More than a burst is told when to come again; who has not the token takes no place of it."""
    hooks = Hooks()
    requests = [({"authorization": "Bearer x"}, BODY)] * 3 + [(bearer(hooks), b"")] * (BURST + 1)
    answers = post(tmp_path, hooks, *requests)

    assert [404] * 3 + [202] * BURST + [429] == [one.status for one in answers]
    assert "1" == answers[-1].headers["retry-after"]
    assert BURST == len(hooks.taken)


def test_a_form_will_do(tmp_path):
    """`curl -d version=1.2` is enough."""
    hooks = Hooks()
    (answer,) = post(
        tmp_path, hooks, (bearer(hooks) | {"content-type": "application/x-www-form-urlencoded"}, b"version=1.2")
    )

    assert 202 == answer.status
    assert [("deploy", {"version": "1.2"}, "")] == hooks.taken


def test_a_body_that_is_wrong_raises_nothing(tmp_path):
    """It is refused with what is wrong, and the token of the hook stands in no answer."""
    hooks = Hooks()
    answers = post(tmp_path, hooks, (bearer(hooks), b"[1]"), (bearer(hooks), b"x" * 70_000))

    assert [400, 413] == [one.status for one in answers]
    assert [] == hooks.taken
    assert all(hooks.token.reveal() not in json.dumps(one.json()) for one in answers)
