"""Discover: find the pages that pages of collections name, watch the best of them, and leave out
those without new text.

A page that changed is read for the addresses it names; each is a row. When a collection's budget
has something to spend, the address whose first fetch is worth most becomes a page of it, unless a
refresh of a known page is worth more: then the budget is left to that. Found and lost pages are
published in the list of pages, many at once (`sources.command_pages`). All of it can be made again
from what is stored: a crash loses nothing but the reading of a page.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from heapq import nlargest
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.errors import AddressError, BlobError, StoreDamagedError, StoreError, UsageError
from tidings.fetching import address
from tidings.isolation.runner import Died
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event
from tidings.model.watch.sentinel import LISTING
from tidings.record import replace
from tidings.search.sites import address_of, belongs, worth_refresh
from tidings.service.collections.known import KnownCollection
from tidings.service.collections.read_links import ReadLinks, read_links
from tidings.service.examine.stored_versions import read_body
from tidings.service.watch.composite_parts import listing_parts
from tidings.storage.observed import pages
from tidings.storage.watches import collections, events, subscriptions
from tidings.storage.watches.collections import CollectedPage, FoundAddress, PageState
from tidings.storage.watches.sentinels import first_tick
from tidings.storage.write import charge

if TYPE_CHECKING:
    from tidings.archive.archive import Archive
    from tidings.isolation.runner import Runner
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageState as State
    from tidings.model.observed.unit import Unit
    from tidings.service.plan.planner import Planner
    from tidings.service.watch.watchlist import WatchedPage, WatchedSentinel, Watchlist
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.collections")
MOST_AT_ONCE: Final = 50
"""Pages of a collection that are added in one round."""
ADMITTED_EVERY: Final[Duration] = 15 * SECOND
BATCH: Final[Duration] = 10 * MINUTE
"""Comings and goings are published so long after the last ones, together."""
GATHER: Final[Duration] = 2 * MINUTE
"""So long is waited for others that come at the same time."""
QUIET_EVERY: Final[Duration] = HOUR
"""How often the list takes in what a first reading of the site brings; nobody is notified of that.
"""
LEAST_SAVED: Final = 3.0
"""Requests that a collection can save up at least: a page that leads elsewhere needs two."""
LEARNED_EVERY: Final[Duration] = 10 * MINUTE
_GONE: Final = frozenset({"404", "410"})
_TRIES: Final = 3
"""Polls of a page that was never read, after which it is left out."""

Worths = Callable[[], Awaitable[tuple[Mapping[str, float], Mapping[int, float]]]]
"""Gives the share of each term in what is searched for, and how much more than usual each page
matters to those who search.
"""


class Discovery:
    """Keeps all collections; a `SideTask` of the monitor. `named` gives the sitemaps that are known
    of a URL's robots.txt.
    """

    def __init__(
        self,
        store: Store,
        archive: Archive,
        watchlist: Watchlist,
        planner: Planner,
        runner: Runner,
        *,
        named: Callable[[str], Awaitable[list[str]]],
        worths: Worths,
    ) -> None:
        self._store = store
        self._archive = archive
        self._watchlist = watchlist
        self._planner = planner
        self._runner = runner
        self._named = named
        self._worths = worths
        self._known: dict[int, KnownCollection] = {}
        self._sought: Mapping[str, float] = {}
        self._learned_at: Instant | None = None
        self._published: dict[int, tuple[Instant, Instant]] = {}
        """of each collection when comings and goings were published last, and when all else was"""
        self._gathering: dict[int, Instant] = {}
        """since when comings and goings wait to be published"""
        self._awaited: dict[int, Instant] = {}
        """lists that were published and not polled since, by page"""
        self._is_running = False
        self.next_due: Instant | None = 0

    def note(self, unit: Unit) -> None:
        """Note a committed unit: a page of a collection may name more now."""
        page_id = None if unit.page is None else unit.page.page_id
        if page_id is None:
            return
        self._awaited.pop(page_id, None)
        for known in self._known.values():
            if page_id in known.urls:
                known.dirty.add(page_id)
                self.next_due = 0

    def note_written(self) -> None:
        """Note that others have written: there may be another collection, or another scope."""
        self.next_due = 0

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the round that is due."""
        if self._is_running or self.next_due is None or now < self.next_due:
            return []
        self.next_due = None
        self._is_running = True
        return [self._round(now)]

    async def _round(self, now: Instant) -> None:
        wakes: list[Instant] = []
        try:
            await self._follow(now)
            if self._known:
                await self._learn(now)
            for known in list(self._known.values()):
                await self._read_dirty(known, now)
                await self._leave_traps(known)
                wakes.append(await self._admit(known, now))
                wakes.append(await self._publish(known, now))
        except StoreError:
            self._known.clear()  # all begin anew, from what is stored
            raise
        finally:
            self._is_running = False
            soon = [self.next_due] if self.next_due is not None else []
            self.next_due = min([*soon, *(max(at, now + SECOND) for at in wakes)], default=None)

    # -- what is there -----------------------------------------------------------------------------

    async def _follow(self, now: Instant) -> None:
        """Take in collections that came, ended or were altered."""
        living = {
            watched.row.id: watched
            for watched in self._watchlist.sentinels.values()
            if watched.sentinel.scope is not None and watched.row.state == "enabled"
        }
        for gone in self._known.keys() - living.keys():
            del self._known[gone]
        for sentinel_id, watched in living.items():
            before = self._known.get(sentinel_id)
            if not self._watchlist.is_home(watched):
                self._take_class(watched)
            elif before is None:
                await self._begin(watched, now)
            elif (
                before.watched_sentinel.row.revision != watched.row.revision
                or before.watched_sentinel.budget_name != watched.budget_name
            ):
                before.watched_sentinel = watched
                await self._set_budget(watched, now)
            else:
                before.watched_sentinel = watched

    async def _begin(self, watched: WatchedSentinel, now: Instant) -> None:
        known = KnownCollection(watched)
        await self._set_budget(watched, now)
        rows = await self._store.read(collections.listing, watched.row.id)
        if not rows:
            await self._store.write(_seed, watched, now)
            rows = await self._store.read(collections.listing, watched.row.id)
        known.load(rows)
        known.dirty = {page_id for page_id in known.urls if page_id in self._watchlist.pages}
        self._known[watched.row.id] = known

    async def _set_budget(self, watched: WatchedSentinel, now: Instant) -> None:
        a_day, burst = self._take_class(watched)
        await self._store.write(
            charge.set_budget, watched.budget_name, rate_per_second=a_day / (DAY / SECOND), burst=burst, at=now
        )
        self._planner.touch(i for i, page in self._watchlist.pages.items() if _is_on(page, watched.row.id))

    def _take_class(self, watched: WatchedSentinel) -> tuple[float, float]:
        """Let the budget of a collection pay for its pages; return how many checks a day it has,
        and how many it can save up.
        """
        scope = watched.sentinel.scope
        assert scope is not None  # noqa: S101 - it is a collection
        burst = max(LEAST_SAVED, scope.budget / 24)
        self._planner.set_class(watched.budget_name, burst)
        return scope.budget, burst

    async def _learn(self, now: Instant) -> None:
        """Take what is searched for, and which pages matter to those who search, as it is now."""
        if self._learned_at is not None and now - self._learned_at < LEARNED_EVERY:
            return
        self._sought, matters = await self._worths()
        self._learned_at = now
        for known in self._known.values():
            for page_id, url in known.urls.items():
                page = self._watchlist.pages.get(page_id)
                worth = matters.get(page_id, 1.0) * (1.0 + min(8.0, 4.0 * known.expect_yield(known.rows[url], now)))
                if page is not None and abs(page.worth - worth) > page.worth / 10:
                    page.worth = worth
                    self._planner.touch((page_id,))

    # -- reading -----------------------------------------------------------------------------------

    async def _read_dirty(self, known: KnownCollection, now: Instant) -> None:
        """Take in what became of pages since the last round."""
        while known.dirty:
            page_id = known.dirty.pop()
            page = self._watchlist.pages.get(page_id)
            row = known.rows[known.urls[page_id]]
            if page is None or row.state != "watched":
                continue
            if not row.depth and row.kind == "page":
                known.note_first_page(page)
            if page.state.health != "ok":
                if page_id not in known.watched_sentinel.first_pages:  # those stay, as the trouble that they are
                    await self._note_failure(known, row, page.state, now)
            elif target := _find_target(row, page):
                await self._follow_move(known, row, target, now)
            elif row.read_seq < page.state.last_seq:
                await self._read(known, row, page, now)

    async def _note_failure(self, known: KnownCollection, row: CollectedPage, state: State, now: Instant) -> None:
        is_gone = state.kind in _GONE
        if is_gone and (state.failures > 1 or state.kind == "410" or not row.read_seq):
            await self._leave(known, row, "gone" if row.read_seq else "left", f"answered {state.kind}", now)
        elif not row.read_seq and (state.kind == "robots" or state.failures >= _TRIES):
            await self._leave(known, row, "left", (state.reason or state.kind)[:200], now)

    async def _follow_move(self, known: KnownCollection, row: CollectedPage, target: str, now: Instant) -> None:
        """Put the page that an address leads to in its place."""
        is_in = belongs(target, known.scope.patterns, known.origins)
        if target not in known.rows and is_in:
            is_news = row.is_news or row.read_seq > 0
            found = [
                FoundAddress(target, row.depth, anchor=row.anchor or row.title, found_on=row.page_id, is_news=is_news)
            ]
            await self._store.write(collections.add, known.watched_sentinel.row.id, found, at=now)
            known.take(found, now)
        else:
            known.note_useless(row.url)
        where = target if is_in else "outside of the scope"
        await self._leave(known, row, "gone" if row.read_seq else "left", f"leads to {where}"[:200], now)

    async def _read(self, known: KnownCollection, row: CollectedPage, page: WatchedPage, now: Instant) -> None:
        """Read what the newest version of a page names."""
        page_id, seq = page.state.page_id, page.state.last_seq
        try:
            body = await self._store.read(read_body, self._archive, page_id, seq)
        except (BlobError, LookupError, StoreDamagedError):
            return
        answer = await self._runner.run(read_links, (replace(body, url=page.state.final_url or page.identity.url),))
        if isinstance(answer, Died):
            log.warning("the links of %s cannot be read: %s", row.url, answer.reason)
            read = ReadLinks(row.kind, row.title, row.sketch, ())
        else:
            read = answer.value
        if not row.depth:
            maps = await self._named(row.url) if row.url.startswith("http") else []
            read = replace(read, maps=(*read.maps, *maps))
        found = known.find_new(row, read)
        is_first = not row.read_seq
        yielded = row.yielded + (0 if is_first else sum(one.state == "found" for one in found))
        row = known.revise(row.url, kind=read.kind, title=read.title, sketch=read.sketch, read_seq=seq, yielded=yielded)
        twin = known.note_first(row, found) if is_first else ""
        await self._store.write(_keep_read, known.watched_sentinel.row.id, row, found, now)
        known.take(found, now)
        if twin and row.depth:
            await self._leave(known, row, "left", f"says the same as {twin}"[:200], now)

    async def _leave(
        self, known: KnownCollection, row: CollectedPage, state: PageState, reason: str, now: Instant
    ) -> None:
        """Stop watching a page."""
        await self._store.write(_leave, known.watched_sentinel.row.id, row, state, reason, now)
        known.revise(row.url, state=state, reason=reason)
        if not row.read_seq:
            known.note_useless(row.url)
        if row.page_id is not None:
            await self._reload(known.watched_sentinel, (row.page_id,), now)

    async def _leave_traps(self, known: KnownCollection) -> None:
        if trapped := known.find_trapped():
            reason = "pages like it have no new text"
            await self._store.write(_leave_out, known.watched_sentinel.row.id, trapped, reason)
            for url in trapped:
                known.revise(url, state="left", reason=reason)

    # -- first fetches -----------------------------------------------------------------------------

    async def _admit(self, known: KnownCollection, now: Instant) -> Instant:
        """Watch what is worth more than a refresh, as far as the budget goes, and let the better
        refreshes come first; return when there may be more to do.
        """
        watched = known.watched_sentinel
        bucket = (await self._store.read(charge.payable, at=now))[watched.budget_name]
        known.preferred &= (due := self._planner.due_pages(now))
        ahead = sum(self._is_under_way(known.rows[url]) for url in known.groups["unread"]) + len(known.preferred)
        room = min(MOST_AT_ONCE, max(1, int(bucket.level + 1e-9)) - ahead)
        if room > 0 and (waiting := known.find_best(room, self._sought, now)):
            refreshes = self._rank_refreshes(known, due - known.preferred, room, now)
            best = sorted([*waiting, *refreshes], key=lambda each: -each[0])[:room]
            known.preferred.update(page_id for _, page_id in best if isinstance(page_id, int))
            self._planner.prefer(known.preferred)
            if rows := [row for _, row in best if isinstance(row, CollectedPage)]:
                await self._watch(known, rows, now)
        if not known.groups["waiting"]:
            return now + DAY
        return max(now + ADMITTED_EVERY, bucket.available_at(ahead + 1.0) or 0)

    def _is_under_way(self, row: CollectedPage) -> bool:
        page = self._watchlist.pages.get(row.page_id or 0)
        return page is not None and page.state.health == "ok"

    def _rank_refreshes(
        self, known: KnownCollection, due: Iterable[int], most: int, now: Instant
    ) -> list[tuple[float, int]]:
        """Return the due refreshes of pages that were read, each with its worth, the best first."""
        days: dict[int, float] = {}
        for page_id in due:
            page, url = self._watchlist.pages.get(page_id), known.urls.get(page_id)
            if url is None or not known.rows[url].read_seq or known.rows[url].state != "watched":
                continue
            if page is not None and page.state.checked_at is not None:
                days[page_id] = max(0, now - page.state.checked_at) / DAY
        chances = self._planner.proposals.find_chances(list(days), list(days.values()))
        found = []
        for page_id, passed in days.items():
            row = known.rows[known.urls[page_id]]
            worth = worth_refresh(
                chances.get(page_id, 0.0),
                depth=row.depth,
                importance=min(self._watchlist.pages[page_id].worth, 1.0),
                yields=known.expect_yield(row, now) * passed,
            )
            found.append((worth, page_id))
        return nlargest(most, found)

    async def _watch(self, known: KnownCollection, rows: Iterable[CollectedPage], now: Instant) -> None:
        watched = known.watched_sentinel
        made: dict[str, int] = await self._store.write(_subscribe, watched, [row.url for row in rows], now)
        for row in rows:
            page_id = made.get(row.url)
            if page_id is None:
                known.revise(row.url, state="left", reason="no request can be made for it")
            else:
                known.revise(row.url, state="watched", page_id=page_id)
        await self._reload(watched, made.values(), now)

    async def _reload(self, watched: WatchedSentinel, page_ids: Collection[int], now: Instant) -> None:
        """Read anew how a collection is on some pages, and let the planners of those that this one
        does not check do so.
        """
        self._planner.touch(await self._watchlist.reload_pages(watched.row.id, page_ids))
        if not self._watchlist.has_all and await self._store.read(self._watchlist.has_foreign, page_ids):
            event = Event(type=EventType.SENTINEL_PAGES, at=now, sentinel_id=watched.row.id)
            await self._store.write(events.append, [event])

    # -- the list of pages -------------------------------------------------------------------------

    async def _publish(self, known: KnownCollection, now: Instant) -> Instant:
        """Publish comings and goings, and at another time all else; return when there may be more
        to publish.
        """
        watched = known.watched_sentinel
        listing = self._find_listing(watched)
        if listing is None:
            return now + DAY
        page_id = listing.state.page_id
        if known.lacks_pages() is (listing.state.health == "ok"):
            self._planner.force(page_id)  # it begins to fail with that, or ends
        if not listing_parts(watched.sentinel.monitor):
            return now + DAY
        if page_id in self._awaited:
            if now - self._awaited[page_id] > MINUTE:
                self._planner.force(page_id)
            return now + MINUTE
        news, others = known.groups["news"], known.groups["others"]
        news_at, others_at = self._published.get(watched.row.id, (-BATCH, -QUIET_EVERY))
        is_whole = not known.groups["waiting"]
        if news and listing.state.checked_at is not None:
            ready_at = max(news_at + BATCH, self._gathering.setdefault(watched.row.id, now) + GATHER)
            if now < ready_at:
                return ready_at
            await self._store.write(collections.publish, watched.row.id, news=True)
            del self._gathering[watched.row.id]
            self._published[watched.row.id] = (now, others_at)
            known.note_published(news=True)
        elif news or others:
            if now < others_at + QUIET_EVERY and not (is_whole and now >= others_at + MINUTE):
                return others_at + (MINUTE if is_whole else QUIET_EVERY)
            await self._store.write(_publish_quietly, watched.row.id, page_id, now)
            self._published[watched.row.id] = (news_at, now)
            known.note_published(news=False)
            self._planner.touch(await self._watchlist.reload_pages(watched.row.id, (page_id,)))
        else:
            return now + DAY
        self._awaited[page_id] = now
        self._planner.force(page_id)
        return now + MINUTE

    def _find_listing(self, watched: WatchedSentinel) -> WatchedPage | None:
        first = (self._watchlist.pages.get(page_id) for page_id in watched.first_pages)
        return next((page for page in first if page and page.identity.url == f"collection:{watched.row.id}"), None)


