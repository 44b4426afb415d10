"""A certificate is above all schedules, near the best one, and gives no percentage if its model is
wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.model.interval import DAY, HOUR
from tidings.scheduling.bounds.certificate import (
    Backlog,
    Backlogs,
    Certificate,
    CertifiedPages,
    ModelledPolls,
    Program,
    by_instants,
    certify,
    measure_earnings,
    measure_window,
    steadily,
)
from tidings.scheduling.bounds.steady import Steady

WEEK = 7.0 * DAY


def make_polls(
    page: Sequence[int], at: Sequence[float], changed: list[bool] | None = None, chance: float = 0.5
) -> ModelledPolls:
    """Return polls that found as much as was expected, by default."""
    found = np.arange(len(page)) % 2 == 0 if changed is None else np.array(changed)
    return ModelledPolls(np.array(page, np.intp), np.array(at, np.float64), found, np.full(len(page), chance))


def window(
    rates: list[float], age: float = 0.0, *, half_life: float = DAY, level: float = 0.01, cost: float = 1.0
) -> Backlogs:
    """Return a week of pages that change so many times a day."""
    kappa = np.full(len(rates), np.log(2) / half_life)
    steady = Steady(0.5 * np.array(rates) / DAY / kappa, kappa, np.full(len(rates), cost), level)
    return Backlogs(steady, np.full(len(rates), age), np.full(len(rates), WEEK))


def certify_polls(made: Backlogs, found: ModelledPolls) -> Certificate:
    """Return the certificate of polls of steady pages."""
    return certify(steadily(made, found))


def even(made: Backlogs, gaps: list[float]) -> ModelledPolls:
    """Return polls of each page at its own gap."""
    pairs = [(page, gap * k) for page, gap in enumerate(gaps) for k in range(1, int(WEEK / gap) + 1)]
    return make_polls([page for page, _ in pairs], [at for _, at in pairs])


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 3.0), st.floats(0.0, 2.0))
@settings(max_examples=8)
def test_no_schedule_is_above_the_bound(seed: int, half_life: float, age: float):
    """All schedules of two polls of three pages, at eight instants of half a week, are tried with
    various ages, costs and prices of the rest.
    """
    rng = np.random.default_rng(seed)
    kappa = np.full(3, np.log(2) / (half_life * DAY))
    steady = Steady(rng.uniform(0, 3, 3), kappa, np.full(3, 1.0), float(rng.uniform(0, 1)))
    made = Backlogs(steady, rng.uniform(0, 1, 3) * age * DAY, rng.uniform(0.5, 1, 3) * WEEK)
    instants = np.linspace(0, 0.5 * WEEK, 8)
    bound = certify_polls(made, make_polls([0, 1], [0.0, 0.0])).bound
    best = max(
        measure_earnings(made, np.array(pages, np.intp), np.array(at)).sum()
        for pages in itertools.combinations_with_replacement(range(3), 2)
        for at in itertools.product(instants, repeat=2)
        if pages[0] != pages[1] or at[0] < at[1]
    )

    assert best <= bound * (1 + 1e-9)


@pytest.mark.parametrize("price", [0.001, 0.01, 0.05, 0.3])
@pytest.mark.parametrize("age", [0.0, 0.3, 5.0])
def test_closed_form_of_one_page_agrees_with_dynamic_programming(price: float, age: float):
    """On a grid of an hour no schedule is better, and the best there is hardly worse."""
    made = window([0.1, 1.0, 10.0], age * DAY, level=0.02)
    steady = made.steady

    def backlog(begins: np.ndarray, end: int) -> np.ndarray:
        ages = np.where(begins[:, None] == 0, made.age + end * HOUR, (end - begins[:, None]) * HOUR)
        return np.array([steady.gather(row) for row in ages])

    def credit(begins: np.ndarray, end: int) -> np.ndarray:
        ages = np.where(begins[:, None] == 0, made.age + end * HOUR, (end - begins[:, None]) * HOUR)
        return np.array([steady.appraise_age(row) for row in ages])

    program = Program(backlog, steady.cost, 7 * 24, credit=credit)
    grid = program.compute_bound(np.zeros(7 * 24), np.full(7 * 24, price)).bound
    exact = steady.best(price, made.age, made.length)[0].sum()

    assert exact >= grid * (1 - 1e-6)
    assert exact == pytest.approx(grid, rel=0.02)


def test_percentage_ranks_known_schedules():
    """At the gaps of one price a schedule earns nearly all, at even gaps less, and with all polls
    at the end of the week next to nothing.
    """
    rates = [0.05, 0.2, 1.0, 5.0, 20.0]
    made = window(rates, level=0.05)
    best = certify_polls(made, even(made, made.steady.waits(0.05).tolist()))
    gap = WEEK * len(rates) / best.polls
    alike = certify_polls(made, even(made, [gap] * len(rates)))
    late = certify_polls(
        made,
        make_polls([page for page in range(5) for _ in range(20)], [WEEK - k for _ in range(5) for k in range(20)]),
    )

    assert 0.99 < (best.share or 0) <= 1
    assert 0.5 < (alike.share or 0) < 0.96
    assert (late.share or 0) < 0.5


def test_backlog_at_the_end_counts_on_both_sides():
    """A poll just before the end gains nothing: the backlog is worth what it saves."""
    made = window([1.0], level=0.05)
    gap = float(made.steady.waits(0.05)[0])
    regular = make_polls([0, 0], [WEEK - 1.5 * gap, WEEK - gap / 2])
    found_changes = make_polls([0, 0, 0], [WEEK - 1.5 * gap, WEEK - gap / 2, WEEK - 1])
    with_more, with_less = (
        measure_earnings(made, made_polls.page, made_polls.at)[0] for made_polls in (found_changes, regular)
    )

    assert with_more - with_less < made.steady.level  # less than it costs
    assert made.steady.appraise_age(np.array([gap]))[0] == pytest.approx(made.steady.gather(np.array([gap]))[0] - 0.05)


def test_wrong_model_has_no_percentage():
    """The ratio of expected to found changes is outside 0.8 to 1.25: both numbers are given."""
    made = window([1.0])
    at = [HOUR * k for k in range(1, 41)]
    fits, off = (certify_polls(made, make_polls([0] * 40, at, [k < found for k in range(40)])) for found in (20, 12))
    still = certify_polls(made, make_polls([0] * 40, at, [False] * 40, chance=0.001))

    assert "if pages change as we believe: " in str(fits)
    assert (None, "model off: 20 changes expected, 12 found") == (off.share, str(off))
    assert still.share is not None
    assert certify_polls(made, make_polls([0] * 40, at, [False] * 40, chance=0.1)).is_off


def test_window_is_a_week_and_five_gaps():
    """For pages polled every three days it is fifteen days."""
    assert WEEK == measure_window(np.array([])) == measure_window(np.array([HOUR, 3 * HOUR]))
    assert 15 * DAY == measure_window(np.array([DAY, 3.0 * DAY, 9.0 * DAY]))


def test_polls_outside_the_window_are_refused():
    """A window without finds earned nothing; pages without worth are no fault."""
    made = window([1.0, 0.0])
    with pytest.raises(ValueError, match="outside"):
        certify_polls(made, make_polls([0], [WEEK + 1]))
    none = certify_polls(made, make_polls([], []))

    assert none.value == pytest.approx(none.bound)
    assert (0, 0.0) == (none.polls, none.cost)
    assert 1.0 == certify_polls(window([0.0]), make_polls([0, 0], [1.0, 2.0], chance=0.5)).share


def hours(size: int, instants: int, seed: int) -> tuple[Backlog, Backlog]:
    """Return what pages gather that change by day, each day of 24 instants, and half of it as the
    rest at the end.
    """
    day = np.where(np.arange(24) % 24 < 12, 1.8, 0.2)
    rate = np.random.default_rng(seed).uniform(0.05, 0.5, (size, 1)) * np.tile(day, instants // 24 + 1)

    def backlog(begins: np.ndarray, end: int) -> np.ndarray:
        worth = rate[:, :end] * 0.9 ** (end - np.arange(1, end + 1))
        return np.array([worth[:, begin:].sum(axis=1) for begin in begins.tolist()])

    return backlog, lambda begins, end: 0.5 * backlog(begins, end)


def test_certificate_with_hours_uses_instants():
    """Of two pages and two polls in a day, no schedule is above the bound, polls by day are better
    than by night, and several at once are one.
    """
    backlog, credit = hours(2, 24, 1)

    def part(*at: int) -> CertifiedPages:
        return by_instants(
            backlog, credit, np.ones(2), 24, make_polls([0, 1, 0][: len(at)], [float(each) for each in at])
        )

    found = {at: part(*at).value for at in itertools.product(range(1, 25, 2), repeat=2)}
    best = max(found, key=lambda at: found[at])
    bound = certify(part(*best)).bound
    twice = certify(part(3, 4, 3))

    assert 0.9 * bound < found[best] <= bound * (1 + 1e-6)
    assert 9 <= min(best) <= max(best) <= 15
    assert (2.0, 3) == (twice.cost, twice.polls)


def test_steady_pages_and_pages_with_hours_share_a_certificate():
    """They have one price: the common bound is not above the sum of both bounds with their own
    polls, plus the gain of moving polls between them.
    """
    made = window([1.0, 5.0], level=0.05)
    first = even(made, made.steady.waits(0.05).tolist())
    backlog, credit = hours(3, 48, 2)
    second = make_polls([0, 1, 2], [20.0, 30.0, 40.0])
    both = certify(steadily(made, first), by_instants(backlog, credit, np.ones(3), 48, second))
    alone = [certify_polls(made, first), certify(by_instants(backlog, credit, np.ones(3), 48, second))]

    assert both.value == pytest.approx(sum(each.value for each in alone))
    assert both.bound >= sum(each.bound for each in alone) * (1 - 1e-3)
    assert (5, len(first.at) + 3) == (both.pages, both.polls)
