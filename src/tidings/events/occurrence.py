"""Occurrences: each has a type, an interval and the parts that it was composed of (SnoopIB; 004
§6.2).

Interval semantics: a composite lasts from its first part's start to its last part's end. With the
older detection-time semantics `SEQ(b, SEQ(a, c))` would match a, b, c, since the pair (a, c) is
only known at c.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from tidings.model.interval import Instant

NO_PARAMS: Final[Mapping[str, Any]] = MappingProxyType({})


class Occurrence(NamedTuple):
    """One occurrence. `type` is an event's name or, of a composite, its expression; `start` and
    `end` are instants (µs).

    `params` is plain JSON. `parts` are the occurrences of a composite: initiators, those between,
    the terminator; of a tick, the initiators of its timer.
    """

    type: str
    start: Instant
    end: Instant
    params: Mapping[str, Any] = NO_PARAMS
    parts: tuple[Occurrence, ...] = ()

    @classmethod
    def at(cls, name: str, instant: Instant, params: Mapping[str, Any] = NO_PARAMS) -> Occurrence:
        """Return a primitive occurrence, which starts and ends at the same instant."""
        return cls(name, instant, instant, params)

    def primitives(self) -> Iterator[Occurrence]:
        """Yield the occurrences without parts on which this one rests, in the order of its
        parts.
        """
        if not self.parts:
            yield self
        for part in self.parts:
            yield from part.primitives()

    def to_json(self) -> list[Any]:
        """Return the occurrence as plain JSON: type, start, end, then params and parts if there are
        any.
        """
        parts = [part.to_json() for part in self.parts]
        if parts:
            return [self.type, self.start, self.end, dict(self.params), parts]
        return [self.type, self.start, self.end, *([dict(self.params)] if self.params else [])]

    @classmethod
    def from_json(cls, data: Sequence[Any]) -> Occurrence:
        """Return the occurrence that `to_json` wrote."""
        kind, start, end, params, parts = (*data, NO_PARAMS, ())[:5] if len(data) == 3 else (*data, ())[:5]
        return cls(kind, start, end, params or NO_PARAMS, tuple(map(cls.from_json, parts)))
