"""The weekly report is made once, on Monday at eight or at the next start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.planner import make_watched
from tests.stores import World
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.errors import StoreError
from tidings.model.event_type import EventType
from tidings.model.observed.unit import DeliveryDraft, Event, Unit
from tidings.service.upkeep.weekly_report import WeeklyReport
from tidings.service.watch.watchlist import WatchedSentinel
from tidings.settings import NotifySettings, ServeSettings, Settings
from tidings.storage.watches import events


def at(text: str) -> int:
    """Return the instant of a time in UTC."""
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND


MONDAY = at("2026-05-04T08:00")


class Case:
    """Sentinels of owners, created at time 0, and a committer that records units."""

    def __init__(self, world: World, *owner_ids: int, zone: str = "UTC", weekly: bool = True) -> None:
        self.world = world
        self.written: list[Unit] = []
        self.refusal: Exception | None = None
        self.sentinels = {}
        for number, owner_id in enumerate(owner_ids, start=1):
            held: WatchedSentinel = make_watched(number).subscriptions[number].owner
            held.row = replace(held.row, owner_id=owner_id)
            self.sentinels[number] = held
        self.sent: list[tuple[int, set[int]]] = []
        settings = Settings(notify=NotifySettings(weekly=weekly), serve=ServeSettings(zone=zone))
        self.report = WeeklyReport(self, self, self, self, settings, epoch=world.epoch)  # type: ignore[arg-type]

    async def read(self, fn: Callable[..., Any], *args: Any) -> Any:
        return self.world.read(fn, *args)

    async def write(self, unit: Unit) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.written.append(unit)
        self.world.commit(unit)

    def drafts(self, event: Event, *, place: int, concerned: set[int]) -> Iterator[DeliveryDraft]:
        self.sent.append((place, concerned))
        return iter(())

    def step(self, now: int) -> int:
        """Make the due reports; return their number."""

        async def run() -> int:
            found = await self.report.due(now)
            for task in found:
                await task
            return len(found)

        return asyncio.run(run())


def test_report_is_made_on_monday_at_eight(world: World):
    """The report is made once, and the next one a week later."""
    case = Case(world, 1)

    assert [1, 0, 0, 1] == [case.step(MONDAY + after) for after in (0, 1, 7 * DAY - 1, 7 * DAY)]
    (event,) = case.written[0].events
    assert (EventType.WEEK_REPORTED, MONDAY - 7 * DAY, 1) == (event.type, event.data["since"], event.data["sentinels"])


def test_missed_report_is_made_at_the_next_start(world: World):
    """Another process may make it, and the next one does not repeat it."""
    later = MONDAY + 3 * DAY

    assert 1 == Case(world, 1).step(later)
    assert 0 == Case(world, 1).step(later + HOUR)
    assert 1 == len(world.read(events.listing, types=(EventType.WEEK_REPORTED,)))


def test_start_before_eight_after_a_clock_change_reports_the_week_before(world: World):
    """The week was an hour longer: its report comes at eight, once."""
    seven, eight = at("2026-10-26T06:30"), at("2026-10-26T07:00")  # 7:30 and 8:00 in Paris
    case = Case(world, 1, zone="Europe/Paris")

    assert [1, 1, 0] == [case.step(seven), case.step(eight), Case(world, 1, zone="Europe/Paris").step(eight + HOUR)]
    assert [at("2026-10-12T06:00"), at("2026-10-19T07:00")] == [unit.events[0].data["since"] for unit in case.written]


def test_refused_report_is_made_again(world: World):
    """It is tried a minute later, until it is stored."""
    case = Case(world, 1)
    case.refusal = StoreError("full")
    for minute in range(2):
        with pytest.raises(StoreError):
            case.step(MONDAY + minute * MINUTE)
    case.refusal = None

    assert [0, 1, 0] == [case.step(MONDAY + MINUTE + after) for after in (1, MINUTE, 2 * MINUTE)]
    assert 1 == len(case.written)


def test_each_owner_gets_a_report(world: World):
    """The message of a report goes to the receivers of the owner's sentinels."""
    case = Case(world, 1, 2, 1)
    case.step(MONDAY)

    assert [2, 1] == [event.data["sentinels"] for event in case.written[0].events]
    assert [(0, {1, 3}), (1, {2})] == case.sent


def test_new_and_disabled_sentinels_are_not_reported(world: World):
    """Without others nothing is written."""
    case = Case(world, 1, 1)
    changes: list[dict[str, Any]] = [{"created_at": MONDAY}, {"state": "disabled"}]
    for held, more in zip(case.sentinels.values(), changes, strict=True):
        held.row = replace(held.row, **more)

    assert 1 == case.step(MONDAY)
    assert [] == case.written


def test_without_the_setting_there_is_no_report(world: World):
    """Nothing is ever due."""
    case = Case(world, 1, weekly=False)

    assert (None, 0) == (case.report.next_due, case.step(MONDAY))
