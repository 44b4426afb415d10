"""Fewer changes: what a sentinel could say so that a change like one of its own is not news.

Two proposals. *Not relevant* leaves a pattern out (`Exclude regex`): the words of an edit with each
number for any number, between words that stood beside it. *Quiet until more than usual* asks for
more words than nine of ten of its changes so far (`where changed > N`).
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
"""So many words before an edit say where it stands."""
MOST_WORDS: Final = 12
"""An edit of more words is no noise."""
USUAL: Final = 0.9
"""The share of its changes so far that a page's usual change is not larger than."""
FEWEST: Final = 5
"""Changes from which on it is known what is usual."""
_TOKEN: Final = re.compile(r"\d+(?:[.,:]\d+)*|\w+|\s+|.", re.DOTALL)
_LETTERS: Final = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, slots=True)
class Proposal:
    """A text for a sentinel, and in one line what is another in it."""

    text: str
    says: str


def not_relevant(text: str, edit: EditLine) -> Proposal | None:
    """Return how a sentinel would leave out what an edit is about; None if no pattern is so narrow.

    Args:
        text: The sentinel as it is stored.
        edit: An edit of one of its changes.
    """
    found = pattern(edit.old, edit.new, edit.context.label or edit.context.before)
    if not found:
        return None
    sentinel = meaning(text)
    after = replace(sentinel, exclude=(*sentinel.exclude, Pattern(found)))
    return Proposal(printer.to_text(after), f"Exclude regex {expressions.quote(found)}")


def quiet_until_more(text: str, sizes: Sequence[int]) -> Proposal | None:
    """Return how a sentinel would report only changes that are larger than usual, None if it cannot.

    Args:
        text: The sentinel as it is stored.
        sizes: How many words each of its changes so far had.
    """
    sentinel = meaning(text)
    watched = sentinel.monitor
    if len(sizes) < FEWEST or not isinstance(watched, Interest) or watched.kind not in {"any", "words"}:
        return None
    usual = sorted(sizes)[min(len(sizes) - 1, int(USUAL * len(sizes)))]
    rest = tuple(one for one in watched.where if one.measure != "changed")
    larger = Condition("changed", ">", float(usual))
    after = replace(sentinel, monitor=replace(watched, where=(*rest, larger)))
    return Proposal(printer.to_text(after), f"where changed > {usual}")


def pattern(old: str, new: str, before: str) -> str:
    """Return a pattern (RE2) of what an edit is about, "" if there is none that is narrow enough.

    Args:
        old: What stood there before, "" for nothing.
        new: What stands there now, "" for nothing.
        before: The words that stand before it.
    """
    forms = {_general(one) for one in (old, new) if one.strip()}
    words = max(len(old.split()), len(new.split()))
    if not forms or words > MOST_WORDS:
        return ""
    core = forms.pop() if len(forms) == 1 else rf"\S+(?: \S+){{0,{words - 1}}}" if words > 1 else r"\S+"
    if _LETTERS.search(re.sub(r"\\.", "", core)):
        return core
    beside = " ".join(before.split()[-WORDS_BESIDE:])
    return f"{_general(beside)}:? {core}" if _LETTERS.search(beside) else ""


def _general(text: str) -> str:
    """Return a pattern of a text, each number in it standing for any."""
    return "".join(
        r"\d+(?:[.,:]\d+)*" if one[0].isdigit() else r"\s+" if one.isspace() else re.escape(one)
        for one in _TOKEN.findall(text.strip())
    )
