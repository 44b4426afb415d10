"""Faults that stop all steps, and how steps resume."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.planner import make_watched
from tests.stores import World
from tidings.clock import HOUR, MINUTE, SECOND, ManualClock
from tidings.errors import (
    ClockSetBackError,
    StaleEpochError,
    StoreDamagedError,
    StoreError,
    StoreStalledError,
)
from tidings.model.event_type import EventType
from tidings.model.observed.unit import DeliveryDraft, Event, Unit
from tidings.service.poll.circuit import NetworkWatch
from tidings.service.run.leases import SoleLease
from tidings.service.show.notices import OUTAGE
from tidings.service.upkeep.upkeep import (
    NETWORK_WORDS,
    PING_EVERY,
    Heartbeat,
    Outages,
    Stall,
    Upkeep,
    announce_once,
    stall_of,
)
from tidings.settings import ServeSettings
from tidings.storage.watches import deliveries, endpoints, events
from tidings.storage.write.store import commit_group

NOW = ManualClock().now()
FULL = StoreStalledError("the disk is full")


def test_full_disk_and_missing_memory_stall_the_service():
    """An error of one unit does not."""
    assert FULL is stall_of(FULL)
    assert isinstance(stall_of(MemoryError()), StoreStalledError)
    assert stall_of(StoreError("odd")) is None
    assert stall_of(ValueError("odd")) is None


def test_stall_is_reported_once():
    """The report has the beginning, also if storing fails again within an hour; a later failure is
    another stall.
    """
    output: list[str] = []
    stall = Stall(output.append)
    stall.begin(FULL, NOW)
    event = stall.report(NOW + 1)

    assert event is not None
    assert (NOW, "the disk is full") == (event.data["since"], event.data["reason"])

    stall.note_reported()
    stall.end()

    assert (None, "") == (stall.report(NOW + 2), output[-1])

    stall.begin(FULL, NOW + HOUR)

    assert stall.report(NOW + HOUR) is None

    stall.begin(FULL, NOW + 2 * HOUR + 1)
    event = stall.report(NOW + 2 * HOUR + 1)

    assert event is not None
    assert NOW + 2 * HOUR + 1 == event.data["since"]
    assert all(text.startswith("since ") for text in output if text)


class Part:
    """A fake of the parts of the service that records units and events."""

    def __init__(self) -> None:
        self.written: list[Unit] = []
        self.concerned: list[set[int] | None] = []
        self.lost: StaleEpochError | None = None
        self.is_damaged = False
        self.begun = 0
        self.outages: list[Any] = []
        self.announced: list[str] = []
        self.renewed: list[int] = []
        self.refusal: Exception | None = None

    async def write(self, what: Any, *args: Any, **more: Any) -> None:
        if self.refusal is not None:
            raise self.refusal
        if isinstance(what, Unit):
            self.written.append(what)
            return
        self.renewed.append(more["until"])

    async def read(self, fn: Any, *args: Any) -> Any:
        return 0, None, set()

    def unit(self, event: Event, *, epoch: int, concerned: Collection[int] | None = None) -> Unit:
        self.concerned.append(None if concerned is None else {*concerned})
        return Unit(at=event.at, epoch=epoch, events=(event,))

    def drafts(self, event: Event, *, place: int) -> list[Any]:
        self.announced.append(event.type)
        return []

    def take_outages(self) -> list[Any]:
        taken, self.outages = self.outages, []
        return taken

    def insist(self) -> None:
        if self.is_damaged:
            raise StoreDamagedError("torn")

    def begin(self) -> None:
        self.begun += 1


def make_upkeep(part: Part, clock: ManualClock, stall: Stall | None = None) -> Upkeep:
    """Return the upkeep of a poller whose lease lasts for a minute."""
    any_: Any = part
    return Upkeep(
        any_, clock, any_, any_, any_, any_, any_, any_, stall or Stall(lambda _: None), any_,
        lease=SoleLease(any_, "me", 1, MINUTE),
    )  # fmt: skip


def test_insist_requires_lease_database_and_clock():
    """A lost lease is raised first."""
    part, clock = Part(), ManualClock()
    upkeep = make_upkeep(part, clock)
    upkeep.insist()
    part.is_damaged = True
    with pytest.raises(StoreDamagedError):
        upkeep.insist()

    part.lost = StaleEpochError("another")
    with pytest.raises(StaleEpochError):
        upkeep.insist()

    assert not upkeep.is_able()


def test_clock_that_was_set_back_ends_the_process():
    """The next one starts with the right time."""
    clock = ManualClock()
    clock.wall = lambda: clock.now() - HOUR  # type: ignore[method-assign]
    with pytest.raises(ClockSetBackError, match="set back by 1 h"):
        make_upkeep(Part(), clock).insist()


def test_lease_is_renewed_after_a_third_of_it():
    """The lease then ends a whole lease later."""
    part, clock = Part(), ManualClock()
    upkeep = make_upkeep(part, clock)
    for at in (NOW, NOW + 20 * SECOND - 1, NOW + 20 * SECOND):
        clock.move_to(at)
        asyncio.run(upkeep.make_ready())

    assert [NOW + MINUTE, NOW + 80 * SECOND] == part.renewed


def test_lease_of_another_process_is_lost():
    """This process writes nothing more."""
    part, clock = Part(), ManualClock()
    upkeep, part.refusal = make_upkeep(part, clock), StaleEpochError("another")
    with pytest.raises(StaleEpochError):
        asyncio.run(upkeep.make_ready())

    assert part.lost is part.refusal


def test_error_of_a_task_is_logged_and_handled(caplog: pytest.LogCaptureFixture):
    """A full disk stalls the service, a damaged file ends it, and a lost lease is not logged."""
    part, clock = Part(), ManualClock()
    upkeep = make_upkeep(part, clock)
    with caplog.at_level(logging.ERROR):
        for error in (StaleEpochError("another"), ValueError("odd"), StoreError("no"), StoreDamagedError("torn"), FULL):
            assert upkeep.error is None
            upkeep.note_error(error, NOW)

    assert (FULL, 1) == (upkeep.error, part.begun)
    assert [
        "a task of the service failed",
        "the result of the check could not be stored: no",
        "torn",
        "the result of the check could not be stored: the disk is full",
    ] == [record.getMessage() for record in caplog.records]


class Late:
    """A planner whose pages are due at one instant, with an interval of an hour."""

    def __init__(self, due: int | None) -> None:
        self.due = due

    def due_at(self, page_id: int) -> int | None:
        return self.due

    def pace(self, page_id: int) -> int:
        return HOUR


def find_concerned(lasted: int, due: int | None, *clauses: str) -> list[set[int] | None]:
    """Return the pages whose receivers are notified of an outage of this length."""
    part = Part()
    pages = {number: make_watched(number, text) for number, text in enumerate(clauses, start=1)}
    part.outages = [SimpleNamespace(seconds=lasted / SECOND, error="no route")]
    any_: Any = part
    outages = Outages(any_, SimpleNamespace(pages=pages), Late(due), any_, any_, NetworkWatch(), epoch=1)  # type: ignore[arg-type]
    asyncio.run(outages.announce(NOW))
    assert [OUTAGE] * len(part.concerned) == [unit.events[0].type for unit in part.written]
    assert all(NOW - lasted == unit.events[0].data["since"] for unit in part.written)
    return part.concerned


def test_outage_is_reported_for_pages_that_missed_a_poll():
    """The page was due before the end, and its interval is not longer than the outage."""
    clauses = ("Fetch every 10 min", "Fetch every 2 hour", "")

    assert [{1}] == find_concerned(30 * MINUTE, NOW - HOUR, *clauses)
    assert [{1, 3}] == find_concerned(HOUR, NOW - HOUR, *clauses)
    assert [set()] == find_concerned(HOUR, NOW - MINUTE, *clauses)
    assert [set()] == find_concerned(HOUR, None, *clauses)


def test_outage_below_a_minute_is_not_reported():
    """A minute is."""
    assert [] == find_concerned(MINUTE - 1, NOW - HOUR, "Fetch every 10 min")
    assert 1 == len(find_concerned(MINUTE, NOW - HOUR))


class Two:
    """The store and the committer of two planners on one database. `others` are written before the
    next unit.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.others: list[Unit] = []

    async def read(self, fn: Any, *args: Any) -> Any:
        return self.world.read(fn, *args)

    async def write(self, unit: Unit) -> None:
        if self.others:
            await announce_once(self, self, self.others.pop())  # type: ignore[arg-type]
        (result,) = commit_group(self.world.database, [unit])
        if isinstance(result, Exception):
            raise result


