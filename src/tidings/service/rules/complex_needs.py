"""Complex needs: when the Monitor clause holds, other pages are polled in time and reported with it
(Then; 001 §2.1).

Each time it holds, a need (a CEI) opens: a wait (an EI) for each page that Then names, from that
instant for as long as Then says, or from the start of its hours if they are over, and not beyond
their end. Any successful poll captures it; a failed one does not. The report is made when
everything is there, *complete*; else when the time is over, *partial* or *missed*, with the reason
for each missing page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from tidings.events.expression import Plus
from tidings.events.operators.node import Context
from tidings.events.rule import Action, Condition, Coupling, Raised, Rule
from tidings.model.interval import ExecutionInterval, spell_duration
from tidings.model.observed.change import PagePart
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.version import version_id
from tidings.model.watch.sentinel import WHOLE
from tidings.record import dataclass, replace
from tidings.scheduling.needs import Need, Wait, WaitGroup
from tidings.scheduling.timetable import Hours
from tidings.service.behaviour import NO_EFFECTS, Arrangement, Effects, WantedRule, name_logged, own, postpone
from tidings.service.rules.composites import HOLDS
from tidings.service.rules.joint_reports import JointReport
from tidings.service.watch.page_schedule import POLLED, Deadline
from tidings.storage.observed import pages, polls
from tidings.storage.watches import changes, subscriptions
from tidings.storage.write import charge

if TYPE_CHECKING:
    from tidings.events.rule import Firing
    from tidings.model.interval import Instant
    from tidings.service.behaviour import Moment
    from tidings.service.rules.joint_reports import Reporter
    from tidings.service.watch.page_schedule import Needs
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

LATEST_POLLS: Final = 50
"""number of latest polls searched for why a page was not polled"""
Plain = dict[str, Any]


@dataclass(frozen=True, slots=True)
class AwaitedPage:
    """A page that is waited for: its id, its name in the sentinel, its address as given."""

    page_id: int
    name: str
    url: str


class ComplexNeeds:
    """The behaviour. `needs` are the deadlines that the planner serves.

    Its memory: `open`, a list of needs as plain JSON (`parts`, `cause`, `groups` of `waits`), and
    `then`, the clauses they belong to.
    """

    name = "needs"
    event_types = frozenset({POLLED})
    conditions: Mapping[str, Condition] = {}
    actions: Mapping[str, Action] = {}

    def __init__(self, store: Store, reporter: Reporter, needs: Needs) -> None:
        self._store = store
        self._reporter = reporter
        self._needs = needs

    def concerns(self, watched: WatchedSentinel) -> bool:
        """Return whether a sentinel has a Then clause."""
        return bool(watched.sentinel.then)

    async def arrange(self, moment: Moment) -> Arrangement:
        """Return the rules that open needs, capture their waits and close them."""
        number, sentinel = moment.watched.row.id, moment.watched.sentinel
        needs = [[then.within, list(then.pages), then.least] for then in sentinel.then]
        if moment.memory.get("then", needs) != needs:  # altered: open needs are dropped
            moment.memory.pop("open", None)
        moment.memory["then"] = needs
        if moment.resumed:
            _let_wait(moment)
        if not sentinel.then:
            return Arrangement()
        wanted = [
            WantedRule(_rule("open", own(HOLDS, number))),
            WantedRule(_rule("look", name_logged(POLLED, number))),
        ]
        for place, then in enumerate(sentinel.then):
            over = Plus(own(f"need {place}", number), then.within)
            wanted.append(WantedRule(_rule(f"over.{place}", over, Context.CHRONICLE, within=then.within)))
        return Arrangement(wanted)

    async def act(self, moment: Moment, firing: Firing) -> Effects:
        """Handle the Monitor clause coming true, a poll, or the end of a wait."""
        _, step, *place = firing.rule.name.split(".")
        match step:
            case "open":
                params = firing.occurrence.params
                await self._open(moment, list(params["parts"]), params["cause"])
            case "look":
                await self._capture(moment, firing.occurrence.params["page"])
        now = moment.at + 1 if step == "over" else moment.at  # the last instant of an interval is part of it
        effects = await self._close(moment, now)
        raised: tuple[Raised, ...] = ()
        if step == "open":
            raised = tuple(self._clock(moment, number) for number, _ in enumerate(moment.watched.sentinel.then))
        elif step == "over" and _waits_longer(moment.memory, int(place[0]), now):
            raised = (self._clock(moment, int(place[0])),)
        return replace(effects, raised=raised if moment.memory.get("open") else ())

    async def finish(self, moment: Moment) -> Effects:
        """Report what was captured when the sentinel ended."""
        return await self._close(moment, moment.at, is_last=True)

    def note_memory(self, sentinel_id: int, memory: Mapping[str, Any] | None) -> None:
        """Pass the open waits to the planner."""
        self._needs.settle(self.name, sentinel_id, _deadlines(sentinel_id, memory or {}))

    @staticmethod
    def _clock(moment: Moment, place: int) -> Raised:
        return Raised(own(f"need {place}", moment.watched.row.id).name)

    async def _open(self, moment: Moment, parts: list[Plain], cause: str) -> None:
        """Open a need; pages on which the Monitor clause was just found true need no
        further poll.
        """
        watched = moment.watched
        named = await self._store.read(_list_watched, watched.row.id)
        since = max(part["at"] for part in parts)
        found = await self._store.read(_find_times, [part["change"] for part in parts])
        hours = Hours(watched.sentinel.during, watched.zone)
        groups = []
        for then in watched.sentinel.then:
            asked = hours.open_part(ExecutionInterval(since, since + then.within))
            waits = [
                {"page": page.page_id, "name": page.name, "url": page.url, "start": asked.start, "end": asked.end}
                | ({"at": found[page.page_id]} if found.get(page.page_id, -1) >= asked.start else {})
                for name in then.pages
                for page in named.get(name, ())
            ]
            groups.append({"least": min(then.least or len(waits), len(waits)), "waits": waits})
        moment.memory.setdefault("open", []).append({"parts": parts, "cause": cause, "groups": groups})

    async def _capture(self, moment: Moment, page_id: int) -> None:
        """Capture all open waits for a page with what its poll showed."""
        for need in moment.memory.get("open", ()):
            for wait in (wait for group in need["groups"] for wait in group["waits"]):
                if wait["page"] == page_id and "at" not in wait:
                    seen = await self._store.read(
                        _read_latest, moment.watched.row.id, page_id, wait["start"], wait["end"]
                    )
                    wait.update(seen)

    async def _close(self, moment: Moment, now: Instant, *, is_last: bool = False) -> Effects:
        """Report and remove the needs that are over."""
        memory, effects = moment.memory, NO_EFFECTS
        still = []
        for plain in memory.get("open", ()):
            need = _need(plain)
            if need.missing and not need.is_over(now) and not is_last:
                still.append(plain)
                continue
            report = await self._report(moment, plain, need)
            effects = _both(effects, await self._reporter.effects(moment.watched, report, at=moment.at))
        if "open" in memory:
            memory["open"] = still
        return effects

    async def _report(self, moment: Moment, plain: Plain, need: Need) -> JointReport:
        reported = [part["change"] for part in plain["parts"]]
        waits = {wait["page"]: wait for group in plain["groups"] for wait in group["waits"]}
        found = await self._store.read(_find_times, reported)
        others: list[PagePart] = []
        for page_id, wait in waits.items():
            if page_id in found:
                continue
            if wait.get("changes"):
                reported += wait["changes"]
            elif "at" in wait:
                others.append(_make_unchanged(wait))
            else:
                others.append(await self._store.read(_make_missed, wait, moment.at))
        lacking = "; ".join(f"{part.name}: {part.reason}" for part in others if part.status == "missed")
        reason = "" if need.verdict == "complete" else lacking
        return JointReport(
            changes=reported, others=others, verdict=need.verdict, reason=reason, cause=f"then {plain['cause']}"
        )


def _let_wait(moment: Moment) -> None:
    """Extend the waits by the length of the sentinel's pause."""
    for plain in moment.memory.get("open", ()):
        for wait in (wait for group in plain["groups"] for wait in group["waits"] if "at" not in wait):
            wait["start"], wait["end"] = postpone(wait["start"], wait["end"], moment)


