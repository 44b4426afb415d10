"""Compare words and links of html5lib's tree-construction cases with the trees of the HTML standard.

    TIDINGS_DATA_SETS=... python bench/html5lib.py

Each case is read as a body that a server sent. What is not compared, and what differs, is printed
with its reason and an example.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.html5lib import WHY, Case, cases, list_expected, outcome
from tidings.document.parse import parse


def main() -> None:
    """Print a table of outcomes, and each case that differs."""
    found: defaultdict[str, list[Case]] = defaultdict(list)
    for case in cases():
        found[outcome(case)].append(case)
    print(f"{'outcome':<17}{'cases':>6}  why")
    for name, some in sorted(found.items(), key=lambda row: -len(row[1])):
        print(f"{name:<17}{len(some):>6}  {WHY.get(name, '')}")
    print(f"{'in all':<17}{sum(map(len, found.values())):>6}")
    for name in ("writes", "selectedcontent", "differs"):
        for case in found[name]:
            ours = parse(case.data.encode("utf-8", "surrogatepass"), "text/html; charset=utf-8")
            words, links = list_expected(case)
            print(
                f"\n{name}: {case.file}: {case.data[:80]!r}\n  tree: {words} {links}\n  ours: {ours.tokens} {list(ours.links)}"
            )


if __name__ == "__main__":
    main()