def _find_target(row: CollectedPage, page: WatchedPage) -> str:
    """Return where a page leads now, "" if to itself; a first page may lead where it wants."""
    target = address_of(page.state.moved_to or page.state.final_url or "")
    return target if row.depth and target and target != row.url and row.kind == "page" else ""


def _is_on(page: WatchedPage, sentinel_id: int) -> bool:
    return any(sub.row.sentinel_id == sentinel_id for sub in page.subscriptions.values())


def _seed(c: Connection, watched: WatchedSentinel, now: Instant) -> None:
    """Begin a collection: with the pages that its text names, and the usual sitemap."""
    known = {
        pages.identity(c, sub.page_id).url: sub.page_id
        for sub in subscriptions.listing(c, sentinel_id=watched.row.id)
        if sub.label != LISTING
    }
    origins = dict.fromkeys(address.parse(url).origin for url in known if url.startswith("http"))
    maps = [FoundAddress(f"{origin}/sitemap.xml", 0, "map") for origin in origins]
    collections.add(c, watched.row.id, [FoundAddress(url, 0) for url in known], at=now)
    for url, page_id in known.items():
        collections.watch(c, watched.row.id, url, page_id)
    collections.add(c, watched.row.id, maps, at=now)


def _keep_read(
    c: Connection, sentinel_id: int, row: CollectedPage, found: Iterable[FoundAddress], now: Instant
) -> None:
    collections.note_read(c, sentinel_id, row)
    collections.add(c, sentinel_id, found, at=now)