def _rule(name: str, event: Any, context: Context = Context.RECENT, **data: Any) -> Rule:
    return Rule(name=f"needs.{name}", event=event, context=context, coupling=Coupling.DETACHED, data=data)


def _need(plain: Plain) -> Need:
    return Need(
        tuple(
            WaitGroup(
                tuple(
                    Wait(wait["page"], ExecutionInterval(wait["start"], wait["end"]), wait.get("at"))
                    for wait in group["waits"]
                ),
                group["least"],
            )
            for group in plain["groups"]
        )
    )


def _waits_longer(memory: Plain, place: int, now: Instant) -> bool:
    """Return whether a Then clause has open waits: their hours had not begun when it held."""
    groups = (_need(plain).groups[place] for plain in memory.get("open", ()))
    return any(group.missing and any(wait.is_open(now) for wait in group.waits) for group in groups)


def _deadlines(sentinel_id: int, memory: Mapping[str, Any]) -> Iterable[Deadline]:
    """Yield the open waits of incomplete groups."""
    for plain in memory.get("open", ()):
        need = _need(plain)
        waits = [w for group in need.groups if group.missing for w in group.waits if w.captured_at is None]
        for wait in waits:
            why = PollReason(Why.THEN, spell_duration(wait.interval.end - wait.interval.start))
            yield Deadline(wait.page, sentinel_id, wait.interval, why, left=need.missing)


