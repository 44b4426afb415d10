"""Simulation: run the service's planner on recorded changes, under these settings or others.

A page's changes come from its polls: each poll with a new text stands for a change midway between
it and the poll before. Unseen changes are missing, so a budget above the real one is
underestimated. Polls take no time and never fail here; requested polls and those that separate
noise from changes count their cost and are not repeated.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Final

import numpy as np

from tidings.clock import DAY, MINUTE, SECOND, ManualClock
from tidings.errors import UsageError
from tidings.fetching import address
from tidings.fetching.politeness import HostGate
from tidings.language import parser
from tidings.model.interval import NEVER
from tidings.model.observed.page import PageState
from tidings.model.observed.poll_reason import Why
from tidings.model.observed.unit import PollRecord, Unit
from tidings.model.watch.sentinel import WHOLE, Sentinel
from tidings.record import dataclass, replace
from tidings.scheduling.budget import TokenBucket
from tidings.scheduling.ledger import Ledger, Polls, Trace, account, make_trace
from tidings.service.plan.worth import relearn
from tidings.service.run.from_settings import budgets, open_planner
from tidings.service.watch.cursors import next_tick, ticks_of
from tidings.service.watch.page_schedule import Needs
from tidings.service.watch.watchlist import Subscription, WatchedPage, WatchedSentinel, load_pages
from tidings.storage.observed import polls
from tidings.storage.watches import changes
from tidings.storage.watches.sentinels import SentinelRow
from tidings.storage.watches.subscriptions import SubscriptionRow

if TYPE_CHECKING:
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.unit import ChangeRow, Grant, PollOutcome
    from tidings.model.watch.sentinel import Urgency
    from tidings.service.plan.planner import DuePoll
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection

LEARNED_FROM: Final[Duration] = 30 * DAY
"""Length of the period before the start whose polls teach the policy."""
AT_ONCE: Final = 64
"""Most concurrent polls, as in the service."""
_PLANNED: Final = frozenset({Why.INTERVAL, Why.OPENING, Why.CHANGE, Why.EASED, Why.SPARE})
"""Reasons of polls that the planner schedules by itself."""

AHEAD: Final[Duration] = 10 * MINUTE
"""The longest time whose polls are made before the planner observes them: that between two
prices.
"""
AGAIN: Final = 8
"""A page is not expected to be due again within this fraction (1/n) of its present interval."""

AN_EXAMPLE: Final = "https://example.org/a 2026-03-01T08:00:00Z"

Progress = Callable[[float], None]


@dataclass(frozen=True, slots=True)
class Check:
    """A real poll: its page, when (µs), and whether the text changed."""

    page: int
    at: Instant
    changed: bool


@dataclass(frozen=True, slots=True)
class PageHistory:
    """The history of pages from `begin` to `end`.

    Their sentinels, changes, earlier polls (`known`), the planned polls that were `made`, and cost
    and time of all `others`. A page exists from `since` on; `learned` is what each subscription had
    learned of the worth of its changes, and from when on.
    """

    pages: Mapping[int, WatchedPage]
    since: Mapping[int, Instant]
    changes: Trace
    known: Sequence[Check]
    made: Sequence[Check]
    others: Sequence[tuple[Instant, float]]
    learned: Mapping[int, Sequence[tuple[Instant, str]]]
    begin: Instant
    end: Instant

    @property
    def days(self) -> float:
        """Return its length in days."""
        return (self.end - self.begin) / DAY

    def part(self, most: int) -> tuple[PageHistory, float]:
        """Return the history of at most `most` pages, evenly chosen, and their share of all."""
        ids = sorted(self.pages)
        sample = set(ids[:: -(-len(ids) // most)] if ids else ())
        share = len(sample) / len(ids) if ids else 1.0
        if share == 1:
            return self, share
        times = {page: self.changes.of(page) for page in sample}
        return replace(
            self,
            pages={page: self.pages[page] for page in sample},
            since={page: self.since[page] for page in sample},
            changes=make_trace(times, start=self.changes.start, end=self.changes.end),
            known=[one for one in self.known if one.page in sample],
            made=[one for one in self.made if one.page in sample],
            others=[(at, cost * share) for at, cost in self.others],
        ), share

    def as_it_was(self) -> Outcome:
        """Return the outcome of the planned polls that were made."""
        return self._outcome([(one.at, one.page, 1.0) for one in self.made])

    def _outcome(self, checks: Sequence[tuple[Instant, int, float]]) -> Outcome:
        at, page, cost = (np.array([one[k] for one in checks]) for k in range(3))
        before = {one.page: one.at for one in self.known}
        known = {page: max(at, self.changes.start) for page, at in before.items()}
        made = Polls(at.astype(np.int64), page.astype(np.int64), cost.astype(np.float64))
        return Outcome(account(self.changes, made, known_since=known, gone_at={}), self.days)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The results of polls over a number of days."""

    ledger: Ledger
    days: float

    @property
    def checks_a_day(self) -> float:
        """Return the checks a day."""
        return len(self.ledger.polls.at) / self.days

    @property
    def captured(self) -> int:
        """Return the number of polls that found a change; several changes since the last poll count
        as one.
        """
        return int((self.ledger.found > 0).sum())

    @property
    def changes(self) -> int:
        """Return the number of changes to be found."""
        return int(self.ledger.found.sum()) + self.ledger.missed

    def within(self, delay: Duration) -> float:
        """Return the share of all changes seen within a delay (µs); 1 if there was none."""
        return int((self.ledger.delay <= delay).sum()) / self.changes if self.changes else 1.0

    def record(self) -> dict[str, float | int | None]:
        """Return the figures; delays in seconds, None without a change."""
        half, most = (self.ledger.delay_quantile(share) / SECOND for share in (0.5, 0.9))
        return {
            "checks_a_day": round(self.checks_a_day, 3),
            "changes": self.changes,
            "captured": self.captured,
            "delay_median_seconds": None if math.isnan(half) else round(half, 1),
            "delay_90_seconds": None if math.isnan(most) else round(most, 1),
        }


