"""Simulate a week of polling and judge it by the servers' log: no early poll, none beyond the budget.

    python bench/polite_week.py [--days 7] [--pages 200] [--seed 1]

Real servers on 127.0.0.2 and up, the real service and its real client run on a manual clock. There
are 200 pages of twelve hosts: hourly, half-hourly, two-hourly and on change. Some hosts ask for a
Crawl-delay. Each answers 503 with Retry-After about once a day. The budget is below what is asked
for, and the service is killed or stopped 28 times. It takes some minutes. Exit status 1 if a rule
was broken.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.simulated_week import Week, run_week

RULES = ("gap", "crawl delay", "retry after", "floor")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=float, default=7)
    parser.add_argument("--pages", type=int, default=200)
    parser.add_argument("--hosts", type=int, default=12)
    parser.add_argument("--restarts", type=int, default=28)
    parser.add_argument("--polls-per-day", type=float, default=4_000)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        week = run_week(
            Path(directory) / "data",
            days=arguments.days,
            hosts=arguments.hosts,
            pages=arguments.pages,
            restarts=arguments.restarts,
            polls_per_day=arguments.polls_per_day,
            seed=arguments.seed,
        )
    return report(week, seconds=time.perf_counter() - start)


def report(week: Week, *, seconds: float) -> int:
    """Print the table; return how the process ends."""
    early, over = week.early(), week.over_budget()
    every, conditional = week.repeats()
    answers = Counter(a.status for a in week.arrivals)
    share = 100 * conditional / every
    rows = [
        ("days, pages, hosts", f"{week.length / 86_400e6:g}, {week.pages}, {len(week.crawl_delays)}"),
        ("starts of the service; kills in the midst", f"{week.restarts + 1}; {len(week.deaths)}"),
        ("requests; answered 200, 304, 503", f"{len(week.arrivals)}; {answers[200]}, {answers[304]}, {answers[503]}"),
        ("polls; cut off by a kill; changes reported", f"{week.polls}; {week.cut_off}; {week.changes}"),
        *((f"earlier than the {rule} allows", str(early[rule])) for rule in RULES),
        ("... than an answer that died asked for", str(early["crawl delay died"] + early["retry after died"])),
        ("most requests of a host at once (1 allowed)", str(week.most_at_once())),
        (
            "beyond rate x time + burst",
            f"{over} ({100 * len(week.arrivals) / (week.rate * week.length / 1e6 + week.burst):.0f} % used)",
        ),
        ("of what robots.txt forbids", str(week.count_forbidden())),
        ("repeat polls that were conditional", f"{share:.1f} % of {every}"),
        ("most requests in a second, all hosts", str(week.fullest_second())),
        ("broken invariants of the store", str(len(week.violations))),
    ]
    for name, value in rows:
        print(f"  {name:44} {value}")
    print(f"  {seconds:.0f} s")
    broken = sum(early[rule] for rule in RULES) + over + week.count_forbidden() + len(week.violations)
    return int(bool(broken) or week.most_at_once() > 1 or share < 95)


if __name__ == "__main__":
    sys.exit(main())
