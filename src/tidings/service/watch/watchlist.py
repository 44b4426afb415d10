"""The watched pages in memory, with their state, subscriptions and sentinels.

The database is the source of truth; this is one poller's copy. It follows the event numbers: what
other processes wrote is reloaded sentinel by sentinel, and what this process committed is applied
by `settle`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any, NamedTuple

from tidings.errors import SentinelError, UnreadableTextError
from tidings.fetching import address
from tidings.language import parser
from tidings.language.times import zone_of
from tidings.model.event_type import EventType
from tidings.model.watch.interest import Interest
from tidings.model.watch.notifying import REFERENCE, Wording
from tidings.model.watch.sentinel import (
    HOST,
    LISTING,
    SCHEME,
    Channel,
    Fetch,
    FetchAt,
    FetchEvery,
    FetchOnChange,
    FetchOnDemand,
    Notify,
    Sentinel,
    Statement,
    budget_name,
)
from tidings.notification.channel import KINDS
from tidings.record import dataclass, replace
from tidings.service.watch.composite_parts import composite_parts_of, list_asked
from tidings.service.watch.lifespan import REPORTED, Life
from tidings.service.watch.shards import ALL
from tidings.service.watch.subscription_memory import PENDING
from tidings.storage.db.connection import UNREADABLE
from tidings.storage.observed import members, pages
from tidings.storage.watches import endpoints, events, sentinels, subscriptions

if TYPE_CHECKING:
    from tidings.model.observed.page import PageIdentity, PageState
    from tidings.model.observed.unit import CursorMove, Missing, Unit
    from tidings.service.watch.composite_parts import AskedComparison
    from tidings.service.watch.shards import Shards
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.watches.subscriptions import SubscriptionRow
    from tidings.storage.write.store import Store


WHEN_NEEDED = FetchOnDemand()
"""the Fetch clause of a page that only Then names"""
MOST_AT_ONCE = 1000
"""most sentinels reloaded in one transaction"""


class NotifyTarget(NamedTuple):
    """An endpoint that a sentinel notifies; `scheme` is that of an Apprise service, if known,
    `wording` the words of its clause.
    """

    kind: str
    endpoint_id: int
    scheme: str = ""
    wording: Wording | None = None


@dataclass(slots=True)
class WatchedSentinel:
    """A sentinel that may poll: its row, its meaning, the endpoints of its channels, and the time
    zone of its times of day.
    """

    row: SentinelRow
    sentinel: Sentinel
    endpoints: dict[tuple[str, str], int]
    zone: tzinfo = UTC
    schemes: Mapping[int, str] = field(default_factory=dict)
    """the scheme of each Apprise endpoint"""
    gathers_noise: bool = False
    """whether floods of changes are summarized, so that no clause reports a change without its
    rules
    """
    first_pages: set[int] = field(default_factory=set)
    """of a collection the pages that its text names, and the list of its pages"""
    web: str = ""
    """the address of the screens, for links in messages; empty if there is none"""

    @property
    def ends_with_report(self) -> bool:
        """Return whether it has `To first change`."""
        return self.sentinel.end is not None and self.sentinel.end.base == "change"

    @property
    def has_reported(self) -> bool:
        """Return whether the report that ends it (`To first change`) is stored; what another poll
        finds at the same time is not reported.
        """
        return self.row.reason == REPORTED

    @property
    def budget_name(self) -> str:
        """Return the name of the budget that pays its polls."""
        return self.sentinel.budget_class if self.sentinel.scope is None else budget_name(self.row.name)

    def clauses(self) -> Iterator[tuple[int, Notify, tuple[NotifyTarget, ...]]]:
        """Yield (place, clause, targets) of the Notify clauses; a channel that only shows changes
        on demand is no target.
        """
        for place, clause in enumerate(self.sentinel.notify):
            yield place, clause, self._targets(clause.channels, clause.wording)

    def at_once(self) -> tuple[NotifyTarget, ...]:
        """Return the targets to notify of each change independently of earlier ones: the message is
        written with the change, without rules.
        """
        if self.gathers_noise:
            return ()
        return _each_once(t for _, clause, targets in self.clauses() if clause.is_plain for t in targets)

    def everybody(self) -> tuple[NotifyTarget, ...]:
        """Return the distinct targets of the Notify clauses."""
        return _each_once(target for _, _, targets in self.clauses() for target in targets)

    @property
    def is_cut_off(self) -> bool:
        """Return whether none of the receivers that it names can be notified by these settings."""
        named = (channel for clause in self.sentinel.notify for channel in clause.channels)
        return not self.everybody() and any(channel.kind in SENDABLE for channel in named)

    def error_targets(self) -> tuple[NotifyTarget, ...]:
        """Return the targets of the Errors clause."""
        return self._targets(self.sentinel.errors)

    def _targets(self, channels: Iterable[Channel], wording: Wording | None = None) -> tuple[NotifyTarget, ...]:
        keys = dict.fromkeys(channel.endpoint for channel in channels)
        ids = {key: self.endpoints[key] for key in keys if key in self.endpoints}
        return tuple(NotifyTarget(kind, id_, self.schemes.get(id_, ""), wording) for (kind, _), id_ in ids.items())


def _each_once(targets: Iterable[NotifyTarget]) -> tuple[NotifyTarget, ...]:
    """Return targets with each endpoint once, with the wording of the first clause that
    names it.
    """
    found: dict[int, NotifyTarget] = {}
    for target in targets:
        found.setdefault(target.endpoint_id, target)
    return tuple(found.values())


@dataclass(slots=True)
class Subscription:
    """A sentinel's cursor on a page (sentinels §4.2) and what it compares."""

    row: SubscriptionRow
    owner: WatchedSentinel
    is_only_shown: bool = field(init=False)
    """whether the page is polled only when its sentinel's Then says so"""
    is_listing: bool = field(init=False)
    """whether the page is the list of a collection, polled when it was published"""
    fetch: Fetch = field(init=False)
    """when the sentinel polls the page by itself"""
    interval: FetchEvery | FetchAt | None = field(init=False)
    """the fixed interval or the time of day, None when the page is fetched on change or on
    demand
    """
    is_on_change: bool = field(init=False)
    """whether the sentinel leaves the rate of the page to the policy"""

    def __post_init__(self) -> None:
        sentinel = self.owner.sentinel
        self.is_only_shown = bool(sentinel.then) and self.row.label in composite_parts_of(sentinel).shown
        self.is_listing = sentinel.scope is not None and self.row.label == LISTING
        self.fetch = WHEN_NEEDED if self.is_only_shown or self.is_listing else sentinel.fetch
        self.interval = self.fetch if isinstance(self.fetch, FetchEvery | FetchAt) else None
        self.is_on_change = isinstance(self.fetch, FetchOnChange)

    @property
    def asked(self) -> tuple[AskedComparison, ...]:
        """Return the comparisons on the page."""
        return list_asked(self.owner.sentinel, self.row.label)

    @property
    def is_summoned(self) -> bool:
        """Return whether the page is polled only on an event from outside."""
        return isinstance(self.fetch, FetchOnDemand) and bool(self.fetch.events)

    @property
    def wants_base(self) -> bool:
        """Return whether the page needs a first poll for a baseline although no tick is due."""
        return not self.row.taken and (self.is_only_shown or self.is_on_change or self.is_summoned)

    @property
    def holds_changes(self) -> bool:
        """Return whether a change is held until it has persisted (`for at least`); the next poll
        confirms it, or not.
        """
        return PENDING in self.row.remembered

    @property
    def missing(self) -> Missing | None:
        """Return which selections of the present sentinel its page lacked."""
        missing = self.row.missing
        return missing if missing is not None and missing.revision == self.row.revision else None


