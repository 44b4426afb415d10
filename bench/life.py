"""Measure how long blocks that a change brought stay on real pages (`estimation.worth`; bid §5).

    PYTHONPATH=. TIDINGS_DATA_SETS=DIR python bench/life.py [--pages 60]

The input is successive versions of `page_versions`: at most --pages of a family, with at least four
changes of text, compared as `all words` compares them and at their real times. Versions between two
that were kept are missing, so blocks seem to go sooner than they do.

- *gone by*: the share of all blocks (not only of those that are followed) that are gone at the
  first, second and fourth change after the one that brought them, each page alike.
- *learned*: what the estimator says after all changes of a page. Most pages have eight or ten
  versions, which is too few for it to say anything unless much is replaced each time.
- *gone when it ended*: the share of all blocks that were gone by then, over pages whose life is a
  number of changes.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from tests.data_sets import files_of, rows_of
from tests.replay import FAMILIES
from tidings.clock import SECOND
from tidings.detection.job.contract import Body
from tidings.detection.job.examiner import compare_bodies
from tidings.estimation.worth import Survival
from tidings.model.observed.change import Edit
from tidings.model.watch.interest import Interest
from tidings.model.watch.sentinel import ChangeLife

WORDS = Interest("words")
AGES = (1, 2, 4)
FEWEST_CHANGES = 4


@dataclass
class Followed:
    """A page: all blocks that came, as (first token, last, changes outlived), how many reached each age and how many went by then."""

    known: Survival = Survival()
    blocks: list[tuple[int, int, int]] = field(default_factory=list)
    reached: Counter[int] = field(default_factory=Counter)
    gone: Counter[int] = field(default_factory=Counter)
    changes: int = 0

    def add_change(self, edits: tuple[Edit, ...], at: int) -> None:
        """Add a change."""
        self.changes += 1
        self.known = self.known.after_edits(edits, old=self.changes, new=self.changes + 1, at=at)
        left = []
        for start, end, age in self.blocks:
            lost = sum(max(0, min(end, e.old_end) - max(start, e.old_start)) for e in edits if e.op != "move")
            self.reached[age + 1] += 1
            if 2 * lost > end - start:
                self.gone[age + 1] += 1
                continue
            shift = sum(
                e.new_end - e.new_start - e.old_end + e.old_start
                for e in edits
                if e.op != "move" and e.old_end <= start
            )
            left.append((start + shift, end + shift, age + 1))
        self.blocks = left + [(e.new_start, e.new_end, 0) for e in edits if e.op in {"insert", "replace"}]

    def survival(self, age: int) -> float | None:
        """Return the share of blocks that are there after so many further changes, None if none was followed so long."""
        if not all(self.reached[a] for a in range(1, age + 1)):
            return None
        return float(np.prod([1 - self.gone[a] / self.reached[a] for a in range(1, age + 1)]))


def changes_of(family: str, most: int) -> Iterable[list[tuple[tuple[Edit, ...], int]]]:
    """Yield the changes of each page: edits, and when."""
    rows: dict[str, list[dict[str, str]]] = defaultdict(list)
    for row in rows_of("page_versions/index.csv.gz"):
        if row["family"] == family:
            rows[row["page"]].append(row)
    files = dict(files_of(f"page_versions/{family}.tar.zst"))
    for versions in list(rows.values())[:most]:
        bodies = [Body(data=files[row["file"]], content_type=row["content_type"]) for row in versions]
        found = []
        for number, (old, new) in enumerate(pairwise(bodies), start=1):
            change, problem = compare_bodies(old, new, WORDS)
            if change.edits and not problem:
                found.append((change.edits, int(versions[number]["unix_time"]) * SECOND))
        if len(found) >= FEWEST_CHANGES:
            yield found


def after(life: ChangeLife, page: Followed) -> float | None:
    """Return the share of all blocks of a page that were gone when a life of so many changes had ended."""
    survival = page.survival({"overwrite": 1, "changes": life.changes}.get(life.mode, 0))
    return None if survival is None or life.mode == "window" else 1 - survival


def count_lives(lives: Iterable[ChangeLife | None]) -> str:
    """Return how many pages have which lives."""
    words = Counter("none" if life is None else life.mode for life in lives)
    return ", ".join(f"{count} {word}" for word, count in words.most_common())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=60)
    given = parser.parse_args()
    print(f"{'family':16} {'pages':>5} {'changes':>7}  gone by 1, 2, 4 changes  learned; gone when it ended")
    for family in FAMILIES:
        pages: list[tuple[Followed, ChangeLife | None]] = []
        for found in changes_of(family, given.pages):
            page = Followed()
            for edits, when in found:
                page.add_change(edits, when)
            pages.append((page, page.known.life(found[-1][1])))
        if not pages:
            continue
        gone = [[1 - s for page, _ in pages if (s := page.survival(age)) is not None] for age in AGES]
        ended = [share for page, life in pages if life is not None and (share := after(life, page)) is not None]
        print(
            f"{family:16} {len(pages):5} {sum(page.changes for page, _ in pages):7}  "
            + "  ".join(f"{np.mean(shares):.2f}" if shares else "   –" for shares in gone)
            + f"         {count_lives(life for _, life in pages)}"
            + (f"; {min(ended):.2f} to {max(ended):.2f}" if ended else "")
        )


if __name__ == "__main__":
    main()