def _leave(c: Connection, sentinel_id: int, row: CollectedPage, state: PageState, reason: str, now: Instant) -> None:
    collections.leave(c, sentinel_id, row.url, state=state, reason=reason)
    if row.page_id is not None:
        for sub in subscriptions.listing(c, sentinel_id=sentinel_id, page_id=row.page_id):
            subscriptions.leave(c, sub.id, now)


def _leave_out(c: Connection, sentinel_id: int, urls: Iterable[str], reason: str) -> None:
    for url in urls:
        collections.leave(c, sentinel_id, url, state="left", reason=reason)


def _subscribe(c: Connection, watched: WatchedSentinel, urls: Iterable[str], now: Instant) -> dict[str, int]:
    """Make addresses pages of a collection; return the page of each for which a request can be
    made.
    """
    made: dict[str, int] = {}
    owner_id = pages.find_requester(c, watched.row.id) or watched.row.owner_id
    for url in urls:
        try:
            identity = address.identify(url, watched.sentinel.asking, owner_id=owner_id)
        except (AddressError, UsageError):
            collections.leave(c, watched.row.id, url, state="left", reason="no request can be made for it")
            continue
        made[url] = pages.ensure(c, identity)
        subscriptions.add(
            c,
            sentinel_id=watched.row.id,
            page_id=made[url],
            label="",
            next_tick=first_tick(watched.sentinel, now),
            active=True,
            since=now,
            revision=watched.row.revision,
        )
        collections.watch(c, watched.row.id, url, made[url])
    return made


def _publish_quietly(c: Connection, sentinel_id: int, page_id: int, now: Instant) -> None:
    """Publish the list as a new base, as the collection is now: nobody is notified of it."""
    collections.publish(c, sentinel_id, news=False)
    for sub in subscriptions.listing(c, sentinel_id=sentinel_id, page_id=page_id):
        subscriptions.begin_anew(c, sub.id, now)