@dataclass(slots=True)
class WatchedPage:
    """A page with at least one active subscription, or a frame of one; `is_framed`: it names
    followed frames.
    """

    identity: PageIdentity
    state: PageState
    subscriptions: dict[int, Subscription] = field(default_factory=dict)
    is_framed: bool = False
    worth: float = 1.0
    """what its changes matter to those who search, 1 for as much as those of other pages"""

    def as_it_is(self) -> WatchedPage:
        """Return a snapshot of the page that later additions and removals of sentinels do not
        change.
        """
        return replace(self, subscriptions=dict(self.subscriptions))


SENDABLE = KINDS
"""Channels with a sender; `dashboard` is pulled."""


LIFE_EVENTS = tuple(
    EventType(f"sentinel.{step}")
    for step in ("created", "waiting", "enabled", "disabled", "ended", "dropped", "altered", "renewed", "confirmed")
)


class Watchlist:
    """The pages and sentinels of one poller. `sendable` are the kinds of channel with a sender,
    `zone` is the default time zone of sentinels, `gathers_noise` whether floods of changes are
    summarized. `shards` are its part of the pages; it has the sentinels that watch them, all if it
    leads. `web` is the address of the screens, for links in messages.
    """

    def __init__(
        self,
        store: Store,
        *,
        sendable: frozenset[str] = SENDABLE,
        zone: str = "UTC",
        gathers_noise: bool = False,
        shards: Shards = ALL,
        web: str = "",
    ) -> None:
        self._store = store
        self._web = web.rstrip("/") if web.lower().startswith(("http://", "https://")) else ""
        self._shards = shards
        self._gathers_noise = gathers_noise
        self._sendable = sendable
        self._zone = zone
        self.pages: dict[int, WatchedPage] = {}
        self.sentinels: dict[int, WatchedSentinel] = {}
        self._places: dict[int, set[int]] = {}
        """the pages of each sentinel"""
        self._schemes: dict[int, str] = {}
        self._past: dict[str, SentinelRow] = {}
        self._meanings: dict[int, tuple[str, Sentinel]] = {}
        self._seen = 0
        self._reading = asyncio.Lock()
        self._settled: set[int] = set()
        """pages with a unit since rows were read last"""
        self._doubted: set[int] = set()
        """pages of which the database knows more than this process"""
        self._damaged: list[str] = []
        self.unread: dict[int, str] = {}
        """sentinels whose text cannot be read, each with the words for it"""

    @property
    def set_aside(self) -> list[str]:
        """Return the stored rows that cannot be read and are therefore not watched."""
        return [*self._damaged, *self.unread.values()]

    async def load(self) -> set[int]:
        """Load everything; return the ids of all pages."""
        self._damaged.clear()
        self.unread.clear()
        rows, subs, population, framed, known, self._seen = await self._store.read(
            _everything, self._damaged, self._shards
        )
        self._schemes.update(await self._store.read(endpoints.schemes))
        self.pages.clear()
        self.pages.update({state.page_id: WatchedPage(identity, state) for identity, state in population})
        for page_id in framed & self.pages.keys():
            self.pages[page_id].is_framed = True
        self.sentinels.clear()
        self._places.clear()
        self._past = {row.name: row for row in rows if row.state == "ended"}
        self._meanings = {row.id: self._meanings[row.id] for row in rows if row.id in self._meanings}
        watching = {sub.sentinel_id for sub in subs}
        for row in rows:
            is_here = self._shards.leads or row.id in watching
            if row.state != "ended" and is_here and self._makes_sense(row):
                self.sentinels[row.id] = await self._load(row, known)
        for sub in subs:
            self._subscribe(sub)
        self.forget()
        return set(self.pages)

    async def follow(self) -> set[int]:
        """Reload what other processes wrote since the last call; return the ids of the pages
        concerned.
        """
        touched: set[int] = set()
        self._schemes.update(await self._store.read(endpoints.schemes))
        types = (*LIFE_EVENTS, EventType.SENTINEL_PAGES)
        found, last = await self._store.read(events.read_new, after=self._seen, types=types)
        touched |= await self.reload({e.sentinel_id for e in found if e.sentinel_id is not None})
        touched |= await self._reload_doubted()
        await self._remember()
        self.forget()
        self._seen = last
        return touched

    def doubt(self, page_id: int) -> None:
        """Let the next `follow` read a page and its cursors anew: a unit of this process
        contradicted what is stored of it.
        """
        self._doubted.add(page_id)

    async def _reload_doubted(self) -> set[int]:
        touched: set[int] = set()
        while self._doubted:
            page_id = self._doubted.pop()
            page = self.pages.get(page_id)
            for sentinel_id in {sub.row.sentinel_id for sub in page.subscriptions.values()} if page is not None else ():
                touched |= await self.reload_pages(sentinel_id, [page_id])
        return touched

    async def reload(self, sentinel_ids: Iterable[int]) -> set[int]:
        """Reload sentinels; return the ids of their pages, former and present. One of whose pages
        a unit settled since it was read is read again: what was read is older.
        """
        ids = list(dict.fromkeys(sentinel_ids))
        touched: set[int] = set()
        async with self._reading:
            while ids:
                some, ids = ids[:MOST_AT_ONCE], ids[MOST_AT_ONCE:]
                self._settled.clear()
                found = [(one, await self._load_if_clear(one[0])) for one in await self._store.read(_some, some)]
                for (row, subs, states), watched in found:
                    if self._settled.isdisjoint(sub.page_id for sub in subs):
                        touched |= self._take(row, watched, subs, states)
                    else:
                        ids.append(row.id)
        return touched

    async def _load_if_clear(self, row: SentinelRow) -> WatchedSentinel | None:
        """Return a sentinel, None for one that has ended or whose text cannot be read."""
        self.unread.pop(row.id, None)
        return await self._load(row) if row.state != "ended" and self._makes_sense(row) else None

    def _take(
        self,
        row: SentinelRow,
        watched: WatchedSentinel | None,
        subs: Iterable[SubscriptionRow],
        states: Iterable[tuple[PageIdentity, PageState, bool]],
    ) -> set[int]:
        """Replace a sentinel by what was read; return the ids of its pages, former and present."""
        touched = self._places.pop(row.id, set()) & self.pages.keys()
        for page_id in touched:
            page = self.pages[page_id]
            page.subscriptions = {k: s for k, s in page.subscriptions.items() if s.row.sentinel_id != row.id}
        self.sentinels.pop(row.id, None)
        if row.state == "ended":
            self._past[row.name] = row
        elif watched is not None:
            self.sentinels[row.id] = watched
            for sub, (identity, state, is_framed) in zip(subs, states, strict=True):
                if _owns(self._shards, identity, {row.id: watched.sentinel}):
                    self._renew(identity, state, is_framed=is_framed)
                    self._subscribe(sub)
                    touched.add(sub.page_id)
            if not self._shards.leads and row.id not in self._places:
                del self.sentinels[row.id]  # it watches no page of this planner
        for page_id in touched:
            if page_id in self.pages and not self.pages[page_id].subscriptions:
                del self.pages[page_id]
        return touched

    async def reload_pages(self, sentinel_id: int, page_ids: Iterable[int]) -> set[int]:
        """Read anew how a sentinel is on some pages, which it may have come to or left; return
        their ids.
        """
        wanted = list(dict.fromkeys(page_ids))
        async with self._reading:
            left = wanted
            while left:
                self._settled.clear()
                found = await self._store.read(_list_on_pages, sentinel_id, left)
                if sentinel_id not in self.sentinels:
                    return set()
                left = [state.page_id for _, (_, state, _) in found if state.page_id in self._settled]
                for sub_row, page in found:
                    if page[1].page_id not in self._settled:
                        self._take_page(sentinel_id, sub_row, *page)
        return set(wanted)

    def _take_page(
        self,
        sentinel_id: int,
        sub_row: SubscriptionRow | None,
        identity: PageIdentity,
        state: PageState,
        is_framed: bool,
    ) -> None:
        """Replace how a sentinel is on a page by what was read."""
        if not _owns(self._shards, identity, {sentinel_id: self.sentinels[sentinel_id].sentinel}):
            return
        page = self._renew(identity, state, is_framed=is_framed)
        page.subscriptions = {k: s for k, s in page.subscriptions.items() if s.row.sentinel_id != sentinel_id}
        if sub_row is not None:
            self._subscribe(sub_row)
        if not page.subscriptions:
            del self.pages[state.page_id]

    def _renew(self, identity: PageIdentity, state: PageState, *, is_framed: bool) -> WatchedPage:
        """Return a page, new or with the state that was read."""
        page = self.pages.setdefault(state.page_id, WatchedPage(identity, state))
        page.state, page.is_framed = state, is_framed
        return page

    def settle(self, unit: Unit) -> None:
        """Apply a committed unit of this process to a page and its cursors."""
        if unit.page is not None:
            self._settled.add(unit.page.page_id)
        if unit.page is not None and unit.page.page_id in self.pages:
            self.pages[unit.page.page_id].state = unit.page
            if unit.frames is not None:
                self.pages[unit.page.page_id].is_framed = bool(unit.frames)
        for move in unit.cursors:
            self._move(move, unit.page.page_id if unit.page is not None else None)
        for step in unit.sentinels:
            if step.reason == REPORTED and (held := self.sentinels.get(step.sentinel_id)) is not None:
                held.row = replace(held.row, state=step.state, reason=step.reason, ended_at=step.at)

    @property
    def has_all(self) -> bool:
        """Return whether no page is left to another planner."""
        return self._shards.is_all

    def is_home(self, watched: WatchedSentinel) -> bool:
        """Return whether this planner checks the first page of a sentinel: then it also reads what
        a collection's pages name.
        """
        return self._shards.is_all or self._shards.owns(address.host_of(watched.sentinel.pages[0].url))

    def has_foreign(self, connection: Connection, page_ids: Collection[int]) -> bool:
        """Return whether another planner checks some of these pages."""
        hosts = pages.list_hosts(connection, page_ids).values()
        return any(host != HOST and not self._shards.owns(host) for host in hosts)

    async def _remember(self) -> None:
        """Load the ended sentinels that a new or altered one depends on."""
        living = {watched.row.name for watched in self.sentinels.values()}
        for name in self._list_awaited() - living - self._past.keys():
            row = await self._store.read(sentinels.last_of, name)
            if row is not None:
                self._past[name] = row

    def forget(self) -> None:
        """Drop ended sentinels, except those that others depend on."""
        awaited = self._list_awaited()
        self._past = {name: row for name, row in self._past.items() if name in awaited}
        known_ids = {row.id for row in self._past.values()} | self.sentinels.keys()
        self._meanings = {
            sentinel_id: known for sentinel_id, known in self._meanings.items() if sentinel_id in known_ids
        }

    def _list_awaited(self) -> set[str]:
        points = (
            point for watched in self.sentinels.values() for point in (watched.sentinel.start, watched.sentinel.end)
        )
        return {point.sentinel for point in points if point is not None and point.sentinel is not None}

    def lives(self) -> list[Life]:
        """Return the lives of all sentinels in order of creation, including ended ones that others
        depend on.
        """
        living = [Life.of(watched.row, watched.sentinel) for watched in self.sentinels.values()]
        names = {life.row.name for life in living}
        others = (row for row in self._past.values() if row.name not in names and self._makes_sense(row))
        past = [Life.of(row, self._meaning(row)) for row in others]
        return sorted((*living, *past), key=lambda life: life.row.id)

    async def recall(self, sentinel_id: int, revision: int | None = None) -> WatchedSentinel:
        """Return a sentinel that may have ended, for its remaining reports; with the text of an
        earlier `revision`, or with the newest one.
        """
        if revision is None:
            row = await self._store.read(sentinels.get, sentinel_id)
        else:
            row = await self._store.read(sentinels.get_revised, sentinel_id, revision)
        watched = await self._load(row)
        if watched.sentinel.scope is not None:
            watched.first_pages = await self._store.read(list_first_pages, watched)
        return watched

    def _move(self, move: CursorMove, page_id: int | None) -> None:
        moved_pages = [self.pages[page_id]] if page_id in self.pages else self.pages.values()
        for page in moved_pages:
            if (sub := page.subscriptions.get(move.subscription_id)) is not None:
                is_altered = move.revision != sub.row.revision  # altered during the poll: its new ticks count
                is_confirmed = sub.row.base > move.base  # confirmed meanwhile: earlier versions are not needed
                versions = sub.row if is_confirmed else move
                sub.row = replace(
                    sub.row,
                    base=versions.base,
                    taken=versions.taken,
                    number=versions.number,
                    seen=move.seen,
                    next_tick=sub.row.next_tick if is_altered else move.next_tick,
                    ticked_at=move.ticked_at,
                    missing=move.missing,
                    remembered=sub.row.remembered if move.remembered is None else move.remembered,
                    learned=sub.row.learned if is_altered or move.learned is None else move.learned,
                )

    async def _load(self, row: SentinelRow, known: Mapping[tuple[str, str], int] | None = None) -> WatchedSentinel:
        sentinel = self._meaning(row)
        wanted = {c.endpoint for c in list_channels(sentinel) if c.kind in self._sendable}
        zone = zone_of(sentinel.zone or self._zone) or UTC
        if known is not None:
            found = {key: known[key] for key in wanted if key in known}
        else:
            found = await self._store.read(endpoints.ids, wanted) if wanted else {}
        return WatchedSentinel(
            row, sentinel, found, zone, self._schemes, gathers_noise=self._gathers_noise, web=self._web
        )

    def _meaning(self, row: SentinelRow) -> Sentinel:
        text, sentinel = self._meanings.get(row.id, ("", None))
        if sentinel is None or text != row.text:
            sentinel = meaning(row.text)
            self._meanings[row.id] = (row.text, sentinel)
        return sentinel

    def _makes_sense(self, row: SentinelRow) -> bool:
        if row.id in self.unread:
            return False
        try:
            self._meaning(row)
        except UNREADABLE as error:
            self.unread[row.id] = f"the text of the sentinel {row.name} ({str(error).splitlines()[0]})"
            return False
        return True

    def _subscribe(self, sub: SubscriptionRow) -> None:
        if sub.active and sub.page_id in self.pages and sub.sentinel_id in self.sentinels:
            self.pages[sub.page_id].subscriptions[sub.id] = Subscription(sub, self.sentinels[sub.sentinel_id])
            self._places.setdefault(sub.sentinel_id, set()).add(sub.page_id)
            owner = self.sentinels[sub.sentinel_id]
            if owner.sentinel.scope is not None and _is_first(owner, sub, self.pages[sub.page_id].identity):
                owner.first_pages.add(sub.page_id)


