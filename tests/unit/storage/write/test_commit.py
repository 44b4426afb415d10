"""The rows that a unit writes, and the units that are refused. `tests/contract/test_store.py` has
what holds on both products.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.stores import SECOND, World, sha256
from tidings.errors import StaleEpochError, UnitError
from tidings.model.event_type import EventType
from tidings.model.observed.page import HostState
from tidings.model.observed.unit import (
    ComparisonRow,
    DeliveryDraft,
    DeliveryResult,
    EndpointMove,
    Estimate,
    Event,
    FrameRow,
    Premise,
    RuleState,
    SentinelMove,
    Timer,
    Unit,
)
from tidings.model.observed.version import Blob, Digest, NewBody, ValueRow
from tidings.storage.db.connection import Connection
from tidings.storage.observed import estimates, hosts, members, polls, versions
from tidings.storage.watches import deliveries, events, sentinels, values
from tidings.storage.write import retention
from tidings.storage.write.commit import Committed, commit

DIGEST = Digest(extraction="all", rules_version=1, text="t", objects={})
DUE = Timer(kind="digest", ref=1, due_at=5)


def body(data: bytes = b"one") -> NewBody:
    """Return a body that fits into a row."""
    return NewBody(data, sha256(data), "", 0)


def keep(_: Connection, new: NewBody) -> tuple[Sequence[Blob], Sequence[str]]:
    """Store a body as it is; an older file of it becomes garbage."""
    return (Blob(new.sha256, len(new.body), "", 0, new.body),), (f"old/{new.sha256[:2]}",)


def draft(**more: Any) -> DeliveryDraft:
    """Return a message of an event."""
    given: dict[str, Any] = {"sentinel_id": 1, "endpoint_id": 1, "content_type": "t", "body": b"b", "due_at": 1} | more
    return DeliveryDraft(**given)


def test_unit_without_events_gets_an_empty_result(world: World):
    """Each unit has one result, in their order."""
    world.watch()
    news = world.unit(events=(Event(type=EventType.PAGE_OK, at=1, page_id=1),))

    first, second, third = world.commit(world.make_unchanged(), news, world.make_unchanged())

    assert [Committed(), Committed()] == [first, third] == world.commit(world.make_unchanged(), world.make_unchanged())
    assert (world.read(events.last_seq),) == second.event_seqs


def test_units_of_two_epochs_are_refused(world: World):
    """Only one of the epochs can have the lease; neither unit is written."""
    world.watch()
    unit = world.make_unchanged()
    with pytest.raises(StaleEpochError, match=r"epochs \[0, 1\] in one commit"):
        world.commit(unit, replace(world.unit(), epoch=0))

    assert [unit.poll.poll_id] == world.open_polls()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "wrong",
    [{"revision": 9}, {"states": ("waiting",)}, {"started_at": (None,)}, {"ended_at": (5,)}, {"sentinel_id": 9}],
)
def test_step_on_an_altered_or_moved_sentinel_skips_its_whole_unit(world: World, wrong: dict[str, Any]):
    """The other units of the commit are written."""
    world.watch()
    premise = Premise(
        sentinel_id=1, revision=1, started_at=(world.read(sentinels.get, 1).started_at,), ended_at=(None,)
    )
    step = SentinelMove(sentinel_id=1, state="disabled", at=world.at, premises=(replace(premise, **wrong),))
    late = world.unit(sentinels=(step,), events=(Event(type=EventType.PAGE_OK, at=1, page_id=1),))
    before = world.read(events.last_seq)

    skipped, kept = world.commit(late, world.unit(timers=(DUE,)))

    assert (Committed(), Committed()) == (skipped, kept)
    assert ("enabled", before) == (world.read(sentinels.get, 1).state, world.read(events.last_seq))
    assert [DUE] == world.read(events.list_timers)

    world.commit(world.unit(sentinels=(replace(step, premises=(premise,)),)))

    assert "disabled" == world.read(sentinels.get, 1).state


def test_new_body_is_stored_by_the_archive(world: World):
    """The files that it replaces become garbage. Without an archive it is refused."""
    world.watch()
    unit = replace(world.make_stored(b"one"), blobs=(), bodies=(body(),))
    with pytest.raises(UnitError, match="nobody can say how"):
        world.commit(unit)
    world.write(commit, [unit], keep)

    assert [f"old/{sha256(b'one')[:2]}"] == world.read(retention.listing)
    assert world.read(versions.blob, sha256(b"one")) is not None
    assert [] == world.faults()


def test_version_needs_the_state_of_its_page(world: World):
    """The state must be of the same page and have the number of the version."""
    world.watch("news", "a", "b")
    unit = world.make_stored(b"one")
    assert unit.page is not None

    for page in (None, replace(unit.page, last_seq=2), replace(unit.page, page_id=2)):
        with pytest.raises(UnitError, match="must carry the state of its page"):
            world.commit(replace(unit, page=page))

    world.commit(unit)
    assert 1 == world.state().last_seq


def test_version_without_frames_has_no_members(world: World):
    """The list of its members is empty."""
    world.watch()
    world.commit(world.make_stored(b"one"))

    assert [] == world.read(members.of_version, 1, 1)


PENDING = ComparisonRow(subscription_id=1, page_id=1, from_seq=1, to_seq=2, revision=1, status="pending")
ALONE: dict[str, tuple[dict[str, Any], Callable[[World], Any], Any]] = {
    "hosts": ({"hosts": (HostState(name="h", failures=2),)}, lambda w: w.read(hosts.state, "h").failures, 2),
    "estimates": (
        {"estimates": (Estimate(page_id=1, name="n", state={"a": 1}, at=3),)},
        lambda w: w.read(estimates.load_all, "n"),
        {1: {"a": 1}},
    ),
    "timers": ({"timers": (DUE,)}, lambda w: w.read(events.list_timers), [DUE]),
    "rules": (
        {"rules": (RuleState(sentinel_id=1, name="r", state={"a": 1}),)},
        lambda w: w.read(events.get_rule_state, 1, "r"),
        {"a": 1},
    ),
    "garbage": ({"garbage": ("aa/bb",)}, lambda w: w.read(retention.listing), ["aa/bb"]),
    "events": (
        {"events": (Event(type=EventType.PAGE_OK, at=1, page_id=1),)},
        lambda w: w.read(events.last_seq),
        2,
    ),
    "sentinels": (
        {"sentinels": (SentinelMove(sentinel_id=1, state="disabled", at=2),)},
        lambda w: w.read(sentinels.get, 1).state,
        "disabled",
    ),
    "comparisons": (
        {"comparisons": (PENDING,)},
        lambda w: [row.subscription_id for row in w.read(versions.list_pending)],
        [1],
    ),
    "values": (
        {"values": (ValueRow(sentinel_id=1, page_id=1, label="price", at=3, seq=1, text="7 €"),)},
        lambda w: [value.text for value in w.read(values.listing, 1)],
        ["7 €"],
    ),
    "answered": ({"answered": (1,)}, lambda w: w.read(polls.list_requests), []),
}  # fmt: skip
"""Parts of a unit, how each is read, and the value after the commit."""


@pytest.mark.parametrize("part", ALONE)
def test_each_part_of_a_unit_is_written_alone(world: World, part: str):
    """A unit of one event, for example, has no poll."""
    world.watch()
    world.write(polls.request_polls, [1], world.at)
    given, read, wanted = ALONE[part]

    world.commit(world.unit(**given))

    assert wanted == read(world)


def test_frames_belong_to_the_page_of_the_poll(world: World):
    """An empty list removes the frames. Without a poll, frames are refused."""
    world.watch()
    world.write(members.ensure, [world.page("menu")])
    for named in ((FrameRow(2),), ()):
        world.commit(replace(world.make_unchanged(), page=None, frames=named))

        assert [row.member_id for row in named] == [frame.state.page_id for frame in world.read(members.frames, 1)]

    with pytest.raises(UnitError, match="must say of which page"):
        world.commit(world.unit(frames=()))


def test_requests_are_answered_by_the_poll_of_their_unit(world: World):
    """A unit without a poll closes its requests too."""
    world.watch("news", "a", "b")
    first, second = world.write(polls.request_polls, [1, 2], world.at)
    polled = replace(world.make_unchanged(), answered=(first,))
    world.commit(polled, world.unit(answered=(second,)))

    assert [(polled.poll.poll_id, False), (0, False)] == [  # type: ignore[union-attr]
        (row.poll_id, row.is_open) for row in world.read(polls.get_requests, [first, second])
    ]


def test_message_names_events_of_its_own_unit(world: World):
    """The message names events by their positions, in any order, or by numbers that exist
    already.
    """
    world.watch()
    world.endpoint()
    news = tuple(Event(type=EventType.PAGE_OK, at=at, page_id=1) for at in (1, 2, 3))
    committed = world.commit(world.unit(events=news, deliveries=(draft(events=(2, 1)),)))[0]
    (row,) = world.read(deliveries.listing)

    assert (committed.event_seqs[1], committed.event_seqs[2]) == (row.first_seq, row.last_seq)
    for broken in ({"events": (3,)}, {"events": (-1,)}, {"first_seq": 1}, {"last_seq": 1}, {}):
        with pytest.raises(UnitError, match="a delivery names"):
            world.commit(world.unit(events=news, deliveries=(draft(**broken),)))


def test_message_ids_are_returned_in_order(world: World):
    """A unit without messages has none."""
    world.watch()
    one, other = world.endpoint(), world.write(lambda c: c.value("SELECT max(id) FROM endpoint"))
    assert one == other
    parts = {"first_seq": 1, "last_seq": 1}
    committed = world.commit(
        world.unit(deliveries=(draft(**parts),)),
        world.unit(events=(Event(type=EventType.PAGE_OK, at=1, page_id=1),)),
        world.unit(deliveries=(draft(first_seq=1, last_seq=2), draft(**parts, body=b"c"))),
    )

    assert [1, 0, 2] == [len(each.delivery_ids) for each in committed]
    assert committed[0].delivery_ids[0] == committed[2].delivery_ids[1]


def test_events_of_a_known_change_keep_their_numbers(world: World):
    """New events beside them get the next numbers."""
    first = world.report_change()
    parts = world.news(world.change(), 1)
    other = Event(type=EventType.PAGE_OK, at=1, page_id=1)

    (again,) = world.commit(world.unit(**parts | {"events": (other, *parts["events"]), "deliveries": ()}))

    assert (first.event_seqs[0] + 1, first.event_seqs[0]) == again.event_seqs


def test_digests_belong_to_the_page_of_the_unit(world: World):
    """A unit without a page cannot have digests."""
    world.watch()
    world.commit(replace(world.make_stored(b"one"), digests=((1, DIGEST),)))

    assert [1] == [*world.read(versions.digests, 1, [1])]
    with pytest.raises(UnitError, match="must say of which page"):
        world.commit(Unit(at=1, epoch=world.epoch, digests=((1, DIGEST),)))


def test_retries_of_a_recovered_endpoint_are_due_at_once(world: World):
    """Retries of an endpoint that still fails keep their time."""
    (id_,) = world.report_change().delivery_ids
    (row,) = world.read(deliveries.listing)
    later = DeliveryResult(delivery_id=id_, status="waiting", attempt=1, at=world.at, due_at=world.at + 9 * SECOND)
    move = EndpointMove(endpoint_id=row.endpoint_id, failing_since=world.at)
    world.commit(world.unit(results=(later,), endpoints=(move,)))

    assert [world.at + 9 * SECOND] == [one.due_at for one in world.read(deliveries.listing)]

    world.commit(world.unit(endpoints=(replace(move, failing_since=None, is_back=True),)))

    assert [world.at] == [one.due_at for one in world.read(deliveries.listing)]
