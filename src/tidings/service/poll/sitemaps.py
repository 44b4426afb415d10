"""Sitemaps: what a site says of its pages' changes is a hint for those that are watched (bid §5).

A site's sitemaps are those that its robots.txt names. They are read every few hours, as anybody may read them: by the client that asks for pages,
conditionally, charged to the budget, within the host's gap; and in a process that can be killed. Of an index those are read whose date moved
and that list something that is watched. A host whose sitemaps list too little of that is left alone for a month.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from tidings.clock import DAY, HOUR, MINUTE, SECOND
from tidings.document.feeds.sitemap_run import read
from tidings.document.feeds.sitemaps import Sitemap, SitemapQuestion
from tidings.errors import AddressError
from tidings.fetching import address
from tidings.isolation.runner import Died
from tidings.model.observed.outcome import Failed, FetchRequest, Unchanged, Validators
from tidings.model.observed.poll_reason import PollReason, Why
from tidings.model.observed.unit import Estimate, Grant, PollRecord, Unit
from tidings.record import dataclass, replace
from tidings.service.examine import page_state
from tidings.storage.observed import estimates, pages

if TYPE_CHECKING:
    from tidings.isolation.runner import Runner
    from tidings.model.interval import Duration, Instant
    from tidings.model.observed.page import PageState
    from tidings.service.poll.grants import Answered
    from tidings.service.sources.signals import Signals
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.db.connection import Connection
    from tidings.storage.write.store import Store

log = logging.getLogger("tidings.service.poll.sitemaps")

KIND: Final = "sitemap"
"""The kind of the hints, the reason of the polls, and the name under which it is kept what sitemaps said."""
EVERY: Final[Duration] = 6 * HOUR
GIVEN_UP: Final[Duration] = 30 * DAY
"""How long a host is left alone whose sitemaps list too few of the pages that are watched."""
LAPSES: Final[Duration] = DAY
"""After so long without an answer from a host's sitemaps their silence says nothing."""
REVIEWED_EVERY: Final[Duration] = 10 * MINUTE
MOST_ROOTS: Final = 3
MOST_NEW: Final = 10
"""Sitemaps of an index that are read for the first time in one round."""
AT_ONCE: Final = 2

Ask = Callable[[Grant, FetchRequest], Awaitable["Answered | str"]]


@dataclass(frozen=True, slots=True)
class File:
    """A sitemap: the page row that it has, its host, the date that its index gives it, how many watched pages it lists (None: it was not read
    to its end yet), and when it was last asked for.
    """

    page_id: int
    host: str
    date: str
    listed: int | None
    read_at: Instant


