"""Every policy in one world, at one budget: what each is good at.

    PYTHONPATH=. .venv/bin/python bench/policies.py [--seeds 5] [--pages 120] [--days 20]

The world and the columns are those of `lab.compare`, which `tidings lab` prints of one world; here they are means over seeds. `price_hours`,
`lambda_crawl_polite` and `medd` are left out: in that world they are `price`, `lambda_crawl` and `round_robin`.
"""

from __future__ import annotations

import argparse

from bench.intervals import interval

from tidings.lab.compare import ALL, COLUMNS, compare

ALIKE = {"price_hours", "lambda_crawl_polite", "medd"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pages", type=int, default=120)
    parser.add_argument("--days", type=int, default=20)
    given = parser.parse_args()
    print(f"{given.seeds} seeds: mean ± half of the 95 % interval\n")
    print(f"| policy | {' | '.join(COLUMNS)} |\n|---|{'---:|' * len(COLUMNS)}")
    for name in sorted(set(ALL) - ALIKE):
        found = [compare(name, pages=given.pages, days=given.days, seed=seed).values() for seed in range(given.seeds)]
        print(f"| `{name}` | {' | '.join(interval(column) for column in zip(*found, strict=True))} |", flush=True)


if __name__ == "__main__":
    main()