def _is_first(owner: WatchedSentinel, sub: SubscriptionRow, identity: PageIdentity) -> bool:
    """Return whether a page of a collection is the list of its pages, or named in its text."""
    named = {form for page in owner.sentinel.pages for form in (page.url, page.url.partition("#")[0])}
    return sub.label == LISTING or identity.given in named


def list_first_pages(connection: Connection, owner: WatchedSentinel) -> set[int]:
    """Return the pages that the text of a collection names, and the list of its pages."""
    found = subscriptions.listing(connection, sentinel_id=owner.row.id)
    return {s.page_id for s in found if _is_first(owner, s, pages.identity(connection, s.page_id))}


def list_channels(sentinel: Sentinel) -> Iterator[Channel]:
    """Yield the channels of a sentinel: those of its Notify clauses, then those of its Errors
    clause.
    """
    for clause in sentinel.notify:
        yield from clause.channels
    yield from sentinel.errors


def meaning(text: str) -> Sentinel:
    """Parse a stored canonical text. Raises `UnreadableTextError` for an invalid one."""
    return _meaning(text, parser.recall)


def read_meaning(row: SentinelRow, read: Callable[[str], Sentinel] = meaning) -> Sentinel:
    """Return the meaning of a stored sentinel to show it among others: one that watches nothing if
    its text cannot be read.

    Args:
        row: The stored sentinel.
        read: Reads the text: `meaning` or `clauses`.
    """
    try:
        return read(row.text)
    except UnreadableTextError:
        return Sentinel(name=row.name, pages=(), monitor=Interest("any"), fetch=WHEN_NEEDED)


