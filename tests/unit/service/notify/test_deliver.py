"""The unit of one delivery attempt, for any answer of the receiver."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.planner import make_watched
from tests.stores import START
from tidings.clock import DAY, HOUR, MINUTE, SECOND, ManualClock
from tidings.errors import SecretError, StoreDamagedError, StoreStalledError
from tidings.model.observed.unit import DeliveryDraft, EndpointMove, Event, Unit
from tidings.notification.channel import Message, Refused, Sent
from tidings.notification.retry import PATIENT_ATTEMPTS, SCHEDULE
from tidings.service.notify.deliver import (
    FAILING,
    MOST_IN_A_ROW,
    OFF,
    OK,
    STREAMED,
    Deliverer,
    SendQueue,
    endpoint_text,
    judge_receiver,
)
from tidings.service.watch.holds import HOLD_AFTER_FAULT
from tidings.service.watch.watchlist import WatchedSentinel
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
    row = replace(ROW, tried_at=NOW - HOUR, created_at=NOW - 3 * DAY)
    rows = [replace(row, failing_since=NOW - age) for age in (5 * DAY - 1, 5 * DAY)]

    assert [True, False] == [attempt(row, DOWN).endpoints[0].enabled for row in rows]
    assert not attempt(replace(row, failing_since=NOW - HOUR), DOWN, disable_after=HOUR).endpoints[0].enabled


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

    unit = attempt(replace(ROW, address="secret:hook"), address_of=address_of)

    assert ("waiting", 0) == (unit.results[0].status, unit.results[0].attempt)
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


FAILING_ROW = DeliveryRow(
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
    found = judge_receiver(replace(FAILING_ROW, **row), move, sentinels, is_dead=is_dead, place=2, at=at)
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


def test_own_fault_is_reported_at_once_and_once():
    """Its messages wait; when they are accepted, this is reported too."""
    ours = replace(WORKS, is_ours=True, reason="no key")
    move, (event,), _ = judge(move=ours)

    assert (FAILING, True) == (event.type, move.noticed)
    assert " gets no messages (no key): they wait until you correct it" in endpoint_text(event)
    assert [] == judge(move=ours, noticed=True)[1]
    assert judge(move=ours, noticed=True)[0].noticed
    assert [OK] == [event.type for event in judge(move=WORKS, noticed=True)[1]]


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


class Outbox:
    """Gives `answers` to messages; the messages are in `queue`. `commits` has how many results were
    under way at the same time.
    """

    def __init__(self, answers, *, breaks_at=None, kind="webhook", failing_since=None):
        shared: dict[str, Any] = {"endpoint_id": 7, "kind": kind, "failing_since": failing_since}
        self.queue = [SimpleNamespace(number=number, **shared) for number in range(len(answers))]
        self.answers, self.breaks_at = answers, breaks_at
        self.in_flight, self.sent, self.reads = {7}, [], 0
        self.under_way, self.commits = 0, []

    async def attempt(self, delivery, **_):
        self.sent.append(delivery.number)
        if delivery.number == self.breaks_at:
            raise OSError
        assert {7} == self.in_flight
        return SimpleNamespace(results=(SimpleNamespace(status=self.answers[delivery.number]),))

    async def write(self, unit):
        self.under_way += 1
        await asyncio.sleep(0)
        if self.under_way:
            self.commits.append(self.under_way)
            self.under_way = 0
        if unit.results[0].status == "not stored":
            raise StoreStalledError

    async def read(self, fn, *, endpoint_id, most, **_):
        assert ("first_due", 7) == (fn.__name__, endpoint_id)
        self.reads += 1
        return self.queue[len(self.sent) : len(self.sent) + most]

    def run(self):
        """Attempt the first message; return the sender."""
        part: Any = self  # store, committer and deliverer at once
        first: Any = self.queue[0]
        sending = SendQueue(part, part, part, ManualClock(), epoch=1)
        sending.next_due = None
        asyncio.run(sending._attempt(first))
        return sending


@pytest.mark.parametrize("kind", ["webhook", "console"])
@pytest.mark.parametrize(
    ("answers", "sent"),
    [
        (["delivered"], 1),
        (["delivered"] * 5, 5),
        (["delivered", "waiting", "delivered"], 2),
        (["dead", "delivered"], 1),
        (["delivered"] * (MOST_IN_A_ROW + 5), MOST_IN_A_ROW),
    ],
)
def test_waiting_messages_are_sent_while_they_are_accepted(answers, sent, kind):
    """The number is limited. Then the receiver is free for other tasks, and due messages are read
    again.
    """
    receiver = Outbox(answers, kind=kind)
    sending = receiver.run()

    assert [*range(sent)] == receiver.sent
    assert (set(), 0) == (receiver.in_flight, sending.next_due)


@pytest.mark.parametrize(
    ("kind", "failing_since", "reads", "commits"),
    [
        ("webhook", None, 2, [1, 1, 1, 1]),
        ("console", None, 2, [1, 3]),
        ("console", START, 4, [1, 1, 1, 1]),
    ],
)
def test_results_of_what_this_machine_takes_are_stored_together(kind, failing_since, reads, commits):
    """Others may not get a message twice for more than one result. A receiver that failed before is
    read again after each, since the first result says that it is back.
    """
    receiver = Outbox(["delivered"] * 4, kind=kind, failing_since=failing_since)
    receiver.run()

    assert (reads, commits) == (receiver.reads, receiver.commits)


def test_error_frees_the_receiver():
    """The caller gets the error."""
    receiver = Outbox(["delivered"] * 3, breaks_at=1)

    with pytest.raises(OSError):
        receiver.run()
    assert ([0, 1], set()) == (receiver.sent, receiver.in_flight)


def test_error_of_a_sender_is_a_refusal():
    """The receiver rests for some minutes, whatever comes next to it, also after a restart."""

    class Broken:
        async def send(self, message: Message) -> Sent:
            raise TypeError

    unit = asyncio.run(Deliverer({"webhook": Broken()}).attempt(ROW, epoch=5, now=NOW))

    assert ("waiting", 1, NOW + HOLD_AFTER_FAULT) == (
        unit.results[0].status,
        unit.results[0].attempt,
        unit.results[0].due_at,
    )
    assert NOW + HOLD_AFTER_FAULT == unit.endpoints[0].paused_until
    assert "a fault of Tidings, described in its log: TypeError" == unit.results[0].error


@pytest.mark.parametrize("error", [StoreDamagedError("unreadable"), TypeError("odd")])
def test_users_that_cannot_be_read_are_notified_by_a_later_attempt(error: Exception):
    """The result of the attempt is stored in any case."""

    async def users_of(delivery: DeliveryRow) -> list[Any]:
        raise error

    row = replace(ROW, failing_since=NOW - 2 * HOUR)
    unit = attempt(row, DOWN, users_of=users_of)
    back = attempt(replace(row, noticed=True), Sent(200), users_of=users_of)

    assert (["waiting"], [False]) == ([r.status for r in unit.results], [e.noticed for e in unit.endpoints])
    assert (["delivered"], [True]) == ([r.status for r in back.results], [e.noticed for e in back.endpoints])
    assert [] == [*types(unit), *types(back)]


def test_result_is_kept_if_the_next_message_cannot_be_tried():
    """Only the first message left."""

    async def following(delivery: DeliveryRow, now: int) -> DeliveryRow:
        raise StoreDamagedError("unreadable")

    assert [("first", True)] == [(r.delivery_id, r.holds) for r in attempt(PATIENT, DOWN, following=following).results]


def test_receiver_stays_reserved_while_its_result_is_not_stored():
    """Otherwise it would get the message twice."""
    receiver = Outbox(["delivered", "not stored", "delivered"])

    with pytest.raises(StoreStalledError):
        receiver.run()
    assert ([0, 1], {7}) == (receiver.sent, receiver.in_flight)


def test_planner_leaves_messages_to_notifiers():
    """Whatever wakes it, it looks up nothing."""
    part: Any = None
    sending = SendQueue(part, part, part, ManualClock(), epoch=1)
    sending.leave_to_others()
    sending.wake()

    assert sending.next_due is None
    assert [] == asyncio.run(sending.due(10**18))
