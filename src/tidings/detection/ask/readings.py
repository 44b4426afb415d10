"""Readings: the values that an expression reads in one version, and those that already satisfy it
at the first check.

Parts under NOT are not read. Of a page with frames the first member with a value is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from tidings.detection.ask.conditions import is_stated
from tidings.detection.data.price import availability_of, is_state, price_of
from tidings.detection.data.tabular import Tables, write_row
from tidings.detection.find.numerals import holds_of_numbers, number_in
from tidings.detection.kinds.aims import Aim, Aimed, Both, Either, aim_expression, positive_of
from tidings.detection.kinds.interests import LONGEST, label_of
from tidings.detection.kinds.number import find_number, matches_in
from tidings.detection.kinds.registry import row_of, terms_of
from tidings.document.document import Document
from tidings.document.extract import extract
from tidings.document.html.links import Resolver
from tidings.document.select.chosen import RefusedError
from tidings.document.select.extraction import Extraction
from tidings.document.structures.entries import entries_of
from tidings.document.structures.lists import items_of
from tidings.model.observed.change import ChangeSet, ObjectCount
from tidings.model.observed.version import Reading
from tidings.model.watch.interest import ON_PAGE, Condition, Expression, Interest
from tidings.record import replace

SHOWN: Final = 3
"""The number of things shown per sort."""
MOST_VALUES: Final = 20
"""The number of values of one expression that have a series."""
_MOST_ROWS: Final = 200
_SERIAL: Final = frozenset({"price", "availability", "number", "regex", "table"})


def readings(expression: Expression, extraction: Extraction, members: Sequence[Document]) -> tuple[Reading, ...]:
    """Return the current reading of each change type of an expression, in order.

    Args:
        expression: The expression.
        extraction: The sentinel's selection on the page.
        members: The documents of the version, the holder of frames first.
    """
    every = (_of_members(aim, members) for aim in positive_of(aim_expression(expression, extraction)))
    return tuple(dict.fromkeys(reading for reading in every if reading is not None))


def values(expression: Expression, extraction: Extraction, members: Sequence[Document]) -> tuple[Reading, ...]:
    """Return the single values of an expression that have a series over time; cells of a table one
    by one.
    """
    found: dict[str, Reading] = {}
    for aim in positive_of(aim_expression(expression, extraction)):
        if not is_serial(aim.interest):
            continue
        for document in members:
            for reading in _values(aim, document):
                found.setdefault(reading.label, reading)
                if len(found) == MOST_VALUES:
                    return tuple(found.values())
    return tuple(found.values())


def is_serial(interest: Interest) -> bool:
    """Return whether an interest reads single values: a price, a number, a match, cells of a table,
    a path of JSON.
    """
    by_path = interest.selector is not None and interest.selector.language == "jsonpath"
    return interest.kind in _SERIAL or (by_path and interest.kind in {"any", "words"})


def _of_members(aim: Aim, members: Sequence[Document]) -> Reading | None:
    found = [read(aim, document) for document in members]
    return next((reading for reading in found if reading is not None and reading.count), found[0] if found else None)


def _values(aim: Aim, document: Document) -> Iterator[Reading]:
    """Yield the existing values of one interest."""
    reading = read(aim, document)
    if reading is None or not reading.count or reading.problem:
        return
    if reading.kind != "table":
        yield replace(reading, texts=reading.texts[:1], count=1)
        return
    part = extract(document, aim.scope)
    for number, table in enumerate(Tables(aim.interest.ordinal, aim.interest.column).find(part)):
        for row in table.rows[:_MOST_ROWS]:
            for column, text in enumerate(row[1:], start=1):
                amount = _amount(text)
                name = (table.columns[column] if column < len(table.columns) else "") or f"column {column + 1}"
                if amount and row[0]:
                    label = f"{reading.label}{f' ({number + 1})' if number else ''}: {row[0]}, {name}"
                    yield Reading(label=label[:LONGEST], kind="cell", texts=(_cut_text(text),), count=1, amount=amount)


def read(aim: Aim, document: Document) -> Reading | None:
    """Return the reading of an interest; None for the whole page, described by its counts, and for
    what is not content.
    """
    interest, part = aim.interest, extract(document, aim.scope)
    label = label_of(interest)
    if part.problem:
        return Reading(label=label, kind="text", problem=part.problem)
    try:
        return _read(interest, part, label, is_whole=not aim.scope.selectors)
    except RefusedError as error:
        return Reading(label=label, kind="text", problem=str(error))


def _read(interest: Interest, part: Document, label: str, *, is_whole: bool) -> Reading | None:
    match interest.kind:
        case "price":
            price = price_of(part)
            if price is None:
                return Reading(label=label, kind="price")
            amount, unit = f"{price.amount:f}", price.currency
            return Reading(label=label, kind="price", texts=(price.text,), count=1, amount=amount, unit=unit)
        case "availability":
            state = availability_of(part)
            return Reading(label=label, kind="availability", texts=(state,) if state else (), count=int(bool(state)))
        case "number":
            number = find_number(part, interest.nth)
            if number is None:
                return Reading(label=label, kind="number")
            return Reading(
                label=label, kind="number", texts=(_cut_text(number.text),), count=1, amount=f"{number.value():f}"
            )
        case "regex":
            matches = matches_in(interest.pattern, part)
            texts = tuple(map(_cut_text, matches[:SHOWN]))
            amount = _amount(texts[0]) if texts else ""
            return Reading(label=label, kind="regex", texts=texts, count=len(matches), amount=amount)
        case "table":
            tables = Tables(interest.ordinal, interest.column).find(part)
            rows = [row for table in tables for row in table.rows]
            head = tables[0].columns if tables else ()
            return Reading(
                label=label,
                kind="table",
                texts=tuple(_cut_text(write_row(row)) for row in rows[:SHOWN]),
                count=len(rows),
                head=tuple(map(_cut_text, head)),
            )
        case "list":
            items = items_of(part, interest.ordinal)
            return Reading(
                label=label, kind="list", texts=tuple(_cut_text(i.text) for i in items[:SHOWN]), count=len(items)
            )
        case "items":
            entries = entries_of(part)
            texts = tuple(_cut_text(entry.label) for entry in entries[:SHOWN])
            return Reading(label=label, kind="items", texts=texts, count=len(entries))
        case "links" | "images":
            resolver = Resolver(part.base, "plain")
            each = resolver.each_link(part.links) if interest.kind == "links" else resolver.each_image(part.images)
            found = [*dict.fromkeys(address for address in each if address is not None)]
            return Reading(
                label=label, kind=interest.kind, texts=tuple(map(_cut_text, found[:SHOWN])), count=len(found)
            )
        case "keywords" | "phrases":
            counts = [(term, row_of(interest, term).size(part)) for term in terms_of(interest)]
            texts = tuple(
                f'"{term}" {number} {"time" if number == 1 else "times"}' for term, number in counts if number
            )
            return Reading(label=label, kind="terms", texts=texts[:SHOWN], count=sum(number for _, number in counts))
        case "any" | "words":
            if is_whole:
                return None
            text = " ".join(part.text.split())
            texts, amount = ((_cut_text(text),), _amount(text)) if text else ((), "")
            return Reading(label=label, kind="text", texts=texts, count=len(texts), amount=amount)
        case _:
            return None


def _amount(text: str) -> str:
    """Return the number that a short text is or begins with, as decimal digits; empty if it has
    none.
    """
    number = number_in(text[:LONGEST])
    return "" if number is None else f"{number.value():f}"


def _cut_text(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1].rstrip()}…"


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
        return is_stated(condition, (document.text for document in members))
    if condition.text:
        is_named = reading.kind == "availability" and condition.measure not in {"matches", "lacks"}
        if is_named:
            return any(is_state(wanted, reading.texts[0]) for wanted in condition.texts)
        return is_stated(condition, reading.texts)
    number = Decimal(reading.amount) if reading.amount else None
    return condition.measure != "becomes" and holds_of_numbers(condition, None, number)