def clauses(text: str) -> Sentinel:
    """Return the same as `meaning`, faster: name and address may be those of another sentinel with
    the same clauses.
    """
    return _meaning(text, parser.recall_clauses)


def _meaning(text: str, recall: Callable[[str], Statement]) -> Sentinel:
    why = "it is a command"
    try:
        statement: Statement | None = recall(text)
    except (SentinelError, ValueError) as error:
        statement, why = None, str(error).splitlines()[0]
    if not isinstance(statement, Sentinel):
        raise UnreadableTextError(
            f"the stored text of a sentinel cannot be read ({text[:60]!r}: {why}): write its text again or drop it;"
            " `tidings doctor` shows more"
        )
    return statement


def load_pages(connection: Connection, *, zone: str) -> dict[int, WatchedPage]:
    """Return the pages watched now, for read-only use. `zone` is the default time zone of
    sentinels.
    """
    rows, subs, population, *_ = _everything(connection, [])
    loaded = {}
    for row in rows:
        if row.state != "ended":
            sentinel = read_meaning(row)
            loaded[row.id] = WatchedSentinel(row, sentinel, {}, zone_of(sentinel.zone or zone) or UTC)
    found = {state.page_id: WatchedPage(identity, state) for identity, state in population}
    for sub in subs:
        if sub.page_id in found and sub.sentinel_id in loaded:
            found[sub.page_id].subscriptions[sub.id] = Subscription(sub, loaded[sub.sentinel_id])
    return found


