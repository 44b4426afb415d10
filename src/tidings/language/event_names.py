"""The outside events that a text can name, and the sentinels that wait for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidings.language.problems import did_you_mean
from tidings.model.watch.sentinel import Sentinel


class EventNames:
    """The existing events, then those of earlier statements of the text; `known` are the living
    sentinels that wait for each.
    """

    def __init__(self, known: Mapping[str, Iterable[str]]) -> None:
        self._users = {event: set(names) for event, names in known.items()}

    def exists(self, event: str) -> bool:
        """Return whether there is an event of that name."""
        return event in self._users

    def users(self, event: str) -> list[str]:
        """Return the names of the sentinels that wait for an event, in alphabetical order."""
        return sorted(self._users.get(event, ()))

    def note_made(self, event: str) -> None:
        """Record an event that the text creates."""
        self._users.setdefault(event, set())

    def note_dropped(self, event: str) -> None:
        """Record that the text drops an event."""
        self._users.pop(event, None)

    def note_used(self, sentinel: str, events: Iterable[str]) -> None:
        """Record the events for which a sentinel of the text waits."""
        named = set(events)
        for event, users in self._users.items():
            if event in named:
                users.add(sentinel)
            else:
                users.discard(sentinel)

    def hint(self, event: str) -> str:
        """Return the hint for a missing event."""
        return did_you_mean(event, self._users) or f"Create Event {event} Using webhook"


def events_of(sentinel: Sentinel) -> tuple[str, ...]:
    """Return the outside events for which a sentinel waits, without duplicates: those of its start,
    its end and its polls.
    """
    points = (point.event for point in (sentinel.start, sentinel.end) if point is not None and point.event is not None)
    return tuple(dict.fromkeys((*points, *sentinel.fetch.events)))
