"""Damage a data directory in many ways, by seed, and start the service on it: it refuses with the way out, or goes on and notifies.

    .venv/bin/python bench/damage.py [--times 300] [--seed 0]

1, 20 and 200 flipped bits anywhere, in the header, a cut file, zeroed pages, a garbage WAL, blob files that are missing, short or flipped, and
values that make no sense. `silent` are damages after which a stored value says something else and nobody is notified: SQLite has no checksums, so
a bit that turns one valid value into another is not noticed. Ends with status 1 at a traceback or a refusal without a way out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.damage import Made, try_damage
from tests.fakes import WebServer


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="tidings-damage-") as folder, WebServer("127.0.0.1") as server:
        made = Made(Path(folder), server)
        for seed in range(arguments.seed, arguments.seed + arguments.times):
            outcome = try_damage(made, Path(folder) / str(seed), seed=seed)
            found[outcome.what] += 1
            if outcome.what not in {"refused", "told", "harmless"}:
                print(f"{outcome.seed}: {outcome.damage}: {outcome.what}: {outcome.text[-700:]}", flush=True)
    print(f"{arguments.times} damages: " + ", ".join(f"{count} {what}" for what, count in found.most_common()))
    return 1 if found["traceback"] + found["refused without a way out"] else 0


if __name__ == "__main__":
    sys.exit(main())
