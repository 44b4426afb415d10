"""The unit of one delivery attempt, for any answer of the receiver."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from typing import Any

import pytest

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.errors import SecretError
from tidings.model.observed.unit import Unit
from tidings.notification.channel import Message, Refused, Sent
from tidings.notification.retry import PATIENT_ATTEMPTS, SCHEDULE
from tidings.service.notify.deliver import STREAMED, Deliverer
from tidings.storage.watches.deliveries import DeliveryRow

NOW = 1_700_000_000 * SECOND
ROW = DeliveryRow(
    id="first", endpoint_id=7, kind="webhook", address="http://a.example/hook", sentinel_id=3, sentinel="shop", first_seq=11, last_seq=12,
    changes=1, subject="news", content_type="text/plain", body=b"one\ntwo\n", status="waiting", attempt=0, due_at=NOW, created_at=NOW - HOUR,
    finished_at=None, error="", failing_since=None,
)  # fmt: skip
BEHIND = replace(ROW, id="second", first_seq=13, last_seq=14)
DOWN = Refused(reason="503")


class Middle(random.Random):
    """Random numbers without an effect on waits."""

    def uniform(self, a: float, b: float) -> float:
        assert (-1, 1) == (a, b)
        return 0.0


class Receiver:
    """Gives the answers in turn and records the messages."""

    def __init__(self, *answers: Sent | Refused) -> None:
        self.answers = list(answers)
        self.messages: list[Message] = []

    async def send(self, message: Message) -> Sent | Refused:
        self.messages.append(message)
        return self.answers.pop(0)


def attempt(row: DeliveryRow, *answers: Sent | Refused, behind: DeliveryRow | None = None, **more: Any) -> Unit:
    """Return the unit of an attempt; all answers must be used."""
    receiver = Receiver(*answers)

    async def following(delivery: DeliveryRow, now: int) -> DeliveryRow | None:
        assert (row, NOW) == (delivery, now)
        return behind

    is_awaited = more.pop("awaits", lambda *who: False)

    async def awaits(*who: int) -> bool:
        return bool(is_awaited(*who))

    senders = dict.fromkeys(("webhook", "stream"), receiver)
    deliverer = Deliverer(senders, rng=Middle(), **({"following": following, "awaits": awaits} | more))
    unit = asyncio.run(deliverer.attempt(row, epoch=5, now=NOW))
    assert [] == receiver.answers
    assert (NOW, 5) == (unit.at, unit.epoch)
    return unit


def types(unit: Unit) -> list[str]:
    """Return the types of a unit's events."""
    return [event.type for event in unit.events]


def test_endpoint_has_one_attempt_at_a_time():
    """Other deliveries of the endpoint wait."""
    deliverer = Deliverer({})
    deliverer.in_flight.add(7)
    other = replace(ROW, endpoint_id=8)

    assert [other] == deliverer.choose([ROW, other])


def test_message_is_equal_in_each_attempt_except_for_its_number():
    """A receiver recognizes it by its id, and its thread by the number of the sentinel."""
    receiver = Receiver(Sent(200))
    asyncio.run(Deliverer({"webhook": receiver}).attempt(replace(ROW, attempt=2), epoch=5, now=NOW))

    assert [
        Message(
            id="first", address="http://a.example/hook", subject="news", content_type="text/plain", body=b"one\ntwo\n", attempt=3, sent_at=NOW,
            sequence=12, sentinel="shop", thread="3",
        )
    ] == receiver.messages  # fmt: skip


def test_accepted_message_is_delivered():
    """The event is written only if other messages wait for it."""
    unit = attempt(replace(ROW, attempt=2), Sent(200))
    awaited = attempt(ROW, Sent(200), awaits=lambda *who: (3, 7) == who)

    assert [("first", "delivered", 3, None)] == [(r.delivery_id, r.status, r.attempt, r.due_at) for r in unit.results]
    assert [(7, True, None)] == [(e.endpoint_id, e.enabled, e.failing_since) for e in unit.endpoints]
    assert [] == types(unit)
    assert [("delivery.done", 3, {"endpoint": 7, "last": 12})] == [
        (e.type, e.sentinel_id, e.data) for e in awaited.events
    ]


def test_each_line_of_the_stream_is_an_event():
    """The events are written when the message is delivered."""
    row = replace(ROW, kind="stream")
    unit = attempt(row, Sent())

    assert [(STREAMED, 3, {"delivery": "first", "line": line}) for line in (0, 1)] == [
        (e.type, e.sentinel_id, e.data) for e in unit.events
    ]
    assert [] == types(attempt(row, DOWN))


def test_failed_message_is_retried_by_the_schedule():
    """An attempt before its time does not count and does not move the next one."""
    first, second = (attempt(replace(ROW, attempt=number), DOWN).results[0] for number in (0, 1))
    early = attempt(replace(ROW, attempt=1, due_at=NOW + 1), DOWN).results[0]

    assert ("waiting", 1, NOW + SCHEDULE[0], "503") == (first.status, first.attempt, first.due_at, first.error)
    assert (2, NOW + SCHEDULE[1]) == (second.attempt, second.due_at)
    assert ("waiting", 1, NOW + 1) == (early.status, early.attempt, early.due_at)
    assert NOW + HOUR == attempt(ROW, Refused(reason="later", retry_after=HOUR)).results[0].due_at


