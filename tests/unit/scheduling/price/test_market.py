"""A model of one day: when the budget is spent, and a trimmed price keeps to the budget."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.model.interval import DAY, HOUR
from tidings.scheduling.paced.turns import RoundRobin
from tidings.scheduling.policy import Population
from tidings.scheduling.price.market import STEP, STEPS, Trim, hourly_spend
from tidings.scheduling.price.policy import Price

MIDNIGHT = 20_000 * DAY
NOBODY = np.random.default_rng(0)
OPENS, CLOSES = 8 * HOUR, 20 * HOUR


def by_day(ids: np.ndarray, due: np.ndarray) -> np.ndarray:
    """Return when pages may be polled that are open from eight to eight."""
    hour = due % DAY
    return np.where(hour < OPENS, due - hour + OPENS, np.where(hour >= CLOSES, due - hour + DAY + OPENS, due))


def begin(policy, **columns):
    """Return the state of pages with these columns."""
    size = len(columns["last_polled"])
    return policy.begin(Population({"id": np.arange(size), **columns}), NOBODY)


def test_spending_is_even_within_open_hours():
    """Once an hour is six polls in each six steps; pages open by day cost nothing by night."""
    policy = RoundRobin(HOUR)
    last = MIDNIGHT - np.arange(60) * HOUR // 60
    even = hourly_spend(policy, begin(policy, last_polled=last), MIDNIGHT, 0.0)
    daily = hourly_spend(policy, begin(policy, last_polled=last), MIDNIGHT, 0.0, opens=by_day)

    assert [1.0] * STEPS == pytest.approx(even.tolist(), rel=0.12)
    assert daily[: OPENS // STEP].max() == daily[CLOSES // STEP :].max() < 0.05
    assert 1.0 == pytest.approx(daily.mean())


def test_steps_are_those_of_the_day():
    """A run that begins at noon has its first poll, an hour later, in the step of one o'clock."""
    policy = RoundRobin(DAY)
    spend = hourly_spend(policy, begin(policy, last_polled=[MIDNIGHT + 13 * HOUR - DAY]), MIDNIGHT + 12 * HOUR, 0.0)

    assert 13 * HOUR // STEP == spend.argmax()
    assert 1.25 / 0.25 == pytest.approx(spend.max() / spend.min())


def test_steps_count_costs():
    """A page polled each minute costs ten a step; a sample of many pages has the same shape;
    unknown pages are left out; without pages it is even.
    """
    policy = RoundRobin(HOUR // 60)
    quick = hourly_spend(policy, begin(policy, last_polled=[MIDNIGHT], cost=[3.0]), MIDNIGHT, 0.0)
    slow = RoundRobin(DAY // 2)
    many = begin(slow, last_polled=MIDNIGHT - np.arange(2_000) * DAY // 4_000)
    whole, part = (hourly_spend(slow, many, MIDNIGHT, 0.0, most=most) for most in (2_000, 250))
    unknown = begin(slow, last_polled=np.full(3, np.iinfo(np.int64).min))

    assert [1.0] * STEPS == pytest.approx(quick.tolist(), rel=0.12)
    assert whole.tolist() == pytest.approx(part.tolist(), abs=0.6)
    assert [1.0] * STEPS == hourly_spend(slow, unknown, MIDNIGHT, 0.0).tolist()


@pytest.mark.parametrize("is_modelled", [True, False])
def test_trimmed_price_spends_the_budget_by_day_and_night(is_modelled):
    """Two thirds of the pages are open by day only, and polls cost an eighth more than expected:
    from the second day on each day is within 1.4 % of the budget, and the price does not swing.
    Compared with a flat plan it swings with day and night.
    """
    rng = np.random.default_rng(1)
    size, budget = 120, 2_400 / DAY
    by_night = np.arange(size) % 3 == 0

    def opens(ids: np.ndarray, due: np.ndarray) -> np.ndarray:
        return np.where(by_night[ids], due, by_day(ids, due))

    policy = Price(longest=30 * DAY)
    last = MIDNIGHT - (rng.random(size) * HOUR).astype(np.int64)
    state = begin(policy, last_polled=last, rate=rng.lognormal(1, 1, size))
    market = policy.market(state, budget, open_share=np.where(by_night, 1.0, 0.5))
    trim, spent, factors = Trim(), np.zeros(7), []
    shape = hourly_spend(policy, state, MIDNIGHT, market.price, opens=opens) if is_modelled else np.ones(STEPS)
    due = opens(state.population.ids, policy.next_due(state, state.population.ids, MIDNIGHT, market.price))
    for step in range(7 * STEPS):
        now, level, polls = MIDNIGHT + step * STEP, market.price * trim.factor, 0.0
        while len(rows := np.flatnonzero(due < now + STEP)):
            polls += 1.125 * len(rows)
            state = policy.on_update(state, rows, {"last_polled": np.maximum(due[rows], now)})
            due[rows] = opens(rows, policy.next_due(state, rows, now, level))
        trim = trim.after(polls, market.spend * STEP * shape[step % STEPS])
        spent[step // STEPS] += polls
        factors.append(trim.factor)
    is_kept = np.abs(spent[1:] / (budget * DAY) - 1) < 0.014
    swing = np.ptp(factors[-2 * STEPS :])

    assert is_kept.all() == is_modelled
    assert (swing < 0.1) == is_modelled
