"""All pages of one policy, as arrays of equal length by column name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tidings.model import interval

Instants = NDArray[np.int64]
"""Instants or durations, µs."""
Ids = NDArray[np.int64]
Rows = NDArray[np.intp]
"""Places in a population: `ids[rows]` are the pages."""
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Column = NDArray[Any]
Columns = Mapping[str, ArrayLike]

NEVER: Final = interval.NEVER
UNPOLLED: Final = int(np.iinfo(np.int64).min)
"""`last_polled` of a page that was never polled; `not_before` of a page that may be polled at any
time.
"""
PRESENT: Final = "present"
"""A column of `on_update` only: False removes the page."""
HALF_LIFE: Final[interval.Duration] = interval.DAY
"""The default half-life of a change, µs (bid §3)."""
RATE: Final = (0.1 + 0.1**0.5) / 0.2
"""Changes a day of an unknown page: mean and one deviation of a Gamma(0.1) prior of mean ½
(docs/why/schedules.md).
"""


class UrgencyKind(IntEnum):
    """The worth of a change by the delay t of its capture (000 §2.3), and the meaning of
    `urgency_scale`.
    """

    UNIFORM = 0
    """1 for all t; the scale is 0"""
    EXPONENTIAL = 1
    """½^(t/scale): the scale is the half-life, µs"""
    WINDOW = 2
    """1 for t ≤ scale, else 0; µs. A scale of 0 is the policy's own instant."""


class LifeKind(IntEnum):
    """How long a change can be captured (000 §2.3), and the meaning of `life_scale`."""

    FOREVER = 0
    """until it is captured (Unbounded-Append); the scale is 0"""
    WINDOW = 1
    """for t ≤ scale, µs (Time-window-Append)"""
    CHANGES = 2
    """until that many further changes: a count, not a time (Change-window-Append)"""
    OVERWRITE = 3
    """until the next change (Overwrite); the scale is 0"""


class _KnownPages(NamedTuple):
    kind: type[np.generic]
    default: float | None
    meaning: str


KNOWN: Final[Mapping[str, _KnownPages]] = {
    "id": _KnownPages(np.int64, None, "the page; unique"),
    "host": _KnownPages(
        np.int64, None, "number of its host; left out: each page has a host of its own, numbered like the page"
    ),
    "cost": _KnownPages(np.float64, 1.0, "budget that a poll takes; above 0"),
    "importance": _KnownPages(np.float64, 0.5, "weight of a change; 0 or more"),
    "rate": _KnownPages(np.float32, RATE, "changes a day that the page is taken to have; 0 or more"),
    "urgency_kind": _KnownPages(np.int8, UrgencyKind.EXPONENTIAL, "a `UrgencyKind`"),
    "urgency_scale": _KnownPages(np.int64, HALF_LIFE, "half-life or window of the urgency, µs; 0 where it has none"),
    "life_kind": _KnownPages(np.int8, LifeKind.FOREVER, "a `LifeKind`"),
    "life_scale": _KnownPages(np.int64, 0, "window of the life, µs or changes; 0 where it has none"),
    "added": _KnownPages(np.int64, 0, "instant when the page was asked for, µs"),
    "last_polled": _KnownPages(np.int64, UNPOLLED, "instant of the last successful poll, µs"),
    "not_before": _KnownPages(
        np.int64, UNPOLLED, "instant before which the page is left alone (after a failure, say), µs"
    ),
    "shortest": _KnownPages(np.int64, 0, "least time between two polls, µs"),
    "longest": _KnownPages(np.int64, NEVER, "most time between two polls, µs"),
    "hinted": _KnownPages(
        np.int64, 0, "by how much hints make the page older than it is, µs; 0 after a poll (`effective`)"
    ),
    "unannounced": _KnownPages(
        np.float64, 1.0, "part of the page's changes that no source reports; above 0, 1 where none has proved itself"
    ),
}
"""The columns that every population has. Further columns that a policy needs must be given for
every page.
"""