@pytest.mark.parametrize(("row", "number"), [(ROW, 1), (replace(ROW, due_at=NOW + 1, attempt=4), 5)])
def test_final_refusal_is_a_dead_letter_at_once(row: DeliveryRow, number: int):
    """The owner is notified of the reason, and messages that wait for it go on."""
    unit = attempt(row, Refused(reason="404", retry=False), awaits=lambda *who: True)
    dead = unit.events[0]

    assert ("dead", number, None) == (unit.results[0].status, unit.results[0].attempt, unit.results[0].due_at)
    assert "delivery.dead" == dead.type
    assert ("first", 7, "404") == (dead.data["delivery"], dead.data["endpoint"], dead.data["reason"])
    assert "http://a.example" in dead.data["address"]
    assert "delivery.done" == types(unit)[-1]


def test_last_failure_is_a_dead_letter():
    """The number of attempts is one more than the waits of the schedule."""
    unit = attempt(replace(ROW, attempt=len(SCHEDULE)), DOWN)

    assert "dead" == unit.results[0].status
    assert "delivery.dead" in types(unit)


def test_endpoint_is_disabled_after_five_days_by_default():
    """Not a microsecond earlier."""
    rows = [replace(ROW, failing_since=NOW - age) for age in (5 * DAY - 1, 5 * DAY)]

    assert [True, False] == [attempt(row, DOWN).endpoints[0].enabled for row in rows]
    assert not attempt(replace(ROW, failing_since=NOW - HOUR), DOWN, disable_after=HOUR).endpoints[0].enabled


PATIENT = replace(ROW, attempt=PATIENT_ATTEMPTS)


def test_message_that_fails_alone_does_not_block_the_next():
    """The receiver accepts or refuses the next one, so the first one is retried without
    blocking.
    """
    passed = attempt(PATIENT, DOWN, Sent(200), behind=BEHIND)
    judged = attempt(PATIENT, DOWN, Refused(reason="404", retry=False), behind=BEHIND)

    assert [("first", "waiting", False), ("second", "delivered", True)] == [
        (r.delivery_id, r.status, r.holds) for r in passed.results
    ]
    assert [None, NOW] == sorted([e.failing_since for e in passed.endpoints], key=bool)
    assert ["waiting", "dead"] == [r.status for r in judged.results]
    assert "delivery.dead" in types(judged)


def test_receiver_that_accepts_neither_is_down():
    """Nothing is written about the second attempt."""
    unit = attempt(PATIENT, DOWN, DOWN, behind=BEHIND)

    assert [("first", True)] == [(r.delivery_id, r.holds) for r in unit.results]


@pytest.mark.parametrize(
    ("row", "answer"),
    [
        (replace(PATIENT, attempt=PATIENT_ATTEMPTS - 1), DOWN),
        (PATIENT, Refused(reason="429", busy=True)),
        (PATIENT, Refused(reason="503", retry_after=MINUTE)),
        (PATIENT, Refused(reason="404", retry=False)),
        (PATIENT, Refused(reason="409", holds=False)),
        (replace(PATIENT, attempt=len(SCHEDULE)), DOWN),
        (PATIENT, Sent(200)),
    ],
    ids=["early", "busy", "retry-after", "dead", "does not block", "last", "accepted"],
)
def test_next_message_is_tried_only_if_the_first_may_be_the_cause(row: DeliveryRow, answer: Sent | Refused):
    """Otherwise there is one attempt."""
    unit = attempt(row, answer, behind=BEHIND)

    assert ["first"] == [result.delivery_id for result in unit.results]


def test_message_without_a_follower_keeps_blocking():
    """No other message can be tried."""
    assert [True] == [result.holds for result in attempt(PATIENT, DOWN).results]
    assert [True] == [result.holds for result in attempt(PATIENT, DOWN, following=None).results]


def test_address_that_cannot_be_decrypted_is_retried():
    """The reason names the secret, and nothing is sent."""

    async def address_of(address: str) -> str:
        raise SecretError("the secret hook does not open")

    unit = attempt(ROW, address_of=address_of)

    assert ("waiting", 1) == (unit.results[0].status, unit.results[0].attempt)
    assert "the secret hook does not open" in unit.results[0].error


def test_users_of_an_endpoint_are_read_only_for_a_notice():
    """A notice follows a refusal, or the first accepted message after a notice."""
    read: list[str] = []

    async def users_of(delivery: DeliveryRow) -> list[Any]:
        read.append(delivery.id)
        return []

    attempt(ROW, Sent(200), users_of=users_of)

    assert [] == read

    attempt(ROW, DOWN, users_of=users_of)
    attempt(replace(ROW, id="noticed", noticed=True), Sent(200), users_of=users_of)

    assert ["first", "noticed"] == read
