"""Values: two versions of JSON compared place by place, with their types (detection.md §5).

The order of members means nothing. Members of an array are known by an id field, if they have one; then, and where an array holds texts, objects
or arrays without one, its order means nothing. An array that holds numbers, true, false or null is a row or a series: its order counts.
Numbers are the same if they are the same number, exactly (1 = 1.0 = 1e0, and no digit is lost); `1`, `"1"` and `true` are three values.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache

from tidings.detection.compare.pairing import common_ends, pair_alike
from tidings.detection.compare.sequence import compare_sequences
from tidings.detection.differences import (
    DEEPEST,
    LONGEST,
    LONGEST_COMPARED,
    Difference,
    Differences,
    Span,
    TooManyError,
)
from tidings.document.json_tree import Value, scalar_text

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
"""Fields by which members of an array may be known, best first; after them any field whose name ends in `id`."""

_CONTAINERS = frozenset({tuple, list})
_PLAIN_KEY = re.compile(r"[\w$@-]+")
_LONGEST_KEY = 80
_MOST_WORK = 4_000_000
"""Most values that are put into a form to be looked up, all in all: some seconds at worst."""
_NUMBER = re.compile(rb"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,18}))?\Z")

Members = tuple[tuple[str, Value], ...]


def compare_values(old: Sequence[Value], new: Sequence[Value]) -> list[Difference]:
    """Return the differences of the values of two documents; their spans are pieces, two for each word.

    Raises `TooManyError`, and RecursionError for values that are nested too deep.
    """
    is_one = len(old) == len(new) == 1
    comparison = _Comparison(is_parts=not is_one)
    if is_one:
        comparison.compare("", _At(old[0], 0), _At(new[0], 0))
    else:
        comparison.compare("", _At(list(old), 0), _At(list(new), 0))
    return comparison.differences.found


class _At:
    """A value and the number of its first word."""

    __slots__ = ("start", "value")

    def __init__(self, value: Value, start: int) -> None:
        self.value = value
        self.start = start


class _Comparison:
    """The state of one comparison. `is_parts`: the values are parts of a document, whose numbers say nothing."""

    def __init__(self, *, is_parts: bool) -> None:
        self._is_parts = is_parts
        self.differences = Differences()
        self._sizes: dict[int, int] = {}
        self._depth = 0
        self._work = 0

    def compare(self, path: str, old: _At, new: _At) -> None:
        """Note how two values differ; raises `TooManyError` for too many differences or too much work."""
        before, after = old.value, new.value
        if before == after:
            return
        self._depth += 1
        if self._depth > DEEPEST:
            self._changed(path, old, new)
        elif isinstance(before, tuple) and isinstance(after, tuple):
            self._members(path, old, new)
        elif isinstance(before, list) and isinstance(after, list):
            self._elements(path, old, new, before, after)
        else:
            self._changed(path, old, new)
        self._depth -= 1

    def _changed(self, path: str, old: _At, new: _At) -> None:
        before, after = old.value, new.value
        if not _is_same(before, after):
            shown = _shown_apart(before, after)
            self.differences.add(Difference(path, *shown, self._span(old), self._span(new)))

    def _spend(self, *sides: Sequence[_At]) -> None:
        self._work += sum(self._size(one.value) for side in sides for one in side)
        if self._work > _MOST_WORK:
            raise TooManyError

    def _members(self, path: str, old: _At, new: _At) -> None:
        was, now = self._placed(old), self._placed(new)
        for name, one in was.items():
            place = f"{path}{_step(name[0])}" if path else _step(name[0]).removeprefix(".")
            if name in now:
                self.compare(place, one, now[name])
            else:
                self._gone(place, one, new, is_member=True)
        for name, one in now.items():
            if name not in was:
                place = f"{path}{_step(name[0])}" if path else _step(name[0]).removeprefix(".")
                self._come(place, one, old, is_member=True)

    def _placed(self, at: _At) -> dict[tuple[str, int], _At]:
        """Return the members of an object by their names; of a name that is there several times each has its number."""
        found: dict[tuple[str, int], _At] = {}
        times: Counter[str] = Counter()
        start = at.start
        for key, value in at.value if isinstance(at.value, tuple) else ():
            found[key, times[key]] = _At(value, start + 1)
            times[key] += 1
            start += 1 + self._size(value)
        return found

    def _elements(self, path: str, old: _At, new: _At, before: list[Value], after: list[Value]) -> None:
        """Compare two arrays, less what is the same at their starts and ends: there nothing else can be found."""
        head, tail = common_ends(before, after)
        was = self._listed(old.start, before, head, len(before) - tail)
        now = self._listed(new.start, after, head, len(after) - tail)
        if field := _id_field(before, after):
            self._keyed(path, field, (old, was), (new, now))
        elif _has_order(before) or _has_order(after):
            self._ordered(path, head, (old, was), (new, now))
        else:
            self._unordered(path, head, (old, was), (new, now))

    def _listed(self, start: int, values: Sequence[Value], first: int, end: int) -> list[_At]:
        start += sum(map(self._size, values[:first]))
        found = []
        for value in values[first:end]:
            found.append(_At(value, start))
            start += self._size(value)
        return found

    def _keyed(self, path: str, field: str, old: tuple[_At, list[_At]], new: tuple[_At, list[_At]]) -> None:
        was = {_frozen(_field(one.value, field)): one for one in old[1]}
        now = {_frozen(_field(one.value, field)): one for one in new[1]}
        for key, one in was.items():
            place = f"{path}[{field}={_key_text(_field(one.value, field))}]"
            if key in now:
                self.compare(place, one, now[key])
            else:
                self._gone(place, one, new[0])
        for key, one in now.items():
            if key not in was:
                self._come(f"{path}[{field}={_key_text(_field(one.value, field))}]", one, old[0])

    def _ordered(self, path: str, head: int, old: tuple[_At, list[_At]], new: tuple[_At, list[_At]]) -> None:
        self._spend(old[1], new[1])
        edits = compare_sequences(*([repr(_frozen(one.value)) for one in side] for side in (old[1], new[1])))
        for edit in edits:
            gone, come = old[1][edit.old_start : edit.old_end], new[1][edit.new_start : edit.new_end]
            if len(gone) == len(come):
                for number, (one, other) in enumerate(zip(gone, come, strict=True)):
                    self.compare(self._place(path, head + edit.new_start + number), one, other)
                continue
            for number, one in enumerate(gone):
                self._gone(self._place(path, head + edit.old_start + number), one, new[0])
            for number, one in enumerate(come):
                self._come(self._place(path, head + edit.new_start + number), one, old[0])

    def _unordered(self, path: str, head: int, old: tuple[_At, list[_At]], new: tuple[_At, list[_At]]) -> None:
        self._spend(old[1], new[1])
        left, fresh = _apart([one.value for one in old[1]], [one.value for one in new[1]])
        pairs = [(left[i], fresh[j]) for i, j in pair_alike(
            [_features(old[1][at].value) for at in left], [_features(new[1][at].value) for at in fresh])]  # fmt: skip
        pairs += [(at, at) for at in sorted(_here(left, fresh, old[1], new[1]))]
        if len(left) == len(fresh) == 1 and not pairs:
            one, other = old[1][left[0]].value, new[1][fresh[0]].value
            pairs += [(left[0], fresh[0])] if isinstance(one, list) and isinstance(other, list) else []
        for i, j in sorted(pairs):
            self.compare(self._place(path, head + j), old[1][i], new[1][j])
        gone, come = {i for i, _ in pairs}, {j for _, j in pairs}
        for at in left:
            if at not in gone:
                self._gone(self._place(path, head + at), old[1][at], new[0])
        for at in fresh:
            if at not in come:
                self._come(self._place(path, head + at), new[1][at], old[0])

    def _place(self, path: str, number: int) -> str:
        """Return the path of a member of an array that is known by its number."""
        return f"{path}[{number}]" if path or not self._is_parts else ""

    def _gone(self, path: str, one: _At, there: _At, *, is_member: bool = False) -> None:
        start, end = self._span(one)
        span = (start - 2 * is_member, end)
        self.differences.add(Difference(path, shown(one.value), None, span, self._end(there)))

    def _come(self, path: str, one: _At, there: _At, *, is_member: bool = False) -> None:
        start, end = self._span(one)
        span = (start - 2 * is_member, end)
        self.differences.add(Difference(path, None, shown(one.value), self._end(there), span))

    def _span(self, at: _At) -> Span:
        return 2 * at.start, 2 * (at.start + self._size(at.value))

    def _end(self, at: _At) -> Span:
        """Return the empty span at the end of a value: where something of it would be."""
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


def _here(left: Sequence[int], fresh: Sequence[int], old: Sequence[_At], new: Sequence[_At]) -> set[int]:
    """Return the places at which one text or number became another one."""
    return {at for at in {*left} & {*fresh} if _is_scalar(old[at].value) and _is_scalar(new[at].value)}


def _is_scalar(value: Value) -> bool:
    return not isinstance(value, (tuple, list))


def _has_order(values: Sequence[Value]) -> bool:
    """Return whether the order of an array counts: it has members that are no names of anything."""
    return any(isinstance(value, (bytes, bool)) or value is None for value in values)


def _id_field(old: Sequence[Value], new: Sequence[Value]) -> str:
    """Return the field by which the objects of two arrays are known: all have it, no two of a version the same; empty if none."""
    every = [*old, *new]
    first = every[0] if every else None
    if not isinstance(first, tuple) or not all(isinstance(value, tuple) and value for value in every):
        return ""
    names = [key for key, value in first if isinstance(value, (str, bytes))]
    likely = [name for name in ID_FIELDS if name in names]
    likely += [name for name in names if name not in likely and name.lower().endswith("id")]
    # of a field that is there several times the first counts
    rows = [[dict(value[::-1]) for value in side if isinstance(value, tuple)] for side in (old, new)] if likely else []
    for name in likely:
        was, now = ([row.get(name) for row in side] for side in rows)
        if all(isinstance(value, (str, bytes)) for value in (*was, *now)):
            before, after = set(map(_frozen, was)), set(map(_frozen, now))
            if len(before) == len(was) and len(after) == len(now) and (before & after or not before or not after):
                return name
    return ""


def _field(value: Value, name: str) -> Value:
    """Return a field of an object; of one that is there several times the first."""
    for key, member in value if isinstance(value, tuple) else ():
        if key == name:
            return member
    return None


def _apart(old: Sequence[Value], new: Sequence[Value]) -> tuple[list[int], list[int]]:
    """Return the places of the values that only one version has, or more often, as multisets."""
    waiting: dict[Hashable, list[int]] = {}
    for at, value in enumerate(old):
        waiting.setdefault(_frozen(value), []).append(at)
    fresh = []
    for at, value in enumerate(new):
        same = waiting.get(_frozen(value))
        if same:
            same.pop(0)
        else:
            fresh.append(at)
    return sorted(at for places in waiting.values() for at in places), fresh


def _features(value: Value) -> frozenset[Hashable]:
    if isinstance(value, tuple):
        return frozenset((key, _frozen(member)) for key, member in value)
    if isinstance(value, list):
        return frozenset((at, _frozen(member)) for at, member in enumerate(value))
    return frozenset()


def _frozen(value: Value) -> Hashable:
    """Return what is equal exactly for values that are the same."""
    if isinstance(value, str):
        return value if value.isascii() else unicodedata.normalize("NFC", value)
    if isinstance(value, bytes):
        return _number(value)
    if isinstance(value, tuple):
        return ("{}", *((key, _frozen(member)) for key, member in value))
    if isinstance(value, list):
        members = [_frozen(member) for member in value]
        return ("[]", *(members if _has_order(value) else sorted(members, key=repr)))
    return (value,)


@lru_cache(maxsize=4_096)
def _number(written: bytes) -> bytes | tuple[bool, bytes, int]:
    """Return a number as (is it negative, its digits, power of ten), the same for each way to write it; what is none as it is written."""
    found = _NUMBER.match(written)
    if found is None:
        return written
    sign, whole, fraction, exponent = found[1], found[2], found[3] or b"", found[4]
    digits = (whole + fraction).lstrip(b"0")
    short = digits.rstrip(b"0")
    if not short:
        return False, b"", 0
    return bool(sign), short, int(exponent or 0) - len(fraction) + len(digits) - len(short)


def _is_same(old: Value, new: Value) -> bool:
    return type(old) is type(new) and _frozen(old) == _frozen(new)


def _step(key: str) -> str:
    if _PLAIN_KEY.fullmatch(key):
        return f".{_cut_key(key)}"
    return f"[{_quoted(_cut_key(key))}]"


def _key_text(value: Value) -> str:
    return _cut_key(" ".join(scalar_text(value).split()))


def _cut_key(text: str) -> str:
    return text if len(text) <= _LONGEST_KEY else f"{text[: _LONGEST_KEY - 1]}…"


def _shown_apart(old: Value, new: Value) -> tuple[str, str]:
    """Return two values as people read them; where they would look the same, each as JSON writes it."""
    both = (shown(old, LONGEST_COMPARED), shown(new, LONGEST_COMPARED))
    plain = [" ".join(text.split()) for text in both]
    return both if plain[0] != plain[1] and all(plain) else (_json(old, LONGEST_COMPARED), _json(new, LONGEST_COMPARED))


def shown(value: Value, most: int = LONGEST) -> str:
    """Return a value as people read it: a text by itself, all else as JSON writes it, cut where nobody reads on."""
    return value if isinstance(value, str) and value.strip() else _json(value, most)


def _json(value: Value, most: int) -> str:
    parts: list[str] = []
    length = 0
    for part in _written(value):
        parts.append(part)
        length += len(part)
        if length > most:
            break
    return "".join(parts)


def _written(value: Value) -> Iterator[str]:
    """Yield a value as JSON writes it, in parts."""
    left: list[tuple[str, Value] | str] = [("", value)]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
            continue
        before, inside = item
        yield before
        if isinstance(inside, tuple):
            left.append("}")
            left += [(f"{', ' if at else '{'}{_quoted(key)}: ", member) for at, (key, member) in enumerate(inside)][
                ::-1
            ]
            left += () if inside else ("{",)
        elif isinstance(inside, list):
            left.append("]")
            left += [(", " if at else "[", member) for at, member in enumerate(inside)][::-1]
            left += () if inside else ("[",)
        else:
            yield _quoted(inside) if isinstance(inside, str) else scalar_text(inside)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
