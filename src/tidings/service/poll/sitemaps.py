"""Sitemaps: a site's word on changes of its pages is a hint for those that are watched (bid §5).

The sitemaps are those that the site's robots.txt names. They are read every few hours with the
client that fetches pages: conditionally, charged to the budget, within the host's gap; and parsed
in a process that can be killed. Of an index only those files are read whose date changed and that
list a watched page; files that are new or failed are read a few in each round, in turn. A host
whose sitemaps list too few watched pages is skipped for a month.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.document.feeds.sitemaps import Sitemap, SitemapQuestion, read
from tidings.errors import AddressError
from tidings.fetching import address
from tidings.isolation.runner import Died
from tidings.model.observed.outcome import Failed, FetchRequest, Unchanged, Validators
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Estimate, Grant, PollRecord, Unit
from tidings.record import dataclass, replace
from tidings.service.examine import page_state
from tidings.service.watch.shards import ALL
from tidings.storage.observed import estimates, pages

if TYPE_CHECKING:
    from tidings.isolation.runner import Runner
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageState
    from tidings.service.poll.grants import Answered
    from tidings.service.sources.signals import Signals
    from tidings.service.watch.shards import Shards
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.poll.sitemaps")

KIND: Final = "sitemap"
"""The kind of the hints, the reason of the polls, and the name under which sitemap data is
stored.
"""
EVERY: Final[Duration] = 6 * HOUR
GIVEN_UP: Final[Duration] = 30 * DAY
"""How long a host is skipped whose sitemaps list too few watched pages."""
LAPSES: Final[Duration] = DAY
"""After this long without an answer from a host's sitemaps, the absence of hints means nothing."""
REVIEWED_EVERY: Final[Duration] = 10 * MINUTE
MOST_ROOTS: Final = 3
MOST_NEW: Final = 10
"""Most sitemaps of an index read for the first time, or again after a failure, in one round."""
AT_ONCE: Final = 2
UNREAD: Final = -1

Ask = Callable[[Grant, FetchRequest], Awaitable["Answered | str"]]


@dataclass(frozen=True, slots=True)
class File:
    """A sitemap: its page row, its host, the date that its index gives it, how many watched pages
    it lists (None: not yet read to its end; `UNREAD`: it is an index, and not all that it lists was
    read), and when it was last fetched.
    """

    page_id: int
    host: str
    date: str
    listed: int | None
    read_at: Instant


