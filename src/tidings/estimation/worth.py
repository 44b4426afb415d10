"""The worth of a page's changes to a sentinel: the share that it reports, and how long their
content stays (000 §2.3; bid §5).

Blocks that came with a change are followed from poll to poll: as token ranges, which the edits of
later changes move and delete, or as entries of a feed. Those that went and those that remain form a
survival curve (Kaplan and Meier): the life is what most blocks surely do not outlive. Until the
evidence is clear there is none: a life that is too short costs many polls.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from math import sqrt
from statistics import median
from typing import Final, NamedTuple

from tidings.model.interval import SECOND, Duration, Instant
from tidings.model.observed.change import Edit
from tidings.model.watch.sentinel import ChangeLife
from tidings.record import dataclass, replace

LEAST: Final = 0.2
"""The lowest assumed share: a sentinel that has reported nothing yet may be waiting for just
that.
"""


@dataclass(frozen=True, slots=True)
class InterestShare:
    """Counts of the visible changes of a page while a sentinel watched it, and of those that it
    reported.
    """

    visible: int = 0
    reported: int = 0

    def after(self, *, reported: bool) -> InterestShare:
        """Return the counts after one more visible change."""
        return InterestShare(self.visible + 1, self.reported + reported)

    @property
    def share(self) -> float:
        """Return P(report | visible change): the mean of a Beta(1, 1) posterior, `LEAST` at
        least.
        """
        return max(LEAST, (self.reported + 1) / (self.visible + 2))


BLOCKS_A_CHANGE: Final = 3
"""How many blocks of a change are followed, the longest: they come and go together, so more add
little.
"""
MOST_BLOCKS: Final = 16
MOST_ENDS: Final = 32
FEWEST_GONE: Final = 10
"""Blocks that must have gone before there is an estimate."""
SURE: Final = 1.64
"""The number of standard errors added to the curve: a life is underestimated at most once in twenty
times.
"""
LONGEST: Final = 200
"""A block that stays for more changes counts as permanent."""


class Block(NamedTuple):
    """Content that came with a change and remains: `key` is its place (first token and the one
    after the last) or the mark of an entry, `since` when it came, `changes` how many further
    changes it has outlived.
    """

    key: tuple[int, ...]
    since: Instant
    changes: int = 0


class End(NamedTuple):
    """How many changes and how long (µs) a block was followed, and whether it is gone or the
    observation ended.
    """

    changes: int
    time: Duration
    is_gone: bool


@dataclass(frozen=True, slots=True)
class Survival:
    """The blocks of a page: those that remain and how others ended, the oldest first; tokens refer
    to `version`.
    """

    blocks: tuple[Block, ...] = ()
    ends: tuple[End, ...] = ()
    version: int = 0

    def after_edits(self, edits: Sequence[Edit], *, old: int, new: int, at: Instant, is_news: bool = True) -> Survival:
        """Return the blocks after a change from one version to another; one that is no news brings
        no blocks, but may remove some.

        A block is gone if more than half of its tokens are. If blocks belong to a version after
        `old`, nothing can be concluded.

        Args:
            edits: The edits between the two versions.
            old: The number of the older one.
            new: The number of the newer one.
            at: When it was found (µs).
            is_news: Whether it is reported.
        """
        followed = self if self.version <= old else self.let_go(at)
        moves = _Moves(edits)
        came = sorted((e.new_end - e.new_start, e.new_start) for e in edits if e.op in {"insert", "replace"})
        born = [(start, start + length) for length, start in came[-BLOCKS_A_CHANGE:]] if is_news else []
        return replace(_step(followed, lambda block: moves.of(*block.key), born, at), version=new)

    def let_go(self, at: Instant) -> Survival:
        """Return the knowledge with the remaining blocks ended: they lived at least so long."""
        return replace(self, blocks=(), ends=(*self.ends, *_list_unfinished(self.blocks, at))[-MOST_ENDS:])

    def after_entries(self, entries: Collection[int], *, known: Collection[int], at: Instant) -> Survival:
        """Return the blocks after a poll of a feed that found these entries, when those in `known`
        had been seen before.
        """
        here = frozenset(entries)
        born = sorted(here - frozenset(known))[:BLOCKS_A_CHANGE]
        is_change = born or any(block.key[0] not in here for block in self.blocks)
        if not is_change:
            return self
        return _step(self, lambda block: block.key if block.key[0] in here else None, [(entry,) for entry in born], at)

    def life(self, now: Instant) -> ChangeLife | None:
        """Return how long blocks stay, None while that is not clear, or if most stay for good.

        It is a number of changes or a time, whichever varies less from block to block.
        """
        gone = [end for end in self.ends if end.is_gone]
        if len(gone) < FEWEST_GONE:
            return None
        ages = [*self.ends, *_list_unfinished(self.blocks, now)]
        changes = _find_outlived_age([(end.changes, end.is_gone) for end in ages])
        time = _find_outlived_age([(end.time, end.is_gone) for end in ages])
        if changes is None or time is None or changes > LONGEST:
            return None
        if changes <= 1:
            return ChangeLife("overwrite")
        if _spread([end.changes for end in gone]) <= _spread([end.time for end in gone]):
            return ChangeLife("changes", changes=changes)
        return ChangeLife("window", span=max(time, SECOND))


def _step(
    known: Survival, found: Callable[[Block], tuple[int, ...] | None], born: Iterable[tuple[int, ...]], at: Instant
) -> Survival:
    """Return the blocks after a change: `found` says where a block is now, None if it is gone."""
    ends, blocks = [*known.ends], []
    for block in known.blocks:
        if (key := found(block)) is None:
            ends.append(End(block.changes + 1, at - block.since, is_gone=True))
        else:
            blocks.append(Block(key, block.since, block.changes + 1))
    blocks += [Block(key, at) for key in born]
    ends += _list_unfinished(blocks[:-MOST_BLOCKS], at)
    return replace(known, blocks=tuple(blocks[-MOST_BLOCKS:]), ends=tuple(ends[-MOST_ENDS:]))


def _list_unfinished(blocks: Iterable[Block], at: Instant) -> list[End]:
    """Return how long the remaining blocks were followed."""
    return [End(block.changes, at - block.since, is_gone=False) for block in blocks if block.changes]


class _Moves:
    """Maps tokens of an old text to the new one, by the edits between them."""

    def __init__(self, edits: Sequence[Edit]) -> None:
        others = sorted((e for e in edits if e.op != "move"), key=lambda e: e.old_start)
        self._moved = [e for e in edits if e.op == "move"]
        gone = [e for e in others if e.old_end > e.old_start]
        self._starts, self._ends = [e.old_start for e in gone], [e.old_end for e in gone]
        self._at = [e.old_end for e in others]
        self._shifts = [e.new_end - e.old_end for e in others]

    def of(self, start: int, end: int) -> tuple[int, int] | None:
        """Return where a range of tokens is now, None if more than half of it is gone."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        lost = sum(min(end, self._ends[i]) - max(start, self._starts[i]) for i in range(first, last))
        if 2 * lost > end - start:
            return None
        moved = next((e for e in self._moved if e.old_start <= start and end <= e.old_end), None)
        place = bisect_right(self._at, start)
        shift = moved.new_start - moved.old_start if moved is not None else self._shifts[place - 1] if place else 0
        begin = start + shift
        return begin, begin + end - start


def _find_outlived_age(ages: Sequence[tuple[int, bool]]) -> int | None:
    """Return the age by which surely more than half are gone, None if there is none; ages are (age,
    gone?), those not gone are censored.
    """
    gone = Counter(age for age, is_gone in ages if is_gone)
    every = sorted(age for age, _ in ages)
    survival, spread = 1.0, 0.0
    for age, died in sorted(gone.items()):
        left = len(every) - bisect_left(every, age)
        survival *= 1 - died / left
        spread += died / (left * (left - died)) if left > died else 0.0
        if survival * (1 + SURE * sqrt(spread)) < 0.5:
            return age
    return None


def _spread(ages: Sequence[float]) -> float:
    """Return the variation of ages: the median distance from their median, as a part of it."""
    middle = median(ages)
    return median(abs(age - middle) for age in ages) / max(middle, 1e-9)
