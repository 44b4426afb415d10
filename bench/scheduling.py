"""Measure what choosing costs: round robin and the allocator per tick, and memory of many pages.

Run `python bench/scheduling.py [PAGES …]`; 20,000 and 1,000,000 by default. Every figure is the
median of its runs. The bars: a policy ≤ 100 µs an instant at 20,000 pages, ≤ 100 B a page.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time
from dataclasses import fields, is_dataclass

import numpy as np

from tidings.estimation.learner import Gamma, GammaLearner
from tidings.lab.simulator import DenseScan, DueQueue, World, simulate
from tidings.model.interval import DAY, HOUR, SECOND
from tidings.record import dataclass, replace
from tidings.scheduling.allocator import choose
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.learned import Learned
from tidings.scheduling.ledger import make_trace
from tidings.scheduling.policies import POLICIES
from tidings.scheduling.policy import Observation, Population
from tidings.scheduling.price.hours import HOURS, PriceHours

NOW = 1_700_000_000 * SECOND


def median_us(work, runs):
    work()
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e6


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(pages):
    rng = np.random.default_rng(1)
    runs = 300 if pages <= 100_000 else 20
    before = peak_megabytes()
    policy = POLICIES["round_robin"](HOUR)
    columns = {"id": np.arange(pages), "host": rng.integers(0, max(1, pages // 4), pages)}
    population = Population({**columns, "last_polled": NOW - rng.integers(0, HOUR, pages)})
    state = policy.begin(population, rng)
    print(
        f"\n{pages:,} pages: {weigh(state) / pages:.0f} B a page held; peak memory grew by {peak_megabytes() - before:.0f} MB"
    )
    cost, host = population["cost"], population["host"]
    print(
        f"  advance and bid, nobody due      {median_us(lambda: policy.bid(policy.advance(state, SECOND), NOW, 0.0), runs):10.0f} µs"
    )
    for seconds in (1, 60, 3_600):
        bids = policy.bid(state, NOW + seconds * SECOND, 0.0)
        due = int((bids > 0).sum())
        print(
            f"  choose 64 of {due:9,} due         {median_us(lambda b=bids: choose(b, cost, host, 2_000.0, limit=64), runs):10.0f} µs"
        )

    def tick():
        now = NOW + SECOND
        choose(policy.bid(policy.advance(state, SECOND), now, 0.0), cost, host, 2_000.0, limit=64)

    print(f"  a whole tick, one second's due   {median_us(tick, runs):10.0f} µs")
    ids = population.ids[:64]
    seen = Observation.of(np.full(64, NOW), np.zeros(64, dtype=bool))
    print(f"  record 64 polls                  {median_us(lambda: policy.on_poll(state, ids, seen), runs):10.0f} µs")
    print(
        f"  record one failure               {median_us(lambda: policy.on_update(state, ids[:1], {'not_before': NOW}), runs):10.0f} µs"
    )
    print(
        f"  one page more                    {median_us(lambda: policy.on_update(state, [pages], {}), runs):10.0f} µs"
    )


class Timed:
    """A policy, and for how long it computed at each instant."""

    def __init__(self, policy):
        self._policy = policy
        self.seconds = []

    def __getattr__(self, name):
        asked = getattr(self._policy, name)

        def measure(*args, **more):
            start = time.perf_counter()
            answer = asked(*args, **more)
            spent = time.perf_counter() - start
            if name == "advance" or not self.seconds:
                self.seconds.append(spent)
            else:
                self.seconds[-1] += spent
            return answer

        return measure


def drive(pages, make_driver, name="round_robin"):
    """Run an hour of polls, one second a tick, at the price of ten polls a second: print what an instant costs in all, and in the policy."""
    rates = np.random.default_rng(2).lognormal(0, 1.5, pages)
    last = NOW - (np.arange(pages) * 7_919 % 86_400) * SECOND
    population = Population({"id": np.arange(pages), "last_polled": last, "rate": rates})
    price, policy = 0.0, POLICIES[name.partition(",")[0]](24 * HOUR if name == "round_robin" else HOUR)
    if name != "round_robin":
        state = policy.begin(population, np.random.default_rng(1))
        price = policy.price(state, 10.0 / SECOND)
        waited = np.random.default_rng(3).uniform(0, 1, pages) * policy.gaps(state, price)
        population = population.set(np.arange(pages), {"last_polled": NOW - waited.astype(np.int64)})
    timed = Timed(Learned(policy, SharpLearner(rates=rates)) if "learned" in name else policy)
    bucket = TokenBucket(rate=10.0, burst=2_000.0, level=2_000.0, at=NOW)
    rng = np.random.default_rng(5)
    changes = {page: NOW + rng.integers(0, HOUR, count) for page, count in enumerate(rng.poisson(rates / 24).tolist())}
    trace = make_trace(changes, start=NOW, end=NOW + HOUR)
    world = World(population=population, trace=trace, bucket=bucket, tick=SECOND, price=price)
    start = time.process_time()
    ledger = simulate(timed, world, rng=np.random.default_rng(1), make_driver=make_driver)
    whole = (time.process_time() - start) / 3_600 * 1e6
    quick, own = np.quantile(timed.seconds, [0.1, 0.5]) * 1e6
    print(
        f"  {name:15} {make_driver.__name__:9} {len(ledger.polls.at):6,} polls; {own:6.0f} µs of the policy at the median instant "
        f"({quick:.0f} at the quickest tenth); "
        f"{whole:6.0f} µs of processor in all, simulator included"
    )
    return own


@dataclass(frozen=True)
class SharpLearner(GammaLearner):
    """A learner that knows the rates of pages as if each page had changed forty times."""

    rates: np.ndarray | None = None

    def begin(self, hosts):
        """Return what is known at the start."""
        return replace(super().begin(hosts), posterior=Gamma.of(40.0, 40.0 * (1 + 40**-0.5) / self.rates))


def live(pages, *, is_mixed):
    """Return what the live planner holds of pages that came in parts and were polled twice; mixed: people said something of each."""
    rng = np.random.default_rng(4)
    columns = {"host": np.arange(pages) // 4, "added": NOW - rng.integers(0, 30 * DAY, pages)}
    if is_mixed:
        columns["importance"] = rng.uniform(0, 1, pages)
        columns["not_before"] = NOW - rng.integers(0, HOUR, pages)
        columns["shortest"] = rng.choice([60, 300], pages) * SECOND
        columns["longest"] = rng.choice([6 * HOUR, DAY], pages)
    policy = Learned(POLICIES["price"](HOUR), GammaLearner())
    state = policy.begin(Population({"id": []}), rng)
    for part in np.array_split(np.arange(pages), 4):
        state = policy.on_update(state, part, {name: column[part] for name, column in columns.items()})
        for days in (2, 1):
            at = NOW - days * DAY - rng.integers(0, HOUR, len(part))
            state = policy.on_poll(state, part, Observation.of(at, rng.uniform(size=len(part)) < 0.3))
    return state


def arrays(thing):
    """Yield all arrays that a state holds, however deep."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, Population):
        yield from thing.values()
    elif is_dataclass(thing):
        for each in fields(thing):
            yield from arrays(getattr(thing, each.name))


