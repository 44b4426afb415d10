"""The events of other origin that a text can speak of, and which sentinels wait for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidings.language.words import did_you_mean
from tidings.model.watch.sentinel import Sentinel


class EventNames:
    """The events that exist, then those of the statements before in the same text; `known` are the living sentinels that wait for each."""

    def __init__(self, known: Mapping[str, Iterable[str]]) -> None:
        self._users = {event: set(names) for event, names in known.items()}

    def exists(self, event: str) -> bool:
        """Say whether there is an event of that name."""
        return event in self._users

    def users(self, event: str) -> list[str]:
        """Return the names of the sentinels that wait for an event, in alphabetical order."""
        return sorted(self._users.get(event, ()))

    def note_made(self, event: str) -> None:
        """Remember an event that the text makes."""
        self._users.setdefault(event, set())

    def note_dropped(self, event: str) -> None:
        """Remember that the text drops an event."""
        self._users.pop(event, None)

    def note_used(self, sentinel: str, events: Iterable[str]) -> None:
        """Remember which events a sentinel that the text makes, alters or drops waits for."""
        named = set(events)
        for event, users in self._users.items():
            if event in named:
                users.add(sentinel)
            else:
                users.discard(sentinel)

    def hint(self, event: str) -> str:
        """Return what to write about an event that is missing."""
        return did_you_mean(event, self._users) or f"Create Event {event} Using webhook"


def events_of(sentinel: Sentinel) -> tuple[str, ...]:
    """Return the events of other origin that a sentinel waits for, each once: those of its start, its end and its looks."""
    points = (point.event for point in (sentinel.start, sentinel.end) if point is not None and point.event is not None)
    return tuple(dict.fromkeys((*points, *sentinel.fetch.events)))
