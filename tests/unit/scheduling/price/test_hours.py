"""The price policy with hours of the week: polls wait for the hours in which pages change; without
a profile it is `price`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tidings.estimation.hourly import HourlyLearner
from tidings.scheduling.learned import Learned
from tidings.scheduling.policy import HeedsHours, Observation, Population
from tidings.scheduling.price.hours import TICK, PriceHours, WeekGathering, find_first_poll
from tidings.scheduling.price.lookahead import backlog
from tidings.scheduling.price.policy import Price

HOUR = 3_600_000_000
DAY = 24 * HOUR
MONDAY = 4 * DAY
BY_DAY = tuple(np.tile([0.1] * 8 + [1.9] * 12 + [0.1] * 4, 7))
"""Nineteen of twenty changes come from 8 to 20."""


def pages(count: int = 1, **columns: Any) -> Population:
    """Return pages that were polled on Monday at midnight."""
    return Population({"id": np.arange(1, count + 1), "last_polled": np.full(count, MONDAY), **columns})


def begin(policy: Any, population: Population) -> Any:
    """Return the policy's first state."""
    return policy.begin(population, np.random.default_rng(0))


def follow(policy: Price, changes: np.ndarray, end: int) -> tuple[int, int, int, np.ndarray]:
    """Return how many polls there are until `end`, how many by night, how many changed, and the
    delays of changes.
    """
    state: Any = begin(policy, pages(rate=[5.0]))
    now, polls, by_night, found, delays = MONDAY, 0, 0, 0, []
    while (due := int(policy.next_due(state, [1], now, 0.0)[0])) <= end:
        new = changes[(changes > now) & (changes <= due)]
        state = policy.on_poll(state, [1], Observation.of([due], [len(new) > 0]))
        now, polls, found = due, polls + 1, found + (len(new) > 0)
        by_night += not 8 <= due // HOUR % 24 < 20
        delays += (due - new).tolist()
    return polls, by_night, found, np.array(delays)


def test_page_that_changes_by_day_is_polled_by_day():
    """It changes five times a day: hardly fewer changes are found, sooner, with a tenth fewer
    polls, hardly any by night.
    """
    rng = np.random.default_rng(3)
    hours = MONDAY // HOUR + np.arange(10 * 24)
    counts = rng.poisson(5 / 24 * np.array(BY_DAY)[hours % 168])
    changes = np.sort(np.repeat(hours * HOUR, counts) + rng.integers(0, HOUR, counts.sum()))
    end = MONDAY + 10 * DAY
    flat = follow(Price(HOUR), changes, end)
    timed = follow(PriceHours(HOUR, profile=BY_DAY), changes, end)

    assert timed[0] < 0.9 * flat[0]
    assert timed[1] < 0.15 * timed[0]
    assert flat[1] > 0.4 * flat[0]
    assert 0.95 * flat[2] <= timed[2]
    assert np.median(timed[3]) < np.median(flat[3])


def test_policy_without_a_profile_is_price():
    """Waits, bids and the price of a budget are the same, also after a profile is removed."""
    population = pages(20, rate=np.geomspace(0.01, 100, 20))
    plain, timed = Price(HOUR), PriceHours(HOUR)
    state, same = begin(timed, population), begin(plain, population)
    shown = timed.on_hours(state, np.array([BY_DAY]), np.zeros(20, dtype=np.int64))
    taken = timed.on_hours(shown, np.empty((0, 168)), np.full(20, -1))
    at = MONDAY + 3 * HOUR

    assert isinstance(timed, HeedsHours)
    for one in (state, taken):
        assert plain.bid(same, at, 0.0).tolist() == timed.bid(one, at, 0.0).tolist()
    assert (
        timed.next_due(shown, population.ids, 0, 0.0).tolist() != plain.next_due(same, population.ids, 0, 0.0).tolist()
    )
    assert plain.price(same, 1e-9) == timed.price(shown, 1e-9)


def test_flat_profile_polls_as_price_does():
    """It leads to T*, within 10 % of it (bid §1)."""
    population = pages(60, rate=np.geomspace(0.1, 50, 60))
    plain, timed = Price(HOUR), PriceHours(HOUR, profile=(1.0,) * 168)
    expected = plain.gaps(begin(plain, population), 0.0)
    found = timed.gaps(begin(timed, population), 0.0)

    assert found == pytest.approx(expected, rel=0.1, abs=2 * TICK)


def test_bids_and_due_times_agree():
    """Before its due time a page does not bid, from then on it does. The order of the questions
    does not matter, nor do added and removed pages.
    """
    policy = PriceHours(HOUR, profile=BY_DAY)
    population = pages(12, rate=np.geomspace(0.05, 30, 12), shortest=[0, HOUR] * 6, longest=[DAY, 6 * HOUR, DAY] * 4)
    state = begin(policy, population)
    due = policy.next_due(state, population.ids, 0, 0.0)
    before = [policy.bid(state, int(at) - 1, 0.0, rows=np.array([row]))[0] for row, at in enumerate(due)]
    after = [policy.bid(state, int(at), 0.0, rows=np.array([row]))[0] for row, at in enumerate(due)]
    one_by_one = [policy.next_due(begin(policy, population), [page], 0, 0.0)[0] for page in population.ids.tolist()]
    other = policy.on_update(policy.on_update(state, [99], {"rate": 2.0}), [1, 2], {"present": False})

    assert max(before) <= 0 < min(after)
    assert due.tolist() == one_by_one
    assert due[2:].tolist() == policy.next_due(other, population.ids[2:], 0, 0.0).tolist()
    assert ((due - MONDAY >= population["shortest"]) & (due - MONDAY <= np.minimum(population["longest"], DAY))).all()


