"""Which polls a subscription takes, and its cursor afterwards."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.planner import make_watched
from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.observed.unit import CHANGE, CursorMove, Missing
from tidings.scheduling.timetable import FixedInterval
from tidings.service.watch import cursors
from tidings.service.watch.watchlist import Subscription, WatchedPage

START = 1_700_000_000_000_000 // DAY * DAY
"""A midnight in UTC."""
HOURLY = "Fetch every 1 hour slack 10 min"


def page_of(clauses: str = "", *, newest: int = 0, **row: Any) -> WatchedPage:
    """Return a page with one subscription of a sentinel with these clauses; `row` has its stored columns."""
    page = make_watched(1, clauses, at=START)
    page.state = replace(page.state, last_seq=newest)
    page.subscriptions[1].row = replace(page.subscriptions[1].row, **row)
    return page


def sub_of(clauses: str = "", **row: Any) -> Subscription:
    """Return that subscription."""
    return page_of(clauses, **row).subscriptions[1]


def missing(*doubt: str, revision: int = 1, seq: int = 2) -> Missing:
    """Return the result of a poll without a match of the selector, one minute after the start."""
    return Missing(seq=seq, revision=revision, names=("words",), doubt=doubt, doubt_at=START + MINUTE)


def test_on_change_every_poll_after_the_start_is_taken():
    """The cause of a poll does not matter. A poll from before the sentinel is not taken, unless
    there is a base already.
    """
    assert [False, True] == [cursors.takes(sub_of(), START + late) for late in (-1, 0)]
    assert cursors.takes(sub_of(taken=(1,)), START - 1)
    assert [False, True] == [cursors.takes(sub_of(since=START + HOUR), START + late) for late in (HOUR - 1, HOUR)]


def test_fixed_interval_takes_polls_within_its_slack():
    """Polls are taken from ten minutes before the tick, not a microsecond earlier, whatever their
    cause.
    """
    sub = sub_of(HOURLY, taken=(1,), next_tick=START + HOUR)

    assert [False, True, True] == [cursors.takes(sub, START + at) for at in (50 * MINUTE - 1, 50 * MINUTE, 70 * MINUTE)]
    assert cursors.takes(sub_of(HOURLY), START)
    assert cursors.takes(sub_of(HOURLY, taken=(1,)), START + 1)
    assert cursors.takes(sub, START + 1, frozenset({1}))
    assert not cursors.takes(sub, START + 1, frozenset({2}))


def test_ticks_are_counted_from_the_start_of_the_sentinel():
    """It is the time that its clause says, else when it was enabled, else when it was made."""
    sub = sub_of(HOURLY)
    made = replace(sub.owner.row, created_at=START + 1, started_at=None, start_at=None)
    enabled = replace(made, started_at=START + 2)
    given = replace(enabled, start_at=START + 3)
    assert sub.interval is not None
    starts = [cursors.ticks(sub.interval, row, sub.owner.zone).start for row in (made, enabled, given)]

    assert [START + 1, START + 2, START + 3] == starts


def test_slack_is_shorter_than_the_interval():
    """Each poll belongs to one tick."""
    ticks = cursors.ticks_of(sub_of("Fetch every 1 hour slack 1 hour"))

    assert isinstance(ticks, FixedInterval)
    assert HOUR - 1 == ticks.slack


def test_sentinel_with_an_event_takes_no_ticks():
    """Without a base the page is polled once."""
    clauses = "Fetch on demand or on event(deploy)"

    assert [True, False] == [cursors.takes(sub_of(clauses, taken=before), START) for before in ((), (1,))]


def test_time_of_day_takes_no_other_poll():
    """This includes the first poll: the content is that of the time."""
    sub = sub_of("Fetch at 08:00")

    assert START + 8 * HOUR == cursors.next_tick(sub)
    assert [False, True] == [cursors.takes(sub, START + at) for at in (8 * HOUR - 1, 8 * HOUR)]


def test_on_demand_takes_only_requested_polls():
    """Polls for other sentinels are not taken."""
    sub = sub_of("Fetch on demand", taken=(1,))

    assert [False, True] == [cursors.takes(sub, START + HOUR, frozenset(eager)) for eager in ((), (1,))]


def test_outside_its_hours_only_a_base_is_taken():
    """A base is taken at any time."""
    clauses = "During daily 09:00 to 17:00"

    assert [False, True, True, False] == [
        cursors.takes(sub_of(clauses, taken=(1,)), START + at * HOUR) for at in (8, 9, 16, 17)
    ]
    assert cursors.takes(sub_of(clauses), START + HOUR)
    assert cursors.takes(sub_of(clauses, taken=(1,)), START, polled_at=START + 9 * HOUR)
    assert not cursors.takes(sub_of(clauses, taken=(1,)), START + 9 * HOUR, polled_at=START)


def test_doubt_is_cleared_by_the_next_poll():
    """Ticks do not matter. A doubt of another revision, and a poll that is not later, clear
    nothing.
    """
    sub = sub_of(HOURLY, taken=(1,), next_tick=START + HOUR, missing=missing("words"))

    assert [False, True] == [cursors.is_doubtful(sub, START + MINUTE + late) for late in (0, 1)]
    assert [False, True] == [cursors.takes(sub, START + MINUTE + late) for late in (0, 1)]
    assert not cursors.is_doubtful(sub_of(missing=missing()), START + HOUR)
    assert not cursors.is_doubtful(sub_of(missing=missing("words", revision=9)), START + HOUR)


def test_waiting_change_does_not_move_the_cursor():
    """The change is its own kind of doubt. A stored version is taken for it at any time."""
    sub = sub_of(HOURLY, taken=(1,), base=1, next_tick=START + HOUR, number=3, seen=1, ticked_at=START)
    waits = cursors.wait_for_second(sub, START + MINUTE)

    assert replace(waits, missing=None) == cursors.standing_still(sub)
    assert waits.missing is not None
    assert ((CHANGE,), START + MINUTE, 0) == (waits.missing.doubt, waits.missing.doubt_at, waits.missing.seq)
    waiting = replace(sub, row=replace(sub.row, missing=waits.missing))
    assert cursors.takes(waiting, START + MINUTE, polled_at=START + MINUTE)
    assert not cursors.takes(waiting, START + MINUTE)
    assert not cursors.takes(sub, START + MINUTE, polled_at=START + MINUTE)
    assert cursors.is_unconfirmed(waiting)
    assert not cursors.is_unconfirmed(sub)
    assert not cursors.is_unconfirmed(sub_of(missing=missing("words")))


def test_cursor_after_a_version():
    """The first version is the base. A new beginning starts with this version."""
    first = cursors.take(sub_of(HOURLY, next_tick=START), 4)
    sub = sub_of(HOURLY, base=4, taken=(4,), seen=4, number=1, next_tick=START, ticked_at=START - HOUR)
    second, anew = cursors.take(sub, 7), cursors.take(sub, 7, anew=True)

    assert (4, 1, 4, START) == (first.base, first.number, first.seen, first.next_tick)
    assert (4, 2, 7, START - HOUR) == (second.base, second.number, second.seen, second.ticked_at)
    assert (1, 7) == (anew.number, anew.seen)
    assert (4, 0) == (cursors.reference(sub), cursors.reference(sub_of()))
    assert {4} == cursors.references([sub, sub_of()])


def test_tick_moves_to_the_next_after_a_poll():
    """The poll may have a version or none. A subscription on change has no ticks."""
    page = page_of(HOURLY, taken=(1,), next_tick=START + HOUR)
    sub = page.subscriptions[1]
    at = START + HOUR + MINUTE
    moved = CursorMove(subscription_id=1, revision=1, base=1, taken=(2,))

    assert (START + 2 * HOUR, at) == (cursors.pass_tick(sub, at).next_tick, cursors.pass_tick(sub, at).ticked_at)
    assert (replace(moved, next_tick=START + 2 * HOUR, ticked_at=at),) == cursors.tick_all((moved,), page, at)
    assert (moved,) == cursors.tick_all((moved,), page_of(taken=(1,)), at)
    with pytest.raises(TypeError, match="has no ticks"):
        cursors.ticks_of(sub_of())


@pytest.mark.parametrize(
    ("row", "behind", "passed"),
    [
        ({"taken": (1,), "seen": 1}, (1,), ()),
        ({"taken": (2,), "seen": 2}, (), (1,)),
        ({"taken": (1,), "seen": 1, "missing": missing()}, (), (1,)),
        ({"taken": (1,), "seen": 1, "missing": missing("words")}, (1,), ()),
        ({}, (1,), ()),
        ({"taken": (1,), "seen": 1, "next_tick": START + 2 * HOUR}, (), ()),
    ],
)
def test_newest_stored_version_is_taken_by_subscriptions_without_it(
    row: dict[str, Any], behind: tuple[int, ...], passed: tuple[int, ...]
):
    """Subscriptions that missed their selector only by a doubt take it too. For others with a tick,
    the tick passes.
    """
    page = page_of(HOURLY, newest=2, **({"next_tick": START + HOUR} | row))
    found = cursors.takers_of_stored(page, START + HOUR, frozenset(), ())

    assert (behind, passed) == tuple(tuple(sub.row.id for sub in subs) for subs in found)


@pytest.mark.parametrize("clauses", [HOURLY, "Fetch at 01:00", "Fetch every 1 hour"])
def test_stored_version_serves_no_tick_after_its_poll(clauses: str) -> None:
    """A sentinel whose tick has come since then waits for the next poll."""
    page = page_of(clauses, newest=2, taken=(1, 2), seen=2, next_tick=START + HOUR)
    now, polled_at = START + HOUR + MINUTE, START + 40 * MINUTE

    assert ((), ()) == cursors.takers_of_stored(page, now, frozenset(), {}, polled_at=polled_at)
    assert ((), (page.subscriptions[1],)) == cursors.takers_of_stored(page, now, frozenset(), {})


def test_pending_comparison_takes_the_stored_version():
    """The time does not matter. Without a stored version nothing is taken, and a page on change has
    no tick to pass.
    """
    page = page_of(HOURLY, newest=2, taken=(1,), seen=1, next_tick=START + 2 * HOUR)
    sub = page.subscriptions[1]

    assert ((sub,), ()) == cursors.takers_of_stored(page, START + HOUR, frozenset(), {1})
    assert ((), (sub,)) == cursors.takers_of_stored(
        replace(page, state=replace(page.state, last_seq=0)), START, frozenset(), {1}
    )
    assert ((), ()) == cursors.takers_of_stored(page_of(newest=2, taken=(2,), seen=2), START, frozenset(), ())


def test_poll_for_doubts_is_taken_only_by_doubtful_subscriptions():
    """This holds for a new version and for the stored one."""
    sure, doubtful = page_of(newest=2, taken=(1,)), page_of(newest=2, taken=(1,), missing=missing("words"))
    at = START + HOUR

    assert [0, 1] == [len(cursors.takers_of(page, at, frozenset(), doubtful=True)) for page in (sure, doubtful)]
    assert [1, 1] == [len(cursors.takers_of(page, at, frozenset())) for page in (sure, doubtful)]
    assert [0, 1] == [
        len(cursors.takers_of_stored(page, at, frozenset(), (), doubtful=True)[0]) for page in (sure, doubtful)
    ]