def load_some_pages(connection: Connection, page_ids: Iterable[int], *, zone: str) -> dict[int, WatchedPage]:
    """Return these pages as they are watched now, for read-only use; see `load_pages`."""
    by_sentinel: dict[int, WatchedSentinel] = {}
    found = {}
    for page_id in page_ids:
        page = found[page_id] = WatchedPage(*pages.get(connection, page_id))
        for sub in subscriptions.listing(connection, active=True, page_id=page_id):
            if sub.sentinel_id not in by_sentinel:
                row = sentinels.get(connection, sub.sentinel_id)
                sentinel = read_meaning(row)
                by_sentinel[row.id] = WatchedSentinel(row, sentinel, {}, zone_of(sentinel.zone or zone) or UTC)
            page.subscriptions[sub.id] = Subscription(sub, by_sentinel[sub.sentinel_id])
    return found


def load_users(connection: Connection, endpoint_id: int, *, zone: str) -> list[WatchedSentinel]:
    """Return the sentinels that notify an endpoint, each with the endpoints of all its channels."""
    row = endpoints.get(connection, endpoint_id)
    address = "" if row is None else row.address.removeprefix(REFERENCE)
    schemes, found = endpoints.schemes(connection), []
    for one in sentinels.list_with_text(connection, address):
        sentinel = read_meaning(one)
        known = endpoints.ids(connection, {channel.endpoint for channel in list_channels(sentinel)})
        if endpoint_id in known.values():
            found.append(WatchedSentinel(one, sentinel, known, zone_of(sentinel.zone or zone) or UTC, schemes))
    return found


