"""Discover: find the pages that pages of collections name, watch the best of them, and leave out
those without new text.

A page that changed is read for the addresses it names; each is a row. When a collection's budget
has something to spend, the address whose first fetch is worth most becomes a page of it, unless a
refresh of a known page is worth more: then the budget is left to that. Found and lost pages are
published in the list of pages, many at once (`sources.command_pages`). An address that failed is
requested again, after longer and longer waits. All of it follows from what is stored: a process
that ends at any moment, or after each check, loses nothing but the reading of a page.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable, Mapping
from heapq import nlargest
from typing import TYPE_CHECKING, Any, Final, TypeVar

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.errors import BlobError, OvertakenError, StoreDamagedError, StoreError
from tidings.isolation.runner import Died
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event
from tidings.record import replace
from tidings.search.sites import address_of, belongs, worth_refresh
from tidings.service.collections.known import LEADS_TO, TRAPPED, KnownCollection
from tidings.service.collections.read_links import ReadLinks, read_links
from tidings.service.collections.reconcile import UNUSABLE, reconcile, subscribe
from tidings.service.examine.stored_versions import read_body
from tidings.service.watch.composite_parts import listing_parts
from tidings.storage.watches import collections, events, sentinels, subscriptions
from tidings.storage.watches.collections import CollectedPage, FoundAddress
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
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.write.store import Store

T = TypeVar("T")

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
CONFIRMED_AFTER: Final[Duration] = 5 * MINUTE
"""A page that leads elsewhere for now is requested once more before it is left."""

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
        self._requested: dict[int, Instant] = {}
        """when pages were requested that the plan would not poll by itself"""
        self._awaited: set[int] = set()
        """lists that were published and not polled since, by page"""
        self._is_running = False
        self.next_due: Instant | None = 0

    def note(self, unit: Unit) -> None:
        """Note a committed unit: a page of a collection may name more now."""
        page_id = None if unit.page is None else unit.page.page_id
        if page_id is None:
            return
        self._awaited.discard(page_id)
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

    async def conclude(self, now: Instant) -> Collection[int]:
        """Do what is due before a check ends, and wait for no more news to publish what there is;
        return the lists of pages that are to be polled.
        """
        if not self._is_running:
            self.next_due = None
            self._is_running = True
            await self._round(now, ends=True)
        return self._awaited

    async def _round(self, now: Instant, *, ends: bool = False) -> None:
        wakes: list[Instant] = []
        try:
            await self._follow(now)
            if self._known:
                await self._learn(now)
            for known in list(self._known.values()):
                try:
                    wakes.extend(await self._keep(known, now, ends=ends))
                except OvertakenError:  # it is taken in as it is now
                    del self._known[known.id]
                    wakes.append(now + SECOND)
        except StoreError:
            self._known.clear()  # all begin anew, from what is stored
            raise
        finally:
            self._is_running = False
            soon = [self.next_due] if self.next_due is not None else []
            self.next_due = min([*soon, *(max(at, now + SECOND) for at in wakes)], default=None)

    async def _keep(self, known: KnownCollection, now: Instant, *, ends: bool) -> list[Instant]:
        """Do what is due of a collection; return when there may be more to do."""
        await self._bring_back(known, known.list_due_again(now), now)
        await self._read_dirty(known, now)
        await self._leave_traps(known, now)
        waits = self._poll_doubted(known, now)
        waits.append(await self._admit(known, now))
        waits.append(await self._publish(known, now, ends=ends))
        return [*waits, *(at for at, _ in known.retries[:1])]

    async def _write(self, known: KnownCollection, fn: Callable[..., T], *args: Any, **more: Any) -> T:
        """Write for a collection. Raise `OvertakenError` if it was altered or stopped meanwhile."""
        return await self._store.write(_write_as_it_was, known.watched_sentinel.row, fn, args, more)

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
            elif before is None or before.stand.revision != watched.row.revision:
                with contextlib.suppress(OvertakenError):  # then others have written, and it is seen
                    await self._begin(watched, now, led_to=before.led_to if before else ())
            elif before.watched_sentinel.budget_name != watched.budget_name:
                before.watched_sentinel = watched
                await self._set_budget(watched, now)
            else:
                before.watched_sentinel = watched

    async def _begin(self, watched: WatchedSentinel, now: Instant, *, led_to: Iterable[str] = ()) -> None:
        """Take in a collection from what is stored; one that was altered becomes what its text
        says. `led_to` are the sites to which its first pages led before.
        """
        known = KnownCollection(watched)
        known.note_led_to(led_to)
        for page in map(self._watchlist.pages.get, watched.first_pages):
            if page is not None:
                known.note_first_page(page)
        await self._set_budget(watched, now)
        touched = await self._write(known, reconcile, watched, known.origins, now)
        if touched:
            await self._reload(watched, touched, now)
        known.load(await self._store.read(collections.listing, watched.row.id))
        known.stand = await self._store.read(collections.stand, watched.row.id)
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
            if row.tries and (page.state.polled_at or 0) < row.since:
                continue  # it failed before, and was not polled again yet
            if not row.depth and row.kind == "page":
                known.note_first_page(page)
            if page.state.health != "ok":
                if page_id not in known.watched_sentinel.first_pages:  # those stay, as the trouble that they are
                    await self._note_failure(known, row, page.state, now)
            elif target := _find_target(row, page):
                await self._follow_move(known, row, target, page.state, now)
            elif row.read_seq < page.state.last_seq or row.tries:
                await self._read(known, row, page, now)
            elif row.reason:
                await self._doubt(known, row, "", now)

    async def _note_failure(self, known: KnownCollection, row: CollectedPage, state: State, now: Instant) -> None:
        is_gone = state.kind in _GONE
        if is_gone and (state.failures > 1 or state.kind == "410" or not row.read_seq):
            await self._fail(known, row, f"answered {state.kind}", now)
        elif not row.read_seq and (state.kind == "robots" or state.failures >= _TRIES):
            await self._fail(known, row, state.reason or state.kind, now)

    async def _follow_move(
        self, known: KnownCollection, row: CollectedPage, target: str, state: State, now: Instant
    ) -> None:
        """Put the page that an address leads to in its place. One that was read leads there in two
        polls, unless its server says that it has moved for good: it may only be out of order.
        """
        is_in = belongs(target, known.scope.patterns, known.origins)
        where = target if is_in else "outside of the scope"
        reason = f"leads to {where}"[:200]
        is_for_good = bool(state.moved_to)
        if row.read_seq and not is_for_good and not (row.reason and (state.polled_at or 0) > row.since):
            if not row.reason:
                await self._doubt(known, row, reason, now)
            return
        before = known.rows.get(target)
        if before is not None and known.may_return(before, now):
            await self._bring_back(known, [target], now)
        elif before is None and is_in:
            is_news = row.is_news or row.read_seq > 0
            found = [
                FoundAddress(target, row.depth, anchor=row.anchor or row.title, found_on=row.page_id, is_news=is_news)
            ]
            await self._write(known, collections.add, known.id, found, at=now)
            known.take(found, now)
        elif not row.read_seq:
            known.note_useless(row.url)
        await self._fail(known, row, reason, now, for_good=is_for_good)

    async def _doubt(self, known: KnownCollection, row: CollectedPage, reason: str, now: Instant) -> None:
        """Note why the next poll of a page decides whether it is left; "" if it is not."""
        row = known.revise(row.url, reason=reason, since=now)
        await self._write(known, collections.leave, known.id, row)

    def _poll_doubted(self, known: KnownCollection, now: Instant) -> list[Instant]:
        """Poll pages that may have to be left; return when to see about them again."""
        rows = [known.rows[url] for url in known.groups["doubted"]]
        waits = [self._request(row.page_id or 0, row.since + CONFIRMED_AFTER, now) for row in rows]
        return [min(waits)] if waits else []

    def _request(self, page_id: int, at: Instant, now: Instant) -> Instant:
        """Poll a page at an instant, and again each minute until it was polled; return when to see
        about it again.
        """
        at = max(at, self._requested.get(page_id, at - MINUTE) + MINUTE)
        if now < at:
            return at
        self._requested[page_id] = now
        self._planner.force(page_id)
        return now + MINUTE

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
        found, again, nearer = known.find_new(row, read, now)
        is_first, is_news = not row.read_seq, row.read_seq > 0
        yielded = row.yielded + (sum(one.state == "found" for one in found) if is_news else 0)
        since = now if is_first or row.tries else row.since
        row = known.revise(
            row.url, kind=read.kind, title=read.title, sketch=read.sketch, read_seq=seq, yielded=yielded, tries=0,
            since=since, reason="",
        )  # fmt: skip
        twin = known.note_first(row, found) if is_first else ""
        await self._write(known, _keep_read, known.id, row, found, now)
        known.take(found, now)
        await self._bring_back(known, again, now)
        if nearer:
            await self._write(known, collections.draw_nearer, known.id, nearer, row.depth + 1)
            known.draw_nearer(nearer, row.depth + 1)
        if twin and row.depth:
            left = replace(row, state="left", reason=f"says the same as {twin}"[:200], since=now)
            await self._leave(known, left, now)

    async def _fail(
        self, known: KnownCollection, row: CollectedPage, reason: str, now: Instant, *, for_good: bool = False
    ) -> None:
        """Stop watching a page that failed, until it is requested again."""
        if not row.read_seq and not reason.startswith(LEADS_TO):
            known.note_failed(row.url)
        await self._leave(known, known.fail(row, reason, now, for_good=for_good), now)

    async def _leave(self, known: KnownCollection, row: CollectedPage, now: Instant) -> None:
        """Stop watching a page."""
        await self._write(known, _leave, known.id, row, now)
        known.put(row)
        if row.page_id is not None:
            await self._reload(known.watched_sentinel, (row.page_id,), now)

    async def _bring_back(self, known: KnownCollection, urls: Collection[str], now: Instant) -> None:
        """Let addresses that were left be requested again."""
        if urls:
            await self._write(known, collections.bring_back, known.id, urls, at=now)
            known.bring_back(urls, now)

    async def _leave_traps(self, known: KnownCollection, now: Instant) -> None:
        trapped, freed = known.judge()
        rows = [replace(known.rows[url], state="left", reason=TRAPPED, since=now) for url in trapped]
        if rows:
            await self._write(known, _leave_out, known.id, rows)
        for row in rows:
            known.put(row)
        await self._bring_back(known, freed, now)

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
        return page is not None and (page.state.health == "ok" or (page.state.polled_at or 0) < row.since)

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
        made: dict[str, int] = await self._write(known, subscribe, watched, [row.url for row in rows], now)
        unusable = [replace(row, state="left", reason=UNUSABLE, since=now) for row in rows if row.url not in made]
        await self._write(known, _leave_out, known.id, unusable)
        for row in unusable:
            known.put(row)
        for url, page_id in made.items():
            known.revise(url, state="watched", page_id=page_id, since=now)
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

    async def _publish(self, known: KnownCollection, now: Instant, *, ends: bool) -> Instant:
        """Publish comings and goings, and at another time all else; return when there may be more
        to publish. If a process `ends`, it does not wait for more to come.
        """
        watched = known.watched_sentinel
        listing = self._find_listing(watched)
        if listing is None:
            return now + DAY
        page_id, state, stand = listing.state.page_id, listing.state, known.stand
        if known.lacks_pages() is (state.health == "ok"):
            self._planner.force(page_id)  # it begins to fail with that, or ends
        if known.lacks_pages() or not listing_parts(watched.sentinel.monitor):
            return now + DAY
        if (state.checked_at or 0) < max(stand.news_at, stand.quiet_at) or _lacks_base(listing, watched):
            return self._request_list(page_id, now)
        news, is_whole = known.groups["news"], not known.groups["waiting"]
        if news and state.checked_at is not None:
            gathered_at = 0 if ends else min(known.rows[url].since for url in news) + GATHER
            ready_at = max(stand.news_at + BATCH, gathered_at)
        elif news or known.groups["others"]:
            news, ready_at = {}, stand.quiet_at + (MINUTE if is_whole else QUIET_EVERY)
        else:
            return now + DAY
        if now < ready_at:
            return ready_at
        if not self._planner.reserve(page_id):
            return now + SECOND  # a poll under way may have read the list as it was
        try:
            at = max(now, (state.polled_at or 0) + 1)
            await self._write(known, _publish, known.id, page_id, news=bool(news), at=at)
        finally:
            self._planner.release(page_id)
        known.note_published(news=bool(news), at=at)
        if not news:
            self._planner.touch(await self._watchlist.reload_pages(watched.row.id, (page_id,)))
        self._requested.pop(page_id, None)
        return self._request_list(page_id, now)

    def _request_list(self, page_id: int, now: Instant) -> Instant:
        again_at = self._request(page_id, now, now)
        if self._requested[page_id] == now:
            self._awaited.add(page_id)
        return again_at

    def _find_listing(self, watched: WatchedSentinel) -> WatchedPage | None:
        first = (self._watchlist.pages.get(page_id) for page_id in watched.first_pages)
        return next((page for page in first if page and page.identity.url == f"collection:{watched.row.id}"), None)


def _find_target(row: CollectedPage, page: WatchedPage) -> str:
    """Return where a page leads now, "" if to itself; a first page may lead where it wants."""
    target = address_of(page.state.moved_to or page.state.final_url or "")
    return target if row.depth and target and target != row.url and row.kind == "page" else ""


def _lacks_base(listing: WatchedPage, watched: WatchedSentinel) -> bool:
    """Return whether a list of pages was polled, but not for a collection as it is now: what is
    published before it is polled again would be its base, and no news.
    """
    rows = (sub.row for sub in listing.subscriptions.values() if sub.row.sentinel_id == watched.row.id)
    is_new = any(not row.taken and row.missing is None for row in rows)
    return listing.state.checked_at is not None and is_new


def _is_on(page: WatchedPage, sentinel_id: int) -> bool:
    return any(sub.row.sentinel_id == sentinel_id for sub in page.subscriptions.values())


def _write_as_it_was(
    c: Connection, row: SentinelRow, fn: Callable[..., T], args: Iterable[Any], more: Mapping[str, Any]
) -> T:
    now = sentinels.get(c, row.id)
    if (now.state, now.revision) != ("enabled", row.revision):
        raise OvertakenError("a collection was altered, or has ended, while its pages were taken in")
    return fn(c, *args, **more)


def _keep_read(
    c: Connection, sentinel_id: int, row: CollectedPage, found: Iterable[FoundAddress], now: Instant
) -> None:
    collections.note_read(c, sentinel_id, row)
    collections.add(c, sentinel_id, found, at=now)


def _leave(c: Connection, sentinel_id: int, row: CollectedPage, now: Instant) -> None:
    collections.leave(c, sentinel_id, row)
    if row.page_id is not None:
        for sub in subscriptions.listing(c, sentinel_id=sentinel_id, page_id=row.page_id):
            subscriptions.leave(c, sub.id, now)


def _leave_out(c: Connection, sentinel_id: int, rows: Iterable[CollectedPage]) -> None:
    for row in rows:
        collections.leave(c, sentinel_id, row)


def _publish(c: Connection, sentinel_id: int, page_id: int, *, news: bool, at: Instant) -> None:
    """Publish the list; unless with `news`, as a new base: nobody is notified of it."""
    collections.publish(c, sentinel_id, news=news, at=at)
    for sub in () if news else subscriptions.listing(c, sentinel_id=sentinel_id, page_id=page_id):
        subscriptions.begin_anew(c, sub.id, at)
