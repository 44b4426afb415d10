"""The requirements of all sentinels of a page for its polls."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.planner import make_watched
from tidings.clock import DAY, HOUR, MINUTE
from tidings.model.interval import NEVER, ExecutionInterval
from tidings.model.observed.page import PageState
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import CHANGE, Missing, PollRecord, Unit
from tidings.model.watch.sentinel import share_of
from tidings.service.watch import page_schedule
from tidings.service.watch.page_schedule import POLLED, Deadline, Needs, Tick, tick_of
from tidings.service.watch.watchlist import WatchedPage

START = 1_700_000_000_000_000 // DAY * DAY
"""A midnight in UTC."""
HOURLY = "Fetch every 1 hour"
MORNING = "During daily 08:00 to 10:00"


def page_of(*clauses: str, next_tick: int | None = START + HOUR, **state: Any) -> WatchedPage:
    """Return a page that a sentinel with each of these clauses watches, checked at midnight."""
    page = make_watched(1, clauses[0] if clauses else "", at=START)
    for number, text in enumerate(clauses[1:], start=2):
        page.subscriptions |= make_watched(number, text, at=START).subscriptions
    given = {"last_seq": 1, "polls": 1, "polled_at": START, "checked_at": START} | state
    page.state = replace(page.state, **given)
    for sub in page.subscriptions.values():
        sub.row = replace(sub.row, taken=(1,), next_tick=next_tick if sub.interval is not None else None)
    return page


def test_page_is_as_important_as_its_most_important_sentinel():
    """The default is 0.5."""
    page = page_of("Importance 0.2", "Importance 0.9", "")

    assert 0.9 == page_schedule.importance(page)
    assert [0.2, 0.9, 0.5, 0.5] == [page_schedule.importance_to(page, sentinel) for sentinel in (1, 2, 3, 9)]
    assert 0.5 == page_schedule.importance(replace_subs(page))


def replace_subs(page: WatchedPage) -> WatchedPage:
    """Remove all sentinels of a page."""
    page.subscriptions = {}
    return page


def test_page_shared_with_a_class_is_free_for_it():
    """The first class that all its sentinels name pays, or else the budget of all polls."""
    classes = ("rich", "poor")

    assert "poor" == page_schedule.budget_class(page_of("Class poor"), classes)
    assert "rich" == page_schedule.budget_class(page_of("Class poor", "Class rich"), classes)
    assert "default" == page_schedule.budget_class(page_of("Class poor", ""), classes)
    assert "default" == page_schedule.budget_class(page_of("Class other"), classes)
    assert "default" == page_schedule.budget_class(replace_subs(page_of()), classes)


def test_share_of_an_owner_pays_for_all_their_sentinels():
    """The classes of the sentinels do not matter."""
    page = page_of("Class poor")
    owner = page.subscriptions[1].owner
    owner.row = replace(owner.row, owner_id=7)

    assert share_of(7) == page_schedule.budget_class(page, ("poor", share_of(7)))


def test_shortest_fixed_interval_is_promised():
    """A page on change has none."""
    assert 30 * MINUTE == page_schedule.find_promised_interval(page_of(HOURLY, "Fetch every 30 min", ""))
    assert page_schedule.find_promised_interval(page_of("")) is None
    assert [True, False] == [
        page_schedule.is_on_change(page_of(HOURLY, "")),
        page_schedule.is_on_change(page_of(HOURLY)),
    ]


@pytest.mark.parametrize(
    ("clauses", "bounds"),
    [
        (("",), (0, NEVER)),
        (("Fetch on change between 1 hour and 1 day",), (HOUR, DAY)),
        (("Fetch on change between 1 hour and 1 day", ""), (0, DAY)),
        (("Fetch on change between 1 hour and 1 day", "Fetch on change between 2 hour and 3 hour"), (HOUR, 3 * HOUR)),
        (("Fetch on change between 1 min and 2 min",), (5 * MINUTE, 5 * MINUTE)),
        ((HOURLY,), (0, NEVER)),
    ],
)
def test_bounds_are_the_widest_of_all_sentinels_above_the_floor(clauses: tuple[str, ...], bounds: tuple[int, int]):
    """The bounds are the smallest of the shortest, and the smallest of the longest intervals."""
    assert bounds == page_schedule.bounds(page_of(*clauses), 5 * MINUTE)


def test_earliest_tick_counts_with_its_deadline():
    """All sentinels are in time until the first deadline. A page on change has none."""
    page = page_of("Fetch every 1 hour slack 10 min", "Fetch every 2 hour slack 1 min")
    page.subscriptions[2].row = replace(page.subscriptions[2].row, next_tick=START + HOUR + MINUTE)

    tick = tick_of(page)

    assert (START + HOUR, START + HOUR + 2 * MINUTE) == (tick.at, tick.deadline)
    assert Tick(NEVER, NEVER, servable=False) == tick_of(page_of(""))


def test_first_poll_is_a_tick_in_the_past():
    """A page that was never polled is overdue."""
    page = page_of("", last_seq=0, checked_at=None)
    page.subscriptions[1].row = replace(page.subscriptions[1].row, taken=())

    assert Tick(0, 0, servable=False) == tick_of(page)


def test_tick_outside_its_hours_waits_for_the_opening():
    """The tick is moved with its slack."""
    tick = tick_of(page_of(f"Fetch every 1 hour slack 10 min {MORNING}"))

    assert (START + 8 * HOUR, True) == (tick.at, tick.is_moved)
    assert START + 8 * HOUR + 10 * MINUTE == tick.deadline


def test_tick_served_by_a_poll_is_taken_from_storage():
    """A change whose confirming poll failed is taken from storage too."""
    served = page_of(HOURLY, next_tick=START)
    doubted = page_of("", health="shaky")
    sub = doubted.subscriptions[1]
    sub.row = replace(sub.row, missing=Missing(seq=0, revision=1, names=(), doubt=(CHANGE,), doubt_at=START))

    assert [True, True, False] == [tick_of(page).servable for page in (served, doubted, page_of(HOURLY))]


def test_page_is_open_while_one_sentinel_is_open():
    """Without hours in one of them, it is always open."""
    both = page_of(MORNING, "During daily 09:00 to 12:00")

    assert [START + 8 * HOUR, START + 9 * HOUR] == [
        page_schedule.first_open(page, START) for page in (both, page_of("During daily 09:00 to 12:00"))
    ]
    assert [START + 10 * HOUR, START + 12 * HOUR] == [
        page_schedule.closes(both, START + at) for at in (8 * HOUR, 9 * HOUR)
    ]
    assert (START, NEVER) == (
        page_schedule.first_open(page_of(MORNING, ""), START),
        page_schedule.closes(page_of(MORNING, ""), START),
    )


def test_hours_on_change_are_those_of_sentinels_on_change():
    """A fixed interval in the evening opens nothing for them."""
    page = page_of(MORNING, f"{HOURLY} During daily 20:00 to 21:00")

    assert START + DAY + 8 * HOUR == page_schedule.first_open_on_change(page, START + 12 * HOUR)
    assert START + 12 * HOUR == page_schedule.first_open_on_change(page_of(HOURLY), START + 12 * HOUR)
    assert NEVER == page_schedule.first_open_on_change(page, NEVER)


@pytest.mark.parametrize(
    ("clauses", "share"),
    [
        (("",), 1.0),
        ((MORNING,), 2 / 24),
        ((MORNING, ""), 1.0),
        ((MORNING, MORNING), 2 / 24),
        (("During daily 22:00 to 02:00",), 4 / 24),
        (("During daily 00:00 to 20:00", "During daily 04:00 to 24:00"), 1.0),
        ((HOURLY,), 1.0),
    ],
)
def test_open_share_is_the_part_of_a_day(clauses: tuple[str, ...], share: float):
    """Overlapping hours are added, equal ones count once, up to the whole day."""
    assert pytest.approx(share) == page_schedule.open_share(page_of(*clauses))


def test_robots_are_ignored_for_the_first_reason():
    """A back-off because of robots.txt then does not count."""
    page = page_of('Robots ignored because "my own site"', 'Robots ignored because "also mine"')
    obeys = page_of("")
    for each in (page, obeys):
        each.state = replace(each.state, kind="robots", retry_at=START + DAY)

    assert ["my own site", ""] == [page_schedule.robots_ignored(each) for each in (page, obeys)]
    assert [None, START + DAY] == [page_schedule.retry_at(each) for each in (page, obeys)]

    page.state = replace(page.state, kind="net")

    assert START + DAY == page_schedule.retry_at(page)


def test_freshness_counts_within_limits():
    """Freshness does not count at each fifth poll, while it is doubted, or beyond the maximum."""
    claimed = PageState(page_id=1, polls=1, checked_at=START, fresh_until=START + HOUR)

    assert [START + MINUTE, START + HOUR] == [
        page_schedule.is_fresh_until(claimed, most=most) for most in (MINUTE, DAY)
    ]
    for other in ({"polls": 5}, {"fresh_doubt": 1}, {"fresh_until": None}, {"checked_at": None}):
        assert 0 == page_schedule.is_fresh_until(replace(claimed, **other), most=DAY)


def deadline(page, sentinel, start, end, **more):
    """Return a deadline."""
    return Deadline(page, sentinel, ExecutionInterval(start, end), PollReason(Why.THEN), **more)


def make_unit(page, at, outcome="unchanged"):
    """Return the unit of a poll."""
    record = PollRecord(poll_id=1, page_id=page, finished_at=at, outcome=outcome, text_changed=False)
    return Unit(at=at, epoch=1, poll=record)


def test_most_urgent_deadline_has_begun():
    """A deadline that has not begun is not served, however soon it ends."""
    needs = Needs()
    needs.settle("one", 1, [deadline(7, 1, 0, 100), deadline(7, 1, 20, 30)])

    assert 0 == needs.begins(7)
    assert [100, 30] == [found.interval.end for at in (10, 20) if (found := needs.most_urgent(7, at))]
    assert [100, 30] == [found.interval.end for found in needs.list_begun(25)]


def test_good_poll_is_recorded_for_sentinels_that_need_the_event():
    """Each sentinel gets it once. A failed poll or one outside the interval is not recorded, nor is
    one for a sentinel that does not need it.
    """
    needs = Needs()
    needs.settle("one", 1, [deadline(7, 1, 0, 9), deadline(7, 1, 5, 9)])
    needs.settle("one", 2, [deadline(7, 2, 5, 9)])
    needs.settle("two", 3, [deadline(7, 3, 0, 9, is_logged=False)])

    def note(unit):
        return [(event.type, event.sentinel_id, event.page_id) for event in needs.add_events(unit).events]

    assert [(POLLED, 1, 7), (POLLED, 2, 7)] == note(make_unit(7, 5))
    assert [(POLLED, 1, 7)] == note(make_unit(7, 4))
    assert [] == note(make_unit(7, 10)) == note(make_unit(7, 5, "error")) == note(make_unit(8, 5))


def test_kept_deadline_is_served_by_a_late_poll():
    """An event needs a poll even after the time, but not one that began before the event."""
    needs = Needs()
    needs.settle("one", 1, [deadline(7, 1, 5, 9, is_met=True)])
    needs.expire(100)

    def note(begun, at):
        needs.begin(7, begun)
        return [(event.sentinel_id, event.data["begun"]) for event in needs.add_events(make_unit(7, at)).events]

    assert 5 == needs.begins(7)
    assert [[], [(1, 5)], [(1, 50)]] == [note(*times) for times in ((4, 6), (5, 6), (50, 60))]


def test_changed_deadlines_replace_the_old_ones():
    """Only pages with a change are reported as touched. Nothing is left when all are removed."""
    needs = Needs()
    touched: list[set[int]] = []
    for deadlines in ([deadline(7, 1, 0, 9)], [deadline(7, 1, 0, 9)], [deadline(8, 1, 0, 9)], []):
        needs.settle("one", 1, deadlines)
        touched.append(needs.take_touched())

    assert [{7}, set(), {7, 8}, {8}] == touched
    assert needs.begins(7) is needs.begins(8) is None


def test_late_poll_has_its_own_reason():
    """The interval of the deadline is over."""
    late = deadline(7, 1, 0, 9, late=PollReason(Why.OVERDUE))

    assert [Why.THEN, Why.THEN, Why.OVERDUE] == [late.reason(at).why for at in (0, 9, 10)]


def test_expired_deadline_is_not_served():
    """Expected changes are still served late. The owner of an expired deadline may settle it later."""
    needs = Needs()
    needs.settle("one", 1, [deadline(7, 1, 0, 9)])
    needs.settle("two", 7, [deadline(7, 1, 5, 9, is_logged=False)])
    needs.expire(9)
    assert 0 == needs.begins(7)
    needs.expire(10)
    assert 5 == needs.begins(7)
    needs.settle("one", 1, [])

    assert 5 == needs.begins(7)
