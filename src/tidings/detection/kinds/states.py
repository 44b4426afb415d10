"""The states of a page as content (`status`, sentinels §5.3).

The answer is not part of its text, so no pair of documents holds it: the service knows when a page
enters, leaves or switches an error, and evaluates expressions on that here. Repeated errors are no
change. Nothing is parsed here.
"""

from __future__ import annotations

from collections.abc import Callable

from tidings.document.text.words import fold, plain
from tidings.model.observed.change import ChangeSet, ObjectCount
from tidings.model.watch.interest import AllOf, AnyOf, Condition, Expression, Interest, Not

OK = "ok"


def state_of(kind: str, status: int | None) -> str:
    """Return a state in words: `ok`, `404`, `503 busy`, `403 blocked`, `net`; `kind` is that of the error, empty for none."""
    if not kind:
        return OK
    if status is None or status < 400 or str(status) == kind:
        return kind
    return str(status) if kind == f"{status // 100}xx" else f"{status} {kind}"


def watches_state(expression: Expression) -> bool:
    """Return whether an expression asks for the status of a page."""
    match expression:
        case Interest():
            return expression.kind == "status"
        case Not(part):
            return watches_state(part)
        case AnyOf(parts) | AllOf(parts):
            return any(map(watches_state, parts))


def evaluate_states(expression: Expression, old: str, new: str) -> ChangeSet:
    """Return the findings of an expression between two states; other change types find nothing.

    The new state was inserted and the old one deleted; `updated` matches any other state.
    Conditions apply to the new state.
    """

    def find_in(interest: Interest) -> ChangeSet:
        is_told = interest.kind == "status" and old != new and all(says(condition, new) for condition in interest.where)
        return _change(interest, old, new) if is_told else ChangeSet()

    return evaluate_answers(expression, find_in)


def evaluate_answers(expression: Expression, find: Callable[[Interest], ChangeSet]) -> ChangeSet:
    """Return the findings of an expression in the answers of a page; `find` evaluates each
    interest.
    """
    match expression:
        case Interest():
            return find(expression)
        case AnyOf(parts):
            return next((found for part in parts if (found := evaluate_answers(part, find))), ChangeSet())
        case AllOf(parts):
            wanted = [evaluate_answers(part, find) for part in parts if not isinstance(part, Not)]
            unwanted = any(evaluate_answers(part.part, find) for part in parts if isinstance(part, Not))
            return wanted[0] if wanted and all(wanted) and not unwanted else ChangeSet()
        case Not():
            return ChangeSet()


def _change(interest: Interest, old: str, new: str) -> ChangeSet:
    rows = {
        "inserted": (ObjectCount("status", new, 0, 1),),
        "deleted": (ObjectCount("status", old, 1, 0),),
    }
    whole = (*rows["inserted"], *rows["deleted"])
    return ChangeSet(
        kinds=("status",),
        updated=((old, new),),
        objects=whole if interest.direction in {None, "updated"} else rows[interest.direction],
    )


def says(condition: Condition, state: str) -> bool:
    """Return whether a text contains or matches what a condition asks for."""
    if condition.measure in {"contains", "is"}:
        return fold(plain(condition.text)) in fold(plain(state))
    import re2  # needed in the parent only for pages whose sentinel asks for states

    return re2.search(condition.text, plain(state)) is not None
