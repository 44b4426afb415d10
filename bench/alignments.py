"""Measure alignments of long texts: the words kept in common, beside the most possible, and the time.

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR python bench/alignments.py [--pairs N] [--show]

There are two kinds of pairs of real pages: the first and the last version of a page, and two pages
of one family that stand beside one another in the index, which share phrases but no order. Only
pairs count whose parts between the common start and the common end have more than 16 million cells.
Made-up texts are measured too. `p99` is the share that 99 of 100 pairs reach. Seconds are CPU time,
the least of three. `--pairs N` takes every N-th pair, `--show` lists the worst.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import chain, pairwise
from pathlib import Path
from statistics import quantiles

from rapidfuzz.distance import LCSseq

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.worst_pairs import prose, words, zipf

from tests import data_sets
from tidings.detection.compare.words import common_length, compare_sequences
from tidings.document.parse import read
from tidings.document.text.charset import decode

LONG = 16_000_000
FAMILIES = ("terms-html", "terms-text", "docs-text", "election")

Texts = tuple[str, Sequence[str], Sequence[str]]


def main() -> None:
    """Print a row a kind of pair."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=int, default=1)
    options.add_argument("--show", action="store_true")
    chosen = options.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(
        "| pairs | number | words a side | kept p50 | p99 | min | CPU s, mean | worst |\n|---|---:|---:|---:|---:|---:|---:|---:|"
    )
    for kind, pairs in (
        ("versions of a page", _versions()),
        ("pages of a family", _neighbours()),
        ("made up", _make_up()),
    ):
        rows = []
        for number, (name, old, new) in enumerate(pairs):
            if number % chosen.pairs == 0 and _is_long(old, new):
                rows.append((*_share_kept(old, new), name, len(old), len(new)))
        _report(kind, rows, show=chosen.show)


def _report(kind: str, rows: list[tuple[float, float, str, int, int]], *, show: bool) -> None:
    if not rows:
        print(f"| {kind} | 0 | | | | | | |")
        return
    shares = sorted(row[0] for row in rows)
    spent = [row[1] for row in rows]
    cuts = quantiles(shares, n=100, method="inclusive") if len(shares) > 1 else shares * 100
    size = sum(row[3] + row[4] for row in rows) / len(rows) / 2
    print(
        f"| {kind} | {len(rows)} | {size:,.0f} | {cuts[49]:.4f} | {cuts[0]:.4f} | {shares[0]:.4f} |"
        f" {sum(spent) / len(spent):.3f} | {max(spent):.3f} |",
        flush=True,
    )
    for share, seconds, name, first, second in sorted(rows)[: 8 if show else 0]:
        print(f"    {share:.4f} {seconds:.3f} s {first:,} {second:,} {name}")


def _share_kept(old: Sequence[str], new: Sequence[str]) -> tuple[float, float]:
    """Return the share of the longest that an alignment keeps, and the CPU seconds that it took."""
    spent = []
    for _ in range(3):
        began = time.process_time()
        edits = compare_sequences(old, new)
        spent.append(time.process_time() - began)
    numbers = {word: chr(number + 1) for number, word in enumerate(dict.fromkeys((*old, *new)))}
    most = LCSseq.similarity("".join(map(numbers.__getitem__, old)), "".join(map(numbers.__getitem__, new)))
    return common_length(edits, len(old)) / max(1, most), min(spent)


def _is_long(old: Sequence[str], new: Sequence[str]) -> bool:
    if len(old) * len(new) <= LONG:
        return False
    head = next(
        (at for at, (one, two) in enumerate(zip(old, new, strict=False)) if one != two), min(len(old), len(new))
    )
    rest = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
    tail = next((at for at, (one, two) in enumerate(rest) if one != two), 0)
    return (len(old) - head - tail) * (len(new) - head - tail) > LONG


def _pages() -> Iterator[tuple[str, list[data_sets.Pair]]]:
    for family in FAMILIES:
        pages: dict[str, list[data_sets.Pair]] = {}
        for pair in data_sets.page_pairs(family):
            pages.setdefault(str(Path(pair.file).parent), []).append(pair)
        yield from pages.items()


def _words(data: bytes, content_type: str) -> Sequence[str]:
    return read(decode(data, content_type), content_type).tokens


def _versions() -> Iterator[Texts]:
    for name, pairs in _pages():
        old, new = pairs[0], pairs[-1]
        yield name, _words(old.old, old.content_type), _words(new.new, new.content_type)


def _neighbours() -> Iterator[Texts]:
    newest = [(name, pairs[-1].new, pairs[-1].content_type) for name, pairs in _pages()]
    long = [(name, found) for name, data, kind in newest if len(found := _words(data, kind)) > LONG**0.5]
    for (name, old), (other, new) in pairwise(long):
        yield f"{name} and {other}", old, new


def _make_up() -> Iterator[Texts]:
    for seed in range(4):
        other = seed + 50
        rng = random.Random(seed)
        yield f"unrelated prose {seed}", prose(120_000, seed).split(), prose(120_000, other).split()
        yield f"Zipf {seed}", zipf(30_000, seed).split(), zipf(30_000, other).split()
        yield f"Zipf long {seed}", zipf(90_000, seed).split(), zipf(90_000, other).split()
        yield f"four words {seed}", words("abcd", 30_000, seed).split(), words("abcd", 30_000, other).split()
        parts = [zipf(800, 1_000 * seed + part).split() for part in range(40)]
        anew = [part if rng.random() < 0.5 else zipf(800, rng.randrange(10**6)).split() for part in parts]
        whole = [*chain(*parts)]
        yield f"parts in another order {seed}", whole, [*chain(*rng.sample(parts, len(parts)))]
        yield f"every third word gone {seed}", whole, [word for word in whole if rng.random() > 0.4]
        yield f"half of it new {seed}", whole, [*chain(*anew)]


if __name__ == "__main__":
    main()