class Sitemaps:
    """Reads sitemaps. `named` returns those that a URL's robots.txt names, `ask` fetches one,
    `keep` writes the results and returns once they are durable.

    `least` is how many watched pages a host's sitemaps must list (0: none is read). `next_due` is
    when there may be something to read. Hosts of other `shards` are left to their planners.
    """

    def __init__(
        self,
        store: Store,
        watched: Mapping[int, WatchedPage],
        signals: Signals,
        runner: Runner,
        *,
        named: Callable[[str], Awaitable[list[str]]],
        ask: Ask,
        keep: Callable[[Answered, Unit], Awaitable[None]],
        least: int,
        epoch: int,
        shards: Shards = ALL,
    ) -> None:
        self._store = store
        self._shards = shards
        self._watched = watched
        self._signals = signals
        self._runner = runner
        self._named = named
        self._ask = ask
        self._keep = keep
        self._least = least
        self._epoch = epoch
        self._files: dict[str, File] = {}
        self._dates: dict[int, tuple[str, str]] = {}
        """of each watched page the date that a sitemap gave it, and which"""
        self._asked: dict[str, frozenset[str]] = {}
        """of each sitemap the addresses it was read for"""
        self._children: dict[str, Mapping[str, str]] = {}
        """of each index the sitemaps that it lists, and their dates"""
        self._answered_at: dict[str, Instant] = {}
        """of each sitemap when it last answered, or its index did and gave it no new date"""
        self._reading: set[str] = set()
        self.next_due: Instant | None = 0 if least and signals.are_heeded else None

    async def load(self) -> None:
        """Load the stored state."""
        for page_id, state in (await self._store.read(estimates.load_all, KIND)).items():
            if "host" in state:
                if not self._shards.owns(state["host"]):
                    continue
                known = File(page_id, state["host"], state["date"], state["listed"], state["read_at"])
                self._files[state["file"]] = known
            elif self._shards.is_all or page_id in self._watched:
                self._dates[page_id] = (state["date"], state["file"])
        read_at: dict[str, Instant] = {}
        for known in self._files.values():
            read_at[known.host] = max(known.read_at, read_at.get(known.host, 0))
        self._answered_at = {url: read_at[known.host] for url, known in self._files.items()}
        if self.next_due is None:
            self._lapse()

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the reading tasks that are due."""
        if self.next_due is None or now < self.next_due:
            return []
        hosts = self._hosts()
        self.next_due = now + (REVIEWED_EVERY if hosts else EVERY)
        found: list[tuple[str, list[str], dict[str, int]]] = []
        for host, page_ids in hosts.items():
            is_free = len(self._reading) + len(found) < AT_ONCE and host not in self._reading
            if is_free and self._due_at(host) <= now and (roots := await self._roots(host, page_ids)):
                found.append((host, roots, self._map_addresses(page_ids)))
        self._reading.update(host for host, *_ in found)
        self._lapse(now - LAPSES)
        return [self._read(*each, now) for each in found]

    def _lapse(self, before: Instant | None = None) -> None:
        """Ignore the absence of hints on pages whose sitemap has not answered since `before` (None:
        on all), unless the sitemaps of their host are being read.
        """
        tracker = self._signals.tracker
        for page_id in tracker.pages_of(KIND):
            page = self._watched.get(page_id)
            host = "" if page is None else page.identity.host
            file = self._dates.get(page_id, ("", ""))[1]
            if before is None or (host not in self._reading and self._answered_at.get(file, 0) < before):
                tracker.leave(page_id, KIND)

    def _hosts(self) -> dict[str, list[int]]:
        """Return the hosts with enough pages on which hints have an effect, and these pages."""
        found: dict[str, list[int]] = {}
        for page_id, page in self._watched.items():
            identity = page.identity
            if identity.owner_id is None and identity.method == "GET" and self._signals.is_weighed(page_id):
                found.setdefault(identity.host, []).append(page_id)
        return {host: page_ids for host, page_ids in found.items() if len(page_ids) >= self._least}

    def _due_at(self, host: str) -> Instant:
        """Return when the sitemaps of a host are read next, much later if they list too few watched
        pages.
        """
        own = [known for known in self._files.values() if known.host == host]
        if not own:
            return 0
        listed = [known.listed for known in own if known.listed is not None]
        is_too_little = bool(listed) and UNREAD not in listed and sum(listed) < self._least
        return max(known.read_at for known in own) + (GIVEN_UP if is_too_little else EVERY)

    async def _roots(self, host: str, page_ids: Iterable[int]) -> list[str]:
        """Return the sitemaps on the host itself that its pages' robots.txt names."""
        origins = {address.parse(url).origin: url for i in page_ids for url in (self._watched[i].identity.url,)}
        named = [url for given in origins.values() for url in await self._named(given)]
        return list(dict.fromkeys(url for each in named if (url := _own(each, host))))[:MOST_ROOTS]

    def _map_addresses(self, page_ids: Iterable[int]) -> dict[str, int]:
        """Return the pages by the addresses under which they may be listed."""
        pages = [(i, self._watched[i].identity) for i in page_ids]
        return {**{identity.given: i for i, identity in pages}, **{identity.url: i for i, identity in pages}}

    async def _read(self, host: str, roots: list[str], wanted: Mapping[str, int], now: Instant) -> None:
        """Read the sitemaps of a host, and those listed in its indices that may have news."""
        try:
            for root in roots:
                if await self._file(root, host, "", wanted, now) and self._answered_at.get(root, 0) >= now:
                    await self._read_children(root, host, wanted, now)
        finally:
            self._reading.discard(host)

    async def _read_children(self, root: str, host: str, wanted: Mapping[str, int], now: Instant) -> None:
        """Read the sitemaps of an index that has just answered: those that may have news, and some
        of those that are new or could not be read, the one that was read longest ago first.
        """
        left = MOST_NEW
        listed = self._children.get(root, {})
        children = {url: date for child, date in listed.items() if (url := _own(child, host))}
        for url in sorted(children, key=lambda url: self._files[url].read_at if url in self._files else 0):
            known, date = self._files.get(url), children[url]
            is_new = (
                known is None or known.listed is None or self._asked.get(url, frozenset(wanted)) != frozenset(wanted)
            )
            if known is not None and not is_new and (not known.listed or (date and date == known.date)):
                self._answered_at[url] = self._answered_at[root]
            elif not is_new or left > 0:
                is_asked = await self._file(url, host, date, wanted, now)
                if is_asked is None:
                    return
                left -= is_new and is_asked

    async def _file(self, url: str, host: str, date: str, wanted: Mapping[str, int], now: Instant) -> bool | None:
        """Read one sitemap, store its data, and report what changed; return whether it was asked
        for, None if nothing can be now.
        """
        own_id, state = await self._store.write(_page, url)
        is_left_alone = state.retry_at is not None and state.retry_at > now
        if own_id in self._watched or is_left_alone:  # the sitemap itself is a watched page
            return False
        known = self._files.get(url)
        is_same_question = known is not None and known.listed is not None and self._asked.get(url) == frozenset(wanted)
        request = FetchRequest(
            url=url,
            validators=state.validators if is_same_question else Validators(),
            final_url=state.final_url,
        )
        answered = await self._ask(Grant(page_id=own_id, host=host, cost=1.0, reason=PollReason(Why.SITEMAP)), request)
        if isinstance(answered, str):
            log.info("the sitemap %s waits: %s", url, answered)
            return None
        if not isinstance(answered.outcome, Failed):
            self._answered_at[url] = answered.at
        found = await self._read_answer(answered, wanted)
        listed = known.listed if known is not None else None
        if found is not None and not found.problem:
            listed = len(found.pages)
            self._asked[url] = frozenset(wanted)
        elif found is not None:
            log.warning("the sitemap %s: %s", url, found.problem)
        if found is not None:
            self._children[url] = found.children
        children = (_own(child, host) for child in self._children.get(url, ()))
        if any(child and child not in self._files for child in children):
            listed = UNREAD
        elif listed == UNREAD:
            listed = 0
        file = File(own_id, host, date, listed, answered.at)
        dates = {} if found is None else {wanted[loc]: lastmod for loc, lastmod in found.pages.items() if lastmod}
        moved = {i: lastmod for i, lastmod in dates.items() if self._dates.get(i, ("",))[0] != lastmod}
        estimates = [
            Estimate(page_id=i, name=KIND, state={"date": d, "file": url}, at=answered.at) for i, d in moved.items()
        ]
        for page_id, lastmod in moved.items():  # before the dates are stored: a crash repeats rather than loses them
            await self._pass_hint(page_id, lastmod, answered.at)
        await self._keep(answered, _unit(answered, state, self._epoch, (_estimate(url, file), *estimates)))
        self._dates.update({i: (lastmod, url) for i, lastmod in moved.items()})
        self._files[url] = file
        self._forget(url, dates, is_whole=found is not None and not found.problem)
        return True

    async def _read_answer(self, answered: Answered, wanted: Mapping[str, int]) -> Sitemap | None:
        """Return the parsed sitemap, None if it has no news or could not be fetched."""
        outcome = answered.outcome
        if isinstance(outcome, Failed | Unchanged):
            return None
        done = await self._runner.run(read, SitemapQuestion(outcome.body, frozenset(wanted)))
        return Sitemap({}, {}, done.reason) if isinstance(done, Died) else done.value

    def _forget(self, url: str, dates: Mapping[int, str], *, is_whole: bool) -> None:
        """Remove pages that a sitemap no longer lists, so that its silence says nothing of them."""
        if is_whole:
            for page_id in [i for i, (_, file) in self._dates.items() if file == url and i not in dates]:
                del self._dates[page_id]
                self._signals.tracker.leave(page_id, KIND)

    async def _pass_hint(self, page_id: int, lastmod: str, now: Instant) -> None:
        """Record a changed date as a hint; the first date only if it has a time, since a poll may
        have seen the change already.
        """
        is_first = page_id not in self._dates
        self._signals.tracker.cover(page_id, KIND)
        date = _instant(lastmod)
        if date is not None or not is_first:
            await self._signals.take([page_id], kind=KIND, at=now if date is None else date)


