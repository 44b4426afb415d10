"""Measure what of a tight budget the service's planner uses on real traces, and what it is worth.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR .venv/bin/python bench/live_budget.py [--policy price] [--shares 4 16 64] [--days 60] [--part 0.5] [--week]

The pages are those of `bench/traces.py` (reported half) that exist for the whole time. All are
there from the start. The planner runs on a manual clock, as `serve` steps it, with a bucket of a
day's budget that begins half full: it learns, finds its price, trims, stretches and fills. Beside
it, on the same pages and without a longest wait, run `price` of `bench/traces.py`, which fills, and
`price_saving`, which does not. A step is ten minutes, and 30 for those two. Value: half-life of a
day; each change counts the same, and each page the same.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from bench.traces import FAR, PACE, Half, capture, learn_policy, load

from tests.planner import GivenRates, Service, make_watched
from tidings.clock import ManualClock
from tidings.estimation.hourly import HourlyLearner
from tidings.estimation.learner import GammaLearner
from tidings.lab.compare import ALL
from tidings.lab.traces import Series, TraceOutcome, is_calibrated_on, outcome, page_equal, windows
from tidings.model.interval import DAY, HOUR, MINUTE
from tidings.model.observed.poll_reason import Why
from tidings.scheduling.learned import Learned
from tidings.scheduling.ledger import Polls
from tidings.scheduling.policy import HeedsHours
from tidings.scheduling.price.hours import PriceHours
from tidings.scheduling.price.policy import Price

TICK, STEP = 30 * MINUTE, 10 * MINUTE


def live(series: Sequence[Series], share: float, policy: str) -> tuple[TraceOutcome, np.ndarray, Service]:
    """Return what the planner's polls found, what it spent on each day as a part of the budget, and the service."""
    start = ManualClock().now()
    a_day = share * sum(DAY / one.step for one in series)
    made = ALL[policy](PACE)
    learner = HourlyLearner() if isinstance(made, HeedsHours) else GammaLearner()
    service = Service(
        [make_watched(number, at=start) for number in range(1, len(series) + 1)],
        a_day,
        changes={number: (one.changes + start).tolist() for number, one in enumerate(series, start=1)},
        policy=Learned(made, learner),
    )
    whole = service.bucket
    service.bucket = replace(whole, burst=whole.burst + len(series), level=whole.level + len(series))
    while len(service.polls) < len(series):  # the first check at each page is given
        service.step()
    service.bucket = whole
    service.run(max(one.end for one in series), tick=STEP)
    made = service.polls[len(series) :]
    polls = Polls(
        np.array([at - start for at, _, _ in made]), np.array([page - 1 for _, page, _ in made]), np.ones(len(made))
    )
    return outcome(series, polls), np.bincount(polls.at // DAY) / a_day, service


def row(name: str, found: TraceOutcome, budget: float) -> str:
    return (
        f"{name:14} value {capture(found, DAY):.3f}  page-equal {capture(found, DAY, page_equal(found)):.3f}  "
        f"polls {found.spent / budget:.3f} of the budget"
    )


def week(days: int = 8) -> None:
    """Print what `price_hours` spends each day. 40 pages change by day, their rates and hours are
    known, and the budget is 300 polls a day.
    """
    start, rates = ManualClock().now(), np.random.default_rng(1).lognormal(0.5, 1, 40).tolist()
    hours = np.where((np.arange(168) % 24 >= 8) & (np.arange(168) % 24 < 20), 1.85, 0.15)
    policy = Learned(PriceHours(HOUR, profile=tuple(hours / hours.mean())), GivenRates(rates))
    service = Service([make_watched(number, at=start) for number in range(1, len(rates) + 1)], 300, policy=policy)
    for day in range(days):
        before, trims = len(service.polls), []
        for _ in range(DAY // STEP):
            service.run(STEP, tick=STEP)
            trims.append(service.planner.pricing.trim.factor)
        polls = service.polls[before:]
        print(
            f"day {day}: {len(polls)} polls of 300, {sum(why is Why.SPARE for *_, why in polls)} spare; trim {min(trims):.2f} to {max(trims):.2f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--policy", default="price")
    parser.add_argument("--shares", type=int, nargs="*", default=[4, 16, 64])
    parser.add_argument("--days", type=int, default=60)
    parser.add_argument("--part", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--week", action="store_true", help="only a week with day and night, day by day")
    given = parser.parse_args()
    if given.week:
        week()
        return
    rng = np.random.default_rng(given.seed)
    everything = load()
    kept = {group for group in sorted({one.group for one in everything}) if rng.random() < given.part}
    length = given.days * DAY
    moved = windows([one for one in everything if one.group in kept], length, rng, least=7 * DAY)
    series = [one for one in moved if not is_calibrated_on(one.group) and one.begin == 0 and one.end == length]
    print(f"{len(series)} pages, {sum(len(one.changes) for one in series)} changes in {given.days} days")
    for number in given.shares:
        half = Half(series, 1 / number, TICK)
        print(f"\n## 1/{number} of the sources' polls: {half.budget / given.days:.0f} a day")
        found, days, service = live(series, 1 / number, given.policy)
        print(row("the service", found, half.budget))
        pricing, spare = service.planner.pricing, sum(why is Why.SPARE for *_, why in service.polls)
        print(
            f"{'':14} by day from the second on: {days[1:].min():.2f} to {days[1:].max():.2f}, mean {days[1:].mean():.3f}; "
            f"spare polls {spare / max(len(service.polls), 1):.1%}; trim {pricing.trim.factor:.2f}, waits stretched {pricing.stretch:.1f}",
            flush=True,
        )
        print(row("price", half.run(learn_policy(Price(pace=PACE, longest=FAR)), fills=True), half.budget))
        print(row("price_saving", half.run(learn_policy(Price(pace=PACE, longest=FAR))), half.budget), flush=True)


if __name__ == "__main__":
    main()
