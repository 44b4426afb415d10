"""The needs of rules that another planner follows: which of this planner's pages are to be polled,
and until when. They are read from the stored states of the rules.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from tidings.errors import StoreError
from tidings.service.rules.follow import NAME
from tidings.service.rules.rule_group import list_memories
from tidings.storage.watches import events

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.observed.unit import Unit
    from tidings.service.behaviour import Behaviour
    from tidings.storage.write.store import Store


class NeedsReader:
    """Takes the place of `follow.RuleFollower` in a planner that does not lead. `behaviours` are
    those that need polls.
    """

    def __init__(self, store: Store, behaviours: Iterable[Behaviour]) -> None:
        self._store = store
        self._behaviours = tuple(behaviours)
        self._seen = 0
        self._needing: set[int] = set()
        """sentinels whose states need polls, or may"""
        self._is_woken = True

    def next_due(self, now: Instant) -> Instant | None:
        """Return `now` if states may have been stored since the last call of `follow`."""
        return now if self._is_woken else None

    def wake(self) -> None:
        """Signal that another process may have stored states."""
        self._is_woken = True

    def note(self, unit: Unit) -> None:
        """Do nothing: units of this process store no states."""

    async def start(self, now: Instant, *, owed: Collection[int] = ()) -> None:  # noqa: ARG002 - the leader owes
        """Read all states."""
        await self.follow(now)

    async def follow(self, now: Instant) -> None:  # noqa: ARG002 - whatever the time
        """Read the states that were stored since the last call."""
        if not self._is_woken:
            return
        self._is_woken = False
        try:
            found = await self._store.read(events.list_new_states, NAME, after=self._seen, known=self._needing)
        except StoreError:
            self._is_woken = True
            raise
        for sentinel_id, state, changed in found:
            self._seen = max(self._seen, changed)
            memories = {} if state is None else list_memories(state)
            for behaviour in self._behaviours:
                behaviour.note_memory(sentinel_id, memories.get(behaviour.name))
            if any(memories.get(behaviour.name) for behaviour in self._behaviours):
                self._needing.add(sentinel_id)
            else:
                self._needing.discard(sentinel_id)

    async def remember(self) -> None:
        """Do nothing: the leader stores how far the log was followed."""
