"""Fewer changes: propose alterations of a sentinel that would have ignored one of its changes.

Two proposals. *Not relevant* excludes a pattern (`Exclude regex`): the words of an edit with any
number for each number, between the adjacent words. *Quiet until more than usual* requires more
words than nine of ten of its changes so far (`where changed > N`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tidings.language import expressions
from tidings.language.write import printer
from tidings.model.watch.interest import Condition, Interest
from tidings.model.watch.sentinel import Pattern
from tidings.record import dataclass, replace
from tidings.service.watch.watchlist import meaning

if TYPE_CHECKING:
    from tidings.presentation.edits import EditLine

WORDS_BESIDE: Final = 2
"""Number of words before an edit that locate it."""
MOST_WORDS: Final = 12
"""An edit with more words is not noise."""
USUAL: Final = 0.9
"""The quantile of its changes so far that counts as usual."""
FEWEST: Final = 5
"""Fewest changes that show what is usual."""
_TOKEN: Final = re.compile(r"\d+(?:[.,:]\d+)*|\w+|\s+|.", re.DOTALL)
_LETTERS: Final = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A text for a sentinel, and its alteration in one line."""

    text: str
    sentence: str


def not_relevant(text: str, edit: EditLine) -> Proposal | None:
    """Return a sentinel that excludes the content of an edit; None if no pattern is narrow enough.

    Args:
        text: The stored text of the sentinel.
        edit: An edit of one of its changes.
    """
    around = edit.context
    if around.after.strip() and not around.before.strip():  # its label stands in another block, e.g. a cell
        found = pattern(edit.old, edit.new, "", around.after) or pattern(edit.old, edit.new, around.label)
    else:
        found = pattern(edit.old, edit.new, around.label or around.before)
    if not found:
        return None
    sentinel = meaning(text)
    after = replace(sentinel, exclude=(*sentinel.exclude, Pattern(found)))
    return Proposal(printer.to_text(after), f"Exclude regex {expressions.quote(found)}")


def quiet_until_more(text: str, sizes: Sequence[int]) -> Proposal | None:
    """Return a sentinel that reports only changes larger than usual, None if that is not possible.

    Args:
        text: The stored text of the sentinel.
        sizes: The number of words of each of its changes so far.
    """
    sentinel = meaning(text)
    watched = sentinel.monitor
    if len(sizes) < FEWEST or not isinstance(watched, Interest) or watched.kind not in {"any", "words"}:
        return None
    usual = find_usual(sizes)
    rest = tuple(one for one in watched.where if one.measure != "changed")
    larger = Condition("changed", ">", float(usual))
    after = replace(sentinel, monitor=replace(watched, where=(*rest, larger)))
    return Proposal(printer.to_text(after), f"where changed > {usual}")


def find_usual(sizes: Sequence[int]) -> int:
    """Return the number of words that nine of ten changes do not exceed; 0 of too few changes."""
    return sorted(sizes)[min(len(sizes) - 1, int(USUAL * len(sizes)))] if len(sizes) >= FEWEST else 0


def pattern(old: str, new: str, before: str, after: str = "") -> str:
    """Return a pattern (RE2) of an edit's content, "" if none is narrow enough.

    Args:
        old: The text before, "" for nothing.
        new: The text now, "" for nothing.
        before: The words before it.
        after: The words after it, used if there are none before.
    """
    forms = {_general(one) for one in (old, new) if one.strip()}
    words = max(len(old.split()), len(new.split()))
    if not forms or words > MOST_WORDS:
        return ""
    core = forms.pop() if len(forms) == 1 else rf"\S+(?: \S+){{0,{words - 1}}}" if words > 1 else r"\S+"
    if _LETTERS.search(re.sub(r"\\.", "", core)):
        return core
    beside = " ".join(before.split()[-WORDS_BESIDE:])
    behind = " ".join(after.split()[:WORDS_BESIDE])
    if not beside and _LETTERS.search(behind):
        return rf"{core}\s+{_general(behind)}"
    return rf"{_general(beside)}:?\s+{core}" if _LETTERS.search(beside) else ""


def _general(text: str) -> str:
    """Return a pattern of a text in which each number matches any number."""
    return "".join(
        r"\d+(?:[.,:]\d+)*" if one[0].isdigit() else r"\s+" if one.isspace() else re.escape(one)
        for one in _TOKEN.findall(text.strip())
    )