class Sitemaps:
    """Reads them. `named` gives those that are known of a URL's robots.txt, `ask` asks for one, `keep` writes what
    an answer brings, and returns once that is durable.

    `least` is how many watched pages a host's sitemaps must list (0: none is ever read). `next_due` is when there may be something to read.
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
    ) -> None:
        self._store = store
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
        """of each sitemap what it was asked about"""
        self._answered_at: dict[str, Instant] = {}
        """of each host when one of its sitemaps answered last"""
        self._reading: set[str] = set()
        self.next_due: Instant | None = 0 if least and signals.are_heeded else None

    async def load(self) -> None:
        """Read what is known."""
        for page_id, state in (await self._store.read(estimates.load_all, KIND)).items():
            if "host" in state:
                known = File(page_id, state["host"], state["date"], state["listed"], state["read_at"])
                self._files[state["file"]] = known
                self._answered_at[known.host] = max(known.read_at, self._answered_at.get(known.host, 0))
            else:
                self._dates[page_id] = (state["date"], state["file"])
        if self.next_due is None:
            self._lapse()

    async def due(self, now: Instant) -> list[Coroutine[Any, Any, None]]:
        """Return the readings that are due."""
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
        """Let no silence count of hosts whose sitemaps have not answered since `before` (None: of none), unless they are read just now."""
        hearing = self._signals.hearing
        for page_id in hearing.pages_of(KIND):
            page = self._watched.get(page_id)
            host = "" if page is None else page.identity.host
            if before is None or (host not in self._reading and self._answered_at.get(host, 0) < before):
                hearing.leave(page_id, KIND)

    # -- which -----------------------------------------------------------------------------------------------------------------------

    def _hosts(self) -> dict[str, list[int]]:
        """Return the hosts with enough pages that hints have an effect on, and these pages."""
        found: dict[str, list[int]] = {}
        for page_id, page in self._watched.items():
            identity = page.identity
            if identity.owner_id is None and identity.method == "GET" and self._signals.is_weighed(page_id):
                found.setdefault(identity.host, []).append(page_id)
        return {host: page_ids for host, page_ids in found.items() if len(page_ids) >= self._least}

    def _due_at(self, host: str) -> Instant:
        """Return when the sitemaps of a host are read next: a host that lists too little of what is watched is left alone."""
        own = [known for known in self._files.values() if known.host == host]
        if not own:
            return 0
        listed = [known.listed for known in own if known.listed is not None]
        is_too_little = bool(listed) and sum(listed) < self._least
        return max(known.read_at for known in own) + (GIVEN_UP if is_too_little else EVERY)

    async def _roots(self, host: str, page_ids: Iterable[int]) -> list[str]:
        """Return the sitemaps that the robots.txt of a host's pages name, of the host itself."""
        origins = {address.parse(url).origin: url for i in page_ids for url in (self._watched[i].identity.url,)}
        named = [url for given in origins.values() for url in await self._named(given)]
        return list(dict.fromkeys(url for each in named if (url := _own(each, host))))[:MOST_ROOTS]

    def _map_addresses(self, page_ids: Iterable[int]) -> dict[str, int]:
        """Return the pages by the addresses under which they may be listed."""
        pages = [(i, self._watched[i].identity) for i in page_ids]
        return {**{identity.given: i for i, identity in pages}, **{identity.url: i for i, identity in pages}}

    # -- reading ---------------------------------------------------------------------------------------------------------------------

    async def _read(self, host: str, roots: list[str], wanted: Mapping[str, int], now: Instant) -> None:
        """Read the sitemaps of a host, and those of its indices that say more."""
        try:
            for root in roots:
                found = await self._file(root, host, "", wanted, now)
                fresh = 0
                for child, date in found.children.items():
                    url = _own(child, host)
                    is_new = url not in self._files or self._asked.get(url, frozenset(wanted)) != frozenset(wanted)
                    if not url or not (is_new or self._may_say_more(url, date)):
                        continue
                    fresh += is_new
                    if not is_new or fresh <= MOST_NEW:
                        await self._file(url, host, date, wanted, now)
        finally:
            self._reading.discard(host)

    def _may_say_more(self, url: str, date: str) -> bool:
        known = self._files[url]
        return known.listed != 0 and (not date or date != known.date)

    async def _file(self, url: str, host: str, date: str, wanted: Mapping[str, int], now: Instant) -> Sitemap:
        """Read one sitemap, keep what it says, and tell what moved."""
        page_id, state = await self._store.write(_page, url)
        is_left_alone = state.retry_at is not None and state.retry_at > now
        if page_id in self._watched or is_left_alone:  # who watches the sitemap itself has it as a page
            return Sitemap({}, {})
        known = self._files.get(url)
        is_same_question = known is not None and known.listed is not None and self._asked.get(url) == frozenset(wanted)
        request = FetchRequest(
            url=url,
            validators=state.validators if is_same_question else Validators(),
            final_url=state.final_url,
        )
        answered = await self._ask(Grant(page_id=page_id, host=host, cost=1.0, reason=PollReason(Why.SITEMAP)), request)
        if isinstance(answered, str):
            log.info("the sitemap %s waits: %s", url, answered)
            return Sitemap({}, {})
        if not isinstance(answered.outcome, Failed):
            self._answered_at[host] = answered.at
        found = await self._read_answer(answered, wanted)
        listed = known.listed if known is not None else None
        if found is not None and not found.problem:
            listed = len(found.pages)
            self._asked[url] = frozenset(wanted)
        elif found is not None:
            log.warning("the sitemap %s: %s", url, found.problem)
        file = File(page_id, host, date, listed, answered.at)
        said = {} if found is None else {wanted[loc]: lastmod for loc, lastmod in found.pages.items() if lastmod}
        moved = {i: lastmod for i, lastmod in said.items() if self._dates.get(i, ("",))[0] != lastmod}
        kept = [
            Estimate(page_id=i, name=KIND, state={"date": d, "file": url}, at=answered.at) for i, d in moved.items()
        ]
        for (
            i,
            lastmod,
        ) in moved.items():  # before the dates count as told: after a crash they are told again rather than never
            await self._tell(i, lastmod, url, answered.at)
        await self._keep(answered, _unit(answered, state, self._epoch, (_estimate(url, file), *kept)))
        self._files[url] = file
        self._forget(url, said, is_whole=found is not None and not found.problem)
        return Sitemap({}, {}) if found is None else found

    async def _read_answer(self, answered: Answered, wanted: Mapping[str, int]) -> Sitemap | None:
        """Return what a sitemap says, None if it says nothing new or could not be had."""
        outcome = answered.outcome
        if isinstance(outcome, Failed | Unchanged):
            return None
        done = await self._runner.run(read, SitemapQuestion(outcome.body, frozenset(wanted)))
        return Sitemap({}, {}, done.reason) if isinstance(done, Died) else done.value

    def _forget(self, url: str, said: Mapping[int, str], *, is_whole: bool) -> None:
        """Let pages go that a sitemap lists no more: its silence says nothing of them."""
        if is_whole:
            for page_id in [i for i, (_, file) in self._dates.items() if file == url and i not in said]:
                del self._dates[page_id]
                self._signals.hearing.leave(page_id, KIND)

    async def _tell(self, page_id: int, lastmod: str, url: str, now: Instant) -> None:
        """Take another date for a hint; the first one only if it says the time, since a look may have seen what it speaks of."""
        is_first = page_id not in self._dates
        self._dates[page_id] = (lastmod, url)
        self._signals.hearing.cover(page_id, KIND)
        said = _instant(lastmod)
        if said is not None or not is_first:
            await self._signals.take([page_id], kind=KIND, at=now if said is None else said)


def _own(url: str, host: str) -> str:
    """Return the only form of an address of this host, empty for another's or one that is none."""
    try:
        rebuilt = address.rebuild(url)
        return rebuilt if address.host_of(rebuilt) == host else ""
    except AddressError:
        return ""


def _instant(lastmod: str) -> Instant | None:
    """Return the instant that a date says, None for a day alone and for what cannot be read."""
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


def _unit(answered: Answered, before: PageState, epoch: int, kept: tuple[Estimate, ...]) -> Unit:
    """Return what is written of a sitemap that was asked for: the end of its poll, its state, and what it said."""
    outcome, at = answered.outcome, answered.at
    failed = outcome if isinstance(outcome, Failed) else None
    if isinstance(outcome, Failed):
        state = page_state.freeze(before, at) if answered.ours else page_state.after_failure(before, outcome, at)[0]
    else:
        state = replace(page_state.after_look(before, outcome, at)[0], final_url=outcome.final_url)
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
    return Unit(at=at, epoch=epoch, poll=record, page=state, hosts=answered.hosts, estimates=kept)
