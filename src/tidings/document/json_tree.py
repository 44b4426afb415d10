"""JSON as a tree: its values, parts of it by JSONPath, and how a number was written.

Of a key that is there twice the last one counts (H-067). Numbers compare as numbers in filters and are shown as they were written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Self

from tidings.document.chosen import RefusedError, check_jsonpath, check_matches
from tidings.document.extraction import Extraction
from tidings.document.trees import Taken
from tidings.document.walk import BREAK
from tidings.model.interest import Selector

JSONPATH_FUNCTIONS = frozenset({"length", "count", "value"})
"""match() and search() of RFC 9535 would run patterns without a bound."""

Path = tuple[str | int, ...]
_SURROGATES = re.compile("[\ud800-\udfff]")


class Number(float):
    """A number of JSON that is still written as it was."""

    __slots__ = ("written",)

    def __new__(cls, written: str) -> Self:
        """Return the number that is so written; one too large is infinite."""
        number = super().__new__(cls, written)
        number.written = written
        return number

    written: str


class JsonTree:
    """A JSON text, with its value; of a key that is there twice the last one counts."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._taken: dict[tuple[tuple[Selector, ...], tuple[Selector, ...]], Taken] = {}

    @cached_property
    def value(self) -> Any:
        """Return the value; raises `RefusedError` if it cannot be read whole."""
        try:
            return json.loads(self._text, parse_int=Number, parse_float=Number, parse_constant=Number)
        except (ValueError, RecursionError) as error:
            raise RefusedError("the JSON is nested too deep") from error

    @cached_property
    def _size(self) -> int:
        return sum(1 for _ in _values(self.value, ()))

    def take(self, extraction: Extraction) -> Taken:
        """Return the part of an extraction."""
        excluded = tuple(selector for selector in extraction.exclude if isinstance(selector, Selector))
        asked = (extraction.selectors, excluded)
        if asked not in self._taken:
            self._taken[asked] = self._part(*asked)
        return self._taken[asked]

    def _part(self, selectors: tuple[Selector, ...], excluded: tuple[Selector, ...]) -> Taken:
        chosen = [self._find(selector) for selector in selectors]
        out = frozenset(path for selector in excluded for path in self._find(selector))
        missing = next((selector for selector, found in zip(selectors, chosen, strict=True) if not found), None)
        if missing is not None:
            return Taken(missing=missing)
        roots = list(self._roots(chosen, out))
        if selectors and not roots:
            return Taken(missing=selectors[-1])
        pieces: list[str] = []
        for path, value in roots:
            for word in words_of_json(value, path, out):
                pieces.extend((_SURROGATES.sub("\ufffd", word), BREAK))
        return Taken(pieces=tuple(pieces), roots=tuple(value for _, value in roots))

    def _find(self, selector: Selector) -> Mapping[Path, Any]:
        if selector.language != "jsonpath":
            return {}
        from jsonpath import JSONPathEnvironment, JSONPathError

        check_jsonpath(selector.text, self._size)
        environment = JSONPathEnvironment(strict=True)
        for name in environment.function_extensions.keys() - JSONPATH_FUNCTIONS:
            del environment.function_extensions[name]
        found: dict[Path, Any] = {}
        try:
            for match in environment.compile(selector.text).finditer(self.value):
                found[tuple(match.parts)] = match.obj
                check_matches(selector, len(found))
        except (JSONPathError, RecursionError) as error:
            raise RefusedError(f'jsonpath "{selector.text}" cannot be used here: {error}') from error
        return found

    def _roots(self, chosen: Sequence[Mapping[Path, Any]], out: frozenset[Path]) -> Iterator[tuple[Path, Any]]:
        """Yield where the part begins, in the order of the text: a place that each selector found, or that lies in one it found."""
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


def words_of_json(value: Any, path: Path = (), out: frozenset[Path] = frozenset()) -> Iterator[str]:
    """Yield the keys and values of a JSON value, members in the order of their keys, without what stands at the paths `out`."""
    for kind, text, _ in _values(value, path, out):
        if kind:
            yield text


def _values(value: Any, path: Path, out: frozenset[Path] = frozenset()) -> Iterator[tuple[bool, str, Path]]:
    """Yield (is it a text?, the text, its path) of everything below a value; a key has the path of its value."""
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
            yield True, written(item), place


def _key(member: tuple[str, Any]) -> str:
    return member[0]


def written(value: Any) -> str:
    """Return a scalar of JSON as it was written, a text without its quotes."""
    if isinstance(value, Number):
        return value.written
    return value if isinstance(value, str) else json.dumps(value)
