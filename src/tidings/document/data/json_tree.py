"""JSON as a tree: typed values, parts by JSONPath, the notation of numbers, and JSON in scripts.

For JSONPath, the last of duplicate keys counts (H-067); for a comparison every member counts.
Filters compare numbers by value; they are shown as written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, Final, Self

from tidings.document.data.json_query import compile_path
from tidings.document.html.walk import BREAK
from tidings.document.select.chosen import RefusedError, check_jsonpath, check_matches
from tidings.document.select.extraction import Extraction, Nodes
from tidings.document.select.trees import TakenPart
from tidings.model.watch.interest import Selector
from tidings.record import dataclass

Path = tuple[str | int, ...]

Value = str | bytes | bool | list["Value"] | tuple[tuple[str, "Value"], ...] | None
"""A typed value, so that Python's `==` is exact and fast: an object is a tuple of all its members
in the order of their keys; an array is a list; a number is its bytes as written.
"""
_NUMBER = re.compile(rb"(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,18}))?\Z")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class JsonValues:
    """Values of a document, each with its path, in the order of their words; `whole` is their
    document.
    """

    paths: tuple[Path, ...]
    values: list[Value]
    whole: Any

    def identifying_key(self) -> list[Any]:
        """Return a key that is equal for two documents only if the same parts belong to array
        elements with the same identifying texts.
        """
        return [(self._names(path), value) for path, value in zip(self.paths, self.values, strict=True)]

    def _names(self, path: Path) -> list[Any]:
        names: list[Any] = []
        place = self.whole
        for step in path[:-1]:
            place = place[step]
            names.append(step if isinstance(step, str) else scalars_of(place))
        return [*names, path[-1] if path and isinstance(path[-1], str) else ""]


def scalars_of(value: Any) -> Value:
    """Return the members of an object that are texts or numbers, as `value_of` reads them; empty
    for anything else.
    """
    if not isinstance(value, dict):
        return None
    members = ((key, one) for key, one in sorted(value.items(), key=_key) if isinstance(one, (str, JsonNumber)))
    return tuple((key, one.written.encode() if isinstance(one, JsonNumber) else one) for key, one in members)


class JsonNumber(float):
    """A JSON number that keeps its notation."""

    __slots__ = ("written",)

    def __new__(cls, written: str) -> Self:
        """Return the number with this notation; one too large is infinite."""
        number = super().__new__(cls, written)
        number.written = written
        return number

    written: str


GUARD = re.compile(r"\s*(?:\)\]\}'?,?|while\s*\(1\);|for\s*\(;;\);)")
"""Prefixes of some servers that prevent scripts from reading JSON."""
_CALL = re.compile(r"\s*(?:/\*.*?\*/\s*)?[A-Za-z_$][\w$.]{0,100}\s*\(\s*(?=[\[{])(.*[\]}])\s*\)\s*;?\s*", re.DOTALL)


def unwrap(text: str) -> tuple[str, Value]:
    """Return a JSON text and its value, without a guard before it or a call around it (JSONP), or
    JSON lines as an array.

    Raises ValueError if it is none of these, RecursionError if it is nested too deep for the
    parser.
    """
    try:
        return text, value_of(text)
    except ValueError:
        if guard := GUARD.match(text):
            plain = text[guard.end() :]
        elif call := _CALL.fullmatch(text):
            plain = call[1]
        else:
            plain = _array_of_lines(text)
        return plain, value_of(plain)


def _array_of_lines(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < 2 or not all(line.lstrip()[0] in "[{" for line in lines):
        message = "neither JSON nor lines of it"
        raise ValueError(message)
    return f"[{','.join(lines)}]"


def value_of(text: str) -> Value:
    """Return the value of a JSON text. Raise ValueError if it is none, RecursionError if it is
    nested too deep for the parser.
    """
    value: Value = json.loads(
        text, parse_int=str.encode, parse_float=str.encode, parse_constant=str.encode, object_pairs_hook=_members
    )
    return value


def _members(pairs: list[tuple[str, Value]]) -> tuple[tuple[str, Value], ...]:
    pairs.sort(key=_key)
    return tuple(pairs)


def words_of_value(value: Value) -> list[str]:
    """Return the keys and values of a JSON value as displayed texts, members in the order of their
    keys.
    """
    words: list[str] = []
    left: list[Any] = [value]
    while left:
        item = left.pop()
        if isinstance(item, tuple):
            for key, member in reversed(item):
                left.append(member)
                left.append(key)
        elif isinstance(item, list):
            left.extend(reversed(item))
        else:
            words.append(_SURROGATES.sub("\ufffd", scalar_text(item)))
    return words


def scalar_text(value: Value) -> str:
    """Return a scalar as written, a text without its quotes."""
    if isinstance(value, str):
        return value
    return value.decode() if isinstance(value, bytes) else json.dumps(value)


class JsonTree:
    """A JSON text and its value."""

    def __init__(self, text: str, typed: Value) -> None:
        self._text = text
        self._typed = typed
        self._taken: dict[Nodes, TakenPart] = {}
        self._begun: dict[Nodes, tuple[list[tuple[Path, Any]], frozenset[Path]]] = {}

    @cached_property
    def value(self) -> Any:
        """Return the value. Raise `RefusedError` if it cannot be read completely."""
        try:
            return json.loads(self._text, parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=JsonNumber)
        except (ValueError, RecursionError) as error:
            raise RefusedError("the JSON is nested too deep") from error

    @cached_property
    def _size(self) -> int:
        return sum(1 for _ in _values(self.value, ()))

    def take(self, extraction: Extraction) -> TakenPart:
        """Return the part of an extraction."""
        asked = extraction.nodes
        if asked not in self._taken:
            self._taken[asked] = self._part(*asked)
        return self._taken[asked]

    @property
    def typed(self) -> Value:
        """Return the whole value."""
        return self._typed

    def parts(self, extraction: Extraction) -> JsonValues:
        """Return the values of a part, whose words are its pieces.

        Raises `RefusedError` as `take` does, RecursionError if they are nested too deep.
        """
        self.take(extraction)
        roots, out = self._begun.get(extraction.nodes, ([], frozenset()))
        paths = tuple(path for path, _ in roots)
        return JsonValues(paths, [_read_typed(value, path, out) for path, value in roots], self.value)

    def _part(self, selectors: tuple[Selector, ...], excluded: tuple[Selector, ...]) -> TakenPart:
        chosen = [self.find(selector) for selector in selectors]
        out = frozenset(path for selector in excluded for path in self.find(selector))
        missing = next((selector for selector, found in zip(selectors, chosen, strict=True) if not found), None)
        if missing is not None:
            return TakenPart(missing=missing)
        roots = list(self._roots(chosen, out))
        if selectors and not roots:
            return TakenPart(missing=selectors[-1])
        pieces: list[str] = []
        for path, value in roots:
            for word in words_of_json(value, path, out):
                pieces.extend((_SURROGATES.sub("\ufffd", word), BREAK))
        self._begun[selectors, excluded] = (roots, out)
        return TakenPart(pieces=tuple(pieces), roots=tuple(_leave_out(value, path, out) for path, value in roots))

    def find(self, selector: Selector) -> Mapping[Path, Any]:
        """Return the matches of a selector by path, in the order of RFC 9535, without duplicates.

        Raises `RefusedError` if it cannot be read, or would match or visit too much.
        """
        if selector.language != "jsonpath":
            return {}
        from jsonpath import JSONPathError

        check_jsonpath(selector.text, self._size)
        found: dict[Path, Any] = {}
        try:
            for match in compile_path(selector.text).finditer(self.value):
                found[tuple(match.parts)] = match.obj
                check_matches(selector, len(found))
        except RefusedError:
            raise
        except (JSONPathError, ValueError, RecursionError) as error:
            raise RefusedError(f'jsonpath "{selector.text}" cannot be used here: {error}') from error
        return found

    def _roots(self, chosen: Sequence[Mapping[Path, Any]], out: frozenset[Path]) -> Iterator[tuple[Path, Any]]:
        """Yield the roots of the part, in the order of the text: places that each selector matched,
        or inside one.
        """
        if not chosen:
            yield (), self.value
            return
        everywhere: dict[Path, Any] = {path: value for found in chosen for path, value in found.items()}
        order = {id_: place for place, id_ in enumerate(chosen[-1])}
        begun: set[Path] = set()
        for path in sorted(everywhere, key=lambda path: (len(path), order.get(path, len(order)))):
            above = [path[:length] for length in range(len(path) + 1)]
            if any(place in begun or place in out for place in above):
                continue
            if all(any(place in found for place in above) for found in chosen):
                begun.add(path)
        for path in sorted(begun, key=lambda path: order.get(path, len(order))):
            yield path, everywhere[path]


def _read_typed(value: Any, path: Path, out: frozenset[Path]) -> Value:
    """Return a value as `value_of` reads it, without the paths `out`."""
    if isinstance(value, dict):
        members = sorted(value.items(), key=_key)
        return tuple((key, _read_typed(one, (*path, key), out)) for key, one in members if (*path, key) not in out)
    if isinstance(value, list):
        return [_read_typed(one, (*path, at), out) for at, one in enumerate(value) if (*path, at) not in out]
    if isinstance(value, JsonNumber):
        return value.written.encode()
    return value if isinstance(value, (str, bool)) or value is None else str(value)


def _leave_out(value: Any, path: Path, out: frozenset[Path]) -> Any:
    """Return a value without the paths `out`, at any depth."""
    if not out:
        return value
    whole = [value]
    left: list[tuple[Any, Path, Any, Any]] = [(value, path, whole, 0)]
    while left:
        item, place, holder, key = left.pop()
        if isinstance(item, dict):
            inside = [(name, name, one) for name, one in item.items() if (*place, name) not in out]
            holder[key] = dict.fromkeys(name for name, _, _ in inside)
        elif isinstance(item, list):
            items_left = [(at, one) for at, one in enumerate(item) if (*place, at) not in out]
            inside = [(number, at, one) for number, (at, one) in enumerate(items_left)]
            holder[key] = [None] * len(items_left)
        else:
            holder[key] = item
            continue
        left += [(one, (*place, step), holder[key], where) for where, step, one in inside]
    return whole[0]


def words_of_json(value: Any, path: Path = (), out: frozenset[Path] = frozenset()) -> Iterator[str]:
    """Yield the keys and values of a JSON value, members in the order of their keys, without the
    paths `out`.
    """
    for kind, text, _ in _values(value, path, out):
        if kind:
            yield text


def in_one_notation(value: Any) -> Iterator[str]:
    """Yield the words of a JSON value, with equal numbers in one notation."""
    for kind, text, _ in _values(value, (), write=_in_one_notation):
        if kind:
            yield text


def _in_one_notation(value: Any) -> str:
    if not isinstance(value, JsonNumber):
        return write_scalar(value)
    number = number_of(value.written.encode())
    return value.written if isinstance(number, bytes) else f"{'-' * number[0]}{number[1].decode()}e{number[2]}"


def parts_of_json(value: Any) -> Iterator[str]:
    """Yield a value as JSON text, in parts; accepts the objects, arrays and numbers of both readers
    of this file.
    """
    left: list[tuple[str, Any] | str] = [("", value)]
    while left:
        item = left.pop()
        if isinstance(item, str):
            yield item
            continue
        before, inside = item
        yield before
        if isinstance(inside, (tuple, dict)):
            members = inside.items() if isinstance(inside, dict) else inside
            left.append("}")
            left += [(f"{', ' if at else '{'}{quote(key)}: ", member) for at, (key, member) in enumerate(members)][::-1]
            left += () if inside else ("{",)
        elif isinstance(inside, list):
            left.append("]")
            left += [(", " if at else "[", member) for at, member in enumerate(inside)][::-1]
            left += () if inside else ("[",)
        elif isinstance(inside, str):
            yield quote(inside)
        else:
            yield inside.written if isinstance(inside, JsonNumber) else scalar_text(inside)


def quote(text: str) -> str:
    """Return a text as a JSON string."""
    return json.dumps(text, ensure_ascii=False)


@lru_cache(maxsize=4_096)
def number_of(written: bytes) -> bytes | tuple[bool, bytes, int]:
    """Return a number as (is negative, digits, power of ten), independent of notation; anything
    else as written.
    """
    found = _NUMBER.match(written)
    if found is None:
        return written
    sign, whole, fraction, exponent = found[1], found[2], found[3] or b"", found[4]
    digits = (whole + fraction).lstrip(b"0")
    short = digits.rstrip(b"0")
    if not short:
        return False, b"", 0
    return bool(sign), short, int(exponent or 0) - len(fraction) + len(digits) - len(short)


def _values(
    value: Any, path: Path, out: frozenset[Path] = frozenset(), *, write: Callable[[Any], str] | None = None
) -> Iterator[tuple[bool, str, Path]]:
    """Yield (is it a text, the text, its path) for everything below a value; a key has the path of
    its value. `write` formats scalars.
    """
    write = write or write_scalar
    left: list[tuple[Any, Path, bool]] = [(value, path, False)]
    while left:
        item, place, is_key = left.pop()
        if is_key:
            yield True, item, place
            continue
        if out and place in out:
            continue
        if isinstance(item, dict):
            for key, member in sorted(item.items(), key=_key)[::-1]:
                below = (*place, key) if out else place
                if below in out:
                    continue
                left.append((member, below, False))
                left.append((key, below, True))
            yield False, "", place
        elif isinstance(item, list):
            left.extend(
                (member, (*place, at) if out else place, False) for at, member in reversed(list(enumerate(item)))
            )
            yield False, "", place
        else:
            yield True, write(item), place


def _key(member: tuple[str, Any]) -> str:
    return member[0]


def write_scalar(value: Any) -> str:
    """Return a JSON scalar as written, a text without its quotes."""
    if isinstance(value, JsonNumber):
        return value.written
    return value if isinstance(value, str) else json.dumps(value)


LONGEST_SCRIPT: Final = 2_000_000
"""The longest script that is read, in characters; longer ones are programs."""
MOST_SCRIPTS: Final = 100
MOST_ATTEMPTS: Final = 20
"""The most places in a script at which data is tried."""
_BEGINS = re.compile(r"(?:[=(]|\bJSON\.parse\(\s*)\s*(?=[\[{])")


def take_from_scripts(scripts: Sequence[str], extraction: Extraction) -> TakenPart:
    """Return the matches of an extraction's selectors in the data of scripts, in order.

    Raises `RefusedError` for a selector that costs too much.

    Args:
        scripts: Their texts.
        extraction: Selectors in JSONPath only.
    """
    pieces: list[str] = []
    for script in scripts[:MOST_SCRIPTS]:
        for tree in _read_trees(script):
            pieces += tree.take(extraction).pieces
    return TakenPart(pieces=tuple(pieces), missing=None if pieces else extraction.selectors[-1])


def _read_trees(script: str) -> Iterator[JsonTree]:
    if len(script) > LONGEST_SCRIPT:
        return
    try:
        yield JsonTree(*unwrap(script.strip().rstrip(";")))
    except (ValueError, RecursionError):
        yield from _read_assignments(script)


def _read_assignments(script: str) -> Iterator[JsonTree]:
    """Yield the JSON values that a program assigns to names or passes to functions."""
    decoder = json.JSONDecoder()
    end = attempts = 0
    for found in _BEGINS.finditer(script):
        if found.start() < end:
            continue
        attempts += 1
        if attempts > MOST_ATTEMPTS:
            return
        try:
            _, end = decoder.raw_decode(script, found.end())
            text = script[found.end() : end]
            yield JsonTree(text, value_of(text))
        except (ValueError, RecursionError):
            continue
