"""Prices with the hours of the week: looks wait for the hours in which pages change; without a profile all is as with `price`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tidings.estimation.hourly import HourlyLearner
from tidings.scheduling.learned import Learned
from tidings.scheduling.policy import HeedsHours, Observation, Population
from tidings.scheduling.price.hours import TICK, PriceHours, WeekGathering, first_look
from tidings.scheduling.price.lookahead import backlog
from tidings.scheduling.price.policy import Price

HOUR = 3_600_000_000
DAY = 24 * HOUR
MONDAY = 4 * DAY
BY_DAY = tuple(np.tile([0.1] * 8 + [1.9] * 12 + [0.1] * 4, 7))
"""Nineteen of twenty changes come from 8 to 20."""


def pages(count: int = 1, **columns: Any) -> Population:
    """Return pages that were looked at on Monday at midnight."""
    return Population({"id": np.arange(1, count + 1), "last_polled": np.full(count, MONDAY), **columns})


def begin(policy: Any, population: Population) -> Any:
    """Return the policy's first state."""
    return policy.begin(population, np.random.default_rng(0))


def follow(policy: Price, changes: np.ndarray, end: int) -> tuple[int, int, int, np.ndarray]:
    """Return how many looks there are until `end`, how many by night, how many changed, and the delays of changes."""
    state: Any = begin(policy, pages(rate=[5.0]))
    now, looks, by_night, found, delays = MONDAY, 0, 0, 0, []
    while (due := int(policy.next_due(state, [1], now, 0.0)[0])) <= end:
        new = changes[(changes > now) & (changes <= due)]
        state = policy.on_poll(state, [1], Observation.of([due], [len(new) > 0]))
        now, looks, found = due, looks + 1, found + (len(new) > 0)
        by_night += not 8 <= due // HOUR % 24 < 20
        delays += (due - new).tolist()
    return looks, by_night, found, np.array(delays)


def test_a_page_that_changes_by_day_is_looked_at_by_day():
    """Of a page that changes five times a day, by day, hardly fewer changes are found, sooner, with a tenth fewer looks; hardly any is by night."""
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


def test_without_a_profile_it_is_price():
    """Waits, bids and the price of a budget, and again when a profile is taken away."""
    population = pages(20, rate=np.geomspace(0.01, 100, 20))
    plain, timed = Price(HOUR), PriceHours(HOUR)
    state, same = begin(timed, population), begin(plain, population)
    told = timed.on_hours(state, np.array([BY_DAY]), np.zeros(20, dtype=np.int64))
    taken = timed.on_hours(told, np.empty((0, 168)), np.full(20, -1))
    at = MONDAY + 3 * HOUR

    assert isinstance(timed, HeedsHours)
    for one in (state, taken):
        assert plain.bid(same, at, 0.0).tolist() == timed.bid(one, at, 0.0).tolist()
    assert (
        timed.next_due(told, population.ids, 0, 0.0).tolist() != plain.next_due(same, population.ids, 0, 0.0).tolist()
    )
    assert plain.price(same, 1e-9) == timed.price(told, 1e-9)


def test_where_every_hour_is_alike_looks_come_when_those_of_price_do():
    """A flat profile leads to T*, within 10 % of it (bid §1)."""
    population = pages(60, rate=np.geomspace(0.1, 50, 60))
    plain, timed = Price(HOUR), PriceHours(HOUR, profile=(1.0,) * 168)
    expected = plain.gaps(begin(plain, population), 0.0)
    found = timed.gaps(begin(timed, population), 0.0)

    assert found == pytest.approx(expected, rel=0.1, abs=2 * TICK)


def test_bids_and_dues_agree_whoever_is_asked_first_and_whoever_comes_and_goes():
    """Before its due instant a page does not bid, from then on it does; what was found once is found again from nothing."""
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


def test_a_higher_price_is_another_answer():
    """Waits that were found at one price are not taken for those at another, nor after another look."""
    policy = PriceHours(HOUR, profile=BY_DAY)
    state = begin(policy, pages(rate=[5.0]))
    cheap, dear = (int(policy.next_due(state, [1], 0, price)[0]) for price in (0.0, 20 * policy.floor))
    later = policy.on_poll(state, [1], Observation.of([MONDAY + 9 * HOUR], [True]))

    assert cheap < dear
    assert MONDAY + 9 * HOUR < int(policy.next_due(later, [1], 0, 0.0)[0]) < MONDAY + 11 * HOUR


@pytest.mark.parametrize("rate", [0.5, 2.0, 12.0])
def test_looks_earn_nearly_all_that_any_plan_could(rate: float):
    """At a fixed price: 98 % and more of what the best plan earns, which may look at any half hour (by dynamic programming), the price of as
    many looks given back to it; half of what is left at the end is credited to both.
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
    last = earned = looks = 0
    while (at := -(-(int(policy.next_due(state, [1], 0, 0.0)[0]) - MONDAY) // (step * TICK))) <= number:
        earned, last, looks = earned + gains(last, at), at, looks + 1
        state = policy.on_poll(state, [1], Observation.of([MONDAY + at * step * TICK], [False]))
    earned += 0.5 * gains(last, -1)

    assert looks >= 6
    assert 0.98 <= earned / (best + policy.floor * looks) <= 1 + 1e-9


def test_a_page_that_is_not_worth_a_look_waits_its_longest():
    """That a plan is made anew is no reason to look; a slow page is looked at when its own wait is over, by day."""
    policy = PriceHours(HOUR, profile=BY_DAY, guarded=False)
    state = begin(policy, pages(2, rate=[1e-6, 4e-3], urgency_scale=[DAY, 30 * DAY], longest=20 * DAY * np.ones(2)))
    never, slow = (policy.gaps(state, 0.0) / DAY).tolist()

    assert 20 == never
    assert slow == pytest.approx(
        Price(HOUR, guarded=False).gaps(begin(Price(), state.population), 0.0)[1] / DAY, abs=0.6
    )


@pytest.mark.parametrize("overwrites", [0.0, 1.0])
def test_a_backlog_over_hours_is_the_sum_of_its_ticks(overwrites: float):
    """F and S against adding up second by second, across the end of a week."""
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


def test_a_look_at_night_is_put_off_to_the_morning():
    """After a look at 21:00 nothing is worth another one before some changes of the morning: at its mean rate it would be looked at soon after midnight."""
    weights = np.array([BY_DAY]) / np.mean(BY_DAY)
    per_tick = 0.3 / 1440
    gathering = WeekGathering.of(weights, np.array([0.5 * per_tick]), np.array([4.8e-4]), np.array([0.0]))
    due = first_look(gathering, np.ones(1), 1e-3, np.array([21 * 60]), shortest=np.array([1]), longest=np.array([1440]))

    assert 9 < due[0] / 60 - 24 < 12


def test_hours_that_are_learned_reach_the_policy():
    """A page that was seen to change by day gets a profile: after a look at 21:00 it waits longer than its mean rate says, whatever else is said of it."""
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