@pytest.mark.parametrize("is_race", [False, True])
def test_outage_that_two_planners_saw_is_announced_once(world: World, is_race: bool):
    """A recipient gets one message, also if both announce it at the same instant. A later outage is
    another one.
    """
    row, two = world.watch(), Two(world)
    ids = [world.write(endpoints.ensure, "webhook", f"http://127.0.0.1/{name}") for name in "ab"]

    def make(at: int, *endpoint_ids: int) -> Unit:
        event = Event(type=OUTAGE, at=at, data={"since": at - HOUR, "reason": "no route"})
        drafts = tuple(
            DeliveryDraft(endpoint_id=id_, sentinel_id=row.id, content_type="", body=b"x", due_at=at, events=(0,))
            for id_ in endpoint_ids
        )
        return world.unit(events=(event,), deliveries=drafts)

    def list_told() -> list[int]:
        return sorted(told.endpoint_id for told in world.read(deliveries.listing))

    async def act(*units: Unit) -> None:
        for unit in units:
            await announce_once(two, two, unit)  # type: ignore[arg-type]

    first, second = make(NOW, ids[0]), make(NOW + SECOND, *ids)
    if is_race:
        two.others.append(first)
        asyncio.run(act(second))
    else:
        asyncio.run(act(first, second))

    assert ids == list_told()
    assert 1 == len(world.read(events.since, OUTAGE, 0))
    asyncio.run(act(make(NOW + 2 * HOUR, ids[0])))
    assert sorted([*ids, ids[0]]) == list_told()
    assert 2 == len(world.read(events.since, OUTAGE, 0))