def _owns(shards: Shards, identity: PageIdentity, known: Mapping[int, Sentinel | SentinelRow]) -> bool:
    """Return whether a page is in these shards: the list of a collection where the first page of
    the collection is. `known` has the sentinels, or their rows.
    """
    host = identity.host
    if host == HOST and not shards.is_all:
        owner = known.get(int(identity.url.removeprefix(SCHEME)))
        if owner is not None:
            first = (owner if isinstance(owner, Sentinel) else read_meaning(owner)).pages[:1]
            host = address.host_of(first[0].url) if first else host
    return shards.owns(host)


def _everything(
    connection: Connection, damaged: list[str], shards: Shards = ALL
) -> tuple[
    list[SentinelRow],
    list[SubscriptionRow],
    list[tuple[PageIdentity, PageState]],
    set[int],
    dict[tuple[str, str], int],
    int,
]:
    urls: dict[int, str] = {}

    def without_page(row: tuple[Any, ...], why: str) -> None:
        damaged.append(f"the page {str(row[2])[:200]} ({why.partition(':')[0]})")

    def without_cursor(row: tuple[Any, ...], why: str) -> None:
        damaged.append(f"what a sentinel knows of the page {urls.get(row[2], row[2])} ({why.partition(':')[0]})")

    rows = sentinels.listing(connection, ended=True)
    if shards.is_all:
        population = pages.population(connection, set_aside=without_page)
        here = None
    else:
        by_id = {row.id: row for row in rows}
        known = pages.population(
            connection, owns=lambda host: host == HOST or shards.owns(host), set_aside=without_page
        )
        population = [(identity, state) for identity, state in known if _owns(shards, identity, by_id)]
        here = {state.page_id for _, state in population}
    urls.update({state.page_id: identity.given for identity, state in population})
    return (
        rows,
        subscriptions.listing(connection, active=True, pages=here, set_aside=without_cursor),
        population,
        members.list_framed_pages(connection),
        {(row.kind, row.address): row.id for row in endpoints.listing(connection)},
        events.last_seq(connection),
    )


