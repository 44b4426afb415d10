"""The time at which a page is due, and the reason."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.planner import make_watched
from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.model.interval import ExecutionInterval
from tidings.model.observed.page import LOST_BODY
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Unit
from tidings.scheduling.policy import NEVER
from tidings.service.plan.next_poll import Due, Dues, get_confirmation_wait, has_expectations, list_expected
from tidings.service.watch.page_schedule import Deadline, Needs
from tidings.service.watch.watchlist import WatchedPage

START = 1_700_000_000_000_000 // DAY * DAY
"""A midnight in UTC."""
HOURLY = "Fetch every 1 hour slack 10 min"


def page_of(clauses: str = "", *, taken: bool = True, next_tick: int | None = None, **state: Any) -> WatchedPage:
    """Return a page that was checked at midnight, unless `state` says otherwise."""
    page = make_watched(1, clauses, at=START)
    given = {"last_seq": 1, "polls": 1, "polled_at": START, "checked_at": START} | state
    page.state = replace(page.state, **given)
    (sub,) = page.subscriptions.values()
    sub.row = replace(sub.row, taken=(1,) if taken else (), next_tick=next_tick)
    return page


def dues(needs: Needs | None = None, **more: Any) -> Dues:
    """Return due times with a floor of a minute."""
    return Dues(needs or Needs(), **{"floor": MINUTE, **more})


def due(page: WatchedPage, on_change: int = NEVER, of: Dues | None = None) -> Due:
    """Return when a page is due if its policy would poll it at `on_change`."""
    return (of or dues()).of(page, on_change, pages=1)


def test_page_on_change_is_due_by_its_policy():
    """Without a tick and a deadline, only the policy counts."""
    assert Due(START + HOUR, NEVER, NEVER) == due(page_of(), START + HOUR)
    assert Due(NEVER, NEVER, NEVER) == due(page_of())


def test_no_page_is_due_within_its_floor():
    """The floor is a minute after the last attempt, whatever the policy says."""
    assert START + MINUTE == due(page_of(), START + SECOND).at


def test_page_with_a_fixed_interval_is_due_at_its_tick():
    """Slack only uses polls of others. A policy may poll the page earlier."""
    page = page_of(HOURLY, next_tick=START + HOUR)

    assert (START + HOUR, START + HOUR) == due(page)[:2]
    assert START + 30 * MINUTE == due(page, START + 30 * MINUTE).at


def test_back_off_delays_ticks():
    """A page in error is not polled before its retry time. A shaky page is polled then, before its
    next tick.
    """
    failing = page_of(HOURLY, next_tick=START + HOUR, health="error", kind="net", retry_at=START + 3 * HOUR)
    doubted = page_of(HOURLY, next_tick=START + HOUR, health="shaky", kind="net", retry_at=START + 5 * MINUTE)

    assert [START + 3 * HOUR, START + 5 * MINUTE] == [due(failing).at, due(doubted).at]


def test_due_time_is_within_the_hours():
    """A page open from 8 to 10 is due at 8, until 10."""
    page = page_of("During daily 08:00 to 10:00")

    assert Due(START + 8 * HOUR, NEVER, START + 10 * HOUR) == due(page, START + HOUR)
    assert START + 9 * HOUR == due(page, START + 9 * HOUR).at


def test_poll_after_the_hours_waits_for_the_next_opening():
    """After a poll, the page is due as before."""
    page, known = page_of("During daily 08:00 to 10:00"), dues()
    known.shut([1], START + 10 * HOUR)

    assert START + DAY + 8 * HOUR == due(page, START + 9 * HOUR, known).at

    known.note_poll(1, Unit(at=START, epoch=1))

    assert START + 9 * HOUR == due(page, START + 9 * HOUR, known).at


def test_freshness_delays_only_polls_on_change():
    """The delay is limited, and the reason has it."""
    page, known = page_of(fresh_until=START + 3 * HOUR), dues(heed=2 * HOUR)

    assert START + 2 * HOUR == due(page, START + HOUR, known).at
    assert PollReason(Why.EASED, "1 hour") == known.why(1, ticks=False)
    assert START + HOUR == due(page, START + HOUR, dues()).at
    tick = page_of(HOURLY, next_tick=START + HOUR, fresh_until=START + 3 * HOUR)
    assert START + HOUR == due(tick, of=dues(heed=2 * HOUR)).at


def test_one_poll_in_five_ignores_freshness():
    """A false claim is detected."""
    assert START + HOUR == due(page_of(fresh_until=START + 3 * HOUR, polls=5), START + HOUR, dues(heed=2 * HOUR)).at


def test_held_page_is_due_at_the_end_of_its_pause():
    """The page is held for a failure that was not its own. A page that is forgotten is not held."""
    known = dues()
    known.hold(1, START + 2 * HOUR)

    assert START + 2 * HOUR == due(page_of(), START + HOUR, known).at
    assert not known.may(page_of(), START + HOUR)

    known.forget(1)

    assert START + HOUR == due(page_of(), START + HOUR, known).at


def test_second_poll_comes_after_a_tenth_of_the_wait():
    """The wait is between 10 seconds and a minute. Without second polls there is none."""
    long, short, without = dues(), dues(), dues(second_polls=False)
    for known in (long, short, without):
        known.poll_again(1, START + MINUTE)

    assert START + MINUTE == due(page_of(), START + DAY, long).at
    assert START + 12 * SECOND == due(page_of(), START + 2 * MINUTE, short).at
    assert START + DAY == due(page_of(), START + DAY, without).at
    assert PollReason(Why.SECOND) == long.why(1, ticks=False)
    assert [[], [1]] == [long.second_now(START + MINUTE - 1), long.second_now(START + MINUTE)]


def test_second_poll_outside_the_hours_is_dropped():
    """The next opening is too late to distinguish noise from a change."""
    page, known = page_of("During daily 08:00 to 10:00"), dues()
    known.poll_again(1, START + MINUTE)

    assert START + 8 * HOUR == due(page, START + HOUR, known).at
    assert [] == known.second_now(NEVER - 1)


def test_deadline_makes_a_page_due_sooner():
    """The floor is kept. The page's own schedule does not matter."""
    needs = Needs()
    needs.settle("then", 1, [Deadline(1, 1, ExecutionInterval(START, START + HOUR), PollReason(Why.THEN))])

    assert Due(START + MINUTE, NEVER, NEVER) == due(page_of(), START + DAY, dues(needs))


