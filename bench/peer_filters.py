"""How many filters and options of urlwatch, webchanges and changedetection.io a sentence says, of those that belong to detection and selection.

    PYTHONPATH=. python bench/peer_filters.py [--show]

A filter counts if its sentence does what the tool's documentation says with a page of ours (tests/peer_filters.py). `--show` lists all: the sentence, or why there is none.
Ends with 1 if a sentence does something else.
"""

from __future__ import annotations

import argparse
import sys

from tests.peer_filters import ROWS, TOOLS, is_equal


def main() -> int:
    """Print a line a tool."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--show", action="store_true")
    chosen = options.parse_args()
    good = True
    for tool in TOOLS:
        rows = [row for row in ROWS if row.tool == tool]
        equal = {row.name for row in rows if not row.why and is_equal(row)}
        good = good and all(row.why or row.name in equal for row in rows)
        print(f"{tool}: {len(equal)} of {len(rows)}")
        for row in rows if chosen.show else ():
            said = (
                f"no: {row.why}" if row.why else row.says.strip() if row.name in equal else f"WRONG: {row.says.strip()}"
            )
            print(f"    {row.name}: {said}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