def weigh(state):
    """Return the bytes of all arrays, each once; an array that repeats one value has that value."""
    return sum(
        {a.__array_interface__["data"][0]: a.nbytes if any(a.strides) else a.itemsize for a in arrays(state)}.values()
    )


def print_memory(pages):
    """Print what is held of each page under `price`, beside its learner."""
    for name, is_mixed in (("as they come", False), ("importance, bounds and failures of each", True)):
        state = live(pages, is_mixed=is_mixed)
        inner, known = weigh(state.inner), weigh(state)
        copied = np.ones(known // 8)
        print(
            f"  {name:42} {known / pages:5.0f} B a page ({(known - inner) / pages:.0f} of them the learner's); copying all of it takes {median_us(copied.copy, 50):.0f} µs"
        )


def plans():
    """Print what it costs to find when pages are due where hours are not alike, by how many are asked about together (the quickest tenth)."""
    weights = np.where((np.arange(HOURS) % 24 >= 8) & (np.arange(HOURS) % 24 < 20), 1.85, 0.15)
    policy = PriceHours(HOUR, profile=tuple(weights / weights.mean()))
    rng = np.random.default_rng(6)
    pages = {
        "id": np.arange(1_000),
        "rate": rng.lognormal(0, 1.5, 1_000),
        "last_polled": NOW - rng.integers(0, DAY, 1_000),
    }
    for count in (1, 7, 64, 1_000):
        times = []
        for turn in range(60 if count < 100 else 12):
            state = policy.begin(Population(pages), rng)
            asked = np.arange(turn, turn + count) % 1_000
            start = time.perf_counter()
            policy.next_due(state, asked, NOW, 4 * policy.floor)
            times.append(time.perf_counter() - start)
        took = float(np.quantile(times, 0.1)) * 1e6
        print(f"  price_hours, when {count:5} pages are due: {took:7.0f} µs, {took / count:5.0f} µs a page")


if __name__ == "__main__":
    for count in [int(word.replace(",", "")) for word in sys.argv[1:]] or [20_000, 1_000_000]:
        measure(count)
    print("\n20,000 pages under price")
    print_memory(20_000)
    print("\none hour of 20,000 pages, ten polls a second, 3,600 ticks")
    for name in ("round_robin", "price"):
        dense = drive(20_000, DenseScan, name)
        print(f"  {name:15} the queue takes 1 / {dense / drive(20_000, DueQueue, name):.0f} of the scan")
    drive(20_000, DueQueue, "price, learned")
    plans()
