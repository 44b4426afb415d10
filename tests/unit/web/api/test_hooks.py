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
    told = (bearer(hooks, **{header: "k1"}), BODY)
    first, again = post(tmp_path, hooks, told, told)

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
    requests = [({"authorization": "Bearer x"}, BODY)] * 3 + [(bearer(hooks), b"")] * (BURST + 1)
    answers = post(tmp_path, hooks, *requests)

    assert [404] * 3 + [202] * BURST + [429] == [one.status for one in answers]
    assert "1" == answers[-1].headers["retry-after"]
    assert BURST == len(hooks.taken)


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
