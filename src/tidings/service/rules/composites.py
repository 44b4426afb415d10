"""Composites: changes of several pages that belong together (sentinels §4.5: AND, OR, NOT across
pages).

Each page's part of the Monitor clause is a change of its own, stored but not reported. AND is the
operator of that name in the recent context: parts wait for each other for the length of the window,
and reported parts are consumed. NOT is decided one window after the rest has come true: by what was
found a window before and after, and only if the page was polled in between, according to the
records of polls; else the report says *undecided*.

With an explicit window (`within`), a found part makes a need of the others (a CEI of paper 001, as
AuctionWatch(k)): each of their pages is to be polled in the last tenth of the window, when one poll
sees everything the window covers. Any other poll in that time serves too.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidings.clock import DAY
from tidings.detection.ask.across import Alternatives, Joined, Leaf, Meeting, has_changed, leaves
from tidings.events.expression import And, AnyOfEvents, Expression, Or, Plus
from tidings.events.operators.node import Context
from tidings.events.rule import Action, Condition, Coupling, Raised, Rule
from tidings.language import expressions
from tidings.model.interval import ExecutionInterval, describe_duration
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.watch.timing import FetchAt, FetchEvery
from tidings.record import replace
from tidings.service.behaviour import NO_EFFECTS, Arrangement, Effects, WantedRule, name_logged, own, postpone
from tidings.service.rules.joint_reports import JointReport, list_named_pages
from tidings.service.watch.composite_parts import PART, CompositeParts, composite_parts_of, kind_of
from tidings.service.watch.cursors import hours_of, ticks_of
from tidings.service.watch.page_schedule import POLLED, Deadline
from tidings.service.watch.watchlist import Subscription
from tidings.storage.observed import polls
from tidings.storage.watches import changes, subscriptions

if TYPE_CHECKING:
    from tidings.events.rule import Firing
    from tidings.model.interval import Duration, Instant
    from tidings.service.behaviour import Moment
    from tidings.service.rules.joint_reports import Reporter
    from tidings.service.watch.page_schedule import Needs
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

HOLDS = "holds"
"""Occurs, for the rules of a sentinel whose Then names other pages, when its Monitor clause holds.
Params: `parts`, `cause`.
"""
LONGEST: Duration = DAY
"""Longest window of pages that are fetched on change, which is otherwise their current interval."""
LAST_PART = 10
"""Other pages are polled in the last part (1/n) of a window."""
Parts = list[dict[str, Any]]
"""The changes of a meeting, as plain JSON: `change` (its id), `at`, `leaf` (its number)."""


class Composites:
    """The behaviour. `pace` returns the current interval of a page that is fetched on change, None
    if unknown.
    """

    name = "composites"
    event_types = frozenset({PART, POLLED})
    conditions: Mapping[str, Condition] = {}
    actions: Mapping[str, Action] = {}

    def __init__(
        self, store: Store, reporter: Reporter, needs: Needs, pace: Callable[[int], Awaitable[Duration | None]]
    ) -> None:
        self._store = store
        self._reporter = reporter
        self._needs = needs
        self._pace = pace

    def concerns(self, watched: WatchedSentinel) -> bool:
        """Return whether changes of a sentinel are combined before they are reported."""
        return composite_parts_of(watched.sentinel).waits

    async def arrange(self, moment: Moment) -> Arrangement:
        """Return a rule for found parts, one for each meeting, and one for each later decision."""
        watched, number = moment.watched, moment.watched.row.id
        joint = composite_parts_of(watched.sentinel)
        window = _get_window(watched)
        _let_wait(moment)
        rules = {
            "monitor": expressions.to_text(watched.sentinel.monitor),
            "window": window,
            "then": bool(watched.sentinel.then),
        }
        wanted = [
            WantedRule(_rule("part", name_logged(PART, number), rules)),
            WantedRule(_rule("look", name_logged(POLLED, number), rules)),
        ]
        if not joint.waits:
            moment.memory.clear()
            return Arrangement()
        for place, meeting in enumerate(joint.meetings):
            event = _all_of(meeting, joint, number, LONGEST if window is None else window)
            wanted.append(WantedRule(_rule(f"meet.{place}", event, rules)))
            if meeting.negative:
                late = Plus(own(f"met {place}", number), LONGEST if window is None else window, until="until")
                wanted.append(WantedRule(_rule(f"decide.{place}", late, rules, Context.CHRONICLE)))
        return Arrangement(wanted)

    async def act(self, moment: Moment, firing: Firing) -> Effects:
        """Handle a found part, parts that have met, or the end of the window around them."""
        _, step, *place = firing.rule.name.split(".")
        _let_go(moment.memory, moment.at)
        match step:
            case "look":
                _let_go(moment.memory, moment.at, page_id=firing.occurrence.params["page"])
                return NO_EFFECTS
            case "part":
                return await self._let_part_occur(moment, firing.occurrence.params["change"])
            case "meet":
                return await self._meet(moment, int(place[0]), _parts_of(firing))
            case _:
                return await self._decide(moment, int(place[0]), firing.occurrence)

    async def finish(self, moment: Moment) -> Effects:
        """Return nothing: unfinished meetings at the end of a sentinel have not come true."""
        del moment
        return NO_EFFECTS

    def note_memory(self, sentinel_id: int, memory: Mapping[str, Any] | None) -> None:
        """Pass the deadlines of found parts to the planner."""
        sought = (memory or {}).get("sought", ())
        self._needs.settle(
            self.name,
            sentinel_id,
            [
                Deadline(
                    page_id,
                    sentinel_id,
                    ExecutionInterval(start, end),
                    PollReason(Why.TOGETHER),
                )
                for _, page_id, start, end in sought
            ],
        )

    async def _let_part_occur(self, moment: Moment, change_id: str) -> Effects:
        """Raise a found part as an occurrence; one without a meeting has come true."""
        stored = await self._store.read(changes.get, change_id)
        if stored is None:
            return NO_EFFECTS
        joint = composite_parts_of(moment.watched.sentinel)
        numbers = [n for n, leaf in enumerate(joint.leaves) if kind_of(leaf) == stored.row.kind]
        numbers = [n for n in numbers if joint.leaves[n].page == await self._name(moment, stored.row.subscription_id)]
        effects = NO_EFFECTS
        raised: list[Raised] = []
        for number in numbers:
            parts = [{"change": change_id, "at": stored.row.polled_at, "leaf": number}]
            if joint.leaves[number] in joint.whole.parts:
                effects = await self._true(moment, parts, cause=f"leaf {number}")
            raised.append(Raised(own(f"part {number}", moment.watched.row.id).name, {"parts": parts}))
            await self._seek(moment, joint.leaves[number], stored.row.polled_at)
        return _with_raised(effects, raised)

    async def _seek(self, moment: Moment, found: Leaf, at: Instant) -> None:
        """Add deadlines for the other pages of each meeting that a part belongs to."""
        window = moment.watched.sentinel.window
        if window is None:
            return  # the window is the poll interval: they are polled in it anyway
        rows = await self._store.read(subscriptions.listing, sentinel_id=moment.watched.row.id)
        sought = moment.memory.setdefault("sought", [])
        for place, meeting in enumerate(composite_parts_of(moment.watched.sentinel).meetings):
            if any(found in leaves(part) for part in meeting.positive):
                others = {leaf.page for leaf in leaves(meeting)} - {found.page}
                for row in (row for row in rows if row.label in others):
                    asked = ExecutionInterval(at + window - window // LAST_PART, at + window)
                    wanted = _poll_interval(Subscription(row, moment.watched), asked)
                    if wanted.start <= asked.end:
                        sought.append([place, row.page_id, wanted.start, wanted.end])

    async def _name(self, moment: Moment, subscription_id: int) -> str:
        labels = await self._store.read(_labels, moment.watched.row.id)
        return labels.get(subscription_id, "")

    async def _meet(self, moment: Moment, place: int, parts: Parts) -> Effects:
        window = await self._window(moment.watched, await self._store.read(list_named_pages, moment.watched.row.id))
        latest: Instant = max(part["at"] for part in parts)
        fresh = [part for part in parts if latest - part["at"] - moment.measure_pause(part["at"], latest) <= window]
        if len(fresh) < len(parts):  # the window has become shorter: parts still in it wait on
            again = [Raised(own(f"part {p['leaf']}", moment.watched.row.id).name, {"parts": [p]}) for p in fresh]
            return Effects(raised=tuple(again))
        meeting = composite_parts_of(moment.watched.sentinel).meetings[place]
        if not meeting.negative:
            _let_go(moment.memory, moment.at, place=place)
            return await self._came_true(moment, place, parts)
        earliest = min(part["at"] for part in parts)
        span = {"parts": parts, "from": earliest - window, "met": moment.at, "until": latest + window}
        return Effects(raised=(Raised(own(f"met {place}", moment.watched.row.id).name, span),))

    async def _decide(self, moment: Moment, place: int, occurrence: Any) -> Effects:
        """Decide, at the end of the window, whether a negated part stayed unchanged."""
        span = dict(next(occurrence.primitives()).params)
        since: Instant = span["met"] if "met" in span else span["until"]
        span |= {"met": moment.at, "until": span["until"] + moment.measure_pause(since, moment.at)}
        if span["until"] > moment.at:  # from a rule of an older Tidings, which polls every quarter of an hour
            return Effects(raised=(Raised(own(f"met {place}", moment.watched.row.id).name, span),))
        joint, number = composite_parts_of(moment.watched.sentinel), moment.watched.row.id
        meeting = joint.meetings[place]
        kinds = await self._store.read(_kinds_between, number, span["from"], span["until"])
        changed = {leaf for leaf in joint.leaves if (leaf.page, kind_of(leaf)) in kinds}
        if any(has_changed(part, changed) for part in meeting.negative):
            return NO_EFFECTS
        unseen = [
            leaf.page
            for part in meeting.negative
            for leaf in leaves(part)
            if not await self._store.read(was_polled, moment.watched, leaf.page, span["from"], span["until"])
        ]
        if not unseen:
            return await self._came_true(moment, place, span["parts"])
        width = describe_duration(span["until"] - span["from"])
        reason = (
            f"whether {' and '.join(dict.fromkeys(unseen))} changed is unknown, because there was no successful "
            f"check for {width}"
        )
        report = JointReport(
            changes=[part["change"] for part in span["parts"]],
            verdict="undecided",
            reason=reason,
            cause=f"meeting {place}",
        )
        return await self._reporter.effects(moment.watched, report, at=moment.at)

    async def _came_true(self, moment: Moment, place: int, parts: Parts) -> Effects:
        joint = composite_parts_of(moment.watched.sentinel)
        meeting = joint.meetings[place]
        effects = NO_EFFECTS
        if meeting in joint.whole.parts:
            effects = await self._true(moment, parts, cause=f"meeting {place}")
        return _with_raised(effects, [Raised(own(f"true {place}", moment.watched.row.id).name, {"parts": parts})])

    async def _true(self, moment: Moment, parts: Parts, *, cause: str) -> Effects:
        """Report that the Monitor clause holds, after the polls of other pages if Then asks for
        them.
        """
        if moment.watched.sentinel.then:
            return Effects(raised=(Raised(own(HOLDS, moment.watched.row.id).name, {"parts": parts, "cause": cause}),))
        report = JointReport(changes=[part["change"] for part in parts], cause=cause)
        return await self._reporter.effects(moment.watched, report, at=moment.at)

    async def _window(self, watched: WatchedSentinel, named: Mapping[str, Sequence[tuple[int, str]]]) -> Duration:
        fixed = _get_window(watched)
        if fixed is not None:
            return fixed
        pages = {leaf.page for leaf in composite_parts_of(watched.sentinel).leaves}
        paces = [await self._pace(page_id) for name in pages for page_id, _ in named.get(name, ())]
        return min(max((LONGEST if pace is None else pace for pace in paces), default=LONGEST), LONGEST)


def _poll_interval(sub: Subscription, asked: ExecutionInterval) -> ExecutionInterval:
    """Return when a page is to be polled in an interval: in its hours, and from its own poll on if
    that falls into it.
    """
    if sub.owner.sentinel.during:
        asked = hours_of(sub).open_part(asked)
    if sub.interval is None:
        return asked
    tick = ticks_of(sub).first_tick(asked.start)
    return ExecutionInterval(tick, asked.end) if tick <= asked.end else asked


def _let_go(memory: dict[str, Any], now: Instant, *, page_id: int | None = None, place: int | None = None) -> None:
    """Remove wanted polls whose time is over, whose page was polled, or whose meeting has come
    true.
    """
    if "sought" in memory:
        memory["sought"] = [
            [where, page, start, end]
            for where, page, start, end in memory["sought"]
            if now <= end and where != place and not (page == page_id and start <= now)
        ]


def _let_wait(moment: Moment) -> None:
    """Extend the wanted polls by the length of the sentinel's pause."""
    if moment.resumed and "sought" in moment.memory:
        moment.memory["sought"] = [
            [place, page, *postpone(start, end, moment)] for place, page, start, end in moment.memory["sought"]
        ]


