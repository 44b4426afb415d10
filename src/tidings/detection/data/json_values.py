"""Values: two versions of JSON compared place by place, with their types (detection §5).

The order of members is ignored. Elements of an array are identified by an id field, if they have
one; then, and if an array holds texts, objects or arrays without one, its order is ignored. An
array of numbers, true, false or null is a row or a series: its order counts. Selected parts are
compared at their places in the document: their parents are identified as in the whole, also by
fields that are not selected. Numbers are compared exactly (1 = 1.0 = 1e0, and no digit is lost);
`1`, `"1"` and `true` are three values.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any

from tidings.detection.compare.pairing import (
    Numbered,
    pair_alike,
    running_number,
    running_numbers,
    without_numbers,
)
from tidings.detection.compare.words import compare_sequences
from tidings.detection.data.differences import (
    DEEPEST,
    LONGEST,
    LONGEST_COMPARED,
    Difference,
    Differences,
    Span,
    TooManyError,
)
from tidings.document.data.json_tree import JsonValues, Value, number_of, parts_of_json, quote, scalar_text, scalars_of
from tidings.document.text.excerpts import common_ends
from tidings.record import dataclass

ID_FIELDS = (
    "id",
    "_id",
    "@id",
    "guid",
    "uid",
    "uuid",
    "key",
    "slug",
    "sku",
    "isbn",
    "code",
    "symbol",
    "name",
    "title",
    "url",
    "href",
    "date",
)
"""Fields that may identify the elements of an array, best first; after them any field whose name
ends in `id`.
"""

_CONTAINERS = frozenset({tuple, list})
_PLAIN_KEY = re.compile(r"[\w$@-]+")
_LONGEST_KEY = 80
_NAMES = ("name", "title", "label")
"""Fields that name an object for people."""
_MOST_WORK = 4_000_000
"""The most values that are hashed, in total: some seconds at worst."""

Members = tuple[tuple[str, Value], ...]


def compare_values(old: Value, new: Value) -> list[Difference]:
    """Return the differences of the values of two documents; their spans are pieces, two per word.

    Raises `TooManyError`, and RecursionError for values that are nested too deep.
    """
    comparison = _ValueComparison()
    comparison.compare("", _ValueAt(old, 0), _ValueAt(new, 0))
    return comparison.differences.found


def compare_parts(old: JsonValues, new: JsonValues) -> list[Difference]:
    """Return the differences of parts of two documents, by their places; of a single part, by its
    content. See `compare_values`.
    """
    if len(old.values) == 1 and old.paths == new.paths:
        return compare_values(old.values[0], new.values[0])
    comparison = _ValueComparison()
    sides = [_Side(parts.whole, comparison.place_parts(parts), _ValueAt(parts.values, 0)) for parts in (old, new)]
    comparison.compare_places("", sides[0], sides[1])
    return comparison.differences.found


class _ValueAt:
    """A value, the number of its first word, and its index in its array."""

    __slots__ = ("number", "start", "value")

    def __init__(self, value: Value, start: int, number: int = 0) -> None:
        self.value = value
        self.start = start
        self.number = number


_Places = dict[str | int, "_Places | _ValueAt"]


@dataclass(frozen=True, slots=True)
class _Side:
    """A place of a document: `whole` is its value, `places` are the parts below it by the steps
    that lead to them, `every` are all parts.
    """

    whole: Any
    places: _Places | _ValueAt
    every: _ValueAt

    def below(self, step: str | int) -> _Side:
        """Return the place after a step."""
        places = self.places[step] if isinstance(self.places, dict) else self.places
        return _Side(self.whole[step], places, self.every)

    def steps(self) -> list[Any]:
        """Return the steps to the places below, elements of an array in order."""
        return sorted(self.places) if isinstance(self.places, dict) else []

    def parts(self) -> Iterator[tuple[str, _ValueAt]]:
        """Yield the parts with their paths from here."""
        if isinstance(self.places, _ValueAt):
            yield "", self.places
            return
        for step in self.steps():
            name = f"[{step}]" if isinstance(step, int) else _step(step)
            for path, at in self.below(step).parts():
                yield f"{name}{path}", at


class _ValueComparison:
    """The state of one comparison."""

    def __init__(self) -> None:
        self.differences = Differences()
        self._sizes: dict[int, int] = {}
        self._depth = 0
        self._work = 0

    def compare(self, path: str, old: _ValueAt, new: _ValueAt) -> None:
        """Record the differences of two values. Raise `TooManyError` for too many differences or
        too much work.
        """
        before, after = old.value, new.value
        if before == after:
            return
        self._depth += 1
        if self._depth > DEEPEST:
            self._note_changed(path, old, new)
        elif isinstance(before, tuple) and isinstance(after, tuple):
            self._members(path, old, new)
        elif isinstance(before, list) and isinstance(after, list):
            self._elements(path, old, new, before, after)
        else:
            self._note_changed(path, old, new)
        self._depth -= 1

    def place_parts(self, parts: JsonValues) -> _Places | _ValueAt:
        """Return parts by the steps that lead to them."""
        places: _Places = {}
        if parts.paths[:1] == ((),):
            return _ValueAt(parts.values[0], 0)
        start = 0
        for path, value in zip(parts.paths, parts.values, strict=True):
            above = places
            for step in path[:-1]:
                below = above.setdefault(step, {})
                above = below if isinstance(below, dict) else {}  # parts are not nested
            above[path[-1]] = _ValueAt(value, start, path[-1] if isinstance(path[-1], int) else 0)
            start += self._size(value)
        return places

    def compare_places(self, path: str, old: _Side, new: _Side) -> None:
        """Record the differences of the parts at one place."""
        if isinstance(old.places, _ValueAt) and isinstance(new.places, _ValueAt):
            self.compare(path, old.places, new.places)
        elif isinstance(old.places, _ValueAt) or isinstance(new.places, _ValueAt):
            self._all_gone(path, old, new.every)
            self._all_come(path, new, old.every)
        elif isinstance(old.whole, list) and isinstance(new.whole, list):
            self._compare_members(path, old, new)
        elif isinstance(old.whole, dict) and isinstance(new.whole, dict):
            was, now = old.steps(), new.steps()
            for name in dict.fromkeys((*was, *now)):
                place = f"{path}{_step(name)}" if path else _step(name).removeprefix(".")
                if name in was and name in now:
                    self.compare_places(place, old.below(name), new.below(name))
                else:
                    self._all_gone(place, old.below(name) if name in was else None, new.every)
                    self._all_come(place, new.below(name) if name in now else None, old.every)
        else:
            self._all_gone(path, old, new.every)
            self._all_come(path, new, old.every)

    def _all_gone(self, path: str, side: _Side | None, there: _ValueAt) -> None:
        for below, one in side.parts() if side is not None else ():
            self._note_deleted(f"{path}{below}" if path else below.removeprefix("."), one, there)

    def _all_come(self, path: str, side: _Side | None, there: _ValueAt) -> None:
        for below, one in side.parts() if side is not None else ():
            self._note_inserted(f"{path}{below}" if path else below.removeprefix("."), one, there)

    def _compare_members(self, path: str, old: _Side, new: _Side) -> None:
        """Record the differences of parts that are elements of an array, or inside its elements."""
        was, now = ([side.below(step) for step in side.steps()] for side in (old, new))
        leaves = [[one.places for one in side if isinstance(one.places, _ValueAt)] for side in (was, now)]
        are_members = len(leaves[0]) == len(was) and len(leaves[1]) == len(now)
        every = [scalars_of(member) for member in old.whole], [scalars_of(member) for member in new.whole]
        field = _id_field(*every) or _id_field(
            [scalars_of(one.whole) for one in was], [scalars_of(one.whole) for one in now]
        )
        field = field or ("" if are_members else _identifying_field(*every, _steps_of(was) | _steps_of(now)))
        sides = (old.every, leaves[0]), (new.every, leaves[1])
        is_all = (len(was), len(now)) == (len(old.whole), len(new.whole))
        if field and is_all and are_members and self._are_counted(path, field, *sides, every):
            return
        if field and not (is_all and not are_members and self._are_numbered(field, every, was, now)):
            self._compare_named(path, field, (was, now), (old.every, new.every))
        elif not are_members:
            self._compare_in_order(path, (was, now), (old.every, new.every))
        elif _has_order([one.value for side in leaves for one in side]):
            self._compare_ordered(path, *sides)
        else:
            self._compare_unordered(path, *sides)

    def _are_numbered(
        self, field: str, every: tuple[Sequence[Value], Sequence[Value]], old: Sequence[_Side], new: Sequence[_Side]
    ) -> bool:
        """Return whether the ids of the objects around the parts are mere numbers, which match
        better in order.
        """
        if not all(running_numbers([_key_text(_field(value, field)) for value in side]) for side in every):
            return False
        sides = (
            Numbered(
                [running_number(_key_text(_field(scalars_of(one.whole), field))) for one in side],
                [{path: _freeze(at.value) for path, at in one.parts()} for one in side],
            )
            for side in (old, new)
        )
        return without_numbers(*sides) is not None

    def _compare_named(
        self, path: str, field: str, sides: tuple[Sequence[_Side], Sequence[_Side]], every: tuple[_ValueAt, _ValueAt]
    ) -> None:
        was, now = ({_freeze(_field(scalars_of(one.whole), field)): one for one in side} for side in sides)

        def place(side: _Side) -> str:
            return f"{path}[{field}={_key_text(_field(scalars_of(side.whole), field))}]"

        for key, one in was.items():
            if key in now:
                self.compare_places(place(one), one, now[key])
        gone, come = (
            [one for key, one in side.items() if key not in other] for side, other in ((was, now), (now, was))
        )
        left, fresh = _apart([self._describe(one) for one in gone], [self._describe(one) for one in come])
        for at in left:
            self._all_gone(place(gone[at]), gone[at], every[1])
        for at in fresh:
            self._all_come(place(come[at]), come[at], every[0])

    def _compare_in_order(
        self, path: str, sides: tuple[Sequence[_Side], Sequence[_Side]], every: tuple[_ValueAt, _ValueAt]
    ) -> None:
        """Record the differences of parts inside unnamed elements of an array: in order."""
        old, new = sides
        was, now = ([repr(_freeze(self._describe(one))) for one in side] for side in (old, new))
        edits = [(e.old_start, e.old_end, e.new_start, e.new_end) for e in compare_sequences(was, now)]
        changed = sum(max(i_end - i, j_end - j) for i, i_end, j, j_end in edits)
        if len(was) == len(now) and sum(one != other for one, other in zip(was, now, strict=True)) <= changed:
            edits = [(0, len(was), 0, len(now))]
        for i, i_end, j, j_end in edits:
            if i_end - i == j_end - j:
                for one, other, number in zip(old[i:i_end], new[j:j_end], range(j, j_end), strict=True):
                    self.compare_places(f"{path}[{number}]", one, other)
                continue
            for number in range(i, i_end):
                self._all_gone(f"{path}[{number}]", old[number], every[1])
            for number in range(j, j_end):
                self._all_come(f"{path}[{number}]", new[number], every[0])

    def _describe(self, side: _Side) -> Value:
        """Return the values of the parts at a place, with their paths in it."""
        parts = list(side.parts())
        self._spend([at for _, at in parts])
        return tuple((path, at.value) for path, at in parts)

    def _note_changed(self, path: str, old: _ValueAt, new: _ValueAt) -> None:
        before, after = old.value, new.value
        if not _is_same(before, after):
            shown = _write_apart(before, after)
            self.differences.add(Difference(path, *shown, self._span(old), self._span(new)))

    def _spend(self, *sides: Sequence[_ValueAt]) -> None:
        self._work += sum(self._size(one.value) for side in sides for one in side)
        if self._work > _MOST_WORK:
            raise TooManyError

    def _members(self, path: str, old: _ValueAt, new: _ValueAt, without: str = "") -> None:
        path = _name_path(path, old.value, new.value)
        was, now = self._place_members(old), self._place_members(new)
        for name, one in was.items():
            if without and name[0] == without:
                continue
            place = f"{path}{_step(name[0])}" if path else _step(name[0]).removeprefix(".")
            if name in now:
                self.compare(place, one, now[name])
            else:
                self._note_deleted(place, one, new, is_member=True)
        for name, one in now.items():
            if name not in was:
                place = f"{path}{_step(name[0])}" if path else _step(name[0]).removeprefix(".")
                self._note_inserted(place, one, old, is_member=True)

    def _place_members(self, at: _ValueAt) -> dict[tuple[str, int], _ValueAt]:
        """Return the members of an object by name; members of equal names are numbered."""
        found: dict[tuple[str, int], _ValueAt] = {}
        times: Counter[str] = Counter()
        start = at.start
        for key, value in at.value if isinstance(at.value, tuple) else ():
            found[key, times[key]] = _ValueAt(value, start + 1)
            times[key] += 1
            start += 1 + self._size(value)
        return found

    def _elements(self, path: str, old: _ValueAt, new: _ValueAt, before: list[Value], after: list[Value]) -> None:
        """Compare two arrays without their common start and end, which have no differences."""
        head, tail = common_ends(before, after)
        was = self._list_parts(old.start, before, head, len(before) - tail)
        now = self._list_parts(new.start, after, head, len(after) - tail)
        if field := _id_field(before, after):
            if not self._are_counted(path, field, (old, was), (new, now), (before, after)):
                self._compare_keyed(path, field, (old, was), (new, now))
        elif _has_order(before) or _has_order(after):
            self._compare_ordered(path, (old, was), (new, now))
        else:
            self._compare_unordered(path, (old, was), (new, now))

    def _list_parts(self, start: int, values: Sequence[Value], first: int, end: int) -> list[_ValueAt]:
        start += sum(map(self._size, values[:first]))
        found = []
        for number, value in enumerate(values[first:end], first):
            found.append(_ValueAt(value, start, number))
            start += self._size(value)
        return found

    def _are_counted(
        self,
        path: str,
        field: str,
        old: tuple[_ValueAt, list[_ValueAt]],
        new: tuple[_ValueAt, list[_ValueAt]],
        every: tuple[Sequence[Value], Sequence[Value]],
    ) -> bool:
        """Record the differences of two arrays whose ids are mere numbers and match better without;
        return whether they are.
        """
        if not all(running_numbers([_key_text(_field(value, field)) for value in side]) for side in every):
            return False
        self._spend(old[1], new[1])
        rest = [[_without(one.value, field) for one in side[1]] for side in (old, new)]
        name = _id_field(rest[0], rest[1]) or _identifying_field(rest[0], rest[1], ())
        sides = (
            Numbered(
                [running_number(_key_text(_field(one.value, field))) for one in side],
                [{key: _freeze(member) for key, member in value} for value in values],
                [_freeze(_field(value, name)) for value in values] if name else [],
            )
            for side, values in zip((old[1], new[1]), rest, strict=True)
        )
        found = without_numbers(*sides)
        if found is None:
            return False
        pairs, moved = found
        for i, j in sorted(pairs, key=lambda pair: pair[1]):
            one, other = old[1][i], new[1][j]
            counted = f"{name}={_key_text(_field(other.value, name))}" if name else other.number
            self._members(f"{path}[{counted}]", one, other, without="" if (i, j) in moved else field)
        gone, come = {i for i, _ in pairs}, {j for _, j in pairs}
        for at, one in enumerate(old[1]):
            if at not in gone:
                self._note_deleted(f"{path}[{field}={_key_text(_field(one.value, field))}]", one, new[0])
        for at, one in enumerate(new[1]):
            if at not in come:
                self._note_inserted(f"{path}[{field}={_key_text(_field(one.value, field))}]", one, old[0])
        return True

    def _compare_keyed(
        self, path: str, field: str, old: tuple[_ValueAt, list[_ValueAt]], new: tuple[_ValueAt, list[_ValueAt]]
    ) -> None:
        was = {_freeze(_field(one.value, field)): one for one in old[1]}
        now = {_freeze(_field(one.value, field)): one for one in new[1]}
        for key, one in was.items():
            place = f"{path}[{field}={_key_text(_field(one.value, field))}]"
            if key in now:
                self.compare(place, one, now[key])
            else:
                self._note_deleted(place, one, new[0])
        for key, one in now.items():
            if key not in was:
                self._note_inserted(f"{path}[{field}={_key_text(_field(one.value, field))}]", one, old[0])

    def _compare_ordered(
        self, path: str, old: tuple[_ValueAt, list[_ValueAt]], new: tuple[_ValueAt, list[_ValueAt]]
    ) -> None:
        self._spend(old[1], new[1])
        edits = compare_sequences(*([repr(_freeze(one.value)) for one in side] for side in (old[1], new[1])))
        for edit in edits:
            gone, come = old[1][edit.old_start : edit.old_end], new[1][edit.new_start : edit.new_end]
            if len(gone) == len(come):
                for one, other in zip(gone, come, strict=True):
                    self.compare(f"{path}[{other.number}]", one, other)
                continue
            for one in gone:
                self._note_deleted(f"{path}[{one.number}]", one, new[0])
            for one in come:
                self._note_inserted(f"{path}[{one.number}]", one, old[0])

    def _compare_unordered(
        self, path: str, old: tuple[_ValueAt, list[_ValueAt]], new: tuple[_ValueAt, list[_ValueAt]]
    ) -> None:
        self._spend(old[1], new[1])
        left, fresh = _apart([one.value for one in old[1]], [one.value for one in new[1]])
        pairs = [(left[i], fresh[j]) for i, j in pair_alike(
            [_features(old[1][at].value) for at in left], [_features(new[1][at].value) for at in fresh])]  # fmt: skip
        pairs += [(at, at) for at in sorted(_here(left, fresh, old[1], new[1]))]
        if len(left) == len(fresh) == 1 and not pairs:
            one, other = old[1][left[0]].value, new[1][fresh[0]].value
            pairs += [(left[0], fresh[0])] if isinstance(one, list) and isinstance(other, list) else []
        for i, j in sorted(pairs):
            self.compare(f"{path}[{new[1][j].number}]", old[1][i], new[1][j])
        gone, come = {i for i, _ in pairs}, {j for _, j in pairs}
        for at in left:
            if at not in gone:
                self._note_deleted(f"{path}[{old[1][at].number}]", old[1][at], new[0])
        for at in fresh:
            if at not in come:
                self._note_inserted(f"{path}[{new[1][at].number}]", new[1][at], old[0])

    def _note_deleted(self, path: str, one: _ValueAt, there: _ValueAt, *, is_member: bool = False) -> None:
        start, end = self._span(one)
        span = (start - 2 * is_member, end)
        self.differences.add(Difference(path, write_value(one.value), None, span, self._end(there)))

    def _note_inserted(self, path: str, one: _ValueAt, there: _ValueAt, *, is_member: bool = False) -> None:
        start, end = self._span(one)
        span = (start - 2 * is_member, end)
        self.differences.add(Difference(path, None, write_value(one.value), self._end(there), span))

    def _span(self, at: _ValueAt) -> Span:
        return 2 * at.start, 2 * (at.start + self._size(at.value))

    def _end(self, at: _ValueAt) -> Span:
        """Return the empty span at the end of a value: where something new would be."""
        end = self._span(at)[1]
        return end, end

    def _size(self, value: Value) -> int:
        """Return how many words a value has."""
        if not isinstance(value, (tuple, list)):
            return 1
        known = self._sizes.get(id(value))
        if known is None:
            known = 0
            if isinstance(value, tuple):
                for _, member in value:
                    known += 1 + (self._size(member) if type(member) in _CONTAINERS else 1)
            else:
                for member in value:
                    known += self._size(member) if type(member) in _CONTAINERS else 1
            self._sizes[id(value)] = known
        return known


def _here(left: Sequence[int], fresh: Sequence[int], old: Sequence[_ValueAt], new: Sequence[_ValueAt]) -> set[int]:
    """Return the places at which one text or number became another one."""
    return {at for at in {*left} & {*fresh} if _is_scalar(old[at].value) and _is_scalar(new[at].value)}


def _is_scalar(value: Value) -> bool:
    return not isinstance(value, (tuple, list))


def _has_order(values: Sequence[Value]) -> bool:
    """Return whether the order of an array counts: it has elements that are not names."""
    return any(isinstance(value, (bytes, bool)) or value is None for value in values)


def _id_field(old: Sequence[Value], new: Sequence[Value], likely: Sequence[str] = ()) -> str:
    """Return the field that identifies the objects of two arrays: present in all, unique in each
    version; empty if none.

    It is one of the fields `likely`, by default those whose names suggest it.
    """
    every = [*old, *new]
    first = every[0] if every else None
    if not isinstance(first, tuple) or not all(isinstance(value, tuple) and value for value in every):
        return ""
    if not likely:
        names = [key for key, value in first if isinstance(value, (str, bytes))]
        likely = [name for name in ID_FIELDS if name in names]
        likely += [name for name in names if name not in likely and name.lower().endswith("id")]
    # of a repeated field the first counts
    rows = [[dict(value[::-1]) for value in side if isinstance(value, tuple)] for side in (old, new)] if likely else []
    for name in likely:
        was, now = ([row.get(name) for row in side] for side in rows)
        if all(isinstance(value, (str, bytes)) for value in (*was, *now)):
            before, after = set(map(_freeze, was)), set(map(_freeze, now))
            if len(before) == len(was) and len(after) == len(now) and (before & after or not before or not after):
                return name
    return ""


def _without(value: Value, field: str) -> Members:
    """Return an object without a field."""
    return tuple(member for member in value if member[0] != field) if isinstance(value, tuple) else ()


def _identifying_field(old: Sequence[Value], new: Sequence[Value], parts: Collection[str | int]) -> str:
    """Return a text field that identifies the objects around parts, outside the parts themselves;
    empty if none.
    """
    first = next(iter(old), None)
    names = [key for key, value in first if isinstance(value, str)] if isinstance(first, tuple) else []
    names = [name for name in names if name not in parts]
    return _id_field(old, new, names) if names else ""


def _steps_of(sides: Sequence[_Side]) -> set[str | int]:
    return {step for side in sides for step in side.steps()}


def _field(value: Value, name: str) -> Value:
    """Return a field of an object; of a repeated one the first."""
    for key, member in value if isinstance(value, tuple) else ():
        if key == name:
            return member
    return None


def _apart(old: Sequence[Value], new: Sequence[Value]) -> tuple[list[int], list[int]]:
    """Return the places of the values that only one version has, or has more often, as
    multisets.
    """
    waiting: dict[Hashable, list[int]] = {}
    for at, value in enumerate(old):
        waiting.setdefault(_freeze(value), []).append(at)
    fresh = []
    for at, value in enumerate(new):
        same = waiting.get(_freeze(value))
        if same:
            same.pop(0)
        else:
            fresh.append(at)
    return sorted(at for places in waiting.values() for at in places), fresh


def _features(value: Value) -> frozenset[Hashable]:
    if isinstance(value, tuple):
        return frozenset((key, _freeze(member)) for key, member in value)
    if isinstance(value, list):
        return frozenset((at, _freeze(member)) for at, member in enumerate(value))
    return frozenset()


def _freeze(value: Value) -> Hashable:
    """Return a key that is equal exactly for equal values."""
    if isinstance(value, str):
        return value if value.isascii() else unicodedata.normalize("NFC", value)
    if isinstance(value, bytes):
        return number_of(value)
    if isinstance(value, tuple):
        return ("{}", *((key, _freeze(member)) for key, member in value))
    if isinstance(value, list):
        members = [_freeze(member) for member in value]
        return ("[]", *(members if _has_order(value) else sorted(members, key=repr)))
    return (value,)


def _is_same(old: Value, new: Value) -> bool:
    return type(old) is type(new) and _freeze(old) == _freeze(new)


def _name_path(path: str, old: Value, new: Value) -> str:
    """Return the path of an object with its name in both versions: `service[name=search]`."""
    if path.endswith("]") and "=" in path.rpartition("[")[2]:
        return path
    for field in _NAMES:
        name = _field(new, field)
        if isinstance(name, str) and name.strip() and len(name) <= _LONGEST_KEY and _field(old, field) == name:
            return f"{path}[{field}={_key_text(name)}]"
    return path


def _step(key: str) -> str:
    if _PLAIN_KEY.fullmatch(key):
        return f".{_shorten_key(key)}"
    return f"[{quote(_shorten_key(key))}]"


def _key_text(value: Value) -> str:
    return _shorten_key(" ".join(scalar_text(value).split()))


def _shorten_key(text: str) -> str:
    return text if len(text) <= _LONGEST_KEY else f"{text[: _LONGEST_KEY - 1]}…"


def _write_apart(old: Value, new: Value) -> tuple[str, str]:
    """Return two values for display; each as JSON if both would read the same."""
    both = (write_value(old, LONGEST_COMPARED), write_value(new, LONGEST_COMPARED))
    plain = [" ".join(text.split()) for text in both]
    return both if plain[0] != plain[1] and all(plain) else (_json(old, LONGEST_COMPARED), _json(new, LONGEST_COMPARED))


def write_value(value: Value, most: int = LONGEST) -> str:
    """Return a value for display: a text as it is, all else as JSON, cut to `most` characters."""
    return value if isinstance(value, str) and value.strip() else _json(value, most)


def _json(value: Value, most: int) -> str:
    parts: list[str] = []
    length = 0
    for part in parts_of_json(value):
        parts.append(part)
        length += len(part)
        if length > most:
            break
    return "".join(parts)
