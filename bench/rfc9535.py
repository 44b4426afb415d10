"""Compare our selectors in JSONPath with RFC 9535.

    PYTHONPATH=. python bench/rfc9535.py [cts.json]

Without a file it reads the rows of the RFC's own tables. With one it reads the cases of the
JSONPath compliance suite (its `cts.json`; nothing is downloaded).
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from tests.jsonpath import WHY, Case, cases, outcome, suite


def main() -> None:
    """Print how many cases agree, each other outcome with its reason, and the cases of it."""
    found: defaultdict[str, list[Case]] = defaultdict(list)
    for case in suite(Path(sys.argv[1])) if sys.argv[1:] else cases():
        found[outcome(case)].append(case)
    print(f"{len(found['agrees'])} of {sum(map(len, found.values()))} agree with RFC 9535")
    for name, some in sorted(found.items(), key=lambda row: -len(row[1])):
        if name != "agrees" and some:
            print(f"\n{name} ({len(some)}): {WHY.get(name, 'a fault')}")
            for case in some:
                print(f"  {case.name}: {case.selector}")


if __name__ == "__main__":
    main()