class Monitor:
    """Gives answers to pings in turn."""

    def __init__(self, *errors: str) -> None:
        self.errors = list(errors)
        self.posts: list[str] = []

    async def post(self, url: str, **_: Any) -> Any:
        self.posts.append(url)
        return SimpleNamespace(error=self.errors.pop(0))


def test_ping_is_sent_each_minute(caplog: pytest.LogCaptureFixture):
    """A refusal is logged once, and so is its end."""
    monitor = Monitor("404", "404", "", "")
    beat = Heartbeat(monitor, replace(ServeSettings(), ping_url="http://a.example/ping"), "tidings")

    async def step(now: int) -> None:
        for ping in await beat.due(now):
            await ping

    with caplog.at_level(logging.INFO):
        for at in (0, PING_EVERY - 1, PING_EVERY, 2 * PING_EVERY, 3 * PING_EVERY):
            asyncio.run(step(NOW + at))

    assert 4 == len(monitor.posts)
    assert ["serve.ping_url accepts no pings: 404", "serve.ping_url accepts pings again"] == [
        record.getMessage() for record in caplog.records if "ping" in record.getMessage()
    ]


def test_without_an_address_no_ping_is_due():
    """The setting is empty."""
    beat = Heartbeat(Monitor(), ServeSettings(), "tidings")

    assert (None, []) == (beat.next_due, asyncio.run(beat.due(NOW)))


def make_outages(part: Part) -> Outages:
    """Return what reports outages to sentinels without pages."""
    any_: Any = part
    return Outages(any_, SimpleNamespace(pages={}), any_, any_, any_, NetworkWatch(), epoch=1)  # type: ignore[arg-type]


def report_network(part: Part, outages: Outages, at: int, *, reached: bool) -> list[str]:
    """Let three hosts be reached or not; return the events that are stored of it."""
    network = outages._network
    for host in ("a", "b", "c"):
        network.note(host, reached=reached, at=at, reason="" if reached else "no route")
    before = len(part.written)
    asyncio.run(outages.announce(at))
    return [event.type for unit in part.written[before:] for event in unit.events]


def test_outage_of_our_own_network_is_stored_and_announced_after_an_hour(caplog: pytest.LogCaptureFixture):
    """The end of the outage is announced too."""
    part = Part()
    outages = make_outages(part)
    with caplog.at_level(logging.WARNING):
        seen = [report_network(part, outages, NOW + n * HOUR, reached=n == 2) for n in range(3)]

    assert [[EventType.NETWORK_DOWN], [EventType.NETWORK_AWAY], [EventType.NETWORK_UP, EventType.NETWORK_BACK]] == seen
    assert [EventType.NETWORK_AWAY, EventType.NETWORK_BACK] == part.announced
    assert "no route" == part.written[0].events[0].data["reason"]
    assert f"{NETWORK_WORDS[EventType.NETWORK_DOWN]} (the last failure: no route)" == caplog.records[0].getMessage()
    assert NETWORK_WORDS[EventType.NETWORK_UP] == caplog.records[2].getMessage()


def test_refused_report_of_an_outage_is_made_again():
    """Neither the outage of the network nor that of the database is lost."""
    part = Part()
    outages = make_outages(part)
    part.refusal = FULL
    with pytest.raises(StoreStalledError):
        report_network(part, outages, NOW, reached=False)
    part.refusal = None

    assert [EventType.NETWORK_DOWN] == report_network(part, outages, NOW, reached=False)

    part.outages = [SimpleNamespace(seconds=3600.0, error="no route")]
    part.refusal = FULL
    with pytest.raises(StoreStalledError):
        report_network(part, outages, NOW, reached=False)
    part.refusal = None

    assert [OUTAGE] == report_network(part, outages, NOW, reached=False)
    assert [] == report_network(part, outages, NOW, reached=False)