def _get_window(watched: WatchedSentinel) -> Duration | None:
    """Return how far apart parts may be: as stated, else the poll interval; None if that is
    learned.
    """
    sentinel = watched.sentinel
    if sentinel.window is not None:
        return sentinel.window
    match sentinel.fetch:
        case FetchEvery(interval=interval):
            return interval
        case FetchAt():
            return DAY
    return None


def _all_of(meeting: Meeting, joint: CompositeParts, number: int, window: Duration) -> Expression:
    """Return the event that all positive parts of a meeting have come true within a window."""
    parts = tuple(dict.fromkeys(_event(part, joint, number) for part in meeting.positive))
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2:
        return And(*parts, within=window, consume=True)
    return AnyOfEvents(len(parts), parts, within=window, consume=True)


def _event(part: Joined, joint: CompositeParts, number: int) -> Expression:
    match part:
        case Leaf():
            return own(f"part {joint.leaves.index(part)}", number)
        case Alternatives(parts):
            events = tuple(dict.fromkeys(_event(inner, joint, number) for inner in parts))
            return events[0] if len(events) == 1 else Or(events)
        case Meeting():
            return own(f"true {joint.meetings.index(part)}", number)


def _rule(name: str, event: Expression, params: Mapping[str, Any], context: Context = Context.RECENT) -> Rule:
    return Rule(name=f"composites.{name}", event=event, context=context, coupling=Coupling.DETACHED, data=params)


