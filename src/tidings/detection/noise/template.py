"""Templates: the fixed words of a place, and the holes between them that are noise (0047).

A template is drawn from second polls only: words that were the same in both fetches are fixed, and
a hole stands for the rest. A mask covers only the holes, so that in `30 € · 12 watching` the price
is reported. A hole is located by the fixed words beside it; if these changed, nothing is masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby

from tidings.detection.compare.words import compare_sequences
from tidings.model.observed.change import Edit

HOLE = ""
"""The sign of a hole in a template; no word is empty."""
BORDER = "\n"
"""The sign of a line border, which is fixed like a word: noise in one line covers nothing of the
next.
"""
LONGEST_TEMPLATE = 120
"""With more fixed words a place is too large to be one thing."""

CURRENCIES = frozenset(
    """$ € £ ¥ ₹ ₽ ₩ ₺ ₴ ₫ ₪ ฿ ₿ ¢ eur euro euros usd dollar dollars gbp pound pounds chf franken francs jpy yen cny yuan rmb inr rupees sek nok dkk isk
    kr kronor kroner pln zł złotych czk kč huf ft ron lei bgn лв rub руб uah грн try tl brl r$ cad aud nzd mxn zar sgd hkd cent cents""".split()
)

LONG_LINE = 6
"""In a shorter line no word is fixed by chance."""
BEFORE, AFTER = 2, 1
"""Words before and after a hole, in its line, that identify the same hole elsewhere on the page."""
_DIGITS = re.compile("[0-9]+")

Span = tuple[int, int]
Neighbours = tuple[tuple[str, ...], tuple[str, ...]]
Template = tuple[str, ...]


def draw(known: Template, old: Sequence[str], new: Sequence[str]) -> Template | None:
    """Return the template of a place after a second poll that found `new` in place of `old`.

    None: it proves no noise, since only amounts of money differ or too many words are fixed.
    """
    edits = compare_sequences(old, new)
    if not edits or all(
        _is_money(old, edit.old_start, edit.old_end) and _is_money(new, edit.new_start, edit.new_end) for edit in edits
    ):
        return None
    holes = _holes_of(edits, old, new)
    if known:
        holes += [hole for hole in holes_in(known, new) if hole is not None]
    template: list[str] = []
    at = 0
    for start, end in _join(holes):
        template += [*new[at:start], HOLE]
        at = end
    template += new[at:]
    return tuple(template) if len(template) <= LONGEST_TEMPLATE else None


def stretches_of(template: Template, words: Sequence[str]) -> list[Span | None]:
    """Return the holes of a template in the words of its place, without line borders."""
    counted = [*accumulate((word != BORDER for word in words), initial=0)]
    return [None if hole is None else (counted[hole[0]], counted[hole[1]]) for hole in holes_in(template, words)]


def holes_in(template: Template, words: Sequence[str]) -> list[Span | None]:
    """Return the positions of the holes of a template in the words of its place, None for one whose
    neighbours changed.
    """
    still = [word for word in template if word != HOLE]
    places = _places(compare_sequences(still, words), len(still))
    found: list[Span | None] = []
    before = 0
    for word in template:
        if word != HOLE:
            before += 1
            continue
        left = 0 if before == 0 else places[before - 1]
        right = len(words) if before == len(still) else places[before]
        is_there = left is not None and right is not None
        start = (left or 0) + (before > 0)
        found.append((start, right) if is_there and right is not None and start <= right else None)
    return found


def stands_still(template: Template, old: Sequence[str], new: Sequence[str]) -> bool:
    """Return whether the words of a place differ only in the holes of its template."""
    return not template or _without_holes(template, old) == _without_holes(template, new) is not None


def _without_holes(template: Template, words: Sequence[str]) -> list[str] | None:
    left: list[str] = []
    at = 0
    for hole in holes_in(template, words):
        if hole is None:
            return None
        left += words[at : hole[0]]
        at = hole[1]
    return [*left, *words[at:]]


def beside_holes(template: Template, before: Sequence[str], after: Sequence[str]) -> Iterator[Neighbours]:
    """Yield the words on both sides of each hole, in its line; at the ends of the place, those of
    `before` and `after`.
    """
    words = [*before, *template, *after] if template else [*before, HOLE, *after]
    for at, word in enumerate(words):
        if word == HOLE and (found := beside(words, at, at + 1)) is not None:
            yield found


def beside(words: Sequence[str], start: int, end: int) -> Neighbours | None:
    """Return the words on both sides of a range, in its line, numbers equal; None if they are too
    few to identify it.
    """
    left, right = words[max(0, start - BEFORE) : start], words[end : end + AFTER]
    if len(left) < BEFORE or len(right) < AFTER or not all(map(_stands, (*left, *right))):
        return None
    return tuple(map(_alike, left)), tuple(map(_alike, right))


def _stands(word: str) -> bool:
    return word not in {HOLE, BORDER, "^", "$"}


def _alike(word: str) -> str:
    return _DIGITS.sub("0", word)


def _places(edits: Sequence[Edit], length: int) -> list[int | None]:
    """Return the position of each word in the other sequence, None if it is not there."""
    places: list[int | None] = []
    shift = 0
    for edit in edits:
        places += [at + shift for at in range(len(places), edit.old_start)]
        places += [None] * (edit.old_end - edit.old_start)
        shift = edit.new_end - edit.old_end
    return places + [at + shift for at in range(len(places), length)]


def _holes_of(edits: Sequence[Edit], old: Sequence[str], new: Sequence[str]) -> list[Span]:
    """Return the positions of edits in `new`; in a long line of which at most half is fixed, merged
    across chance words.
    """
    holes: list[Span] = []
    for lines, group in groupby(edits, lambda edit: (_line_of(edit.old_start, old), _line_of(edit.new_start, new))):
        things = list(group)
        gone, come = (
            sum(edit.old_end - edit.old_start for edit in things),
            sum(edit.new_end - edit.new_start for edit in things),
        )
        if _is_half(lines[0], gone) and _is_half(lines[1], come):
            things = _without_chance(things, new)
        holes += [(edit.new_start, edit.new_end) for edit in things]
    return holes


def _line_of(at: int, words: Sequence[str]) -> Span:
    """Return the start and end of the line that contains `at`."""
    start = max((place + 1 for place in range(at) if words[place] == BORDER), default=0)
    return start, next((place for place in range(at, len(words)) if words[place] == BORDER), len(words))


def _is_half(line: Span, words: int) -> bool:
    length = line[1] - line[0]
    return length >= LONG_LINE and 2 * words >= length


def _without_chance(edits: Sequence[Edit], new: Sequence[str]) -> list[Edit]:
    """Return the edits of a line, merged across a single word, but not across a number or a
    sign.
    """
    joined: list[Edit] = []
    for edit in edits:
        last = joined[-1] if joined else None
        if last is not None and edit.new_start - last.new_end == 1 and new[last.new_end].isalpha():
            joined[-1] = Edit("replace", last.old_start, edit.old_end, last.new_start, edit.new_end)
        else:
            joined.append(edit)
    return joined


def _join(spans: Iterable[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _is_money(words: Sequence[str], start: int, end: int) -> bool:
    """Return whether a range is one number with its own currency, before or after it."""
    if end - start != 1 or not _is_number(words[start]):
        return False
    if end < len(words) and _is_currency(words[end]):
        return True
    return start > 0 and _is_currency(words[start - 1]) and not (start > 1 and _is_number(words[start - 2]))


def _is_number(word: str) -> bool:
    return any(sign.isdigit() for sign in word)


def _is_currency(word: str) -> bool:
    return word.casefold().rstrip(".") in CURRENCIES
