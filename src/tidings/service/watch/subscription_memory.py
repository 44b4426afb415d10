"""What a subscription stores beside the versions of its page: headers of the last answer, the known
entries of a feed, what its selectors found. Written with its cursor, in one unit; unreadable state
counts as none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any, Final

from tidings.detection.job.contract import Target
from tidings.detection.kinds.interests import interests_of
from tidings.language.expressions import selector_text
from tidings.model.interval import Instant
from tidings.model.watch.interest import Selector
from tidings.model.watch.sentinel import Sentinel
from tidings.record import dataclass

MOST_MARKS: Final = 3_000
"""The most marks stored per feed (some 750 entries); the oldest are dropped first, but never those
of current entries.
"""
PENDING: Final = '"held":'
"""Occurs in the stored text while a change is held."""


@dataclass(frozen=True, slots=True)
class PendingChange:
    """A change that is not reported yet (`for at least`): first found at `since` (µs), by `checks`
    polls; `is_first`: already in the first version.
    """

    since: Instant
    checks: int = 1
    is_first: bool = False


@dataclass(frozen=True, slots=True)
class Remembered:
    """`pending` is the change that must persist before it is reported. `headers` by lower-case
    name, "" for an absent one; `marks` of entries, the oldest first; `targets` are what its
    selectors found.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    marks: tuple[str, ...] = ()
    targets: tuple[Target, ...] = ()
    pending: PendingChange | None = None

    @classmethod
    def of(cls, text: str) -> Remembered:
        """Parse the stored text of a subscription."""
        if not text:
            return cls()
        try:
            stored = json.loads(text)
            targets = tuple(map(_target, stored.get("targets", ())))
            pending = PendingChange(*stored["held"]) if "held" in stored else None
            return cls(dict(stored.get("headers", {})), tuple(stored.get("marks", ())), targets, pending)
        except (AttributeError, TypeError, ValueError):
            return cls()

    @property
    def text(self) -> str:
        """Return the text to store, empty for nothing."""
        values: dict[str, Any] = {
            "headers": dict(self.headers),
            "marks": list(self.marks),
            "targets": list(map(_write_target, self.targets)),
        }
        if self.pending is not None:
            values["held"] = [self.pending.since, self.pending.checks, self.pending.is_first]
        nonempty = {name: value for name, value in values.items() if value}
        return json.dumps(nonempty, ensure_ascii=False, separators=(",", ":"), sort_keys=True) if nonempty else ""


def remember(seen: Sequence[str], marks: Sequence[str]) -> tuple[str, ...]:
    """Return the marks to be stored for a feed: the earlier ones, then those of the current
    entries.
    """
    here = set(marks)
    older = [mark for mark in seen if mark not in here]
    room = max(0, MOST_MARKS - len(marks))
    return (*older[len(older) - min(room, len(older)) :], *marks)


def list_healed(text: str, sentinel: Sentinel) -> list[dict[str, str]]:
    """Return the selectors of a sentinel that no longer find anything, each with its replacement,
    in words of the language.
    """
    own = {sentinel.select, *(interest.selector for interest in interests_of(sentinel.monitor))}
    return [
        {"selector": selector_text(target.selector), "stand_in": selector_text(target.stand_in)}
        for target in (Remembered.of(text).targets if text else ())
        if target.stand_in is not None and target.selector in own
    ]


def _write_target(target: Target) -> list[Any]:
    stand_in = [] if target.stand_in is None else [target.stand_in.language, target.stand_in.text]
    return [target.selector.language, target.selector.text, list(target.bundle), stand_in]


def _target(stored: Any) -> Target:
    language, text, bundle, stand_in = stored
    other = Selector(*stand_in) if stand_in else None
    return Target(selector=Selector(language, text), bundle=tuple(bundle), stand_in=other)
