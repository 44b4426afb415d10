"""Values that already satisfy an expression at the first check (`price is below 100`), when there
is nothing to compare with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

from tidings.detection.ask.conditions import is_said
from tidings.detection.ask.readings import read
from tidings.detection.data.offers import is_state
from tidings.detection.find.amounts import holds_of_numbers
from tidings.detection.kinds.aims import Aim, Aimed, Both, Either, aim_expression
from tidings.document.document import Document
from tidings.document.select.extraction import Extraction
from tidings.model.observed.change import ChangeSet, ObjectCount
from tidings.model.observed.reading import Reading
from tidings.model.watch.interest import ON_PAGE, Condition, Expression


def already(expression: Expression, extraction: Extraction, members: Sequence[Document]) -> ChangeSet:
    """Return the values that already satisfy the expression, as insertions; empty if there are
    none.

    Parts under NOT are left out: nothing has changed yet.

    Args:
        expression: The expression.
        extraction: The sentinel's selection on the page.
        members: The documents of the first version, the holder of frames first.
    """
    found = list(dict.fromkeys(_find(aim_expression(expression, extraction), members)))
    objects = tuple(ObjectCount(reading.kind, reading.texts[0], 0, 1) for reading in found)
    kinds = tuple(dict.fromkeys(reading.kind for reading in found))
    texts = tuple(row.object for row in objects)
    return ChangeSet(kinds, inserted=texts, objects=objects, title=members[0].title) if found else ChangeSet()


def _find(aim: Aimed, members: Sequence[Document]) -> Iterator[Reading]:
    """Yield the satisfied parts of an expression: of an AND only if all of its parts are."""
    match aim:
        case Aim():
            yield from _states(aim, members)
        case Either(parts):
            for part in parts:
                yield from _find(part, members)
        case Both(positive):
            each = [list(_find(part, members)) for part in positive]
            if all(each):
                yield from (reading for some in each for reading in some)


def _states(aim: Aim, members: Sequence[Document]) -> Iterator[Reading]:
    """Yield the first value for which all conditions hold, if one of them is on a state (`is`)."""
    conditions = aim.interest.where
    if not any(condition.measure == "is" for condition in conditions):
        return
    for document in members:
        reading = read(aim, document)
        if reading is not None and reading.texts and all(_holds(one, reading, members) for one in conditions):
            yield reading
            return


def _holds(condition: Condition, reading: Reading, members: Sequence[Document]) -> bool:
    if condition.measure in ON_PAGE:
        asked = Condition("contains", text=condition.text)
        return is_said(asked, (document.text for document in members)) == (condition.measure == "page has")
    if condition.text:
        is_named = reading.kind == "availability" and condition.measure != "matches"
        return is_state(condition.text, reading.texts[0]) if is_named else is_said(condition, reading.texts)
    number = Decimal(reading.amount) if reading.amount else None
    return condition.measure != "becomes" and holds_of_numbers(condition, None, number)
