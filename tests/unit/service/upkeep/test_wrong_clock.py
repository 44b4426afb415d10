"""Instants of a clock that was ahead are corrected once it is right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.stores import World
from tidings.clock import DAY, HOUR, MINUTE, PLAUSIBLE, ManualClock
from tidings.errors import StaleEpochError
from tidings.model.observed.unit import Estimate, Event, Unit
from tidings.service.show.notices import CLOCK_WRONG
from tidings.service.upkeep import wrong_clock
from tidings.service.upkeep.wrong_clock import NOTIFY_EVERY, NOTIFY_FROM, Wrong
from tidings.storage.db.connection import Connection
from tidings.storage.observed import estimates
from tidings.storage.watches import sentinels, subscriptions
from tidings.storage.write import charge


def mend(world: World, now: int) -> Wrong | None:
    """Correct instants after now."""
    return world.write(wrong_clock.mend, now=now, epoch=world.epoch, zone="UTC", policy="price")


def set_sentinel(c: Connection, name: str, value: Any) -> None:
    """Set a column of the sentinel."""
    c.execute(f"UPDATE sentinel SET {name} = :value", value=value)


def watch(world: World, clauses: str = "", **row: Any) -> None:
    """Watch page 1 with these clauses, and set columns of the sentinel."""
    world.watch("news", "a", every=HOUR if "Fetch every" in clauses else None)
    text = f"Create Sentinel news Using http://a.example/ Monitor any change {clauses}"
    world.write(lambda c: c.execute("UPDATE sentinel_revision SET text = :text", text=text))
    for name, value in row.items():
        world.write(set_sentinel, name, value)


def go_ahead(world: World, at: int) -> None:
    """Store a reading of a clock that is ahead."""
    world.write(charge.touch, at=at, epoch=world.epoch)


def test_right_clock_changes_nothing(world: World):
    """No event is written either."""
    watch(world)
    world.commit(world.make_unchanged())

    assert mend(world, world.at + 1) is None
    assert world.at == world.state().polled_at


def test_small_difference_is_corrected_without_a_report(world: World):
    """A small difference is below a minute."""
    watch(world)
    world.commit(world.make_unchanged())
    now = world.at - MINUTE + 1

    assert mend(world, now) is None
    assert now == world.state().polled_at


def test_clock_that_was_ahead_is_reported_with_its_times(world: World):
    """No instant of the schedule is after now."""
    watch(world)
    world.commit(world.make_unchanged())
    right, world.at = world.at, world.at + 2 * DAY
    world.commit(world.make_unchanged())

    wrong = mend(world, right + HOUR)

    assert wrong is not None
    assert (world.at - right - HOUR, right + HOUR) == (wrong.ahead, wrong.until)
    assert right + HOUR == world.state().polled_at == world.state().checked_at
    assert wrong.text.startswith("the machine's clock was ahead by up to ")
    assert mend(world, right + HOUR) is None


def test_process_without_a_lease_corrects_nothing(world: World):
    """Another process does."""
    watch(world)
    world.commit(world.make_unchanged())
    with pytest.raises(StaleEpochError):
        world.write(wrong_clock.mend, now=1, epoch=world.epoch - 1, zone="UTC", policy="price")


def test_rate_learned_far_ahead_is_deleted(world: World):
    """A page without a change for twelve years would hardly be polled. A rate from a few hours
    ahead stays.
    """
    watch(world)
    learned = Estimate(page_id=1, name="price", state={"rate": 1}, at=world.at + DAY)
    world.commit(world.unit(estimates=(learned, replace(learned, name="other"))))
    go_ahead(world, world.at + DAY)
    mend(world, world.at + 1)

    assert {1: {"rate": 1}} == world.read(estimates.load_all, "price")

    world.commit(world.unit(estimates=(replace(learned, at=world.at + 2 * DAY),)))
    go_ahead(world, world.at + 2 * DAY)
    mend(world, world.at + DAY)

    assert {} == world.read(estimates.load_all, "price")
    assert {1: {"rate": 1}} == world.read(estimates.load_all, "other")


def test_tick_of_the_wrong_clock_is_moved_into_its_interval(world: World):
    """No poll by that clock has served it."""
    watch(world, "Fetch every 1 hour")
    far = world.at + 100 * DAY
    world.write(lambda c: c.execute("UPDATE subscription SET next_tick = :far, ticked_at = :far", far=far))
    world.write(lambda c: c.execute("UPDATE page SET checked_at = :far", far=far))
    go_ahead(world, far)
    now = world.at + MINUTE
    mend(world, now)
    (sub,) = world.read(subscriptions.listing)

    assert sub.next_tick is not None
    assert now <= sub.next_tick <= now + HOUR
    assert (world.state().checked_at or 0) < sub.next_tick


def test_sentinel_that_ended_too_early_is_enabled_again(world: World):
    """A sentinel that would have ended by now stays ended."""
    start = world.at
    watch(world, "For 10 day", state="ended", ended_at=start + 10 * DAY, started_at=start)
    mend(world, start + DAY)

    assert ("enabled", None) == ((row := world.read(sentinels.get, 1)).state, row.ended_at)

    world.write(lambda c: c.execute("UPDATE sentinel SET state = 'ended', ended_at = :at", at=start + 20 * DAY))
    mend(world, start + 11 * DAY)

    assert "ended" == world.read(sentinels.get, 1).state


def test_sentinel_that_started_too_early_waits_again(world: World):
    """The sentinel waits until the date of its clause."""
    start = world.at
    watch(world, "From 2024-01-01T00:00Z", started_at=start + 90 * DAY, start_at=start + 60 * DAY)
    mend(world, start + DAY)

    assert ("waiting", None) == ((row := world.read(sentinels.get, 1)).state, row.started_at)
    assert [False] == [sub.active for sub in world.read(subscriptions.listing)]


class Started(ManualClock):
    """The clock of a machine that has just started."""

    def restart(self, at_least: int = 0) -> int:
        return max(at_least, self.wall())


class Writer:
    """Makes bulletins that differ from plain units."""

    def unit(self, event: Event, *, epoch: int) -> Unit:
        return Unit(at=event.at, epoch=epoch, events=(event,), answered=(1,))


@pytest.mark.parametrize(
    ("ahead", "noticed", "is_reported"),
    [
        (NOTIFY_FROM, None, True),
        (NOTIFY_FROM - 1, None, False),
        (NOTIFY_FROM, -NOTIFY_EVERY + 1, False),
        (NOTIFY_FROM, -NOTIFY_EVERY, True),
        (NOTIFY_FROM, 1, True),
    ],
)
def test_owners_are_notified_of_large_differences_once_a_day(ahead: int, noticed: int | None, is_reported: bool):
    """A notice from the future was made by the wrong clock."""
    now = 1_700_000_000_000_000
    noticed_at = None if noticed is None else now + noticed
    unit = wrong_clock.unit(Wrong(ahead, None, now), Writer(), epoch=1, noticed_at=noticed_at)  # type: ignore[arg-type]

    assert is_reported is (unit.answered == (1,))
    assert now if is_reported else noticed_at == unit.events[0].data["told_at"]
    assert CLOCK_WRONG == unit.events[0].type


def test_unset_clock_continues_from_the_last_stored_instant(world: World):
    """A clock that was set is used."""
    watch(world)
    world.commit(world.make_unchanged())
    unset, set_ = Started(1_000), Started(PLAUSIBLE)

    assert [world.at, PLAUSIBLE] == [world.read(wrong_clock.start, clock) for clock in (unset, set_)]


def test_last_notice_is_read_from_the_log(world: World):
    """Before the first notice, the result is None."""
    assert world.read(wrong_clock.find_last_notified) is None

    world.commit(world.unit(events=(Event(type=CLOCK_WRONG, at=5, data={"told_at": 3}),)))

    assert 3 == world.read(wrong_clock.find_last_notified)
