"""What is known of one collection, in memory: its addresses, the forms that they have, and which is
worth a first fetch. And how it stands, in words and numbers: counts, and what is left out and why.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from heapq import heappop, heappush
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tidings.clock import DAY, MINUTE
from tidings.errors import AddressError
from tidings.fetching import address
from tidings.model.watch.sentinel import Scope
from tidings.record import dataclass, replace
from tidings.search.sites import (
    FormRecord,
    address_of,
    belongs,
    form_of,
    is_page,
    origin_of,
    terms_of_link,
    trap_of,
    worth_unseen,
)
from tidings.service.show.finding import spell_count
from tidings.service.show.records import rfc3339
from tidings.service.watch.watchlist import read_meaning
from tidings.storage.watches import collections, sentinels
from tidings.storage.watches.collections import CollectedPage, CollectionStand, FoundAddress

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Duration, Instant
    from tidings.service.collections.read_links import ReadLinks
    from tidings.service.watch.watchlist import WatchedPage, WatchedSentinel
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.collections import CollectionPage, PageState

MOST_FOUND: Final = 50_000
"""Pages of a collection, and addresses that wait to be one."""
MOST_KNOWN: Final = 4 * MOST_FOUND
"""Addresses that it remembers, with those that are gone or left out."""
MOST_MAPS: Final = 100
"""Sitemaps and feeds that a collection reads."""
NAMED_A_DAY: Final = 0.02
"""New pages a day for each page that was named at first, until a page's own history says more: a
list of fifty is likely to name one more.
"""
RETRIED_AFTER: Final[Duration] = 10 * MINUTE
"""An address that failed is requested again so much later, then after four times as long each
time.
"""
RETRIED_WITHIN: Final[Duration] = 30 * DAY
"""The longest such wait; a sitemap or feed that was read once waits a day at most."""
NAMED_AGAIN: Final[Duration] = DAY
"""So long after it failed, an address is requested again if a new version of a page names it."""
TRAPPED: Final = "pages like it have no new text"
_GROUPS: Final[Mapping[str, Callable[[CollectedPage], bool]]] = {
    "live": lambda row: row.state in {"found", "watched"},
    "waiting": lambda row: row.state == "found",
    "unread": lambda row: row.state == "watched" and (not row.read_seq or row.tries > 0),
    "doubted": lambda row: row.state == "watched" and row.reason != "",
    "trapped": lambda row: row.state == "left" and row.reason == TRAPPED,
    "maps": lambda row: row.kind == "map",
    "followed": lambda row: row.depth > 0 and row.kind == "page" and row.state != "left" and _has_no_doubt(row),
    "news": lambda row: row.kind == "page" and (_is_unlisted(row, is_news=True) or _is_listed_still(row)),
    "others": lambda row: row.kind == "page" and _is_unlisted(row, is_news=False),
}
"""The addresses that each poll of a page needs, so that no poll reads all addresses.