def test_page_that_may_be_polled_early():
    """The page is on change, healthy, past its floor, open, and not fresh."""
    now, known = START + 9 * HOUR, dues(heed=DAY)
    day = "During daily 08:00 to 10:00"

    assert known.may(page_of(), now)
    assert known.may(page_of(day), now)
    assert not known.may(page_of(day), START + 10 * HOUR)
    assert not known.may(page_of(HOURLY, next_tick=now), now)
    assert not known.may(page_of(health="shaky"), now)
    assert not known.may(page_of(checked_at=None), now)
    assert not known.may(page_of(polled_at=now - MINUTE + 1), now)
    assert known.may(page_of(polled_at=now - MINUTE), now)
    assert not known.may(page_of(fresh_until=now + 1), now)


def test_reason_of_a_tick_is_interval_or_opening():
    """A tick at midnight of a page that opens at 8 is the opening."""
    clauses, known = f"{HOURLY} During daily 08:00 to 10:00", dues()
    due(page_of(clauses, next_tick=START + HOUR), of=known)

    assert PollReason(Why.OPENING) == known.why(1, ticks=True)
    assert PollReason(Why.INTERVAL) == known.why(2, ticks=True)
    assert PollReason(Why.CHANGE) == known.why(2, ticks=False)


def test_tick_served_by_a_poll_is_served_from_storage():
    """A held page is not: its tick needs a poll, when the hold has ended. After that poll it is
    served again.
    """
    known, page = dues(), page_of(HOURLY, next_tick=START)
    due(page, of=known)

    assert [1] == known.servable()

    known.hold(1, START + 3 * HOUR)

    assert START + 3 * HOUR == due(page, of=known).at
    assert [] == known.servable()

    known.note_poll(1, Unit(at=START, epoch=1))
    due(page, of=known)

    assert [1] == known.servable()


def test_tick_that_is_served_in_vain_needs_a_poll():
    """What is still waited for although it was just served is not served again until the page was
    polled.
    """
    known, page = dues(), page_of(HOURLY, next_tick=START)
    due(page, of=known)
    known.note_served(1)

    assert NEVER != due(page, of=known).at
    assert [] == known.servable()
    assert NEVER != due(page, of=known).at

    known.note_poll(1, Unit(at=START, epoch=1))

    assert NEVER == due(page, of=known).at
    assert [1] == known.servable()


def test_lost_body_serves_nobody():
    """Its page is polled."""
    known = dues()

    assert NEVER != due(page_of(HOURLY, next_tick=START, body_size=LOST_BODY), of=known).at
    assert [] == known.servable()


@pytest.mark.parametrize(
    ("clauses", "wait"),
    [("", MINUTE), (HOURLY, MINUTE), ("Fetch every 5 min", 30 * SECOND), ("Fetch every 1 min", 10 * SECOND)],
)
def test_doubt_is_settled_within_a_minute(clauses: str, wait: int):
    """For a page with a short interval it is a tenth of it, but at least ten seconds."""
    assert wait == get_confirmation_wait(page_of(clauses))


def test_expected_change_makes_a_deadline():
    """A page that changes every hour is due soon after its next change, for a sentinel with
    `within`.
    """
    asked, plain = page_of("Fetch on change within 5 min"), page_of()
    learned = {"intervals": [3600.0] * 12, "modified": START - HOUR // 2}
    (deadline,) = list_expected(asked, learned)

    assert [True, False] == [has_expectations(asked), has_expectations(plain)]
    assert START + HOUR // 2 == deadline.interval.start
    assert deadline.interval.end <= START + HOUR // 2 + 5 * MINUTE
    assert (PollReason(Why.EXPECTED, "5 min"), PollReason(Why.OVERDUE, "5 min")) == (deadline.why, deadline.late)
    assert [] == list(list_expected(plain, learned))
    assert [] == list(list_expected(asked, {}))
    assert [] == list(list_expected(page_of("Fetch on change within 5 min", checked_at=None), learned))
