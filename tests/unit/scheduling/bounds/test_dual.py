"""The dual bound is above all schedules, and near the best one."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tidings.scheduling.bounds.certificate import Program


def _backlog(chances: np.ndarray, decay: float):
    """Return what pages gather whose changes are appended and decay."""

    def backlog(begins: np.ndarray, end: int) -> np.ndarray:
        ages = end - np.arange(1, end + 1)
        worth = chances[:, :end] * decay**ages
        return np.array([worth[:, begin:].sum(axis=1) for begin in begins.tolist()])

    return backlog


def _best(chances: np.ndarray, decay: float, capacity: int) -> float:
    backlog = _backlog(chances, decay)
    pages, instants = chances.shape
    known: dict[tuple[int, tuple[int, ...]], float] = {}

    def continue_from(now: int, last: tuple[int, ...]) -> float:
        if now > instants:
            return 0.0
        if (now, last) not in known:
            known[now, last] = max(
                sum(float(backlog(np.array([last[page]]), now)[0, page]) for page in chosen)
                + continue_from(now + 1, tuple(now if page in chosen else at for page, at in enumerate(last)))
                for chosen in itertools.combinations(range(pages), capacity)
            )
        return known[now, last]

    return continue_from(1, (0,) * pages)


@given(st.integers(0, 2**32 - 1), st.floats(0.3, 1.0))
@settings(max_examples=12)
def test_no_schedule_is_above_the_bound(seed: int, decay: float):
    """This is so at all prices; good prices come near (the study's median on tiny instances is
    1.12).
    """
    rng = np.random.default_rng(seed)
    chances = rng.uniform(0, 1, (3, 5))
    program = Program(_backlog(chances, decay), np.ones(3), 5)
    best = _best(chances, decay, 1)
    tight = program.tighten(np.ones(5), price=0.3, cycle=5)

    assert program.compute_bound(np.ones(5), rng.uniform(0, 1, 5)).bound >= best - 1e-6
    assert best - 1e-6 <= tight.bound <= 1.5 * best


def test_bound_of_many_pages_is_nearly_reached():
    """The gap goes to 0: a relaxed schedule is nearly feasible, and its cost near the budget."""
    rng = np.random.default_rng(3)
    chances = rng.uniform(0, 0.3, (60, 1)) * np.ones((60, 40))
    program = Program(_backlog(chances, 0.9), np.ones(60), 40)
    tight = program.tighten(np.full(40, 3.0), price=0.5)

    assert abs(tight.spend.sum() - 120) < 12


def test_backlog_at_the_end_can_count():
    """A credit lowers the gain of a poll just before the end."""
    chances = np.full((4, 8), 0.5)
    backlog = _backlog(chances, 1.0)
    prices = np.full(8, 0.9)
    plain = Program(backlog, np.ones(4), 8).compute_bound(np.ones(8), prices)
    credited = Program(backlog, np.ones(4), 8, credit=backlog).compute_bound(np.ones(8), prices)

    assert credited.bound > plain.bound
    assert credited.spend.sum() < plain.spend.sum()


def test_bound_holds_without_long_gaps():
    """With all gaps it is the same or higher."""
    chances = np.random.default_rng(5).uniform(0, 0.2, (5, 12))
    backlog = _backlog(chances, 0.9)
    prices = np.full(12, 0.3)

    assert (
        Program(backlog, np.ones(5), 12, most=12).compute_bound(np.ones(12), prices).bound
        == Program(backlog, np.ones(5), 12).compute_bound(np.ones(12), prices).bound
        >= Program(backlog, np.ones(5), 12, most=3).compute_bound(np.ones(12), prices).bound - 1e-9
    )
