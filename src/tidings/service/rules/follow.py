"""Rules: the event engine follows the event log, and its results are committed (sentinels §3.4).

Each step reads the events committed since the last one, in order, and raises each in the engine;
then the due clocks fire. The behaviours' effects and the new state of a sentinel's rules are one
unit. A crash loses nothing: the next start restores the committed state and replays the events
after it. A sentinel's rules are created by its start event and removed by its end event; one
without behaviours has none.

Each event is processed with the text that its sentinel had when the event was stored. The watchlist
may have read an older text, or a newer one after a restart.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any

from tidings.clock import MINUTE
from tidings.errors import OvertakenError, StoreError, UnitError
from tidings.events.engine import Engine
from tidings.events.occurrence import Occurrence
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, RuleState, Unit
from tidings.record import replace
from tidings.service.behaviour import Effects, Moment, WantedRule, happening, name_logged, name_opening
from tidings.service.notify.rates import list_flying
from tidings.service.rules.joint_reports import notify_anew
from tidings.service.rules.rule_group import (
    BY_THE_WALL,
    Pause,
    RuleGroup,
    at_latest,
    fault,
    has_started,
    is_same,
    with_effects,
)
from tidings.service.watch.committer import finish_all
from tidings.service.watch.watchlist import LIFE_EVENTS
from tidings.storage.watches import events, subscriptions
from tidings.storage.watches.outside import HAPPENED

if TYPE_CHECKING:
    from tidings.events.engine import Sizes
    from tidings.events.rule import EngineOutcome, Firing, Raised
    from tidings.model.interval import Duration, Instant
    from tidings.service.behaviour import Behaviour
    from tidings.service.watch.committer import Committer
    from tidings.service.watch.watchlist import WatchedSentinel, Watchlist
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.events import EventRow
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.rules.follow")
NAME = "rules"
"""name of the `rule_state` rows with the rules of a sentinel"""
FINISHED = "rules.finished"
"""name of the rows that say that an ended sentinel's rules are finished, stored until the log is
read safely beyond its end
"""
MISSED = MINUTE
"""after a pause this long, a ticking clock fires only for the newest tick (sentinels §2.3)"""
REMEMBER_EVERY = 1_000
"""most events read again in vain after a crash"""
_NOBODY_HEARS = ""
"""an occurrence without listeners that only advances the engine's time, so that what is due at that
instant follows its event
"""
_BEGINS = frozenset({EventType.SENTINEL_CREATED, EventType.SENTINEL_ENABLED, EventType.SENTINEL_ALTERED})
_LIVES = frozenset(EventType(f"sentinel.{state}") for state in ("created", "waiting", "enabled", "disabled"))
"""Events after which a sentinel lives, also one that was dropped and restored."""


class RuleFollower:
    """The rules of all sentinels. Call `follow` at each step, `note` with each committed unit."""

    def __init__(
        self, store: Store, watchlist: Watchlist, committer: Committer, behaviours: Iterable[Behaviour], *, epoch: int
    ) -> None:
        self._store = store
        self._watchlist = watchlist
        self._committer = committer
        self._behaviours = {behaviour.name: behaviour for behaviour in behaviours}
        self._event_types = frozenset(chain(*(b.event_types for b in self._behaviours.values())))
        self._epoch = epoch
        self._engine = self._new_engine()
        self._groups: dict[int, RuleGroup] = {}
        self._upto = self._remembered = 0
        self._at_event = 0
        """the event being processed"""
        self._altered: dict[int, list[tuple[int, int]]] = {}
        """(event, revision) of the alterations that were read from the log, as long as the
        watchlist may have another text
        """
        self._ended: set[int] = set()
        """sentinels whose end was read from the log, as long as the watchlist may have them"""
        self._passed = 0
        """number of events committed since the log was read"""
        self._now: Instant = 0
        """the present; later instants in the log were written by a clock that was ahead"""
        self._is_woken = True
        self._is_loaded = False

    @property
    def sizes(self) -> Sizes:
        """Return the size of the engine."""
        return self._engine.sizes

    def memory(self, sentinel_id: int, behaviour: str) -> Mapping[str, Any]:
        """Return what a behaviour stores of a sentinel, empty without rules."""
        group = self._groups.get(sentinel_id)
        return {} if group is None else group.memory.get(behaviour, {})

    def next_due(self, now: Instant) -> Instant | None:
        """Return when `follow` has work: now if events wait, else when the next clock fires; None:
        no work.
        """
        return now if self._is_woken else self._engine.next_due()

    def wake(self) -> None:
        """Signal that another process may have written events."""
        self._is_woken = True

    def note(self, unit: Unit) -> None:
        """Record a committed unit: its events are processed at the next step if rules may
        use them.
        """
        self._passed += len(unit.events)
        matters = bool(unit.sentinels) or any(map(self._may_matter, unit.events)) or self._passed > REMEMBER_EVERY
        self._is_woken = self._is_woken or matters

    async def start(self, now: Instant, *, owed: Collection[int] = ()) -> None:
        """Load the committed rules of all sentinels, and process the events since.

        `owed` are sentinels, including ended ones, whose behaviours take something over from an
        earlier version of Tidings.
        """
        self._upto = self._remembered = await self._store.read(events.get_followed)
        stored = await self._store.read(events.list_rule_states, NAME)
        for sentinel_id in self._groups.keys() - {sentinel_id for sentinel_id, _ in stored}:
            self._forget(sentinel_id)
        self._engine, self._groups = self._new_engine(), {}
        self._altered, self._ended = {}, set()
        self._now = now
        base = min((min(state["engine"]["now"], now) for _, state in stored), default=0)
        for sentinel_id, known in stored:
            state = at_latest(known, now)
            group = self._groups[sentinel_id] = RuleGroup.from_json(sentinel_id, state)
            group.is_touched = state is not known
            # a rule group that is behind processes its events at their time
            self._put_back(group, {**state["engine"], "now": base})
            self._settle(group)
        for sentinel_id, state in await self._store.read(events.list_rule_states, FINISHED):
            self._groups[sentinel_id] = RuleGroup(sentinel_id, state["upto"], is_finished=True)
        self._engine.take_changed()
        self._is_loaded = self._is_woken = True
        await self.follow(now)
        for sentinel_id in [*self._watchlist.sentinels]:
            await self._mend(await self._load(sentinel_id))
        for sentinel_id in owed:
            await self._mend(await self._load(sentinel_id), is_owed=True)
        self._is_woken = True
        await self.follow(now)

    async def follow(self, now: Instant) -> None:
        """Process new events, fire the clocks that are due, and commit the results."""
        if not self._is_loaded:
            await self.start(now)
            return
        self._now = now
        self._forget_known()
        try:
            while self._is_woken or ((due := self._engine.next_due()) is not None and due <= now):
                self._is_woken, self._passed = False, 0
                happened, last = await self._store.read(_list_events, self._upto, self._event_types.union(LIFE_EVENTS))
                self._note_alterations(happened)
                for event in happened:
                    await self._hear(event)
                self._upto = self._at_event = max(last, self._upto)
                await self._advance(now)
                await self._commit(now)
        except BaseException:
            self._is_loaded = False  # memory may differ from storage: load it again
            raise
        if self._upto - self._remembered > REMEMBER_EVERY or any(group.is_finished for group in self._groups.values()):
            await self.remember()

    def _note_alterations(self, happened: Iterable[EventRow]) -> None:
        """Record which text each sentinel has from which event on."""
        for event in happened:
            revision = event.data.get("revision") if event.type == EventType.SENTINEL_ALTERED else None
            if revision is not None and event.sentinel_id is not None:  # else it means the same
                self._altered.setdefault(event.sentinel_id, []).append((event.seq, revision))

    def _forget_known(self) -> None:
        """Drop what the watchlist has read meanwhile."""
        present = self._watchlist.sentinels
        self._ended &= present.keys()
        self._altered = {
            sentinel_id: made
            for sentinel_id, made in self._altered.items()
            if sentinel_id in present and present[sentinel_id].row.revision < made[-1][1]
        }

    async def remember(self) -> None:
        """Store how far the log has been followed, so that the next start reads no further back."""
        if self._is_loaded and not self._is_woken:
            await self._store.write(events.set_followed, self._upto, forget=FINISHED)
            self._remembered = self._upto
            self._groups = {number: group for number, group in self._groups.items() if not group.is_finished}

    def _may_matter(self, event: Event) -> bool:
        return event.type in LIFE_EVENTS or (
            event.type in self._event_types
            and (
                event.sentinel_id in self._groups
                if event.sentinel_id is not None and event.sentinel_id in self._watchlist.sentinels
                else bool(self._groups)
            )
        )

    async def _hear(self, event: EventRow) -> None:
        if event.sentinel_id in self._watchlist.unread:
            return  # its wanted events are unknown; its owner is notified
        if event.type in LIFE_EVENTS and event.sentinel_id is not None:
            await self._live(event, event.sentinel_id)
        if event.type not in self._event_types:
            return
        if event.type == HAPPENED:
            await self._hear_happening(event)
            return
        for sentinel_id in await self._listeners(event):
            group = self._groups.get(sentinel_id)
            if group is not None and event.seq <= group.upto:
                continue
            if group is None or group.is_finished:
                await self._hear_late(event, sentinel_id)
            elif group.pause is not None:
                _miss(event, group)
            else:
                await self._reach(event, group)
                await self._occur(event, sentinel_id)

    async def _hear_happening(self, event: EventRow) -> None:
        """Raise an external event for the rules of each sentinel that waits for it."""
        name = event.data["event"]
        for sentinel_id, group in sorted(self._groups.items()):
            occurs = happening(name, sentinel_id).name
            if event.seq > group.upto and not group.is_finished and self._engine.listens(occurs):
                await self._reach(event, group)
                params = {**event.data["params"], "seq": event.seq}
                await self._act(self._engine.push(Occurrence.at(occurs, self._engine.now, params)))

    async def _occur(self, event: EventRow, sentinel_id: int) -> None:
        params = {"seq": event.seq, "page": event.page_id, "change": event.change_id}
        plain = {name: value for name, value in event.data.items() if isinstance(value, (int, float, str))}
        merged = plain | {name: value for name, value in params.items() if value is not None}
        for page_id in dict.fromkeys((None, event.page_id)):
            name = name_logged(event.type, sentinel_id, page_id).name
            await self._act(self._engine.push(Occurrence.at(name, self._engine.now, merged)))

    async def _listeners(self, event: EventRow) -> list[int]:
        """Return the sentinels that an event concerns: its own, or all that watch its page."""
        if event.sentinel_id is not None:
            return [event.sentinel_id]
        if event.page_id is None:
            return []
        page = self._watchlist.pages.get(event.page_id)
        if page is not None:
            return sorted({sub.row.sentinel_id for sub in page.subscriptions.values()})
        if self._watchlist.has_all:
            return []
        watching = await self._store.read(subscriptions.listing, active=True, page_id=event.page_id)
        return sorted({row.sentinel_id for row in watching})

    async def _reach(self, event: EventRow, group: RuleGroup) -> None:
        """Advance a group's time to an event: earlier due clocks fire first, and see only earlier
        events.
        """
        at = max(min(event.at, self._now), group.now, self._engine.now)
        self._at_event = event.seq - 1
        await self._advance(at - 1)
        self._at_event = event.seq
        self._engine.push(Occurrence.at(_NOBODY_HEARS, at))

    async def _live(self, event: EventRow, sentinel_id: int) -> None:
        """Create a sentinel's rules at its start, update them on alterations and pauses, remove
        them at its end.
        """
        if event.type == EventType.SENTINEL_ENDED:
            self._ended.add(sentinel_id)
        elif event.type in _LIVES:
            self._ended.discard(sentinel_id)
        group = self._groups.get(sentinel_id)
        if group is not None and event.seq <= group.upto:
            return
        if event.type == EventType.SENTINEL_ENDED:
            if group is not None and not group.is_finished:
                await self._reach(event, group)
                await self._finish(group)
        elif event.type == EventType.SENTINEL_DISABLED:
            if group is not None and not group.is_finished and group.pause is None:
                await self._reach(event, group)
                self._pause(group)
        elif event.type == EventType.SENTINEL_ENABLED and group is not None and group.pause is not None:
            await self._reach(event, group)
            await self._resume(group, await self._load(sentinel_id))
        elif event.type in _BEGINS:
            watched = await self._load(sentinel_id, event.seq)
            if self._concerns(watched) and has_started(event, watched):
                if group is None:
                    group = self._groups[sentinel_id] = RuleGroup(sentinel_id, event.seq)
                elif group.is_finished and watched.row.state != "ended":
                    group.is_finished, group.memory = False, {}
            if group is not None and not group.is_finished and group.pause is None:
                await self._reach(event, group)
                await self._arrange(group, watched)

    def _pause(self, group: RuleGroup) -> None:
        """Stop everything that waits for a sentinel until it is enabled again."""
        group.pause = Pause(self._engine.now, self._engine.dump(group.name))
        self._engine.remove_group(group.name)
        group.is_touched = True

    async def _resume(self, group: RuleGroup, watched: WatchedSentinel) -> None:
        """Resume a sentinel's rules, updated to its present text, and process the results of polls
        that ran at the pause.
        """
        dumps, pause = group.resume(self._engine.now)
        for dump in dumps:
            self._put_back(group, {**dump, "now": self._engine.now})
        await self._arrange(group, watched, resumed=self._engine.now - pause.since)
        group.is_touched = True
        if pause.missed and not group.is_finished:
            for event in await self._store.read(_number, pause.missed):
                await self._occur(event, group.sentinel_id)

    def _put_back(self, group: RuleGroup, dump: Mapping[str, Any]) -> None:
        try:
            self._engine.resume(dump)
        except Exception as error:  # noqa: BLE001 - they are created again; other sentinels continue
            number = group.sentinel_id
            log.warning(
                "the rules of the sentinel %s are from another version of Tidings and created again: %s", number, error
            )

    async def _hear_late(self, event: EventRow, sentinel_id: int) -> None:
        """Process what a sentinel's last poll found after its end, and report it."""
        has_ended = sentinel_id in self._ended
        if sentinel_id in self._watchlist.sentinels and not has_ended:
            return
        watched = await self._load(sentinel_id, event.seq)
        if not (has_ended or watched.row.state == "ended") or not self._concerns(watched):
            return
        group = self._groups.get(sentinel_id)
        if group is None:
            group = self._groups[sentinel_id] = RuleGroup(sentinel_id, event.seq - 1)
        await self._reach(event, group)
        self._at_event = event.seq - 1
        await self._arrange(group, watched)
        self._at_event = event.seq
        await self._occur(event, sentinel_id)
        await self._finish(group)

    async def _mend(self, watched: WatchedSentinel, *, is_owed: bool = False) -> None:
        """Update the rules of a sentinel to what its behaviours want now: another version of
        Tidings may have wanted something else.
        """
        group = self._groups.get(watched.row.id)
        if group is None and watched.row.started_at is not None and (is_owed or self._concerns(watched)):
            memory: dict[str, dict[str, Any]] = {name: {} for name in self._behaviours} if is_owed else {}
            group = self._groups[watched.row.id] = RuleGroup(watched.row.id, self._upto, memory=memory)
        if group is not None and not group.is_finished and group.pause is None:
            await self._arrange(group, watched)
            if watched.row.state == "disabled" and not group.is_finished:
                self._pause(group)
            if watched.row.state == "ended" and not group.is_finished:
                await self._finish(group)

    async def _advance(self, until: Instant) -> None:
        """Fire the due clocks instant by instant, so that each effect is written before the next
        is due.
        """
        engine = self._engine
        if (due := engine.next_due()) is not None and until - due > MISSED:
            engine.catch_up(until)
        while (due := engine.next_due()) is not None and due <= until:
            await self._act(engine.advance(due))
        engine.advance(until)

    def _concerns(self, watched: WatchedSentinel) -> bool:
        return any(behaviour.concerns(watched) for behaviour in self._behaviours.values())

    async def _load(self, sentinel_id: int, seq: int | None = None) -> WatchedSentinel:
        """Return a sentinel with the text that it had at an event, by default at the one being
        processed.
        """
        watched = self._watchlist.sentinels.get(sentinel_id)
        revision = self._find_revision(sentinel_id, self._at_event if seq is None else seq)
        if watched is None or revision not in {None, watched.row.revision}:
            return await self._watchlist.recall(sentinel_id, revision)
        return watched

    def _find_revision(self, sentinel_id: int, seq: int) -> int | None:
        """Return the revision of a sentinel's text at an event; None for the one of the
        watchlist.
        """
        made = self._altered.get(sentinel_id)
        if made is None:
            return None
        return max((revision for at, revision in made if at <= seq), default=made[0][1] - 1)

    async def _moment(self, group: RuleGroup, behaviour: str, *, resumed: Duration = 0) -> Moment:
        watched, memory = await self._load(group.sentinel_id), group.memory.setdefault(behaviour, {})
        are_stored = not group.effects
        return Moment(watched, memory, self._engine.now, self._at_event, group.pauses, resumed, are_stored)

    async def _act(self, outcome: EngineOutcome) -> None:
        """Have the behaviours handle the rules that fired."""
        for problem in outcome.problems:
            log.error("a rule of the sentinel %s failed: %s", problem.rule.group, problem.text)
            group = self._groups[int(problem.rule.group)]
            self._do(group, fault(problem.rule.name, problem.text, self._engine.now, group.sentinel_id))
        for firing in outcome.firings:
            await self._answer(self._groups[int(firing.rule.group)], firing)

    async def _answer(self, group: RuleGroup, firing: Firing) -> None:
        group.is_touched = True
        name = firing.rule.name.partition(".")[0]
        moment = await self._moment(group, name)
        remembered = deepcopy(moment.memory)
        try:
            effects = await self._behaviours[name].act(moment, firing)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - a faulty behaviour is reported; other sentinels continue
            group.memory[name] = remembered
            effects = self._report(group, firing.rule.name, error)
        self._do(group, effects)
        await self._raise(effects.raised)

    async def _raise(self, raised: Iterable[Raised]) -> None:
        for kind, params in raised:
            await self._act(self._engine.push(Occurrence.at(kind, self._engine.now, params)))

    def _do(self, group: RuleGroup, effects: Effects) -> None:
        if effects.events or effects.changes or effects.deliveries or effects.timers:
            group.effects.append(effects)
            group.is_touched = True

    async def _arrange(self, group: RuleGroup, watched: WatchedSentinel, *, resumed: Duration = 0) -> None:
        """Update a sentinel's rules to its present text; unchanged rules keep their pending
        state.
        """
        failed = self._engine.flags(group.name).keys()  # they are created again
        before = {rule.name: rule for rule in self._engine.rules(group.name)}
        remembered = deepcopy(group.memory)
        wanted: dict[str, WantedRule] = {}
        raised: list[Raised] = []
        waits = False
        for name, behaviour in self._behaviours.items():
            if not behaviour.concerns(watched) and name not in group.memory:
                continue
            try:
                arrangement = await behaviour.arrange(await self._moment(group, name, resumed=resumed))
            except StoreError:
                raise
            except Exception as error:  # noqa: BLE001 - a faulty behaviour is reported; its rules stay as they are
                group.memory[name] = deepcopy(remembered.get(name, {}))
                self._do(group, self._report(group, name, error))
                wanted |= {rule.name: WantedRule(rule) for rule in before.values() if rule.name.startswith(f"{name}.")}
                waits = True
                continue
            wanted |= {item.rule.name: item for item in arrangement.wanted}
            self._do(group, arrangement.effects)
            raised += arrangement.effects.raised
            waits = waits or arrangement.waits
        for name, rule in before.items():
            if name not in wanted or not is_same(wanted[name].rule, rule) or rule.id in failed:
                self._engine.remove(rule.id)
            else:
                del wanted[name]
        for name, item in wanted.items():
            self._engine.add(replace(item.rule, group=group.name))
            if item.is_opened:
                occurrence = Occurrence.at(name_opening(name, group.sentinel_id).name, self._engine.now)
                await self._act(self._engine.push(occurrence))
        await self._raise(raised)
        group.is_touched = group.is_touched or group.memory != remembered
        if not self._concerns(watched) and not waits:  # altered so that it needs no rules
            self._dissolve(group)

    async def _finish(self, group: RuleGroup) -> None:
        """Have the behaviours finish, and remove the group's row."""
        for name in group.memory:
            try:
                self._do(group, await self._behaviours[name].finish(await self._moment(group, name)))
            except StoreError:
                raise
            except Exception as error:  # noqa: BLE001 - a faulty behaviour is reported; other sentinels continue
                self._do(group, self._report(group, name, error))
        self._dissolve(group)

    def _report(self, group: RuleGroup, name: str, error: Exception) -> Effects:
        """Return the effects that report the error of a rule or behaviour."""
        log.error("the rule %s of the sentinel %s failed", name, group.sentinel_id, exc_info=error)
        return fault(name, f"{type(error).__name__}: {error}", self._engine.now, group.sentinel_id)

    def _dissolve(self, group: RuleGroup) -> None:
        self._engine.remove_group(group.name)
        group.is_finished = group.is_touched = True

    def _settle(self, group: RuleGroup) -> None:
        for name, behaviour in self._behaviours.items():
            if name in group.memory:
                is_idle = group.is_finished or (group.pause is not None and f"{name}." != BY_THE_WALL)
                behaviour.note_memory(group.sentinel_id, None if is_idle else group.memory[name])

    def _forget(self, sentinel_id: int) -> None:
        """Let the behaviours forget a sentinel of which no rules are stored."""
        for behaviour in self._behaviours.values():
            behaviour.note_memory(sentinel_id, None)

    def _new_engine(self) -> Engine:
        behaviours = self._behaviours.values()
        conditions = {name: meaning for b in behaviours for name, meaning in b.conditions.items()}
        return Engine(conditions, {name: meaning for b in behaviours for name, meaning in b.actions.items()})

    async def _commit(self, now: Instant) -> None:
        """Write, for each sentinel with results, the effects together with the new state."""
        changed = self._engine.take_changed()
        groups = [group for group in self._groups.values() if group.is_touched or group.name in changed]
        for group in groups:
            group.upto, group.now = self._upto, self._engine.now
        await finish_all(self._write(group, now) for group in groups)
        for group in groups:
            group.effects, group.is_touched = [], False
            self._settle(group)

    async def _write(self, group: RuleGroup, now: Instant) -> None:
        states: dict[str, dict[str, Any] | None] = (
            {NAME: None, FINISHED: {"upto": group.upto}}
            if group.is_finished
            else {NAME: group.to_json(self._engine.dump(group.name))}
        )
        made = tuple(RuleState(sentinel_id=group.sentinel_id, name=n, state=s) for n, s in states.items())
        unit = Unit(at=now, epoch=self._epoch, rules=made)
        try:
            while True:
                try:
                    await self._committer.write(with_effects(unit, group.effects))
                    break
                except OvertakenError:
                    watched = await self._watchlist.recall(group.sentinel_id)
                    group.effects = [await self._store.read(notify_anew, watched, part) for part in group.effects]
        except Exception as error:
            if isinstance(error, StoreError) and not isinstance(error, UnitError):
                raise
            # The store has recorded it as a problem; the rest continues without what it refuses.
            log.error("the results of the rules of the sentinel %s were refused: %s", group.sentinel_id, error)  # noqa: TRY400 - the text says all
            if len(group.effects) > 1:
                await self._write_each(group, now)
            await self._committer.write(unit)

    async def _write_each(self, group: RuleGroup, now: Instant) -> None:
        """Write each of the effects that were refused together."""
        unit = Unit(at=now, epoch=self._epoch)
        for effects in group.effects:
            try:
                await self._committer.write(with_effects(unit, [effects]))
            except UnitError as error:
                log.error("a result of the rules of the sentinel %s is left out: %s", group.sentinel_id, error)  # noqa: TRY400 - the text says all


def is_awaited(connection: Connection, sentinel_id: int, endpoint_id: int) -> bool:
    """Return whether a stored rule of a sentinel waits for a message to an endpoint."""
    state = events.get_rule_state(connection, sentinel_id, NAME)
    return state is not None and endpoint_id in list_flying(state["memory"].get("telling"))


def _miss(event: EventRow, group: RuleGroup) -> None:
    """Store what a disabled sentinel is to process when it resumes: its own events; others' events
    of its pages are not.
    """
    if event.sentinel_id == group.sentinel_id and group.pause is not None:
        group.pause.missed.append(event.seq)
        group.is_touched = True


def _number(connection: Connection, numbers: Collection[int]) -> list[EventRow]:
    return [event for n in numbers for event in events.listing(connection, after=n - 1, upto=n)]


def _list_events(connection: Connection, after: int, types: Iterable[str]) -> tuple[list[EventRow], int]:
    """Return the events of these types above a number, and the number of the newest event
    of all.
    """
    return events.listing(connection, after=after, types=frozenset(types)), events.last_seq(connection)
