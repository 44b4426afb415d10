"""Random edit scripts, and the properties of every comparison (detection §1.6)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from tidings.detection.compare.instances import compare_objects
from tidings.detection.compare.words import common_length, compare_sequences
from tidings.model.observed.change import Edit

LONGEST = 120
ALPHABETS = (2, 5, 40, 400)
"""How many different words a text has: from nearly all alike to nearly all apart."""


def apply_edits(edits: Sequence[Edit], old: Sequence[str], new: Sequence[str]) -> list[str]:
    """Return `old` with the edits applied; tokens of inserts and replaces come from `new`. Equal to
    `new` for its own edits.
    """
    made: list[str] = []
    at = 0
    for edit in edits:
        made.extend(old[at : edit.old_start])
        made.extend(new[edit.new_start : edit.new_end])
        at = edit.old_end
    made.extend(old[at:])
    return made


def make_script(rng: random.Random) -> tuple[list[str], list[str], int]:
    """Return an old text, what a random script of inserts, deletes, replaces and moves makes of it, and how many words it left alone."""
    words = [f"w{number}" for number in range(rng.choice(ALPHABETS))]
    old = rng.choices(words, k=rng.randint(0, LONGEST))
    new: list[str] = []
    left = at = 0
    while at < len(old):
        size = rng.randint(1, 12)
        part = old[at : at + size]
        at += size
        match rng.choice(("keep", "keep", "keep", "insert", "delete", "replace", "move")):
            case "keep":
                new += part
                left += len(part)
            case "insert":
                new += rng.choices(words, k=rng.randint(1, 6)) + part
                left += len(part)
            case "replace":
                new += rng.choices(words, k=rng.randint(1, 6))
            case "move":
                place = rng.randint(0, len(new))
                new[place:place] = part
    return old, new, left


def list_broken_rules(old: Sequence[str], new: Sequence[str], left: int) -> list[str]:
    """Return which rules a comparison of two texts breaks; `left` words at least have stayed in their order."""
    edits, back = compare_sequences(old, new), compare_sequences(new, old)
    rows = {row.object: (row.old, row.new) for row in compare_objects("x", old, new)}
    swapped = {row.object: (row.new, row.old) for row in compare_objects("x", new, old)}
    before, after = Counter(old), Counter(new)
    rules = {
        "the script applied to old is new": apply_edits(edits, old, new) == list(new),
        "no edits exactly when both are equal": bool(edits) == (list(old) != list(new)),
        "as many words are kept as the script left": common_length(edits, len(old)) >= left,
        "swapped, as many words are kept": common_length(edits, len(old)) == common_length(back, len(new)),
        "swapped, the script leads back": apply_edits(back, new, old) == list(old),
        "no two edits touch": all(a.old_end < b.old_start or a.new_end < b.new_start for a, b in pairwise(edits)),
        "rows are the difference of the counts": rows
        == {word: (before[word], after[word]) for word in before | after if before[word] != after[word]},
        "swapped, rows are swapped": rows == swapped,
    }
    return [rule for rule, holds in rules.items() if not holds]
