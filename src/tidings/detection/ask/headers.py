"""Response headers as content (`header "Last-Modified"`).

They are in no document: the service has the answer's headers and evaluates expressions on them
here. A new header was inserted, a missing one deleted, one with another value updated. Nothing is
parsed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidings.detection.kinds.interests import interests_of
from tidings.detection.kinds.states import evaluate_answers, says
from tidings.model.observed.change import ChangeSet, ObjectCount
from tidings.model.watch.interest import Condition, Expression, Interest

LONGEST_VALUE = 2_000
"""The longest value that is stored and compared, in characters."""


def header_names(expression: Expression) -> tuple[str, ...]:
    """Return the names of the headers in an expression, in lower case, without duplicates."""
    return tuple(dict.fromkeys(one.header.lower() for one in interests_of(expression) if one.kind == "header"))


def keep_headers(
    names: Iterable[str], headers: Mapping[str, str], before: Mapping[str, str], *, whole: bool
) -> dict[str, str]:
    """Return the stored headers of an answer: "" for a missing one. If the answer is not `whole`
    (304), a header that is not repeated stays as `before`.
    """
    said = {name.lower(): " ".join(value.split())[:LONGEST_VALUE] for name, value in headers.items()}
    return {name: said.get(name, "" if whole else before.get(name, "")) for name in names}


def evaluate_headers(expression: Expression, old: Mapping[str, str], new: Mapping[str, str]) -> ChangeSet:
    """Return the findings of an expression between two sets of headers; other change types find
    nothing.

    A header that is not in `old` was never checked before, and is not reported.
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
    from tidings.detection.find.amounts import holds_of_numbers
    from tidings.detection.find.numerals import number_in, values

    before, after = values(number_in(was), number_in(now))
    return holds_of_numbers(condition, before, after)
