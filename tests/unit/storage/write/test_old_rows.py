"""What is deleted of old rows, and what stays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.stores import World
from tidings.clock import DAY
from tidings.errors import StaleEpochError, UnknownNameError
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event
from tidings.storage.db.connection import Connection
from tidings.storage.observed import polls
from tidings.storage.watches import deliveries, events
from tidings.storage.write import old_rows
from tidings.storage.write.copies import BLOCK

AGE = 10 * DAY


def forget(world: World, fn: Callable[..., int], *, after: int = 2 * AGE, limit: int = 500) -> int:
    """Delete what is older than ten days, `after` the present of the world."""
    ages = old_rows.Ages(world.at + after, AGE, AGE)
    return int(world.write(fn, ages, limit=limit))


def fill(world: World, *kinds: EventType) -> None:
    """Store old events, then so many that these are not among the newest, all seen by rules."""
    made = [Event(type=kind, at=world.at, data={"since": 0, "until": 0, "ahead": 0}) for kind in kinds]
    made += [Event(type=EventType.PAGE_OK, at=world.at)] * (2 * BLOCK + 1)
    world.write(events.append, made)
    world.write(events.set_followed, 10**6, forget="x")


def count(world: World, kind: EventType) -> int:
    """Return how many events of a type are stored."""
    return len(world.read(events.listing, types=(kind,)))


def test_old_polls_are_deleted_and_counted_where_they_stored_a_version(world: World):
    """Open and younger ones stay; a batch deletes no more than it may."""
    world.watch("s", "a")
    for outcome in ("new", "unchanged", "error", "unchanged"):
        charged = world.charge()
        world.commit(world.unit(poll=world.poll(charged, outcome=outcome)))
    charged = world.charge()

    assert 0 == forget(world, old_rows.forget_polls, after=0)
    assert [3, 1, 0] == [forget(world, old_rows.forget_polls, limit=limit) for limit in (3, 500, 500)]
    assert [charged.poll_id] == [row.id for row in world.read(polls.listing)]
    assert 1 == world.read(lambda c: c.value("SELECT polls_deleted FROM page WHERE id = 1"))


def test_served_requests_are_deleted(world: World):
    """An open one is never too old."""
    world.watch("s", "a")
    served, _ = world.write(polls.request_polls, [1, 1], world.at)
    world.write(polls.answer_requests, [served])

    assert [1, 0] == [forget(world, old_rows.forget_requests) for _ in range(2)]
    assert 1 == len(world.read(polls.list_requests))


def test_only_events_that_nothing_replays_are_deleted(world: World):
    """The newest price stays, and all that are about pages, sentinels and changes."""
    fill(world, *EventType, *EventType)
    gone = {
        EventType.PAGE_POLLED: 2,
        EventType.PLAN_PRICED: 1,
        EventType.DELIVERY_DONE: 2,
        EventType.PROBLEM_UNIT: 2,
        EventType.STREAM_RECORD: 2,
    }
    before = {kind: count(world, kind) for kind in EventType}

    assert [2, 7, 0] == [forget(world, old_rows.forget_events, limit=limit) for limit in (2, 500, 500)]
    assert {k: n - gone.get(k, 0) for k, n in before.items()} == {kind: count(world, kind) for kind in EventType}
    assert [] == [fault for fault in world.faults() if "numbered" in fault or "given out" in fault]


@pytest.mark.parametrize("why", ["young", "new", "unfollowed"])
def test_events_that_may_be_read_again_stay(world: World, why: str):
    """The newest thousand show whether the data is an older copy."""
    fill(world, EventType.PAGE_POLLED)
    if why == "new":
        world.write(lambda c: c.execute("UPDATE owner SET last_seq = :n", n=BLOCK))
    if why == "unfollowed":
        world.write(events.set_followed, 0, forget="x")

    assert 0 == forget(world, old_rows.forget_events, after=0 if why == "young" else 2 * AGE)


def test_the_stream_knows_what_it_lacks(world: World):
    """The number of the newest deleted record."""
    fill(world, EventType.STREAM_RECORD, EventType.PAGE_OK, EventType.STREAM_RECORD)
    second = [row.seq for row in world.read(events.listing, types=(EventType.STREAM_RECORD,))][-1]

    assert 0 == world.read(old_rows.stream_deleted)
    assert 2 == forget(world, old_rows.forget_events)
    assert second == world.read(old_rows.stream_deleted)


def _deliver(c: Connection, /, kind: str, number: int, **row: Any) -> None:
    c.execute(
        "INSERT INTO endpoint (id, owner_id, kind, address) VALUES (:id, 1, :kind, '') ON CONFLICT DO NOTHING",
        id={"webhook": 1, "stream": 2, "feed": 3}[kind],
        kind=kind,
    )
    c.execute(
        "INSERT INTO delivery (id, endpoint_id, sentinel_id, first_seq, last_seq, content_type, body, status, due_at, created_at, finished_at)"
        " VALUES (:id, :endpoint, 1, 1, 1, '', :body, :status, 0, :at, :at)",
        **{
            "id": f"{kind}{number}",
            "endpoint": {"webhook": 1, "stream": 2, "feed": 3}[kind],
            "body": b"x",
            "status": "delivered",
        }
        | row,
    )


def test_texts_of_old_delivered_messages_are_deleted(world: World):
    """Their rows stay. Those that wait or were given up can be sent, and what the stream and the feed
    show is there.
    """
    world.watch("s", "a")
    world.write(_deliver, "webhook", 1, at=world.at)
    world.write(_deliver, "webhook", 2, at=world.at, status="dead")
    world.write(_deliver, "webhook", 3, at=world.at, status="waiting")
    world.write(_deliver, "stream", 1, at=world.at)
    world.write(_deliver, "stream", 2, at=world.at + 5)
    world.write(events.append, [Event(type=EventType.STREAM_RECORD, at=world.at + 5)])
    for number in range(old_rows.FEED_ENTRIES + 2):
        world.write(_deliver, "feed", number, at=world.at + number)

    assert 0 == forget(world, old_rows.forget_bodies, after=0)
    assert [1, 3, 0] == [forget(world, old_rows.forget_bodies, limit=limit) for limit in (1, 500, 500)]
    rows = world.read(deliveries.listing)
    assert {"webhook1", "stream1", "feed0", "feed1"} == {row.id for row in rows if not row.body}
    assert {} == world.read(deliveries.bodies, ["webhook1"])
    with pytest.raises(UnknownNameError, match="messages_days"):
        world.write(deliveries.replay, "webhook1", world.at)
    assert "waiting" == world.write(deliveries.replay, "webhook2", world.at).status


def test_only_the_poller_deletes(world: World):
    """One whose lease is over deletes nothing."""
    with pytest.raises(StaleEpochError):
        world.write(old_rows.forget, old_rows.Ages(0, 0, 0), epoch=world.epoch - 1, limit=1)
