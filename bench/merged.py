"""Two versions merged into one page: whether taking the marks out gives both back, how long it takes, and others beside it.

    TIDINGS_DATA_SETS=... PYTHONPATH=. python bench/merged.py [--pairs N] [--peers PYTHON]

Plays every N-th pair of successive HTML versions of `page_versions` (1 being all). CPU times of this process, documents parsed and compared
beforehand for the row of merging alone; the row beside the peers does all from bytes. `--peers` is the Python of an environment with lxml and
web-monitoring-diff in it (`bench/detection_peers.py`), which are given the same pairs.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.detection import ask_peers

from tests import data_sets
from tidings.detection.compare.words import compare_sequences
from tidings.document.document import Document
from tidings.document.parse import parse
from tidings.model.observed.change import ChangeSet
from tidings.presentation.safe.merged import merge_page
from tidings.presentation.views.view import view_of

FAMILIES = ("terms-html", "election", "list", "jobboard", "javadoc-frames")
WENT = re.compile('<del class="tidings[^>]*>.*?</del>', re.DOTALL)
CAME = re.compile('<ins class="tidings[^>]*>.*?</ins>', re.DOTALL)
BIG, SMALL = 130_000, 70_000


def main() -> None:
    """Print what was wrong, what it took, and peers."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--pairs", type=int, default=1)
    options.add_argument("--peers", default="")
    chosen = options.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    pairs = [pair for family in FAMILIES for pair in data_sets.page_pairs(family)][:: chosen.pairs]
    wrong = skipped = 0
    took: dict[str, list[tuple[int, float]]] = {"merged page": [], "a view": []}
    kept: list[data_sets.Pair] = []
    for pair in pairs:
        old, new = _page(pair.old, pair.content_type), _page(pair.new, pair.content_type)
        if old.problem or new.problem or (old.media, new.media) != ("html", "html"):
            skipped += 1
            continue
        edits = compare_sequences(old.tokens, new.tokens)
        began = time.process_time()
        html = merge_page(edits, old, new).html
        took["merged page"].append((len(pair.new), time.process_time() - began))
        began = time.process_time()
        view_of(ChangeSet(("words",), edits=edits), old, new, "page")
        took["a view"].append((len(pair.new), time.process_time() - began))
        sides = (_page(mark.sub("", html).encode(), "text/html; charset=utf-8").tokens for mark in (WENT, CAME))
        wrong += [new.tokens, old.tokens] != list(sides)
        kept.append(pair)
    size = sum(len(pair.new) for pair in kept)
    print(
        f"{len(kept):,} pairs of HTML of {size / len(kept) / 1e3:.0f} kB, {skipped} are none; un-marking is wrong in {wrong}"
    )
    for name, times in took.items():
        spent = [seconds for _, seconds in times]
        near = [seconds for bytes_, seconds in times if SMALL < bytes_ < BIG]
        print(
            f"{name:14} {sum(spent) / len(spent) * 1e3:7.1f} ms a pair; of {SMALL // 1000} to {BIG // 1000} kB ({len(near)}): median"
            f" {statistics.median(near) * 1e3:.1f}, most {max(near) * 1e3:.1f} ms"
        )
    if chosen.peers:
        beside(chosen.peers, kept)


def beside(python: str, pairs: Sequence[data_sets.Pair]) -> None:
    """Give the same pairs to an environment of peers, and do all from bytes ourselves in the same run."""
    began = time.process_time()
    for pair in pairs:
        old, new = _page(pair.old, pair.content_type), _page(pair.new, pair.content_type)
        merge_page(compare_sequences(old.tokens, new.tokens), old, new)
    ours = time.process_time() - began
    print(f"{'tidings, from bytes':24} {ours / len(pairs) * 1e3:8.1f} ms a pair")
    for name, got in ask_peers(python, pairs).items():
        if "absent" in got:
            print(f"{name:24} not there: {got['absent'][:80]}")
            continue
        each = got["seconds"] / len(pairs) * 1e3
        print(f"{name:24} {each:8.1f} ms a pair, {got['failed']} failed, {got['seconds'] / ours:.1f} times ours")


def _page(data: bytes, content_type: str) -> Document:
    return parse(data, content_type, keep_tree=True)


if __name__ == "__main__":
    main()