_One = tuple["SentinelRow", "list[SubscriptionRow]", "list[tuple[PageIdentity, PageState, bool]]"]


def _some(connection: Connection, sentinel_ids: Iterable[int]) -> list[_One]:
    return [_one(connection, sentinel_id) for sentinel_id in sentinel_ids]


def _one(connection: Connection, sentinel_id: int) -> _One:
    row = sentinels.get(connection, sentinel_id)
    subs = subscriptions.listing(connection, active=True, sentinel_id=sentinel_id)
    return row, subs, [_page(connection, s.page_id) for s in subs]


def _list_on_pages(
    connection: Connection, sentinel_id: int, page_ids: Sequence[int]
) -> list[tuple[SubscriptionRow | None, tuple[PageIdentity, PageState, bool]]]:
    found: list[tuple[SubscriptionRow | None, tuple[PageIdentity, PageState, bool]]] = []
    for page_id in page_ids:
        subs = subscriptions.listing(connection, active=True, sentinel_id=sentinel_id, page_id=page_id)
        found.append((subs[0] if subs else None, _page(connection, page_id)))
    return found


def _page(connection: Connection, page_id: int) -> tuple[PageIdentity, PageState, bool]:
    return pages.identity(connection, page_id), pages.state(connection, page_id), members.is_framed(connection, page_id)