class Population(Mapping[str, Column]):
    """A frozen table of pages. Arrays are read-only; every change makes a new table.

    The order of the pages is that of the constructor; later pages are appended; ties go to the
    lower place. A column with one value for all pages takes the memory of one: its array has a
    stride of 0.
    """

    __slots__ = ("_columns", "_order")

    def __init__(self, columns: Columns) -> None:
        """Copy the columns, fill in defaults and check them.

        Raises `ValueError` that names the column and the first faulty page.
        """
        given = dict(columns)
        if "id" not in given:
            message = 'a population needs the column "id"'
            raise ValueError(message)
        ids = np.array(given.pop("id"), dtype=np.int64)
        if ids.ndim != 1:
            message = f'the column "id" must have one dimension, it has {ids.ndim}'
            raise ValueError(message)
        ids.setflags(write=False)
        self._columns: dict[str, Column] = {"id": ids}
        for name in _names(given):
            made = _column(name, given[name], len(ids)) if name in given else _default(name, ids)
            self._columns[name] = compact(made)
        self._order: Rows | None = _order(ids)
        _check_ids(ids, self._order)
        _check(self._columns, self._columns, slice(None))

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Return the number of columns, as for any mapping; `size` is the number of pages."""
        return len(self._columns)

    def __repr__(self) -> str:
        return f"<Population of {self.size} pages: {', '.join(self._columns)}>"

    @property
    def size(self) -> int:
        """Return the number of pages."""
        return len(self._columns["id"])

    @property
    def ids(self) -> Ids:
        """Return the ids of the pages, in order."""
        return self._columns["id"]

    def rows(self, ids: ArrayLike) -> Rows:
        """Return the place of each page. Raise `KeyError` that names the first unknown page."""
        wanted = np.asarray(ids, dtype=np.int64)
        rows, found = self._find(wanted)
        if not found.all():
            message = f"there is no page {wanted[~found][0]} in this population"
            raise KeyError(message)
        return rows

    def has(self, ids: ArrayLike) -> Mask:
        """Return for each page whether it is in the population."""
        return self._find(np.asarray(ids, dtype=np.int64))[1]

    def present(self, ids: ArrayLike) -> tuple[Rows, Mask]:
        """Return the places of those pages that are in the population, and for each page whether it
        is.
        """
        rows, found = self._find(np.asarray(ids, dtype=np.int64))
        return rows[found], found

    def set(self, rows: ArrayLike, columns: Columns) -> Population:
        """Return a population in which the pages at `rows` have other values; other columns are
        shared, not copied.
        """
        places = np.asarray(rows, dtype=np.intp)
        changed: dict[str, Column] = {}
        for name, values in columns.items():
            if name == "id":
                message = "a page's id cannot be changed; take it out and add another"
                raise ValueError(message)
            if name not in self._columns:
                message = f'there is no column "{name}"; there are: {", ".join(self._columns)}'
                raise ValueError(message)
            column = self._columns[name]
            if not (column[places] == values).all():
                changed[name] = column.copy()
                changed[name][places] = values
                changed[name].setflags(write=False)
        after = {**self._columns, **changed}
        _check(after, changed, places)
        return Population._make(after, self._order)

    def update(self, ids: ArrayLike, columns: Columns) -> Population:
        """Return a population in which the pages `ids` have the values of `columns`; unknown pages
        are appended.

        `columns["present"]` False removes a page (an unknown page is skipped). Raises `ValueError`.
        """
        pages = np.array(ids, dtype=np.int64)
        ordered = np.sort(pages)
        if (ordered[1:] == ordered[:-1]).any():
            message = "a page is named twice in one update"
            raise ValueError(message)
        given = {name: _spread(name, values, len(pages)) for name, values in columns.items()}
        rows, here = self._find(pages)
        if PRESENT not in given and here.all():
            return self.set(rows, given)
        present = given.pop(PRESENT, np.ones(len(pages), dtype=np.bool_)).astype(np.bool_)
        changed = here & present
        after = (
            self.set(rows[changed], {name: values[changed] for name, values in given.items()})
            if changed.any()
            else self
        )
        added = ~here & present
        gone = here & ~present
        if not (added.any() or gone.any()):
            return after
        return Population._join(
            after, rows[gone], pages[added], {name: values[added] for name, values in given.items()}
        )

    def _find(self, ids: Ids) -> tuple[Rows, Mask]:
        own = self.ids
        if not len(own):
            return np.zeros(len(ids), dtype=np.intp), np.zeros(len(ids), dtype=np.bool_)
        places = np.searchsorted(own, ids, sorter=self._order)
        places = np.minimum(places, len(own) - 1)
        rows = places if self._order is None else self._order[places]
        return rows, own[rows] == ids

    def _join(self, gone: Rows, ids: Ids, added: Mapping[str, Column]) -> Population:
        """Return the population without the pages at `gone` and with new ones appended."""
        if extra := set(added) - set(self._columns):
            message = f"there is no column {min(extra)!r}; there are: {', '.join(self._columns)}"
            raise ValueError(message)
        left = np.ones(self.size, dtype=np.bool_)
        left[gone] = False
        columns = {name: _shorten(column, left) if len(gone) else column for name, column in self._columns.items()}
        if len(ids):
            more = Population({"id": ids, **added})
            columns = {
                name: _lengthen(column, more[name] if name in more else _default(name, ids))
                for name, column in columns.items()
            }
        return Population._make(columns, _order(columns["id"]))

    @staticmethod
    def _make(columns: dict[str, Column], order: Rows | None) -> Population:
        """Return a population of valid columns, unchecked."""
        made = Population.__new__(Population)
        made._columns = columns  # noqa: SLF001 - private to this module
        made._order = order  # noqa: SLF001 - private to this module
        return made


def is_repeated(column: Column) -> bool:
    """Return whether an array repeats one value with a stride of 0."""
    return len(column) > 0 and column.strides == (0,)


def compact(column: Column) -> Column:
    """Return the column, read-only; if all its values are equal, as an array that repeats one."""
    if len(column) and column[0] == column[-1] and (column == column[0]).all():
        repeated: Column = np.broadcast_to(column[0], column.shape)
        return repeated
    column.setflags(write=False)
    return column


def _shorten(column: Column, left: Mask) -> Column:
    return np.broadcast_to(column[0], int(left.sum())) if is_repeated(column) else compact(column[left])


def _lengthen(column: Column, more: Column) -> Column:
    if is_repeated(column) and (more == column[0]).all():
        return np.broadcast_to(column[0], len(column) + len(more))
    return compact(np.concatenate([column, more]))


def _names(given: Columns) -> list[str]:
    return [*(name for name in KNOWN if name != "id"), *(name for name in given if name not in KNOWN)]


def _default(name: str, ids: Ids) -> Column:
    known = KNOWN.get(name)
    if name == "host":
        return ids
    if known is None or known.default is None:
        message = f'the column "{name}" has no default; give it for every page'
        raise ValueError(message)
    return np.full(len(ids), known.default, dtype=known.kind)


def _column(name: str, values: ArrayLike, count: int) -> Column:
    known = KNOWN.get(name)
    column = np.array(values) if known is None else np.array(values, dtype=known.kind)
    if column.shape != (count,):
        message = f'the column "{name}" must have one value for each of the {count} pages; its shape is {column.shape}'
        raise ValueError(message)
    return column


def _spread(name: str, values: ArrayLike, count: int) -> Column:
    column = np.asarray(values)
    return np.full(count, column) if column.ndim == 0 else _column(name, column, count)


def _order(ids: Ids) -> Rows | None:
    if len(ids) < 2 or bool((ids[1:] > ids[:-1]).all()):
        return None
    return np.argsort(ids, kind="stable")


def _check_ids(ids: Ids, order: Rows | None) -> None:
    if order is not None:
        twice = np.zeros(len(ids), dtype=np.bool_)
        twice[order[1:]] = ids[order[1:]] == ids[order[:-1]]
        _refuse(ids, twice, "is there twice")


def _check(columns: Mapping[str, Column], changed: Iterable[str], rows: Rows | slice) -> None:
    """Raise `ValueError` for invalid values at `rows` in the changed columns, alone or combined
    with the others.
    """
    for name in changed:
        for rule in _RULES_OF.get(name, ()):
            wrong = rule.is_wrong(*(columns[each][rows] for each in rule.columns))
            _refuse(columns["id"][rows], wrong, rule.text)


class _Rule(NamedTuple):
    columns: tuple[str, ...]
    text: str
    is_wrong: Callable[..., Mask]


def _is_too_short(least: tuple[int, ...]) -> Callable[[Column, Column], Mask]:
    """Return a check whether a scale is below the least of its kind."""
    return lambda kind, scale: scale < np.array(least)[np.clip(kind, 0, len(least) - 1)]


_RULES: Final = (
    _Rule(("cost",), "must have a finite cost above 0", lambda cost: ~((cost > 0) & (cost < np.inf))),
    _Rule(("importance",), "must have a finite importance of 0 or more", lambda w: ~((w >= 0) & (w < np.inf))),
    _Rule(("rate",), "must have a finite rate of 0 or more", lambda rate: ~((rate >= 0) & (rate < np.inf))),
    _Rule(("urgency_kind",), "must have a kind of urgency from 0 to 2", lambda kind: (kind < 0) | (kind > 2)),
    _Rule(
        ("urgency_kind", "urgency_scale"),
        "has a scale of urgency that its kind does not allow",
        _is_too_short((0, 1, 0)),
    ),
    _Rule(("life_kind",), "must have a kind of life from 0 to 3", lambda kind: (kind < 0) | (kind > 3)),
    _Rule(("life_kind", "life_scale"), "has a scale of life that its kind does not allow", _is_too_short((0, 0, 1, 0))),
    _Rule(
        ("unannounced",),
        "must have a part of changes that is unannounced above 0 and up to 1",
        lambda part: ~((part > 0) & (part <= 1)),
    ),
    _Rule(("hinted",), "must be made older by 0 or more", lambda hinted: hinted < 0),
    _Rule(("host",), "must have a host number of 0 or more", lambda host: host < 0),
    _Rule(("shortest",), "must have a shortest interval of 0 or more", lambda shortest: shortest < 0),
    _Rule(
        ("shortest", "longest"),
        "must have a longest interval not below its shortest",
        lambda shortest, longest: longest < np.maximum(shortest, 1),
    ),
)
_RULES_OF: Final = {name: tuple(rule for rule in _RULES if name in rule.columns) for name in KNOWN}


def _refuse(ids: Ids, wrong: Mask, text: str) -> None:
    if wrong.any():
        message = f"page {ids[int(wrong.argmax())]} {text}"
        raise ValueError(message)