def test_wait_is_found_for_each_price():
    """It is not reused for another price, nor after another poll."""
    policy = PriceHours(HOUR, profile=BY_DAY)
    state = begin(policy, pages(rate=[5.0]))
    cheap, costly = (int(policy.next_due(state, [1], 0, price)[0]) for price in (0.0, 20 * policy.floor))
    later = policy.on_poll(state, [1], Observation.of([MONDAY + 9 * HOUR], [True]))

    assert cheap < costly
    assert MONDAY + 9 * HOUR < int(policy.next_due(later, [1], 0, 0.0)[0]) < MONDAY + 11 * HOUR


@pytest.mark.parametrize("rate", [0.5, 2.0, 12.0])
def test_polls_earn_nearly_as_much_as_the_best_plan(rate: float):
    """At a fixed price they earn at least 98 % of the best plan, which may poll at every half hour
    (by dynamic programming), with the price of as many polls returned to it; half of the rest at
    the end is credited to both.
    """
    policy, step, number = PriceHours(3 * HOUR, profile=BY_DAY, guarded=False), 30, 6 * 48
    one = np.ones(1)
    gathering = WeekGathering.of(np.array([BY_DAY]), 0.5 * rate / 1440 * one, math.log(2) / 1440 * one, 0 * one)
    levels, faded = (table[:, 0] for table in gathering.read(MONDAY // TICK + step * np.arange(number + 1)[:, None]))

    def gains(begins: Any, ends: Any) -> Any:
        return backlog((levels[begins], faded[begins]), (levels[ends], faded[ends]))

    value = np.zeros(number + 1)
    for now in range(1, number + 1):
        value[now] = (value[:now] + gains(slice(now), now)).max() - policy.floor
    best = (value + 0.5 * gains(slice(None), -1)).max()
    state: Any = begin(policy, pages(rate=[rate]))
    last = earned = polls = 0
    while (at := -(-(int(policy.next_due(state, [1], 0, 0.0)[0]) - MONDAY) // (step * TICK))) <= number:
        earned, last, polls = earned + gains(last, at), at, polls + 1
        state = policy.on_poll(state, [1], Observation.of([MONDAY + at * step * TICK], [False]))
    earned += 0.5 * gains(last, -1)

    assert polls >= 6
    assert 0.98 <= earned / (best + policy.floor * polls) <= 1 + 1e-9


def test_page_that_is_not_worth_a_poll_waits_its_longest():
    """A new plan is no reason for a poll; a slow page is polled when its own wait is over, by day."""
    policy = PriceHours(HOUR, profile=BY_DAY, guarded=False)
    state = begin(policy, pages(2, rate=[1e-6, 4e-3], urgency_scale=[DAY, 30 * DAY], longest=20 * DAY * np.ones(2)))
    never, slow = (policy.gaps(state, 0.0) / DAY).tolist()

    assert 20 == never
    assert slow == pytest.approx(
        Price(HOUR, guarded=False).gaps(begin(Price(), state.population), 0.0)[1] / DAY, abs=0.6
    )


@pytest.mark.parametrize("overwrites", [0.0, 1.0])
def test_backlog_over_hours_is_the_sum_of_its_ticks(overwrites: float):
    """F and S agree with sums second by second, across the end of a week."""
    weights = np.array([BY_DAY]) / np.mean(BY_DAY)
    rate, theta = 3e-3, 1e-3
    gathering = WeekGathering.of(weights, np.array([rate]), np.array([theta]), np.array([overwrites * rate]))
    begin_at, end_at = 167 * 60 + 17, 168 * 60 + 8 * 60 + 45
    level = 0.0
    for second in range(begin_at * 60, end_at * 60):
        weight = weights[0, second // 3600 % 168]
        level += (rate * weight - (theta + overwrites * rate * weight) * level) / 60

    assert level == pytest.approx(
        backlog(gathering.read(np.array([begin_at])), gathering.read(np.array([end_at])))[0], rel=1e-3
    )


def test_poll_at_night_is_postponed_to_the_morning():
    """After a poll at 21:00 none is worth making before some changes of the morning; at its mean
    rate the page would be polled soon after midnight.
    """
    weights = np.array([BY_DAY]) / np.mean(BY_DAY)
    per_tick = 0.3 / 1440
    gathering = WeekGathering.of(weights, np.array([0.5 * per_tick]), np.array([4.8e-4]), np.array([0.0]))
    due = find_first_poll(
        gathering, np.ones(1), 1e-3, np.array([21 * 60]), shortest=np.array([1]), longest=np.array([1440])
    )

    assert 9 < due[0] / 60 - 24 < 12


def test_learned_hours_reach_the_policy():
    """A page that was seen to change by day gets a profile: after a poll at 21:00 it waits longer
    than at its mean rate.
    """
    learner = HourlyLearner()
    policy = Learned(PriceHours(HOUR), learner)
    state = begin(policy, pages())
    for hour in range(1, 12 * 24 - 2):
        state = policy.on_poll(state, [1], Observation.of([MONDAY + hour * HOUR], [hour % 24 in {10, 12, 14, 16}]))
    state = policy.on_update(state, [1], {"importance": 0.1})
    inner: Any = state.inner
    flat = Price(HOUR)

    assert [0] == learner.profiles(state.known)[1].tolist() == inner.which.tolist()
    assert inner.weights.tolist() == learner.profiles(state.known)[0].tolist()
    assert flat.next_due(inner, [1], 0, 0.0)[0] + HOUR // 12 < policy.next_due(state, [1], 0, 0.0)[0]
