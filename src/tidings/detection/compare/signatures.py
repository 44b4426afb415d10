"""Instances of a phrase, identified by the words around them, and their edits (004 §5.3.2.1,
§5.4.1.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Literal

from tidings.detection.compare.occurrences import occurrences
from tidings.record import dataclass

Span = tuple[int, int]
"""Words start:end; an empty span marks the place where a missing side would be."""

Status = Literal["i", "d", "i+", "d-", "u", "context"]
"""The thesis' marks of a row: inserted, deleted, more and fewer of it, updated; and `context`: only
the surroundings changed.
"""


@dataclass(frozen=True, slots=True)
class Rules:
    """How phrases are compared.

    `box` is the number of words on each side that make a signature (004 §5.3.2.1). A phrase is
    updated when *more* than `factor` of its words, (numerator, denominator), are left in order.
    `exact`: case matters and symbols are not words. `resolved`: the six defects of the thesis are
    corrected (detection §1.5); without it only A to C are. `adaptive`: box and factor follow the
    page's `stability`.
    """

    box: int = 10
    factor: tuple[int, int] = (3, 5)
    exact: bool = False
    resolved: bool = True
    adaptive: bool = True


RESOLVED = Rules()
STRICT = Rules(exact=True, resolved=False, adaptive=False)


@dataclass(frozen=True, slots=True)
class Instance:
    """One occurrence of a phrase, from word `start`, with the boxes below and above it: its
    signature.
    """

    start: int
    lower: tuple[str, ...]
    upper: tuple[str, ...]

    @property
    def signature(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return what distinguishes this occurrence from others."""
        return self.lower, self.upper


@dataclass(frozen=True, slots=True)
class PhraseEdit:
    """The edit of an instance. `moved`: the same phrase was deleted in one place and inserted in
    another; it stays two edits.
    """

    status: Status
    old: Span
    new: Span
    moved: bool = False


def instances(words: Sequence[str], phrase: Sequence[str], *, box: int, most: int) -> list[Instance]:
    """Return the first `most` occurrences of a phrase, overlaps included."""
    return [_instance(words, start, len(phrase), box) for start in islice(occurrences(words, phrase), most)]


def _instance(words: Sequence[str], start: int, length: int, box: int) -> Instance:
    end = start + length
    return Instance(start, tuple(words[max(0, start - box) : start]), tuple(words[end : end + box]))


def is_update(common: int, length: int, rules: Rules) -> bool:
    """Return whether `common` words of `length` make the phrase updated, not deleted (B of
    detection §1.5).
    """
    numerator, denominator = rules.factor
    return common * denominator > numerator * length


def by_place(edits: Iterator[PhraseEdit]) -> tuple[PhraseEdit, ...]:
    """Return edits in the order of the new page."""
    return tuple(sorted(edits, key=lambda edit: (edit.new, edit.old)))