def read_history(c: Connection, settings: Settings, *, begin: Instant, end: Instant) -> PageHistory:
    """Return the history of all pages watched now.

    Args:
        c: The database.
        settings: The settings in use.
        begin: The first instant (µs).
        end: The instant after the last (µs).
    """
    pages = {
        page: page_row for page, page_row in load_pages(c, zone=settings.serve.zone).items() if page_row.subscriptions
    }
    since = {
        page: max(begin, min(_start(sub) for sub in page_row.subscriptions.values()))
        for page, page_row in pages.items()
    }
    good = [
        Check(*poll) for poll in polls.list_successes(c, begin - LEARNED_FROM) if poll[0] in pages and poll[1] < end
    ]
    by_page: dict[int, list[Check]] = defaultdict(list)
    for check in good:
        by_page[check.page].append(check)
    times = {
        page: [
            max(begin, (before.at + check.at) // 2)
            for before, check in pairwise(made)
            if check.changed and check.at > begin
        ]
        for page, made in by_page.items()
    }
    charged = [row for row in polls.list_charged(c, begin) if row.at < end]
    planned = {(row.page_id, row.finished_at) for row in charged if row.why in _PLANNED}
    return PageHistory(
        pages,
        since,
        make_trace({page: times.get(page, []) for page in pages}, start=begin, end=end),
        [one for one in good if one.at < begin],
        [one for one in good if one.at >= begin and (one.page, one.at) in planned],
        [(row.at, row.cost) for row in charged if row.why not in _PLANNED],
        _read_learned(c, pages, good),
        begin,
        end,
    )


def make_history(changes: Mapping[str, Sequence[Instant]], *, end: Instant | None = None) -> PageHistory:
    """Return the history of a trace: pages watched on change from the first change of all on.

    Args:
        changes: When each address changed (µs).
        end: The instant after the last (µs); None: a microsecond after the last change.

    Raises:
        UsageError: There are fewer than two instants, so that there is no time between them.
    """
    every = [at for times in changes.values() for at in times]
    if len(set(every)) < 2:
        raise UsageError("a trace has changes at two instants at least, so that there is a time between them")
    begin, last = min(every), max(every) + 1 if end is None else end
    pages = {number: _make_page(number, url, begin) for number, url in enumerate(changes, start=1)}
    times = dict(zip(pages, changes.values(), strict=True))
    trace = make_trace(times, start=begin, end=last)
    return PageHistory(pages, dict.fromkeys(pages, begin), trace, (), (), (), {}, begin, last)


def simulate(
    history: PageHistory, settings: Settings, *, urgency: Urgency | None = None, progress: Progress | None = None
) -> Outcome:
    """Return the polls and findings of the planner under these settings.

    Args:
        history: The recorded history.
        settings: The settings to try.
        urgency: How soon a change is stale, for all sentinels; None: as each says.
        progress: Called from time to time with the part that is done (0 to 1).
    """
    run = _ReplayRun(history, settings, urgency)
    now, reported_at = history.begin, history.begin
    while now < history.end:
        now = run.step(now)
        if progress is not None and now - reported_at > (history.end - history.begin) / 100:
            reported_at = now
            progress(min(1.0, (now - history.begin) / (history.end - history.begin)))
    return history._outcome(run.checks)  # noqa: SLF001 - of this module


class _ReplayRun:
    """The state of one simulation."""

    def __init__(self, history: PageHistory, settings: Settings, urgency: Urgency | None) -> None:
        fetch = settings.fetch
        self._history = history
        self._urgency = urgency
        self._clock = ManualClock(history.begin)
        self._gate = HostGate(gap_seconds=fetch.host_gap_seconds, connections=fetch.host_connections, clock=self._clock)
        self._pages: dict[int, WatchedPage] = {}
        self._needs = Needs()
        self._planner = open_planner(settings, self._pages, self._needs, spreads=True)
        self._buckets = {
            name: TokenBucket(rate=rate, burst=burst, level=burst, at=history.begin)
            for name, (rate, burst) in budgets(settings).items()
        }
        self._coming = sorted(history.since.items(), key=lambda one: -one[1])
        self._others = sorted(history.others, reverse=True)
        self._empty_until: Instant = 0
        self.checks: list[tuple[Instant, int, float]] = []
        known = {one.page for one in history.known}
        for page in known & history.pages.keys():
            self._enter(page)
        self._learn(history.known)

    def _learn(self, known: Sequence[Check]) -> None:
        """Let the planner observe earlier polls, together until a page comes again."""
        noted: set[int] = set()
        for one in known:
            if one.page in noted:
                self._planner.due_pages(one.at)
                noted.clear()
            self._note_poll(one.page, one.at, changed=one.changed)
            noted.add(one.page)
        if known:
            self._planner.due_pages(known[-1].at)

    def step(self, now: Instant) -> Instant:
        """Do everything due at an instant; return the next one with possible work."""
        self._clock.move_to(now)
        while self._coming and self._coming[-1][1] <= now:
            self._enter(self._coming.pop()[0])
        while self._others and self._others[-1][0] <= now:
            whole = self._buckets[WHOLE].refill(now)
            self._buckets[WHOLE] = replace(whole, level=max(0.0, whole.level - self._others.pop()[1]))
        self._serve(now)
        if now >= self._empty_until:
            end = self._find_end(now)
            while (then := self._poll(now, end)) is not None:
                now = then
                self._serve(now)
            while (then := self._run_ahead(now, end)) > now:
                now = then
                self._serve(now)
        return self._next(now)

    def _find_end(self, now: Instant) -> Instant:
        """Return up to when polls may be made together: until then nothing else happens."""
        others = self._others[-1][0] if self._others else NEVER
        return min(now + AHEAD, self._history.end, self._comes() or NEVER, others)

    def _run_ahead(self, now: Instant, until: Instant) -> Instant:
        """Make the polls before an instant that nothing contests, each when it is due; the planner
        observes all of them at once. Return the instant of the last one.

        A poll is contested if its host, its class or the budget cannot serve it when it is due; a
        page that may soon be due again ends the run.
        """
        for poll in self._planner.list_coming(now, until):
            paid = self._buckets[WHOLE].take(poll.cost, now=poll.at)
            if (
                poll.at >= until
                or poll.budget != WHOLE
                or paid is None
                or self._gate.ready_at(poll.host) > poll.at
                or self._needs.begins(poll.page_id) is not None
            ):
                break
            now = poll.at
            self._clock.move_to(now)
            self._buckets[WHOLE] = paid
            self._check(poll, now)
            until = min(until, now + poll.gap // AGAIN)
        return now

    def _poll(self, now: Instant, until: Instant) -> Instant | None:
        """Poll what is due, as the budget can pay for it; return when the last poll was made if
        there may be more, None if there is no more or the budget is spent.

        A spent budget pays the best of what is due one by one, until another tick falls due.
        """
        planner = self._planner
        self._buckets = {name: bucket.refill(now) for name, bucket in self._buckets.items()}
        whole = self._buckets[WHOLE]
        has_classes = len(self._buckets) > 1
        until = now if has_classes else min(until, planner.next_tick(now))
        payable = whole.level + whole.rate * (until - now) / SECOND + 1  # the one more tells when it can be paid
        grants = planner.choose(
            now,
            self._gate,
            tokens=math.inf,
            limit=AT_ONCE if has_classes else min(AT_ONCE, int(payable)),
            class_tokens={name: bucket.level for name, bucket in self._buckets.items() if name != WHOLE},
            empty_at=self._empty_until,
            spare=whole.level - whole.burst / 2 if planner.fills(now) else 0.0,
        )
        spent: dict[str, Instant] = {}
        for grant in grants:
            names = {WHOLE, grant.budget}
            ready = {name: spent.get(name) or self._buckets[name].available_at(grant.cost) or NEVER for name in names}
            at = max(ready.values())
            if at > until:
                spent |= {name: late for name, late in ready.items() if late > until}
                planner.release(grant.page_id)
                continue
            now = max(now, at)
            self._clock.move_to(now)
            for name in names:
                self._buckets[name] = self._buckets[name].take(grant.cost, now=now) or self._buckets[name]
            self._check(grant, now)
        if spent:
            self._empty_until = max(now + 1, now + SECOND if spent.get(WHOLE, NEVER) == NEVER else spent[WHOLE])
        return now if grants and not spent else None

    def _check(self, grant: Grant | DuePoll, now: Instant) -> None:
        before = self._pages[grant.page_id].state.checked_at
        changed = before is not None and self._history.changes.changes(grant.page_id, after=before, until=now) > 0
        self._gate.expect(grant.host)
        self._gate.forget(grant.host)
        self._gate.start(grant.host)
        self.checks.append((now, grant.page_id, grant.cost))
        self._note_poll(grant.page_id, now, changed=changed)

    def _note_poll(self, page_id: int, at: Instant, *, changed: bool) -> None:
        page, then = self._pages[page_id], self._history.pages[page_id].state
        first = page.state.checked_at is None
        fresh = None
        if then.fresh_until is not None and then.checked_at is not None:
            fresh = at + max(0, then.fresh_until - then.checked_at)
        page.state = replace(
            page.state, polled_at=at, checked_at=at, last_seq=1, polls=page.state.polls + 1, fresh_until=fresh
        )
        self._advance(page, at)
        outcome: PollOutcome = "new" if first else "changed" if changed else "unchanged"
        poll = PollRecord(poll_id=1, page_id=page_id, finished_at=at, outcome=outcome, text_changed=changed)
        self._planner.observe(Unit(at=at, epoch=1, poll=poll, page=page.state))

    def _serve(self, now: Instant) -> None:
        """Complete ticks that the last poll serves."""
        for page_id in self._planner.servable():
            page = self._pages[page_id]
            self._advance(page, page.state.checked_at or now)
            self._planner.touch((page_id,))

    def _advance(self, page: WatchedPage, at: Instant) -> None:
        for sub in page.subscriptions.values():
            tick = sub.row.next_tick
            if sub.interval is not None and (
                tick is None or ticks_of(sub).is_satisfied(next_tick(sub), at) or tick <= at
            ):
                tick = ticks_of(sub).next_tick(max(at, next_tick(sub)))
            taught = self._history.learned.get(sub.row.id, ())
            place = bisect_right(taught, at, key=itemgetter(0))
            learned = taught[place - 1][1] if place else sub.row.learned
            sub.row = replace(sub.row, taken=(1,), next_tick=tick, learned=learned)

    def _enter(self, page_id: int) -> None:
        """Start watching a page, with sentinels that have seen nothing of it."""
        if page_id in self._pages:
            return
        real = self._history.pages[page_id]
        page = self._pages[page_id] = WatchedPage(real.identity, PageState(page_id=page_id), is_framed=real.is_framed)
        for number, sub in real.subscriptions.items():
            row = replace(sub.row, taken=(), next_tick=None, ticked_at=None, active=True, learned="")
            page.subscriptions[number] = Subscription(row, _at_work(sub.owner, self._urgency))
        self._planner.touch((page_id,))

    def _next(self, now: Instant) -> Instant:
        due = self._empty_until if now < self._empty_until else self._planner.next_due(now, self._gate)
        known = [at for at in (due, self._comes()) if at is not None]
        if (late := self._classes_pay(now)) is not None:
            known.append(late)
        return max(now + 1, min(known, default=self._history.end))

    def _comes(self) -> Instant | None:
        return self._coming[-1][1] if self._coming else None

    def _classes_pay(self, now: Instant) -> Instant | None:
        """Return when the first class with waiting pages can pay for one."""
        found = [self._buckets[name].available_at(cost) for name, cost in self._planner.wanting(now).items()]
        return min((at for at in found if at is not None and at > now), default=None)


def _at_work(owner: WatchedSentinel, urgency: Urgency | None) -> WatchedSentinel:
    sentinel = owner.sentinel if urgency is None else replace(owner.sentinel, urgency=urgency)
    return replace(owner, row=replace(owner.row, state="enabled"), sentinel=sentinel)


def _read_learned(
    c: Connection, pages: Mapping[int, WatchedPage], made: Sequence[Check]
) -> dict[int, list[tuple[Instant, str]]]:
    """Return what each subscription had learned, and from when on."""
    visible: dict[int, dict[Instant, list[ChangeRow]]] = defaultdict(dict)
    for one in made:
        if one.changed:
            visible[one.page][one.at] = []
    by_sub: dict[int, dict[Instant, list[ChangeRow]]] = defaultdict(dict)
    for name in {sub.owner.row.name for page in pages.values() for sub in page.subscriptions.values()}:
        for found in changes.listing(c, sentinel=name, quiet=True):
            by_sub[found.row.subscription_id].setdefault(found.row.polled_at, []).append(found.row)
    return {
        sub.row.id: relearn(sub, {**visible[page], **by_sub[sub.row.id]})
        for page, page_row in pages.items()
        for sub in page_row.subscriptions.values()
        if sub.is_on_change
    }


def _start(sub: Subscription) -> Instant:
    row = sub.owner.row
    return row.started_at if row.started_at is not None else row.created_at


def _make_page(number: int, url: str, at: Instant) -> WatchedPage:
    """Return a page with its own on-change sentinel."""
    (sentinel,) = parser.parse(f"Create Sentinel s{number} Using {url} Monitor all words Fetch on change").statements
    assert isinstance(sentinel, Sentinel)  # noqa: S101 - for the type checker
    row = SentinelRow(number, sentinel.name, "enabled", "", 1, "", None, None, at, at, None, None, (), 1)
    sub = SubscriptionRow(number, number, number, "", 1, 0, (), None, None, active=True)
    page = WatchedPage(address.identify(url), PageState(page_id=number))
    page.subscriptions[number] = Subscription(sub, WatchedSentinel(row, sentinel, {}))
    return page


def other_settings(settings: Settings, *, budget: float | None = None, policy: str = "") -> Settings:
    """Return settings with another budget (polls a day) or another policy."""
    if budget is not None:
        burst = settings.budget.capacity * budget / max(settings.budget.polls_per_day, 1e-9)
        settings = replace(settings, budget=replace(settings.budget, polls_per_day=budget, burst=max(1.0, burst)))
    return replace(settings, schedule=replace(settings.schedule, policy=policy)) if policy else settings


def read_trace(text: str) -> dict[str, list[Instant]]:
    """Parse a list of changes: one per line, an address and an RFC 3339 time.

    Separated by a comma or white space; `#` begins a comment. Raises `UsageError` that names the
    line.
    """
    found: dict[str, list[Instant]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        parts = line.replace(",", " ").split()
        if not parts or parts[0].startswith("#"):
            continue
        try:
            at = datetime.fromisoformat(" ".join(parts[1:]))
        except ValueError as error:
            raise UsageError(
                f"line {number} of the trace is not a change; write an address and a time: {AN_EXAMPLE}"
            ) from error
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        found.setdefault(parts[0], []).append((at - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))
    return found
