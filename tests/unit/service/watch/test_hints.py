"""Hints are weighed by the polls after them, for each host and kind, and for each page."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.estimation.evidence import Dates
from tidings.model.interval import Instant
from tidings.scheduling.policy import Observation, Population, Signal
from tidings.scheduling.price.policy import Price
from tidings.service.watch.hints import DATES, MOST_WAITING, SAME, UPDATED, HintTracker
from tidings.storage.observed.hints import HintRow, TrustRow

START = 1_700_000_000 * SECOND
RATE = 1.0


def make_tracker() -> HintTracker:
    """Return an empty memory of the pages 1 to 9 of one host."""
    return HintTracker(lambda page_id: "shop.example" if page_id < 10 else "other.example")


def judge_poll(
    tracker: HintTracker, at: Instant, *, page: int = 1, gap: int = HOUR, changed: bool = False
) -> float | None:
    tracker.begin(page, at)
    return tracker.judge(page, at, gap=gap, rate=RATE, changed=changed)


def test_hint_makes_its_page_older_once():
    """The policy is notified once, and a poll answers the hint."""
    tracker = make_tracker()
    assert tracker.note(1, "api", START)
    assert {1} == tracker.list_unpassed()
    assert 0 < tracker.extra_age(1, RATE, since=START) < DAY
    assert set() == tracker.list_unpassed()
    assert 0 == tracker.extra_age(1, RATE, since=START)
    judge_poll(tracker, START + MINUTE)
    assert 0 == tracker.extra_age(1, RATE, since=START)


def test_repeated_hints_are_one():
    """Senders repeat themselves. A hint of another source or for another time is a new one."""
    tracker = make_tracker()
    noted = [
        tracker.note(1, kind, at) for kind, at in [("api", START), ("api", START + SAME - 1), ("api", START + SAME)]
    ]
    assert [True, False, True] == noted
    assert tracker.note(1, "websub", START)
    assert tracker.note(2, "api", START)


def test_hint_from_before_the_last_poll_is_answered():
    """A hint during a poll waits for the next one."""
    tracker = make_tracker()
    tracker.begin(1, START)
    assert not tracker.note(1, "api", START)
    assert not tracker.note(2, "api", START, seen=START)
    assert tracker.note(1, "api", START + SECOND)
    tracker.extra_age(1, RATE, since=START)
    tracker.judge(1, START + 5 * SECOND, gap=HOUR, rate=RATE, changed=False)
    assert {1} == tracker.list_unpassed()
    assert 0 < tracker.extra_age(1, RATE, since=START)
    ((row,), gone) = (tracker.drain().hints, judge_poll(tracker, START + MINUTE))
    assert (START + SECOND,) == row.waiting
    assert 0.0 == gone


def test_hint_from_before_a_failed_poll_counts():
    """The hint may be a date that is read after the poll. A hint from before an earlier good poll
    does not count.
    """
    tracker = make_tracker()
    tracker.begin(1, START + HOUR)
    tracker.miss(1)
    assert not tracker.note(1, "sitemap", START, seen=START)
    assert tracker.note(1, "sitemap", START + MINUTE, seen=START)


def test_waiting_hints_are_limited():
    """The limit is `MOST_WAITING`."""
    tracker = make_tracker()
    kept = sum(tracker.note(1, "api", START + number * SAME) for number in range(MOST_WAITING + 10))
    assert MOST_WAITING == kept


def measure_hinted(tracker: HintTracker, days: int, *, kind: str = "api", hinted: bool = True) -> None:
    """Poll a page four times a day that changes once a day; the poll with the change follows a hint, if `hinted`."""
    for turn in range(days):
        at = START + turn * DAY
        for hour in (0, 6, 12):
            judge_poll(tracker, at + hour * HOUR, gap=6 * HOUR)
        if hinted:
            tracker.note(1, kind, at + 18 * HOUR)
        judge_poll(tracker, at + 18 * HOUR + MINUTE, gap=6 * HOUR, changed=True)


def test_reliable_source_is_trusted_more_and_a_false_one_less():
    """Hits and false hints count for all pages of the host. Other hosts and kinds are unchanged."""
    good, bad = make_tracker(), make_tracker()
    measure_hinted(good, 30)
    for turn in range(30 * 24):
        bad.note(1, "api", START + turn * HOUR)
        judge_poll(bad, START + turn * HOUR + MINUTE)
    ages = {}
    at = START + 40 * DAY
    for name, tracker, page, kind in (
        ("good", good, 2, "api"),
        ("bad", bad, 2, "api"),
        ("new", good, 11, "api"),
        ("kind", good, 3, "websub"),
    ):
        tracker.note(page, kind, at)
        ages[name] = tracker.extra_age(page, RATE, since=at)

    assert ages["good"] > 2 * ages["new"]
    assert ages["new"] == ages["kind"]
    assert ages["bad"] < ages["new"] / 5
    assert good.estimate_unannounced(1) < 0.5
    assert 1.0 == bad.estimate_unannounced(1) == good.estimate_unannounced(2) == good.estimate_unannounced(11)


def test_silence_of_a_reliable_source_counts_until_it_misses_changes():
    """Changes without a hint reduce the trust."""
    tracker = make_tracker()
    measure_hinted(tracker, 40, kind="websub")
    trusted = tracker.estimate_unannounced(1)
    measure_hinted(tracker, 10, hinted=False)

    assert 0.05 <= trusted < 0.3
    assert tracker.estimate_unannounced(1) > 2 * trusted


def test_page_without_hints_teaches_nothing():
    """The polls of the page are judged as usual."""
    tracker = make_tracker()
    assert judge_poll(tracker, START, changed=True) is None
    assert not any(tracker.drain())


def test_poll_without_an_interval_answers_hints_and_teaches_nothing():
    """After a failure or a pause, the time of the change is unknown."""
    tracker = make_tracker()
    tracker.note(1, "api", START)
    tracker.begin(1, START + MINUTE)
    tracker.pass_over(1)
    sources, (row,), _ = tracker.drain()
    assert [] == sources
    assert ((), {"told": 0.0, "missed": 0.0, "false": 0.0, "days": 0.0}) == (row.waiting, dict(row.state))


def test_poll_answers_hints_that_no_policy_has_read():
    """A page with a fixed interval has no policy."""
    tracker = make_tracker()
    tracker.note(1, "api", START)
    tracker.note(1, "websub", START + 2 * MINUTE)
    tracker.begin(1, START + MINUTE)
    tracker.pass_over(1)
    assert {1} == tracker.list_unpassed()
    tracker.begin(1, START + 3 * MINUTE)
    tracker.pass_over(1)
    assert set() == tracker.list_unpassed()


def test_trust_survives_a_restart():
    """The policy is notified of waiting hints again. An unreadable memory starts again."""
    tracker = make_tracker()
    for turn in range(5):
        tracker.note(1, "api", START + turn * DAY)
        judge_poll(tracker, START + turn * DAY + MINUTE, gap=DAY, changed=True)
    tracker.date("shop.example", START, date_moved=True, content_moved=True)
    tracker.note(1, "api", START + 9 * DAY)
    sources, hints, _ = tracker.drain()
    again = make_tracker()
    again.load(sources, hints)

    assert {1} == again.list_unpassed()
    assert tracker.extra_age(1, RATE, since=START) == again.extra_age(1, RATE, since=START)
    assert tracker.estimate_unannounced(1) == again.estimate_unannounced(1)
    assert {DATES, "api"} == {row.kind for row in sources}
    again.load([TrustRow("shop.example", "api", {"told": -1}, START)], [HintRow(1, "api", (), {"x": 1}, START)])
    assert 1.0 == again.estimate_unannounced(1)


def test_dates_of_a_host_are_trusted_after_proof():
    """The proof is a hundred polls that agree, with and without a change."""
    tracker = make_tracker()
    for _ in range(60):
        tracker.date("shop.example", START, date_moved=True, content_moved=True)
        tracker.date("shop.example", START, date_moved=False, content_moved=False)
    assert tracker.dates_are_exact("shop.example")
    assert not tracker.dates_are_exact("other.example")
    assert not tracker.dates_are_exact("shop.example", UPDATED)
    assert Dates(moved_with=60.0, still_with=60.0) == Dates(**tracker.drain().sources[0].state)


def count_polls(flood: int, days: int = 10) -> list[int]:
    """Return the polls on each day of a page that never changes, with `flood` false hints a day; the floor is kept."""
    policy, tracker, rate = Price(), make_tracker(), 0.5
    population = Population({"id": [1], "rate": [rate], "last_polled": [START], "shortest": [MINUTE]})
    state = policy.begin(population, np.random.default_rng(0))
    made, now, last = [0] * days, START, START
    step = DAY // flood if flood else (days + 1) * DAY
    coming = START + step
    while (now := min(int(policy.next_due(state, [1], now, 0.0)[0]), coming)) < START + days * DAY:
        if now == coming:
            coming += step
            if tracker.note(1, "api", now):
                age = tracker.extra_age(1, rate, since=last)
                state = policy.on_signal(state, [1], Signal("api", np.array([age])))
            continue
        assert now - last >= MINUTE
        judge_poll(tracker, now, gap=now - last)
        state = policy.on_poll(state, [1], Observation.of([now], [False]))
        made[(now - START) // DAY] += 1
        last = now
    return made


@pytest.mark.parametrize("hints_a_day", [2_000, 48])
def test_flood_of_false_hints_loses_its_weight(hints_a_day: int):
    """The flood costs some polls on the first day. From the second day on, there are hardly more
    than without hints.
    """
    usual, flooded = count_polls(0), count_polls(hints_a_day)

    assert flooded[0] <= 1.5 * usual[0]
    assert max(flooded[1:]) <= 1.15 * usual[-1]


def test_silence_of_a_removed_source_does_not_count():
    """The trust for the page is deleted, the trust for the host stays."""
    tracker = make_tracker()
    measure_hinted(tracker, 40, kind="websub")
    tracker.drain()
    tracker.leave(1, "websub")
    left = tracker.drain()

    assert 1.0 == tracker.estimate_unannounced(1)
    assert ([], [], [(1, "websub")]) == left
    tracker.leave(1, "websub")
    tracker.cover(2, "websub")
    assert {"websub"} == set(tracker.kinds(2))
    assert [] == tracker.drain().left


def test_trust_that_could_not_be_stored_is_stored_later():
    """The next call returns the trust again, with later hints."""
    tracker = make_tracker()
    for page_id, kind in ((1, "api"), (2, "websub")):
        tracker.note(page_id, kind, START)
        judge_poll(tracker, START + MINUTE, page=page_id, gap=DAY, changed=True)
    tracker.date("shop.example", START, date_moved=True, content_moved=True)
    tracker.leave(2, "websub")
    refused = tracker.drain()
    assert not any(tracker.drain())
    tracker.owe(refused)
    tracker.note(3, "api", START)
    stored = tracker.drain()

    assert all(refused)
    assert (refused.sources, refused.left) == (stored.sources, stored.left)
    assert [1, 3] == [row.page_id for row in stored.hints]
