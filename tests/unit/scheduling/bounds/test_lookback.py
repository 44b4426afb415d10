"""The share of changes that were found, and a test whether their times fit the model."""

from __future__ import annotations

import numpy as np
import pytest

from tidings.model.interval import DAY, HOUR
from tidings.scheduling.bounds.lookback import LEAST, WindowPolls, measure_value_share, misfits

DECAY = np.log(2) / DAY
DAYS = 28


def make_polls(times: list[list[int]], gaps: list[int], *, hosts: list[int] | None = None) -> WindowPolls:
    """Return the polls of pages that changed at these times, each page at its own fixed gap, at
    their true rates.
    """
    columns: list[list[float]] = [[] for _ in range(8)]
    for page, (changes, gap) in enumerate(zip(times, gaps, strict=True)):
        rate = len(changes) / (DAYS * DAY)
        known = 0
        for at in range(gap, DAYS * DAY + 1, gap):
            number = int(np.searchsorted(changes, at, side="right"))
            row = (page, (hosts or [0] * len(times))[page], at, gap, number > known, rate * gap, 1.0, DECAY)
            for column, value in zip(columns, row, strict=True):
                column.append(value)
            known = number
    kinds = (np.intp, np.int64, np.int64, np.float64, np.bool_, np.float64, np.float64, np.float64)
    return WindowPolls(*(np.array(column, dtype=kind) for column, kind in zip(columns, kinds, strict=True)))


def poisson(rng: np.random.Generator, rate: float) -> list[int]:
    """Return the times of a page that changes so often a day."""
    return sorted(rng.integers(1, DAYS * DAY, rng.poisson(rate * DAYS)).tolist())


def daily(_: np.random.Generator, rate: float) -> list[int]:
    """Return the times of a page that changes at nine."""
    del rate
    return [day * DAY + 9 * HOUR for day in range(DAYS)]


def bursts(rng: np.random.Generator, rate: float) -> list[int]:
    """Return the times of a page that changes ten times within five hours, and then rests."""
    starts = rng.integers(1, DAYS * DAY, max(2, int(rate * DAYS / 10)))
    return sorted({int(start + k * HOUR // 2) for start in starts for k in range(10)})


def by_day(rng: np.random.Generator, rate: float) -> list[int]:
    """Return the times of a page that changes only between eight and twenty o'clock."""
    return sorted(
        int(day * DAY + 8 * HOUR + rng.integers(1, 12 * HOUR)) for day in range(DAYS) for _ in range(rng.poisson(rate))
    )


@pytest.mark.parametrize("gap", [HOUR, 3 * HOUR, 7 * HOUR])
def test_pages_that_change_as_expected_fit(gap: int):
    """In forty draws of twenty Poisson pages, polled often or rarely, none is rejected."""
    off = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        polls = make_polls([poisson(rng, rate) for rate in rng.uniform(0.3, 3, 20)], [gap] * 20)
        off += bool(misfits(polls))

    assert 0 == off


@pytest.mark.parametrize(
    ("changes", "gap", "why"),
    [
        (daily, 2 * HOUR, "hours of the day"),
        (daily, 7 * HOUR, "more regularly"),
        (bursts, HOUR, "bursts"),
        (by_day, 2 * HOUR, "hours of the day"),
    ],
)
def test_times_outside_the_model_are_noticed(changes, gap: int, why: str):
    """The number of changes fits in each case; their times do not."""
    rng = np.random.default_rng(7)
    found = misfits(make_polls([changes(rng, 1.0) for _ in range(10)], [gap] * 10))

    assert why in " ".join(each.why for each in found)


def test_host_that_does_not_fit_is_named():
    """Nine hosts fit and one does not: all together are rejected if it has a tenth of the changes."""
    rng = np.random.default_rng(3)
    times = [poisson(rng, 1.0) for _ in range(45)] + [daily(rng, 1.0) for _ in range(5)]
    found = misfits(make_polls(times, [2 * HOUR] * 50, hosts=[n // 5 for n in range(50)]))

    assert {9} == {each.host for each in found if each.host is not None}
    assert any(each.host is None for each in found)


def test_page_with_few_changes_is_not_tested():
    """Two changes show no pattern."""
    assert () == misfits(make_polls([[DAY, 2 * DAY]], [2 * HOUR]))
    assert LEAST > 2


def test_kept_value_is_the_mean_over_the_gap():
    """Brute force places the change on a fine grid of the gap."""
    rng = np.random.default_rng(1)
    polls = make_polls([poisson(rng, 1.0) for _ in range(6)], [3 * HOUR, 9 * HOUR, DAY, 2 * DAY, HOUR, 5 * HOUR])
    found = polls.of(polls.changed)
    places = (np.arange(2_000) + 0.5) / 2_000
    brute = np.exp(-found.decay[:, None] * found.gap[:, None] * places).mean(axis=1)
    result = measure_value_share(polls)

    assert result is not None
    assert result.share == pytest.approx(brute.mean(), abs=1e-4)
    assert result.low < result.share < result.high
    assert len(found.at) == result.found


def test_share_needs_a_found_change():
    """Without changes nothing was kept or lost."""
    assert measure_value_share(make_polls([[]], [HOUR])) is None
