"""Fetch on event: on an event from outside, the pages of the sentinels with `Fetch on event(NAME)`
are due at once.

A poll is owed from the event, or the start of its hours, until one that began later succeeds: host
limits, the page's floor and the budget may delay it, only the sentinel's end cancels it. Events
before the poll share it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import MINUTE
from tidings.events.rule import Action, Condition, Coupling, Rule
from tidings.model.interval import ExecutionInterval
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.scheduling.timetable import Hours
from tidings.service.behaviour import NO_EFFECTS, Arrangement, Effects, WantedRule, happening, name_logged
from tidings.service.watch.page_schedule import POLLED, Deadline
from tidings.storage.watches import subscriptions
from tidings.storage.watches.outside import HAPPENED

if TYPE_CHECKING:
    from tidings.events.expression import Primitive
    from tidings.events.rule import Firing
    from tidings.model.interval import Duration
    from tidings.service.behaviour import Moment
    from tidings.service.watch.page_schedule import Needs
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

PROMPT: Final[Duration] = 10 * MINUTE
"""how soon after an event a poll is due, for its rank among polls with a deadline"""


class FetchOnEvent:
    """The behaviour. `needs` are the deadlines that the planner serves.

    Its memory: `due`, the owed polls by page as plain JSON: `start`, the earliest begin, `end`,
    when it is late, and `event`.
    """

    name = "summons"
    event_types = frozenset({HAPPENED, POLLED})
    conditions: Mapping[str, Condition] = {}
    actions: Mapping[str, Action] = {}

    def __init__(self, store: Store, needs: Needs) -> None:
        self._store = store
        self._needs = needs

    def concerns(self, watched: WatchedSentinel) -> bool:
        """Return whether a sentinel polls on an event."""
        return bool(watched.sentinel.fetch.events)

    async def arrange(self, moment: Moment) -> Arrangement:
        """Return the rules that add and settle owed polls; those of an event no longer used are
        dropped.
        """
        number, events = moment.watched.row.id, moment.watched.sentinel.fetch.events
        due = moment.memory.get("due", {})
        moment.memory["due"] = {page: owed for page, owed in due.items() if owed["event"] in events}
        if not events:
            return Arrangement()
        rules = [_rule(f"event.{event}", happening(event, number), event=event) for event in events]
        return Arrangement([WantedRule(rule) for rule in (*rules, _rule("look", name_logged(POLLED, number)))])

    async def act(self, moment: Moment, firing: Firing) -> Effects:
        """Add an owed poll of each page, or settle one that was made."""
        due = moment.memory.setdefault("due", {})
        if firing.rule.name == "summons.look":
            page, begun = str(firing.occurrence.params["page"]), firing.occurrence.params["begun"]
            if page in due and begun >= due[page]["start"]:
                del due[page]
            return NO_EFFECTS
        watched = moment.watched
        asked = Hours(watched.sentinel.during, watched.zone).open_part(ExecutionInterval(moment.at, moment.at + PROMPT))
        for page_id in await self._store.read(_pages, watched.row.id):
            end = min(due.get(str(page_id), {"end": asked.end})["end"], asked.end)
            due[str(page_id)] = {
                "start": asked.start,
                "end": max(end, asked.start),
                "event": firing.rule.data["event"],
            }
        return NO_EFFECTS

    async def finish(self, moment: Moment) -> Effects:
        """Drop all owed polls."""
        moment.memory.clear()
        return NO_EFFECTS

    def note_memory(self, sentinel_id: int, memory: Mapping[str, Any] | None) -> None:
        """Pass the owed polls to the planner."""
        self._needs.settle(self.name, sentinel_id, _deadlines(sentinel_id, memory or {}))


def _rule(name: str, trigger: Primitive, **data: Any) -> Rule:
    return Rule(name=f"summons.{name}", event=trigger, coupling=Coupling.DETACHED, data=data)


def _deadlines(sentinel_id: int, memory: Mapping[str, Any]) -> Iterable[Deadline]:
    for page, owed in memory.get("due", {}).items():
        event = owed["event"]
        interval = ExecutionInterval(owed["start"], owed["end"])
        yield Deadline(
            int(page),
            sentinel_id,
            interval,
            PollReason(Why.EVENT, event),
            late=PollReason(Why.EVENT_LATE, event),
            is_met=True,
        )


def _pages(connection: Connection, sentinel_id: int) -> list[int]:
    """Return the distinct pages of a sentinel."""
    return sorted({sub.page_id for sub in subscriptions.listing(connection, sentinel_id=sentinel_id)})
