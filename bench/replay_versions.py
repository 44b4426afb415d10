"""Every version of every real page of `page_versions` through the whole service, and where we and
the index of the set differ.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR python bench/replay_versions.py [FAMILY…] [--batch 40] [--show]

Each page is watched for any change once an hour and shows its versions one an hour, on a loopback
server, under a manual clock. The confusion table counts pairs of successive versions: what the
index says changed (text, or markup only) against what was reported. `--show` lists each pair on
which the two differ. Ends with 1 if there was a fault. docs/why/real-pages.md explains the table.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.replay import FAMILIES, Doubt, Pair, Result, real_pages, replay

MOST_FAULTS = 40
"""Most faults that are listed one by one."""


def replay_families(families: list[str], batch: int) -> Result:
    """Return what replaying whole families brings; pages with about as many versions share an
    installation.
    """
    result = Result()
    for family in families:
        pages = sorted(real_pages([family]), key=lambda page: len(page.versions))
        for start in range(0, len(pages), batch):
            with tempfile.TemporaryDirectory() as directory:
                result.add(replay(pages[start : start + batch], Path(directory) / "data"))
    return result


def confusion(pairs: list[Pair]) -> Iterator[str]:
    """Yield the table of pairs, a total last."""
    yield f"{'family':<15}{'pairs':>7}{'text, reported':>15}{'text, quiet':>13}{'markup, reported':>17}{'markup, quiet':>15}{'agreement':>11}"
    families = [*dict.fromkeys(pair.page.family for pair in pairs)]
    for family in [*families, "all"]:
        of = [pair for pair in pairs if family in {pair.page.family, "all"}]
        cells = Counter((pair.label, bool(pair.reported)) for pair in of)
        agreement = sum(pair.agrees for pair in of) / len(of)
        yield (
            f"{family:<15}{len(of):>7}{cells['text', True]:>15}{cells['text', False]:>13}{cells['markup-only', True]:>17}"
            f"{cells['markup-only', False]:>15}{agreement:>11.1%}"
        )


def reasons(pairs: list[Pair]) -> Iterator[str]:
    """Yield how many pairs we differ on for each reason."""
    counts = Counter(
        (pair.label, "reported" if pair.reported else "quiet", pair.reason or "UNEXPLAINED", pair.page.family)
        for pair in pairs
        if not pair.agrees
    )
    yield f"{'index says':<13}{'Tidings':<10}{'what lies between':<26}{'family':<16}{'pairs':>5}"
    for (label, outcome, reason, family), count in sorted(counts.items()):
        yield f"{label:<13}{outcome:<10}{reason:<26}{family:<16}{count:>5}"


def doubts(found: list[Doubt]) -> Iterator[str]:
    """Yield how many versions were doubted at a first check, and what became of them."""
    counts = Counter((doubt.kind, doubt.page.family, doubt.is_kept) for doubt in found)
    yield f"{'doubted as':<13}{'family':<16}{'kept at the second check':>26}{'withheld':>10}"
    for kind, family in sorted({(kind, family) for kind, family, _ in counts}):
        yield f"{kind:<13}{family:<16}{counts[kind, family, True]:>26}{counts[kind, family, False]:>10}"


def for_signs_alone(pairs: list[Pair]) -> Iterator[Pair]:
    """Yield pairs on which only signs that Markdown draws with were reported: lines of `=`, table
    bars, angle brackets.
    """
    for pair in pairs:
        change = pair.reported
        texts = (*change.inserted, *change.deleted, *change.moved, *(text for both in change.updated for text in both))
        if change and not set("".join(texts)) - set("=|<>~+ "):
            yield pair


def main() -> int:
    """Print the tables; return 1 if something went wrong."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("families", nargs="*", default=FAMILIES, metavar="FAMILY")
    options.add_argument("--batch", type=int, default=40, help="pages an installation watches")
    options.add_argument("--show", action="store_true", help="list each pair on which index and Tidings differ")
    chosen = options.parse_args()
    begun, cpu = time.monotonic(), time.process_time()
    result = replay_families(list(chosen.families), chosen.batch)
    print(f"{len(result.pairs)} pairs, {time.monotonic() - begun:.0f} s", end=" ")
    print(f"({time.process_time() - cpu:.0f} s of processor)\n")
    print(*confusion(result.pairs), sep="\n")
    print()
    print(*reasons(result.pairs), sep="\n")
    print(
        "\nreported for signs of Markdown alone:", dict(Counter(p.page.family for p in for_signs_alone(result.pairs)))
    )
    print()
    print(*doubts(result.doubts), sep="\n")
    if chosen.show:
        for doubt in result.doubts:
            seen = "kept at the second check" if doubt.is_kept else "withheld"
            print(f"{doubt.page.family}/{doubt.page.name} version {doubt.number}: {seen}, {doubt.kind}: {doubt.why}")
        print()
        for pair in result.pairs:
            if not pair.agrees:
                print(f"{pair.page.family}/{pair.page.name} version {pair.number}: {pair.label}, {pair.reason}")
    faults = result.faults()
    print()
    print(*(f"{name.replace('_', ' '):<15}{len(found):>5}" for name, found in faults.items()), sep="\n")
    print(*[f"{name}: {line}" for name, found in faults.items() for line in found][:MOST_FAULTS], sep="\n")
    return 1 if any(faults.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
