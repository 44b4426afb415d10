"""What choosing costs: round robin and the allocator per tick, and the memory of a large population.

Run `python bench/scheduling.py [PAGES …]`; 20,000 and 1,000,000 unless told otherwise. Every figure is the median of its runs.
The bars (DESIGN §8): a policy ≤ 100 µs an instant at 20,000 pages, ≤ 100 B a page.
"""

from __future__ import annotations

import resource
import statistics
import sys
import time

import numpy as np

from tidings.scheduling.allocator import choose
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.drivers import DenseScan, DueQueue
from tidings.scheduling.policies import POLICIES
from tidings.scheduling.policy import Observation, Population
from tidings.scheduling.simulator import World, simulate
from tidings.scheduling.trace import make_trace

SECOND = 1_000_000
HOUR = 3_600 * SECOND
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
    held = sum(column.nbytes for column in population.values()) + state.due.nbytes
    print(
        f"\n{pages:,} pages: {held / pages:.0f} B a page held; peak memory grew by {peak_megabytes() - before:.0f} MB"
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
    print(f"  hear of 64 polls                 {median_us(lambda: policy.on_poll(state, ids, seen), runs):10.0f} µs")
    print(
        f"  hear of one failure              {median_us(lambda: policy.on_update(state, ids[:1], {'not_before': NOW}), runs):10.0f} µs"
    )
    print(
        f"  one page more                    {median_us(lambda: policy.on_update(state, [pages], {}), runs):10.0f} µs"
    )


def drive(pages, make_driver, policy="round_robin"):
    """Return seconds of computing for an hour of polls, one second a tick, and the polls made. `price` pays the price of ten looks a second."""
    made = POLICIES[policy](24 * HOUR if policy == "round_robin" else HOUR)
    rates = np.random.default_rng(2).lognormal(0, 1.5, pages)
    last = NOW - (np.arange(pages) * 7_919 % 86_400) * SECOND
    population = Population({"id": np.arange(pages), "last_polled": last, "rate": rates})
    price = 0.0
    if policy == "price":
        state = made.begin(population, np.random.default_rng(1))
        price = made.price(state, 10.0 / SECOND)
        waited = np.random.default_rng(3).uniform(0, 1, pages) * made.gaps(state, price)
        population = population.set(np.arange(pages), {"last_polled": NOW - waited.astype(np.int64)})
    bucket = TokenBucket(rate=10.0, burst=2_000.0, level=2_000.0, at=NOW)
    trace = make_trace({}, start=NOW, end=NOW + HOUR)
    world = World(population=population, trace=trace, bucket=bucket, tick=SECOND, price=price)
    start = time.perf_counter()
    ledger = simulate(made, world, rng=np.random.default_rng(1), make_driver=make_driver)
    return time.perf_counter() - start, len(ledger.polls.at)


if __name__ == "__main__":
    for count in [int(word.replace(",", "")) for word in sys.argv[1:]] or [20_000, 1_000_000]:
        measure(count)
    print("\none hour of 20,000 pages, ten polls a second, 3,600 ticks")
    for policy in ("round_robin", "price"):
        for name, make_driver in (("dense scan", DenseScan), ("due queue", DueQueue)):
            seconds, polls = drive(20_000, make_driver, policy)
            print(
                f"  {policy:12} {name:12} {polls:,} polls, {seconds:.2f} s, {seconds / 3_600 * 1e6:.0f} µs an instant"
            )