def _both(one: Effects, other: Effects) -> Effects:
    """Return two sets of effects as one; messages refer to their events' new positions."""
    shift = len(one.events)
    moved = tuple(replace(d, events=tuple(place + shift for place in d.events)) for d in other.deliveries)
    return Effects(
        events=(*one.events, *other.events),
        changes=(*one.changes, *other.changes),
        deliveries=(*one.deliveries, *moved),
        sentinels=one.sentinels or other.sentinels,
        texts=(*one.texts, *other.texts),
    )


def _list_watched(connection: Connection, sentinel_id: int) -> dict[str, list[AwaitedPage]]:
    """Return the pages of a sentinel by their names in it."""
    found: dict[str, list[AwaitedPage]] = {}
    for sub in subscriptions.listing(connection, sentinel_id=sentinel_id):
        given = pages.identity(connection, sub.page_id).given
        found.setdefault(sub.label, []).append(AwaitedPage(sub.page_id, sub.label, given))
    return found


def _find_times(connection: Connection, ids: Sequence[str]) -> dict[int, Instant]:
    """Return when the changes with these ids were found, by page."""
    rows = [stored.row for i in ids if (stored := changes.get(connection, i)) is not None]
    return {row.page_id: row.polled_at for row in rows}


def _read_latest(connection: Connection, sentinel_id: int, page_id: int, first: Instant, last: Instant) -> Plain:
    """Return what the latest poll of a page in [first, last] showed a sentinel."""
    at = max(polls.good(connection, page_id, first, last), default=None)
    if at is None:
        return {}
    found = [c.row for c in changes.parts_between(connection, sentinel_id, at, at) if c.row.page_id == page_id]
    state = pages.state(connection, page_id)
    return {"at": at, "changes": [row.id for row in found], "version": state.last_seq, "title": state.title}


def _make_unchanged(wait: Plain) -> PagePart:
    text = f"not changed, still version {version_id(wait['page'], wait['version'])}"
    return PagePart(
        page_id=wait["page"],
        url=wait["url"],
        name=wait["name"],
        status="unchanged",
        at=wait["at"],
        to_seq=wait["version"],
        title=wait["title"],
        summary=f'{text}, "{wait["title"]}"' if wait["title"] else text,
    )


def _make_missed(connection: Connection, wait: Plain, now: Instant) -> PagePart:
    reason = _why(connection, wait, now)
    return PagePart(
        page_id=wait["page"],
        url=wait["url"],
        name=wait["name"],
        status="missed",
        reason=reason,
        summary=f"not checked in time: {reason}",
    )


def _why(connection: Connection, wait: Plain, now: Instant) -> str:
    """Return why a page was not polled successfully in time: the latest poll's outcome, the budget,
    or no turn.
    """
    latest = polls.listing(connection, page_id=wait["page"], limit=LATEST_POLLS)
    for poll in latest:
        if poll.finished_at is not None and wait["start"] <= poll.finished_at <= wait["end"]:
            return f"{poll.kind}: {poll.note}" if poll.kind else poll.note
    paying = {WHOLE, *(poll.budget for poll in latest[:1])}
    if any(bucket.refill(now).level < 1 for name, bucket in charge.budgets(connection).items() if name in paying):
        return "budget"
    return "there was no time for the check (its host's gap, its minimum interval, or the end of the sentinel)"