`doubted`: its next poll decides whether it is left; `followed`: found on other pages, and pages of
the collection, or to be; `news`: came or went since the list of pages was published; `others`: the
list lacks them too.
"""


def _has_no_doubt(row: CollectedPage) -> bool:
    """Return whether an address is, or was, a page, or has yet to be requested for the first
    time.
    """
    return not row.tries or row.read_seq != 0


def _is_unlisted(row: CollectedPage, *, is_news: bool) -> bool:
    is_read = row.state == "watched" and row.read_seq != 0 and not row.tries
    return is_read and not row.is_listed and row.is_news is is_news


def _is_listed_still(row: CollectedPage) -> bool:
    return row.state != "watched" and row.is_listed


def _write_plainly(url: str) -> str:
    """Return an address whose host has other letters than ASCII as it is requested, "" if it cannot
    be; others stay.
    """
    try:
        return url if url.isascii() else address.rebuild(url)
    except AddressError:
        return ""


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))


def _is_same_site(url: str, final: str) -> bool:
    """Return whether two addresses have one owner: one host, or hosts of one registered domain,
    with the same or the usual ports.
    """
    one, other = address.parse(url), address.parse(final)
    if one.port != other.port and not {one.port, other.port} <= {*address.DEFAULT_PORTS.values()}:
        return False
    domain = address.host_of(url)
    return one.host == other.host or (domain == address.host_of(final) and not address.is_public_suffix(domain))


def _no_groups() -> dict[str, dict[str, None]]:
    return {name: {} for name in _GROUPS}


class NamedAddresses(NamedTuple):
    """The addresses that a page names: `new` ones, those that failed before and may be there
    `again`, and those that are `nearer` to the first pages than was known.
    """

    new: list[FoundAddress]
    again: list[str]
    nearer: list[str]


@dataclass(slots=True)
class KnownCollection:
    """A collection as it stands; `watched_sentinel` is its sentinel as it is now."""

    watched_sentinel: WatchedSentinel
    rows: dict[str, CollectedPage] = field(default_factory=dict)
    urls: dict[int, str] = field(default_factory=dict)
    """by page"""
    forms: defaultdict[str, FormRecord] = field(default_factory=lambda: defaultdict(FormRecord))
    groups: dict[str, dict[str, None]] = field(default_factory=_no_groups)
    """the addresses of each group, in the order in which they came to it"""
    names: dict[str, str] = field(default_factory=dict)
    """the form of each address"""
    judged: set[str] = field(default_factory=set)
    """forms of which more is known since the last `find_trapped`, or that have more addresses"""
    trapped: set[str] = field(default_factory=set)
    """forms whose addresses were left since they have no new text"""
    dirty: set[int] = field(default_factory=set)
    """pages whose newest state was not taken in yet"""
    preferred: set[int] = field(default_factory=set)
    """pages whose refresh is worth more than the first fetch of others, and is not made yet"""
    led_to: set[str] = field(default_factory=set)
    """the sites to which its first pages lead"""
    named: Counter[int] = field(default_factory=Counter)
    """how many addresses each page was the first to name"""
    ranked: list[tuple[float, CollectedPage]] = field(default_factory=list)
    """waiting addresses as they were ranked last, the best last"""
    ranked_until: Instant = 0
    """when they are ranked again; 0: now"""
    retries: list[tuple[Instant, str]] = field(default_factory=list)
    """a heap of the addresses that failed and when they are requested again, with former times"""
    stand: CollectionStand = CollectionStand()
    """how it stands, as stored"""

    @property
    def id(self) -> int:
        """Return the number of its sentinel."""
        return self.watched_sentinel.row.id

    @property
    def scope(self) -> Scope:
        """Return its scope."""
        scope = self.watched_sentinel.sentinel.scope
        assert scope is not None  # noqa: S101 - it is a collection
        return scope

    @property
    def origins(self) -> frozenset[str]:
        """Return the sites that its patterns of paths are about: those of its first pages, and
        where these lead to.
        """
        first = (page.url for page in self.watched_sentinel.sentinel.pages)
        return frozenset((*(address.parse(url).origin for url in first if _is_web(url)), *self.led_to))

    def note_first_page(self, page: WatchedPage) -> None:
        """Note where a first page leads to: another origin of the same domain (https for http, www)
        is the same site, another domain is not.
        """
        url, final = page.identity.url, page.state.final_url
        if not (_is_web(url) and _is_web(final) and _is_same_site(url, final)):
            return
        if (origin := address.parse(final).origin) not in self.origins:
            self.led_to.add(origin)
            for name in self.groups["maps"]:  # of which entries were left out
                row = self.revise(name, read_seq=-abs(self.rows[name].read_seq))
                if row.page_id is not None:
                    self.dirty.add(row.page_id)

    def note_led_to(self, origins: Iterable[str]) -> None:
        """Note where its first pages led before, if that is the same site as one of them now."""
        first = [page.url for page in self.watched_sentinel.sentinel.pages if _is_web(page.url)]
        self.led_to.update(origin for origin in origins if any(_is_same_site(url, origin) for url in first))

    def load(self, rows: Iterable[CollectedPage]) -> None:
        """Take over what is stored."""
        for row in rows:
            self.put(row)
            self._count_named(row)
            if row.kind == "page" and (row.read_seq or row.reason.startswith("says the same")):
                self.form(row.url).recall(row.url, row.sketch, is_new=row.state != "left")
            elif row.reason == TRAPPED:
                self.trapped.add(self.name(row.url))
        for row in self.rows.values():
            if row.reason.startswith(LEADS_TO) and not row.read_seq:
                target = self.rows.get(row.reason.removeprefix(f"{LEADS_TO} "))
                if target is None or target.found_on != row.page_id:
                    self.form(row.url).asked += 1

    def put(self, row: CollectedPage) -> None:
        """Store an address as it is now."""
        before = self.rows.get(row.url)
        if row.retry_at is not None and (before is None or before.retry_at != row.retry_at):
            heappush(self.retries, (row.retry_at, row.url))
        self.rows[row.url] = row
        if row.page_id is not None:
            self.urls[row.page_id] = row.url
        for name, has in _GROUPS.items():
            if has(row):
                self.groups[name][row.url] = None
            else:
                self.groups[name].pop(row.url, None)
        if row.state == "found":
            self.judged.add(self.name(row.url))

    def name(self, url: str) -> str:
        """Return the form of an address."""
        found = self.names.get(url)
        if found is None:
            found = self.names[url] = form_of(url)
        return found

    def form(self, url: str) -> FormRecord:
        """Return what is known of the form of an address."""
        return self.forms[self.name(url)]

    def find_new(self, source: CollectedPage, read: ReadLinks, now: Instant) -> NamedAddresses:
        """Return the addresses that a page names and of which there is more to know; a new one with
        why it is left out, if it is.
        """
        found: dict[str, FoundAddress] = {}
        again: dict[str, None] = {}
        nearer: dict[str, None] = {}
        is_news = source.read_seq > 0
        depth = source.depth + 1
        patterns, origins = self.scope.patterns, self.origins
        for link in read.maps[: max(0, MOST_MAPS - len(self.groups["maps"]))]:
            url = _write_plainly(address_of(link))
            if url and url not in self.rows and origin_of(url) in origins:
                found[url] = FoundAddress(url, source.depth, "map", found_on=source.page_id)
        for link, anchor in read.links if depth <= self.scope.depth else ():
            url = _write_plainly(address_of(link))
            if not url or url in found:
                continue
            if (row := self.rows.get(url)) is not None:
                if self.may_return(row, now):
                    again[url] = None
                if depth < row.depth:
                    nearer[url] = None
            elif is_page(url) and belongs(url, patterns, origins):
                trap = trap_of(url)
                found[url] = FoundAddress(
                    url, depth, "page", "left" if trap else "found", trap, anchor, source.page_id, is_news and not trap
                )
        room = max(0, min(MOST_FOUND - len(self.groups["live"]), MOST_KNOWN - len(self.rows)))
        return NamedAddresses(list(found.values())[:room], list(again), list(nearer))

    def draw_nearer(self, urls: Iterable[str], depth: int) -> None:
        """Note that addresses are fewer links away than was known: they are read again."""
        for url in urls:
            row = self.revise(url, depth=depth, read_seq=-abs(self.rows[url].read_seq))
            if row.page_id is not None:
                self.dirty.add(row.page_id)

    # -- addresses that failed ---------------------------------------------------------------------

    def may_return(self, row: CollectedPage, now: Instant) -> bool:
        """Return whether an address that failed is requested again because a page names it."""
        return row.retry_at is not None and now - row.since >= NAMED_AGAIN

    def list_due_again(self, now: Instant) -> list[str]:
        """Return the addresses that failed and are to be requested again."""
        found: dict[str, None] = {}
        while self.retries and self.retries[0][0] <= now:
            at, url = heappop(self.retries)
            if self.rows[url].retry_at == at:
                found[url] = None
        return list(found)

    def fail(self, row: CollectedPage, reason: str, now: Instant, *, for_good: bool) -> CollectedPage:
        """Return an address that is left because its page failed, with when it is requested
        again.

        Args:
            row: The address.
            reason: How it failed.
            now: When (µs).
            for_good: Whether its server says that this lasts.
        """
        longest = DAY if row.kind == "map" and row.read_seq else RETRIED_WITHIN
        wait = longest if for_good else min(longest, RETRIED_AFTER * 4 ** min(row.tries, 16))
        state: PageState = "gone" if row.read_seq else "left"
        return replace(row, state=state, reason=reason[:200], since=now, retry_at=now + wait, tries=row.tries + 1)

    def bring_back(self, urls: Iterable[str], now: Instant) -> None:
        """Let addresses wait for a request again."""
        for url in urls:
            row = self.rows[url]
            if row.reason.startswith(LEADS_TO) and not row.read_seq:
                self.form(url).asked = max(0, self.form(url).asked - 1)
            is_news = row.is_news or row.state == "gone"
            self.put(replace(row, state="found", reason="", retry_at=None, since=now, is_news=is_news))
            if row.kind == "map":
                self.ranked_until = 0

    def take(self, found: Iterable[FoundAddress], at: Instant) -> None:
        """Note addresses that were written, and found at an instant (µs)."""
        for one in found:
            self.put(
                CollectedPage(
                    one.url, None, one.depth, one.kind, one.state, one.reason, one.anchor, "", "", one.found_on, at,
                    one.is_news, False, 0, 0, at,
                )
            )  # fmt: skip
            self._count_named(self.rows[one.url])
            if one.state == "found" and (one.is_news or one.kind == "map"):
                self.ranked_until = 0

    def judge(self) -> tuple[list[str], list[str]]:
        """Return the waiting addresses whose form has turned out to have no new text, and those
        that were left for that although their form has some.
        """
        judged, self.judged = self.judged, set()
        traps = {name for name in judged if self.forms[name].is_trap}
        freed = (judged - traps) & self.trapped
        self.trapped = (self.trapped | traps) - freed
        waiting, trapped = self.groups["waiting"] if traps else (), self.groups["trapped"] if freed else ()
        return [url for url in waiting if self.names[url] in traps], [url for url in trapped if self.name(url) in freed]

    def find_best(self, room: int, sought: Mapping[str, float], now: Instant) -> list[tuple[float, CollectedPage]]:
        """Return at most `room` of the addresses that wait for their first fetch, each with its
        worth, the best first. The worth of an address changes with each page that is read; all are
        ranked again after a minute, if too few are left, and for sitemaps and news.
        """
        waiting = self.groups["waiting"]
        best = list(islice((each for each in reversed(self.ranked) if each[1].url in waiting), room))
        if now >= self.ranked_until or len(best) < room:
            ranked = self.rank_waiting(sought)
            self.ranked, self.ranked_until = ranked[::-1], now + MINUTE
            best = ranked[:room]
        return best

    def rank_waiting(self, sought: Mapping[str, float]) -> list[tuple[float, CollectedPage]]:
        """Return the addresses that wait for their first fetch with what that is worth, the best
        first; sitemaps before all.
        """
        under_way = Counter(map(self.name, self.groups["unread"]))
        ranked: list[tuple[float, CollectedPage]] = []
        for row in map(self.rows.__getitem__, self.groups["waiting"]):
            form = self.form(row.url)
            worth = worth_unseen(
                form.share_new,
                depth=row.depth,
                terms=terms_of_link(row.anchor, row.url) if sought else (),
                sought=sought,
                is_news=row.is_news,
            )
            ranked.append((worth / 2**row.tries + (100.0 if row.kind == "map" else 0.0), row))
        ranked.sort(key=lambda each: (-each[0], each[1].found_at, each[1].url))
        best: list[tuple[float, CollectedPage]] = []
        for worth, row in ranked:
            name = self.name(row.url)
            if under_way[name] < self.form(row.url).most_waiting():
                under_way[name] += 1
                best.append((worth, row))
        return best

    def expect_yield(self, row: CollectedPage, now: Instant) -> float:
        """Return how many new pages a day a page is likely to name: before it is known for long, by
        how many it named at first.
        """
        days = max(0, now - row.found_at) / DAY
        return (row.yielded + self.named[row.page_id or 0] * NAMED_A_DAY) / (days + 1.0)

    def note_first(self, row: CollectedPage, found: Iterable[FoundAddress]) -> str:
        """Note the first fetch of a page; return the page with the same text, "" if none has it.

        A page that named pages of other forms is new, whatever it says: lists may be alike.
        """
        if row.kind != "page" or not row.sketch:
            return ""
        own = self.name(row.url)
        is_hub = any(
            one.state == "found" and self.name(one.url) != own and not self.form(one.url).is_trap for one in found
        )
        twin = self.form(row.url).note(row.url, row.sketch, is_new=is_hub)
        self.judged.add(own)
        return twin if twin and self.rows[twin].state == "watched" else ""

    def note_useless(self, url: str) -> None:
        """Note that an address led to nothing new: its form is worth less."""
        self.form(url).asked += 1
        self.judged.add(self.name(url))

    def note_failed(self, url: str) -> None:
        """Note that an address did not lead to a page: those of its form are requested later."""
        self.form(url).failed += 1

    def lacks_pages(self) -> bool:
        """Return whether it follows links, has read all that it knows, and has nothing but its
        first pages.
        """
        if not self.rows or not self.scope.depth or self.groups["followed"]:
            return False
        unread = (self.rows[url] for name in ("waiting", "unread") for url in self.groups[name])
        return not any(_has_no_doubt(row) for row in unread)

    def note_published(self, *, news: bool, at: Instant) -> None:
        """Note that the list of pages was published, with `news` only by what came and went."""
        for url in [*self.groups["news"], *(() if news else self.groups["others"])]:
            row = self.rows[url]
            self.put(replace(row, is_listed=row.state == "watched" and not row.tries))
        self.stand = self.stand._replace(**{"news_at" if news else "quiet_at": at})

    def _count_named(self, row: CollectedPage) -> None:
        if row.found_on is not None and row.state != "left":
            self.named[row.found_on] += 1

    def revise(self, url: str, **fields: object) -> CollectedPage:
        """Change some fields of an address; return its row."""
        row = replace(self.rows[url], **fields)  # type: ignore[arg-type]
        self.put(row)
        return row


NO_SCOPE: Final = Scope((), 0, 0.0)
"""That of a sentinel that is no collection."""
LEADS_TO: Final = "leads to"
_BEGINNINGS = (LEADS_TO, "says the same as")
"""Reasons that name an address, which is left out where they are counted."""


@dataclass(frozen=True, slots=True)
class CollectionReport:
    """`watched` pages, addresses that `wait` for their first fetch, pages that are `gone`, and
    those left out by reason, the most first.
    """

    scope: Scope
    watched: int
    wait: int
    gone: int
    left: Sequence[tuple[str, int]]

    @property
    def is_full(self) -> bool:
        """Return whether further addresses are not followed."""
        left_out = sum(count for _, count in self.left)
        return self.watched + self.wait >= MOST_FOUND or self.watched + self.wait + self.gone + left_out >= MOST_KNOWN

    def lines(self) -> list[str]:
        """Return it in words."""
        parts = [f"{spell_count(self.watched, 'page')} watched"]
        if self.wait:
            parts.append(f"{self.wait:,} found and not fetched yet")
        if self.gone:
            parts.append(f"{self.gone:,} gone")
        lines = [", ".join(parts)]
        if self.is_full:
            lines.append(f"no more than {MOST_FOUND:,} pages are followed: a narrower Scope leaves room for others")
        if self.left:
            reasons = "; ".join(f"{count:,}: {reason}" for reason, count in self.left[:5])
            lines.append(f"left out: {reasons}")
        return lines

    def record(self) -> dict[str, Any]:
        """Return it as a record."""
        return {
            "scope": list(self.scope.patterns),
            "depth": self.scope.depth,
            "budget_a_day": self.scope.budget,
            "watched": self.watched,
            "waiting": self.wait,
            "gone": self.gone,
            "left_out": [{"reason": reason, "count": count} for reason, count in self.left],
        }


def report(c: Connection, sentinel_id: int, scope: Scope) -> CollectionReport:
    """Return how a collection stands."""
    counts = collections.count(c, sentinel_id)
    left: Counter[str] = Counter()
    for reason, count in collections.count_reasons(c, sentinel_id):
        left[next((f"{words} another page" for words in _BEGINNINGS if reason.startswith(words)), reason)] += count
    return CollectionReport(
        scope, counts.get("watched", 0), counts.get("found", 0), counts.get("gone", 0), left.most_common()
    )


def read_published(c: Connection, sentinel_id: int) -> list[tuple[str, str]] | None:
    """Return the published list of pages, None if `lacks_pages`."""
    return None if lacks_pages(c, sentinel_id) else collections.list_published(c, sentinel_id)


def lacks_pages(c: Connection, sentinel_id: int) -> bool:
    """Return whether a collection that follows links has read all that it knows and has nothing but
    its first pages.
    """
    scope = read_meaning(sentinels.get(c, sentinel_id)).scope or NO_SCOPE
    return scope.depth > 0 and collections.is_read_in_vain(c, sentinel_id)


def page_record(page: CollectionPage) -> dict[str, Any]:
    """Return a page of a collection as a record."""
    return {
        "url": page.url,
        "title": page.title,
        "page": str(page.page_id),
        "checked_at": rfc3339(page.checked_at),
        "changed_at": rfc3339(page.changed_at),
        "changes": page.changes,
        "health": page.health,
        "found_at": rfc3339(page.found_at),
    }
