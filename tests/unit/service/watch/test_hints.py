"""Hints are weighed by the polls after them, for each host and kind, and for each page."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.estimation.evidence import Dates, Trust
from tidings.model.interval import Instant
from tidings.scheduling.policy import Observation, Population, Signal
from tidings.scheduling.price.policy import Price
from tidings.service.watch.hints import DATES, MOST_WAITING, SAME, UPDATED, Hearing
from tidings.storage.observed.hints import HintRow, TrustRow

START = 1_700_000_000 * SECOND
RATE = 1.0


def make_hearing() -> Hearing:
    """Return an empty memory of the pages 1 to 9 of one host."""
    return Hearing(lambda page_id: "shop.example" if page_id < 10 else "other.example")


def judge_poll(heard: Hearing, at: Instant, *, page: int = 1, gap: int = HOUR, changed: bool = False) -> float | None:
    heard.begin(page, at)
    return heard.judge(page, at, gap=gap, rate=RATE, changed=changed)


def test_hint_makes_its_page_older_once():
    """The policy is notified once, and a poll answers the hint."""
    heard = make_hearing()
    assert heard.note(1, "api", START)
    assert {1} == heard.unsaid()
    assert 0 < heard.extra_age(1, RATE, since=START) < DAY
    assert set() == heard.unsaid()
    assert 0 == heard.extra_age(1, RATE, since=START)
    judge_poll(heard, START + MINUTE)
    assert 0 == heard.extra_age(1, RATE, since=START)


def test_repeated_hints_are_one():
    """Senders repeat themselves. A hint of another source or for another time is a new one."""
    heard = make_hearing()
    told = [heard.note(1, kind, at) for kind, at in [("api", START), ("api", START + SAME - 1), ("api", START + SAME)]]
    assert [True, False, True] == told
    assert heard.note(1, "websub", START)
    assert heard.note(2, "api", START)


def test_hint_from_before_the_last_poll_is_answered():
    """A hint during a poll waits for the next one."""
    heard = make_hearing()
    heard.begin(1, START)
    assert not heard.note(1, "api", START)
    assert not heard.note(2, "api", START, seen=START)
    assert heard.note(1, "api", START + SECOND)
    heard.extra_age(1, RATE, since=START)
    heard.judge(1, START + 5 * SECOND, gap=HOUR, rate=RATE, changed=False)
    assert {1} == heard.unsaid()
    assert 0 < heard.extra_age(1, RATE, since=START)
    ((row,), gone) = (heard.drain().hints, judge_poll(heard, START + MINUTE))
    assert (START + SECOND,) == row.waiting
    assert 0.0 == gone


def test_hint_from_before_a_failed_poll_counts():
    """The hint may be a date that is read after the poll. A hint from before an earlier good poll
    does not count.
    """
    heard = make_hearing()
    heard.begin(1, START + HOUR)
    heard.miss(1)
    assert not heard.note(1, "sitemap", START, seen=START)
    assert heard.note(1, "sitemap", START + MINUTE, seen=START)


def test_waiting_hints_are_limited():
    """The limit is `MOST_WAITING`."""
    heard = make_hearing()
    kept = sum(heard.note(1, "api", START + number * SAME) for number in range(MOST_WAITING + 10))
    assert MOST_WAITING == kept


def measure_hinted(heard: Hearing, days: int, *, kind: str = "api", hinted: bool = True) -> None:
    """Poll a page four times a day that changes once a day; the poll with the change follows a hint, if `hinted`."""
    for turn in range(days):
        at = START + turn * DAY
        for hour in (0, 6, 12):
            judge_poll(heard, at + hour * HOUR, gap=6 * HOUR)
        if hinted:
            heard.note(1, kind, at + 18 * HOUR)
        judge_poll(heard, at + 18 * HOUR + MINUTE, gap=6 * HOUR, changed=True)


def test_reliable_source_is_trusted_more_and_a_false_one_less():
    """Hits and false hints count for all pages of the host. Other hosts and kinds are unchanged."""
    good, bad = make_hearing(), make_hearing()
    measure_hinted(good, 30)
    for turn in range(30 * 24):
        bad.note(1, "api", START + turn * HOUR)
        judge_poll(bad, START + turn * HOUR + MINUTE)
    ages = {}
    at = START + 40 * DAY
    for name, heard, page, kind in (
        ("good", good, 2, "api"),
        ("bad", bad, 2, "api"),
        ("new", good, 11, "api"),
        ("kind", good, 3, "websub"),
    ):
        heard.note(page, kind, at)
        ages[name] = heard.extra_age(page, RATE, since=at)

    assert ages["good"] > 2 * ages["new"]
    assert ages["new"] == ages["kind"]
    assert ages["bad"] < ages["new"] / 5
    assert good.unheard(1) < 0.5
    assert 1.0 == bad.unheard(1) == good.unheard(2) == good.unheard(11)


def test_silence_of_a_reliable_source_counts_until_it_misses_changes():
    """Changes without a hint reduce the trust."""
    heard = make_hearing()
    measure_hinted(heard, 40, kind="websub")
    trusted = heard.unheard(1)
    measure_hinted(heard, 10, hinted=False)

    assert 0.05 <= trusted < 0.3
    assert heard.unheard(1) > 2 * trusted


def test_page_without_hints_teaches_nothing():
    """The polls of the page are judged as usual."""
    heard = make_hearing()
    assert judge_poll(heard, START, changed=True) is None
    assert not any(heard.drain())


def test_poll_without_an_interval_answers_hints_and_teaches_nothing():
    """After a failure or a pause, the time of the change is unknown."""
    heard = make_hearing()
    heard.note(1, "api", START)
    heard.begin(1, START + MINUTE)
    heard.pass_over(1)
    sources, (row,), _ = heard.drain()
    assert [] == sources
    assert ((), asdict(Trust())) == (row.waiting, dict(row.state))


def test_poll_answers_hints_that_no_policy_has_read():
    """A page with a fixed interval has no policy."""
    heard = make_hearing()
    heard.note(1, "api", START)
    heard.note(1, "websub", START + 2 * MINUTE)
    heard.begin(1, START + MINUTE)
    heard.pass_over(1)
    assert {1} == heard.unsaid()
    heard.begin(1, START + 3 * MINUTE)
    heard.pass_over(1)
    assert set() == heard.unsaid()


def test_trust_survives_a_restart():
    """The policy is notified of waiting hints again. An unreadable memory starts again."""
    heard = make_hearing()
    for turn in range(5):
        heard.note(1, "api", START + turn * DAY)
        judge_poll(heard, START + turn * DAY + MINUTE, gap=DAY, changed=True)
    heard.date("shop.example", START, date_moved=True, content_moved=True)
    heard.note(1, "api", START + 9 * DAY)
    sources, hints, _ = heard.drain()
    again = make_hearing()
    again.load(sources, hints)

    assert {1} == again.unsaid()
    assert heard.extra_age(1, RATE, since=START) == again.extra_age(1, RATE, since=START)
    assert heard.unheard(1) == again.unheard(1)
    assert {DATES, "api"} == {row.kind for row in sources}
    again.load([TrustRow("shop.example", "api", {"told": -1}, START)], [HintRow(1, "api", (), {"x": 1}, START)])
    assert 1.0 == again.unheard(1)


def test_dates_of_a_host_are_trusted_after_proof():
    """The proof is a hundred polls that agree, with and without a change."""
    heard = make_hearing()
    for _ in range(60):
        heard.date("shop.example", START, date_moved=True, content_moved=True)
        heard.date("shop.example", START, date_moved=False, content_moved=False)
    assert heard.dates_are_exact("shop.example")
    assert not heard.dates_are_exact("other.example")
    assert not heard.dates_are_exact("shop.example", UPDATED)
    assert Dates(moved_with=60.0, still_with=60.0) == Dates(**heard.drain().sources[0].state)


def count_polls(flood: int, days: int = 10) -> list[int]:
    """Return the polls on each day of a page that never changes, with `flood` false hints a day; the floor is kept."""
    policy, heard, rate = Price(), make_hearing(), 0.5
    population = Population({"id": [1], "rate": [rate], "last_polled": [START], "shortest": [MINUTE]})
    state = policy.begin(population, np.random.default_rng(0))
    made, now, last = [0] * days, START, START
    step = DAY // flood if flood else (days + 1) * DAY
    coming = START + step
    while (now := min(int(policy.next_due(state, [1], now, 0.0)[0]), coming)) < START + days * DAY:
        if now == coming:
            coming += step
            if heard.note(1, "api", now):
                age = heard.extra_age(1, rate, since=last)
                state = policy.on_signal(state, [1], Signal("api", np.array([age])))
            continue
        assert now - last >= MINUTE
        judge_poll(heard, now, gap=now - last)
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
    heard = make_hearing()
    measure_hinted(heard, 40, kind="websub")
    heard.drain()
    heard.leave(1, "websub")
    left = heard.drain()

    assert 1.0 == heard.unheard(1)
    assert ([], [], [(1, "websub")]) == left
    heard.leave(1, "websub")
    heard.cover(2, "websub")
    assert {"websub"} == set(heard.kinds(2))
    assert [] == heard.drain().left


def test_trust_that_could_not_be_stored_is_stored_later():
    """The next call returns the trust again, with later hints."""
    heard = make_hearing()
    for page_id, kind in ((1, "api"), (2, "websub")):
        heard.note(page_id, kind, START)
        judge_poll(heard, START + MINUTE, page=page_id, gap=DAY, changed=True)
    heard.date("shop.example", START, date_moved=True, content_moved=True)
    heard.leave(2, "websub")
    refused = heard.drain()
    assert not any(heard.drain())
    heard.owe(refused)
    heard.note(3, "api", START)
    stored = heard.drain()

    assert all(refused)
    assert (refused.sources, refused.left) == (stored.sources, stored.left)
    assert [1, 3] == [row.page_id for row in stored.hints]
