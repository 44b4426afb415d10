"""Status and response headers, as change types and as content (sentinels §5.3).

They are in no document, so no pair of documents holds them: the service knows when a page enters,
leaves or switches an error, and the headers of its answers, and evaluates expressions on them here.
Repeated errors are no change. A new header was inserted, a missing one deleted, one with another
value updated. Nothing is parsed here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from tidings.detection.kinds.interests import interests_of
from tidings.document.text.words import fold, plain
from tidings.model.observed.change import ChangeSet, ObjectCount
from tidings.model.watch.interest import ON_TEXTS, AllOf, AnyOf, Condition, Expression, Interest, Not
from tidings.record import dataclass

if TYPE_CHECKING:
    from tidings.document.document import Document


@dataclass(frozen=True, slots=True)
class Status:
    """The state of the page; its documents do not hold it."""

    name: str = "status"
    contains: frozenset[str] = frozenset({"status"})
    digests: tuple[str, ...] = ()

    def size(self, document: Document) -> int:  # noqa: ARG002 - the state of a page is nothing that a document says
        """Return 1: a page has one state."""
        return 1

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:  # noqa: ARG002 - likewise
        """Return nothing."""
        return ()


@dataclass(frozen=True, slots=True)
class Headers:
    """A response header; the page's documents do not hold it."""

    name: str = "header"
    contains: frozenset[str] = frozenset({"header"})
    digests: tuple[str, ...] = ()

    def size(self, document: Document) -> int:  # noqa: ARG002 - a header is nothing that a document says
        """Return 1: a header has one value."""
        return 1

    def compare(self, old: Document, new: Document) -> tuple[ChangeSet, ...]:  # noqa: ARG002 - likewise
        """Return nothing."""
        return ()


OK = "ok"


def state_of(kind: str, status: int | None) -> str:
    """Return a state in words: `ok`, `404`, `503 busy`, `403 blocked`, `net`; `kind` is that of the
    error, empty for none.
    """
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
        is_reported = (
            interest.kind == "status" and old != new and all(is_matched(condition, new) for condition in interest.where)
        )
        return _change_of_state(interest, old, new) if is_reported else ChangeSet()

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


def _change_of_state(interest: Interest, old: str, new: str) -> ChangeSet:
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


def is_matched(condition: Condition, state: str) -> bool:
    """Return whether a text contains or matches what a condition asks for."""
    if condition.measure in {"contains", "is", "lacks"}:
        is_there = any(fold(plain(text)) in fold(plain(state)) for text in condition.texts)
        return is_there != (condition.measure == "lacks")
    import re2  # needed in the parent only for pages whose sentinel asks for states

    return re2.search(condition.text, plain(state)) is not None


LONGEST_VALUE = 2_000
"""The longest value that is stored and compared, in characters."""


def header_names(expression: Expression) -> tuple[str, ...]:
    """Return the names of the headers in an expression, in lower case, without duplicates."""
    return tuple(dict.fromkeys(one.header.lower() for one in interests_of(expression) if one.kind == "header"))


def keep_headers(
    names: Iterable[str], headers: Mapping[str, str], before: Mapping[str, str], *, whole: bool
) -> dict[str, str]:
    """Return the stored `headers` of an answer, for the requested `names`: "" for a missing one. If
    the answer is not `whole` (304), a header that is not repeated stays as `before`.
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


def _holds(condition: Condition, was: str, now: str, meant: str) -> bool:
    if condition.measure in ON_TEXTS:
        return is_matched(condition, meant)
    from tidings.detection.find.numerals import holds_of_numbers, number_in, values

    before, after = values(number_in(was), number_in(now))
    return holds_of_numbers(condition, before, after)
