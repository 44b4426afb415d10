"""Rates: the Notify clauses that wait for something, by rules (004 §3.7.2; sentinels §3.5, §6.3).

A clause that reports each change at once needs no rules: its message is written with the change
(`news.drafts`). Every other one is a *line*: it stores the last event that it reported (`after`)
and whether it is due. Changes and clocks make it due; quiet hours, caps and messages in flight hold
it. When it is due and not held, the events since `after` are read from the log and sent in one
message, if there are any.

When a Notify clause sends its gathered changes, and until when it must not: intervals, times of
day, quiet hours, caps (004 §3.7.2; sentinels §1.2, §2.4).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta, tzinfo
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY
from tidings.events.expression import Or, Periodic, Plus
from tidings.events.operators.node import Context
from tidings.events.rule import Coupling, Raised, Retuned, Rule
from tidings.language.times import zone_of
from tidings.model.event_type import EventType
from tidings.model.interval import instant_of, local_of
from tidings.model.observed.unit import Event, Timer
from tidings.model.watch.notifying import Rate
from tidings.model.watch.timing import DAILY, Opening
from tidings.record import dataclass, replace
from tidings.scheduling.timetable import ClockTimes, Hours
from tidings.service.behaviour import (
    NO_EFFECTS,
    Arrangement,
    Effects,
    WantedRule,
    name_closing,
    name_logged,
    name_opening,
    own,
)
from tidings.service.notify import news
from tidings.service.show.notices import NOTICES
from tidings.storage.watches import deliveries, events

if TYPE_CHECKING:
    from tidings.events.rule import Action, Condition, Firing
    from tidings.model.interval import Duration, Instant
    from tidings.model.watch.notifying import Notify
    from tidings.service.behaviour import Moment
    from tidings.service.watch.watchlist import NotifyTarget, WatchedSentinel
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

CHANGE: Final = EventType.CHANGE_FOUND
DONE: Final = EventType.DELIVERY_DONE
"""A message was accepted or given up, and something waits for its recipient."""
NOISY: Final = EventType.SENTINEL_NOISY


@dataclass(frozen=True, slots=True)
class RateLine:
    """A Notify clause with rules; best effort has a line for each recipient."""

    key: str
    clause: Notify
    targets: tuple[NotifyTarget, ...]

    @property
    def is_at_once(self) -> bool:
        """Return whether it waits only until it is free."""
        return self.clause.rate.mode in AT_ONCE


@dataclass(frozen=True, slots=True)
class Flapping:
    """More than `changes` changes within `span` are noise (sentinels §3.5, flapping): they are
    gathered until that time is over. 0: never.
    """

    changes: int = 0
    span: Duration = 0


_NOTHING_FLAPS: Final = Flapping()


class NotifyBehaviour:
    """The behaviour that notifies."""

    name = "telling"
    event_types: Final = frozenset({CHANGE, DONE, *NOTICES})
    conditions: Mapping[str, Condition] = {}

    def __init__(self, store: Store, *, noise: Flapping = _NOTHING_FLAPS) -> None:
        self._store = store
        self._noise = noise
        self.actions: Mapping[str, Action] = {"telling.tick": _retune}

    def lines(self, watched: WatchedSentinel) -> dict[str, RateLine]:
        """Return the lines of a sentinel by key: the clause's position and, for best effort, the
        recipient.
        """
        return {line.key: line for line in self._lines(watched)}

    def concerns(self, watched: WatchedSentinel) -> bool:
        """Return whether a clause needs rules."""
        return any(True for _ in self._lines(watched))

    def note_memory(self, sentinel_id: int, memory: Mapping[str, Any] | None) -> None:
        """Do nothing: which receivers a sentinel waits for is read from the database."""

    async def arrange(self, moment: Moment) -> Arrangement:
        """Return the rules of the lines for the present clauses; what gathered for a removed line
        is reported at once.
        """
        watched, memory = moment.watched, moment.memory
        is_new = "lines" not in memory
        line_states: dict[str, dict[str, Any]] = memory.setdefault("lines", {})
        lines = self.lines(watched)
        done: list[Effects] = []
        left = [key for key in line_states if key not in lines]
        for key in left:
            if watched.is_cut_off:  # it waits for a receiver
                line_states[key]["is_due"] = True
                continue
            m = line_states.pop(key)
            if watched.everybody():
                done.append(await self._notify(_everybody(key, watched), m, moment))
        for key, line in lines.items():
            mode = line.clause.rate.mode
            m = line_states.setdefault(
                key, {"after": moment.upto, "count": 0, "is_due": False, "sent": [], "mode": mode}
            )
            if m["mode"] != mode:
                m["mode"], m["is_due"] = mode, line.is_at_once
        if is_new:
            done += await self._inherit(lines, moment)
        done += [
            await self._try(line, line_states[key], moment) for key, line in lines.items() if line_states[key]["is_due"]
        ]
        waits = watched.is_cut_off and bool(line_states)
        return Arrangement(tuple(self._make_rules(lines, moment)), _join(done), waits)

    def _lines(self, watched: WatchedSentinel) -> Iterator[RateLine]:
        for place, clause, targets in watched.clauses():
            if clause.rate.mode == "interactive" or not targets or (clause.is_plain and not watched.gathers_noise):
                continue
            if clause.rate.mode == "best_effort":
                for target in targets:
                    yield RateLine(f"{place}:{target.endpoint_id}", clause, (target,))
            else:
                yield RateLine(str(place), clause, targets)

    def _make_rules(self, lines: Mapping[str, RateLine], moment: Moment) -> Iterator[WantedRule]:
        watched, number = moment.watched, moment.watched.row.id
        if any(line.is_at_once or line.clause.rate.changes for line in lines.values()):
            found = Or(tuple(name_logged(kind, number) for kind in (CHANGE, *news.notices_of(watched))))
            yield _make_rule("telling.found", found)
        if any(line.clause.rate.mode == "best_effort" for line in lines.values()):
            yield _make_rule("telling.done", name_logged(DONE, number))
        if self._noise.changes and any(line.is_at_once for line in lines.values()):
            calm = Plus(own("noisy", number), self._noise.span)
            yield _make_rule("telling.calm", calm, span=self._noise.span)
        for key, line in lines.items():
            clause, start = line.clause, watched.row.started_at or moment.at
            yield from _clock(f"telling.tick.{key}", clause.rate, moment, start)
            if clause.quiet is not None:
                yield from _clock(f"telling.awake.{key}", Rate("at", clocks=(clause.quiet.ends,)), moment, start)
            if clause.cap is not None:
                freed = Plus(own(f"told {key}", number), clause.cap.per)
                yield _make_rule(f"telling.freed.{key}", freed, Context.CHRONICLE, per=clause.cap.per)

    async def _inherit(self, lines: Mapping[str, RateLine], moment: Moment) -> list[Effects]:
        """Take over what timers of older versions of Tidings have gathered (`digest.PLACE`),
        without loss.
        """
        done: list[Effects] = []
        for timer in await self._store.read(_list_inherited, moment.watched.row.id):
            key = timer.kind.partition(".")[2]
            gone = Effects(timers=(Timer(kind=timer.kind, ref=timer.ref, due_at=None),))
            after, is_over = int(timer.data["after"]), timer.due_at is not None and timer.due_at <= moment.at
            if key in lines:
                moment.memory["lines"][key] |= {"after": after, "is_due": is_over}
            else:
                left = {"after": after, "sent": []}
                done.append(await self._notify(_everybody(key, moment.watched), left, moment))
            done.append(gone)
        return done

    async def act(self, moment: Moment, firing: Firing) -> Effects:
        """Return the messages for a change, a clock or the end of an attempt."""
        what, _, key = firing.rule.name.removeprefix("telling.").partition(".")
        lines, line_states = self.lines(moment.watched), moment.memory["lines"]
        match what:
            case "found":
                return await self._hear(moment, firing.occurrence.type.partition("(")[0], firing.occurrence.params)
            case "done":
                flown = [firing.occurrence.params.get(name) for name in ("endpoint", "last")]
                landed = [key for key, m in line_states.items() if m.get("flight") == flown]
                for key in landed:
                    del line_states[key]["flight"]
                return _join([await self._try(lines[key], line_states[key], moment) for key in landed if key in lines])
            case "calm":
                return await self._calm(moment)
            case _ if key not in lines or key not in line_states:
                return NO_EFFECTS  # altered just now
            case "tick":
                line_states[key]["is_due"] = True
        return await self._try(lines[key], line_states[key], moment)

    async def finish(self, moment: Moment) -> Effects:
        """Report what is left (W-54); what quiet hours and caps hold is sent when they allow it. A
        sentinel that was altered in a pause has still the lines of its former clauses.
        """
        watched, states = moment.watched, moment.memory.get("lines", {})
        lines = {
            **({key: _everybody(key, watched) for key in states} if watched.everybody() else {}),
            **self.lines(watched),
        }
        return _join([await self._notify(lines[key], m, moment) for key, m in states.items() if key in lines])

    async def _hear(self, moment: Moment, kind: str, params: Mapping[str, Any]) -> Effects:
        """Record a change or notice: lines that wait for nothing, or for this many changes, become
        due.
        """
        is_change = kind == CHANGE
        done = [self._note(moment, params)] if is_change and self._noise.changes else []
        is_calm = kind == NOISY or not moment.memory.get("noise", {}).get("is_noisy")
        for key, line in self.lines(moment.watched).items():
            if (m := moment.memory["lines"].get(key)) is None:
                continue  # it is made, from this event on, when the rules are updated to the present settings
            m["count"] += is_change
            wanted = line.clause.rate.changes
            if (line.is_at_once and is_calm) or (wanted and m["count"] >= wanted):
                m["is_due"] = True
                done.append(await self._try(line, m, moment))
        return _join(done)

    async def _try(self, line: RateLine, m: dict[str, Any], moment: Moment) -> Effects:
        """Report if the line is due and not held; the end of the hold leads here again."""
        must_wait = free_at(line.clause, moment.at, sent=m["sent"], zone=moment.watched.zone) > moment.at
        if not m["is_due"] or must_wait or await self._is_flying(m, moment):
            return NO_EFFECTS
        return await self._notify(line, m, moment)

    async def _is_flying(self, m: dict[str, Any], moment: Moment) -> bool:
        """Return whether the line waits for a message. One that waits no more was sent or given up
        without an event, or was never stored.
        """
        if "flight" not in m:
            return False
        sentinel_id = moment.watched.row.id
        if not moment.are_stored or await self._store.read(deliveries.is_waiting, sentinel_id, *m["flight"]):
            return True
        del m["flight"]
        return False

    async def _notify(self, line: RateLine, m: dict[str, Any], moment: Moment) -> Effects:
        """Report what has gathered, in one message per recipient, due when the line is free."""
        watched, clause = moment.watched, line.clause
        found = await self._store.read(news.gather, watched, m["after"], moment.upto, moment.pauses)
        m |= {"after": max(moment.upto, m["after"]), "count": 0, "is_due": False}
        if not found:
            return NO_EFFECTS
        due_at = free_at(clause, moment.at, sent=m["sent"], zone=watched.zone)
        first, last = found[0][0], found[-1][0]
        records = [record for _, record in found]
        more = {"due_at": due_at, "first_seq": first, "last_seq": last}
        effects = Effects(deliveries=tuple(news.draft(t, watched, records, moment.at, **more) for t in line.targets))
        if clause.rate.mode == "best_effort" and line.targets:
            m["flight"] = [line.targets[0].endpoint_id, last]
        if clause.cap is None:
            return effects
        m["sent"] = [*m["sent"], due_at][-clause.cap.count :]
        return replace(effects, raised=(Raised(own(f"told {line.key}", watched.row.id).name),))

    def _note(self, moment: Moment, params: Mapping[str, Any]) -> Effects:
        """Count a change; the one that exceeds the limit is reported with the notice that further
        ones are gathered.
        """
        noise = moment.memory.setdefault("noise", {"seen": [], "is_noisy": False})
        noise["seen"] = [at for at in (*noise["seen"], moment.at) if at > moment.at - self._noise.span]
        noise["seen"], noise["page"] = noise["seen"][-self._noise.changes - 1 :], params.get("page")
        if noise["is_noisy"] or len(noise["seen"]) <= self._noise.changes:
            return NO_EFFECTS
        noise["is_noisy"] = True
        return Effects(events=(self._event(NOISY, moment),), raised=(Raised(own("noisy", moment.watched.row.id).name),))

    async def _calm(self, moment: Moment) -> Effects:
        """Report what gathered during a flood; the flood is over if the limit was not reached this
        time.
        """
        noise = moment.memory["noise"]
        recent = [at for at in noise["seen"] if at > moment.at - self._noise.span]
        noise["is_noisy"] = len(recent) > self._noise.changes
        done = []
        for key, line in self.lines(moment.watched).items():
            if line.is_at_once and (m := moment.memory["lines"].get(key)) is not None:
                m["is_due"] = True
                done.append(await self._try(line, m, moment))
        if noise["is_noisy"]:
            done.append(Effects(raised=(Raised(own("noisy", moment.watched.row.id).name),)))
        else:
            done.append(Effects(events=(self._event(EventType.SENTINEL_CALM, moment),)))
        return _join(done)

    def _event(self, kind: EventType, moment: Moment) -> Event:
        data = {"changes": self._noise.changes, "span": self._noise.span}
        page_id = moment.memory["noise"]["page"]
        return Event(type=kind, at=moment.at, sentinel_id=moment.watched.row.id, page_id=page_id, data=data)


def list_flying(memory: Mapping[str, Any] | None) -> set[int]:
    """Return the endpoints whose message in flight the lines of a sentinel wait for."""
    lines = memory["lines"].values() if memory else ()
    return {m["flight"][0] for m in lines if "flight" in m}


def _everybody(key: str, watched: WatchedSentinel) -> RateLine:
    """Return the line to all receivers, for what gathered for a clause that has changed."""
    return RateLine(key, watched.sentinel.notify[0], watched.everybody())


def list_inherited(connection: Connection) -> list[int]:
    """Return the sentinels with changes gathered by timers of older versions of Tidings."""
    return sorted({timer.ref for timer in events.list_timers(connection) if timer.kind.startswith("digest.")})


def _list_inherited(connection: Connection, sentinel_id: int) -> list[Timer]:
    return [t for t in events.list_timers(connection) if t.ref == sentinel_id and t.kind.startswith("digest.")]


def _make_rule(name: str, event: Any, context: Context = Context.RECENT, **data: Any) -> WantedRule:
    return WantedRule(Rule(name=name, event=event, context=context, coupling=Coupling.DETACHED, data=data))


def _clock(name: str, rate: Rate, moment: Moment, start: Instant) -> Iterator[WantedRule]:
    """Yield the rule whose clock fires when a rate reports; each tick sets the next one, across DST
    changes.
    """
    zone = moment.watched.zone
    first = tick_after(rate, moment.at, start=start, zone=zone)
    if first is None:
        return
    data = {
        "mode": rate.mode,
        "interval": rate.interval,
        "clock": rate.clocks[0] if len(rate.clocks) == 1 else list(rate.clocks),
        "days": list(rate.days),
        "start": start,
        "zone": str(zone),
    }
    number = moment.watched.row.id
    event = Periodic(name_opening(name, number), first - moment.at, name_closing(number))
    yield WantedRule(Rule(name=name, event=event, action="telling.tick", data=data), is_opened=True)


def _retune(firing: Firing) -> Iterator[Retuned]:
    """Set a clock to its next tick."""
    data, at = firing.rule.data, firing.occurrence.end
    clocks = data["clock"] if isinstance(data["clock"], list) else [data["clock"]]
    rate = Rate(data["mode"], data["interval"], clocks=tuple(clocks), days=tuple(data["days"]))
    zone = zone_of(data["zone"])
    assert zone is not None  # noqa: S101 - checked when the sentinel was created
    following = tick_after(rate, at, start=data["start"], zone=zone)
    assert following is not None  # noqa: S101 - it has a clock
    yield Retuned(firing.rule.id, following - at)


def _join(parts: list[Effects]) -> Effects:
    return Effects(
        events=tuple(event for part in parts for event in part.events),
        deliveries=tuple(made for part in parts for made in part.deliveries),
        timers=tuple(timer for part in parts for timer in part.timers),
        raised=tuple(raised for part in parts for raised in part.raised),
    )


AT_ONCE: Final = frozenset({"immediate", "best_effort"})
"""Rates that wait only for the recipient."""


def tick_after(rate: Rate, after: Instant, *, start: Instant, zone: tzinfo) -> Instant | None:
    """Return the first instant after `after` at which a rate sends what has gathered; None if it
    has no clock.

    An interval counts from the sentinel's start, whenever changes were found. Whole days and times
    of day follow the zone's wall clock across DST changes; a skipped time comes right after, a
    repeated one comes once.

    Args:
        rate: The rate of a Notify clause.
        after: The instant (µs).
        start: When the sentinel started (µs).
        zone: Its time zone.
    """
    if rate.mode == "at":
        return ClockTimes(start=start, clocks=rate.clocks, days=rate.days, zone=zone).next_tick(after)
    if rate.mode != "every" or not rate.interval:
        return None
    number = max(0, after - start) // rate.interval + 1
    if rate.interval % DAY:
        return start + number * rate.interval
    days, local = timedelta(days=rate.interval // DAY), local_of(start, zone).replace(tzinfo=None)
    number = max(1, number - 1)
    while (tick := instant_of(local + number * days, zone)) <= after:
        number += 1
    return tick


def free_at(clause: Notify, at: Instant, *, sent: Sequence[Instant], zone: tzinfo) -> Instant:
    """Return the first instant from `at` on at which a clause may send: outside its quiet hours,
    and below its cap.

    Args:
        clause: The Notify clause.
        at: The instant (µs).
        sent: The instants of its latest messages, the oldest first (µs).
        zone: The sentinel's time zone.
    """
    while True:
        free = at
        if clause.cap is not None:
            counted = [instant for instant in sent if instant > free - clause.cap.per]
            if len(counted) >= clause.cap.count:
                free = counted[-clause.cap.count] + clause.cap.per
        if clause.quiet is not None:
            hours = Hours((Opening(DAILY, clause.quiet.begins, clause.quiet.ends),), zone)
            if hours.first_open(free) == free:
                free = hours.closes(free)
        if free == at:
            return free
        at = free
