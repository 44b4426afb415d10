"""The headers that a page is answered with, as content (`header "Last-Modified"`).

No document holds them: the service knows what an answer said, and asks here what that is to an expression. A header that comes was inserted, one
that is gone was deleted, one with another value is updated. Nothing here parses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidings.detection.find.amounts import holds_of_numbers
from tidings.detection.find.numerals import number_in, values
from tidings.detection.kinds.interests import interests_of
from tidings.detection.kinds.states import evaluate_answers, says
from tidings.model.observed.change import ChangeSet, ObjectCount
from tidings.model.watch.interest import Condition, Expression, Interest

LONGEST_VALUE = 2_000
"""Characters of a value that are kept and compared."""


def header_names(expression: Expression) -> tuple[str, ...]:
    """Return the names of the headers that an expression asks for, in small letters, each once."""
    return tuple(dict.fromkeys(one.header.lower() for one in interests_of(expression) if one.kind == "header"))


def keep_headers(
    names: Iterable[str], headers: Mapping[str, str], before: Mapping[str, str], *, whole: bool
) -> dict[str, str]:
    """Return what is kept of an answer's headers: "" for one that is not there. Of an answer that is not `whole` (304) one that it does not repeat stands as `before`."""
    said = {name.lower(): " ".join(value.split())[:LONGEST_VALUE] for name, value in headers.items()}
    return {name: said.get(name, "" if whole else before.get(name, "")) for name in names}


def evaluate_headers(expression: Expression, old: Mapping[str, str], new: Mapping[str, str]) -> ChangeSet:
    """Return what an expression finds when a page is answered with other headers; what is no header finds nothing.

    One that is not in `old` was never checked before, and is no news.
    """
    return evaluate_answers(expression, lambda interest: _find(interest, old, new))


def _find(interest: Interest, old: Mapping[str, str], new: Mapping[str, str]) -> ChangeSet:
    name = interest.header.lower()
    if interest.kind != "header" or name not in old or old[name] == new.get(name, ""):
        return ChangeSet()
    was, now = old[name], new.get(name, "")
    meant = was if interest.direction == "deleted" else now
    if not all(_holds(condition, was, now, meant) for condition in interest.where):
        return ChangeSet()
    return _change(interest, was, now)


def _change(interest: Interest, was: str, now: str) -> ChangeSet:
    happened = "inserted" if not was else "deleted" if not now else "updated"
    if interest.direction not in {None, happened}:
        return ChangeSet()
    row = ObjectCount("header", f"{interest.header}: {now or was}", int(bool(was)), int(bool(now)))
    return ChangeSet(
        kinds=("header",),
        inserted=(row.object,) if happened == "inserted" else (),
        deleted=(row.object,) if happened == "deleted" else (),
        updated=((f"{interest.header}: {was}", f"{interest.header}: {now}"),) if happened == "updated" else (),
        objects=(row,),
    )


_OF_TEXTS = frozenset({"contains", "matches"})


def _holds(condition: Condition, was: str, now: str, meant: str) -> bool:
    if condition.measure in _OF_TEXTS:
        return says(condition, meant)
    before, after = values(number_in(was), number_in(now))
    return holds_of_numbers(condition, before, after)