def _parts_of(firing: Firing) -> Parts:
    """Return the distinct changes of an occurrence."""
    every = [part for primitive in firing.occurrence.primitives() for part in primitive.params["parts"]]
    return list({(part["change"], part["leaf"]): part for part in every}.values())


def _with_raised(effects: Effects, raised: Sequence[Raised]) -> Effects:
    return replace(effects, raised=(*effects.raised, *raised))


def _labels(connection: Connection, sentinel_id: int) -> dict[int, str]:
    return {sub.id: sub.label for sub in subscriptions.listing(connection, sentinel_id=sentinel_id)}


def _kinds_between(connection: Connection, sentinel_id: int, first: Instant, last: Instant) -> set[tuple[str, str]]:
    """Return (name of the page, kind) of the parts found between two instants."""
    labels = _labels(connection, sentinel_id)
    found = changes.parts_between(connection, sentinel_id, first, last)
    return {(labels.get(row.row.subscription_id, ""), row.row.kind) for row in found}


def was_polled(connection: Connection, watched: WatchedSentinel, page: str, first: Instant, last: Instant) -> bool:
    """Return whether each page of this name was polled successfully for a sentinel in [first,
    last].

    On change every good poll counts. With ticks only a poll that serves one of them counts: it may
    be another sentinel's, but what comes between is not seen.

    Args:
        watched: The sentinel.
        page: The name of the page in its text.
        first: The first instant (µs).
        last: The last instant (µs).
    """
    rows = [row for row in subscriptions.listing(connection, sentinel_id=watched.row.id) if row.label == page]
    return bool(rows) and all(_was_polled(connection, Subscription(row, watched), first, last) for row in rows)


def _was_polled(connection: Connection, sub: Subscription, first: Instant, last: Instant) -> bool:
    if sub.interval is None:
        return bool(polls.good(connection, sub.row.page_id, first, last))
    ticks = ticks_of(sub)
    between = sub.interval.interval if isinstance(sub.interval, FetchEvery) else 7 * DAY
    tick = ticks.first_tick(first - between)
    while (asked := ticks.execution_interval(tick)).start - (asked.end - asked.start) <= last:
        earliest = asked.start - (asked.end - asked.start)
        at = next(iter(polls.good(connection, sub.row.page_id, earliest, last)), None)
        if at is not None and at >= first:
            return True
        tick = ticks.next_tick(tick)
    return False
