"""An owner is notified by another receiver if one accepts no messages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.planned import make_watched
from tests.stores import START
from tidings.clock import HOUR
from tidings.model.observed.unit import DeliveryDraft, EndpointMove, Event
from tidings.service.notify.receivers import FAILING, OFF, OK, endpoint_text, judge_receiver
from tidings.service.watch.watchlist import WatchedSentinel
from tidings.storage.watches.deliveries import DeliveryRow

ROW = DeliveryRow(
    id="d",
    endpoint_id=7,
    kind="webhook",
    address="http://a.example/secret",
    sentinel_id=1,
    sentinel="s1",
    first_seq=1,
    last_seq=1,
    changes=1,
    subject="",
    content_type="t",
    body=b"",
    status="waiting",
    attempt=1,
    due_at=START,
    created_at=START,
    finished_at=None,
    error="",
    failing_since=None,
)
FAILS = EndpointMove(endpoint_id=7, failing_since=START, reason="503")
WORKS = EndpointMove(endpoint_id=7, failing_since=None)


def sentinel(number: int, *endpoints: int, errors: int = 0) -> WatchedSentinel:
    """Return a sentinel that notifies these endpoints of changes, and another one of errors."""
    hooks = ", ".join(f"webhook http://127.0.0.1/{one}" for one in endpoints)
    clause = f"Errors to webhook http://127.0.0.1/{errors}" if errors else ""
    held = make_watched(number, f"Notify By {hooks} immediate {clause}").subscriptions[number].owner
    for channel in (*held.sentinel.notify[0].channels, *held.sentinel.errors):
        held.endpoints[channel.endpoint] = int(channel.endpoint[1].rpartition("/")[2])
    return held


def judge(
    *sentinels: WatchedSentinel,
    move: EndpointMove = FAILS,
    is_dead: bool = False,
    late: int = 0,
    **row: Any,
) -> tuple[EndpointMove, list[Event], list[DeliveryDraft]]:
    """Return the result of an attempt that ended `late` after the endpoint began to fail."""
    at = START + late
    found = judge_receiver(replace(ROW, **row), move, sentinels, is_dead=is_dead, place=2, at=at)
    return found[0], list(found[1]), list(found[2])


def test_first_failure_is_not_reported():
    """Tidings tries again. The failure is reported after an hour without an accepted message, and a
    dead letter at once.
    """
    assert [] == judge(late=HOUR - 1)[1]
    assert [FAILING] == [event.type for event in judge(late=HOUR)[1]]
    assert [FAILING] == [event.type for event in judge(is_dead=True)[1]]


def test_failure_is_reported_once():
    """If it was reported, its end is reported too."""
    move, _, _ = judge(late=HOUR)

    assert move.noticed
    assert [] == judge(late=2 * HOUR, noticed=True)[1]
    assert judge(late=2 * HOUR, noticed=True)[0].noticed

    fine, (event,), _ = judge(move=WORKS, noticed=True, failing_since=START, late=HOUR)

    assert (OK, False, START) == (event.type, fine.noticed, event.data["since"])
    assert [] == judge(move=WORKS)[1]


def test_disabled_endpoint_is_always_reported():
    """Its messages wait until a user corrects it."""
    assert [OFF] == [event.type for event in judge(move=replace(FAILS, enabled=False), noticed=True)[1]]


def test_other_receivers_are_notified_once_each():
    """Those of the delivery's sentinel are first. Sentinels without the endpoint are not concerned."""
    sentinels = (sentinel(3, 7, 9, 8), sentinel(1, 7, 8), sentinel(2, 5))
    _, _, drafts = judge(*sentinels, late=HOUR)

    assert [(8, 1), (9, 3)] == [(draft.endpoint_id, draft.sentinel_id) for draft in drafts]
    assert {(2,)} == {draft.events for draft in drafts}


def test_receivers_of_errors_are_preferred():
    """If the failing endpoint is the only one of them, the receivers of changes are notified."""
    assert [6] == [draft.endpoint_id for draft in judge(sentinel(1, 7, 8, errors=6), late=HOUR)[2]]
    assert [8] == [draft.endpoint_id for draft in judge(sentinel(1, 8, errors=7), late=HOUR)[2]]


def test_failure_without_another_receiver_is_logged():
    """The event does not have the secret part of the address."""
    _, (event,), drafts = judge(sentinel(1, 7), late=HOUR)

    assert [] == drafts
    assert ("webhook", "503", False) == (event.data["channel"], event.data["reason"], event.data["dead"])
    assert "secret" not in event.data["address"]


@pytest.mark.parametrize(
    ("kind", "is_dead", "words"),
    [
        (OK, False, "webhook a accepts messages again, after it accepted none for 1 h"),
        (OFF, False, "webhook a is switched off (503): its messages wait until you correct it"),
        (FAILING, True, "webhook a refused a message permanently (503)"),
        (FAILING, False, "webhook a has accepted no message for 1 h (503): Tidings keeps trying for three days"),
    ],
)
def test_texts_of_endpoint_events(kind: Any, is_dead: bool, words: str):
    """The text has the duration of the failure."""
    data = {"channel": "webhook", "address": "a", "since": START, "reason": "503", "dead": is_dead}

    assert endpoint_text(Event(type=kind, at=START + HOUR, data=data)).startswith(words)