def _own(url: str, host: str) -> str:
    """Return the normalized address if it is on this host, else an empty text."""
    try:
        rebuilt = address.rebuild(url)
        return rebuilt if address.host_of(rebuilt) == host else ""
    except AddressError:
        return ""


def _instant(lastmod: str) -> Instant | None:
    """Return the instant that a date says, None for a day without a time and for an unreadable
    date.
    """
    try:
        at = datetime.fromisoformat(lastmod)
        return round(at.timestamp() * SECOND) if at.tzinfo is not None else None
    except (ValueError, OverflowError):
        return None


def _page(c: Connection, url: str) -> tuple[int, PageState]:
    page_id = pages.ensure(c, address.identify(url))
    return page_id, pages.state(c, page_id)


def _estimate(url: str, file: File) -> Estimate:
    state = {"file": url, "host": file.host, "date": file.date, "listed": file.listed, "read_at": file.read_at}
    return Estimate(page_id=file.page_id, name=KIND, state=state, at=file.read_at)


def _unit(answered: Answered, before: PageState, epoch: int, estimates: tuple[Estimate, ...]) -> Unit:
    """Return the unit of a fetched sitemap: the end of its poll, its state, and its data."""
    outcome, at = answered.outcome, answered.at
    failed = outcome if isinstance(outcome, Failed) else None
    if isinstance(outcome, Failed):
        state = page_state.freeze(before, at) if answered.ours else page_state.after_failure(before, outcome, at)[0]
    else:
        state = replace(page_state.after_poll(before, outcome, at)[0], final_url=outcome.final_url)
    record = PollRecord(
        poll_id=answered.charged.poll_id,
        page_id=before.page_id,
        finished_at=at,
        outcome="unchanged" if failed is None else "error",
        text_changed=False,
        status=outcome.status,
        kind="" if failed is None else failed.kind,
        bytes=outcome.wire_bytes,
        requests=outcome.requests,
        reason=KIND if failed is None else f"{KIND}: {failed.reason}",
    )
    return Unit(at=at, epoch=epoch, poll=record, page=state, hosts=answered.hosts, estimates=estimates)
