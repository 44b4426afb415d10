"""Ten thousand random edit scripts: what is found, applied to the old text, is the new one, and rows are the difference of counts.

    python bench/edit_scripts.py [FIRST_SEED]

A text of up to 120 words, of few or many different ones, is changed by inserts, deletes, replaces and moves. The seed of a script that
breaks a rule is printed.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.edit_scripts import list_broken_rules, make_script

SCRIPTS = 10_000


def main(first: int) -> int:
    """Print what was broken and how long it took; return 1 if anything was."""
    begun = time.process_time()
    broken = 0
    for seed in range(first, first + SCRIPTS):
        for rule in list_broken_rules(*make_script(random.Random(seed))):
            broken += 1
            print(f"seed {seed}: {rule}")
    print(f"{SCRIPTS:,} scripts from seed {first}, {broken} rules broken, {time.process_time() - begun:.1f} s CPU")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 0))
