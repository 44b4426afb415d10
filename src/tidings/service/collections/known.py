"""What is known of one collection, in memory: its addresses, the forms that they have, and which is
worth a first fetch.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Final

from tidings.clock import DAY
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
from tidings.storage.watches.collections import CollectedPage, FoundAddress

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.watch.collection import Scope
    from tidings.service.collections.read_links import ReadLinks
    from tidings.service.watch.watchlist import WatchedSentinel

MOST_FOUND: Final = 50_000
"""Addresses that a collection remembers."""
MOST_MAPS: Final = 100
"""Sitemaps and feeds that a collection reads."""
NAMED_A_DAY: Final = 0.02
"""New pages a day for each page that was named at first, until a page's own history says more: a
list of fifty is likely to name one more.
"""


@dataclass(slots=True)
class KnownCollection:
    """A collection as it stands; `held` is its sentinel as it is now."""

    held: WatchedSentinel
    rows: dict[str, CollectedPage] = field(default_factory=dict)
    urls: dict[int, str] = field(default_factory=dict)
    """by page"""
    forms: defaultdict[str, FormRecord] = field(default_factory=lambda: defaultdict(FormRecord))
    dirty: set[int] = field(default_factory=set)
    """pages whose newest state was not taken in yet"""
    named: Counter[int] = field(default_factory=Counter)
    """how many addresses each page was the first to name"""

    @property
    def scope(self) -> Scope:
        """Return its scope."""
        scope = self.held.sentinel.scope
        assert scope is not None  # noqa: S101 - it is a collection
        return scope

    @property
    def origins(self) -> frozenset[str]:
        """Return the sites that its patterns of paths are about."""
        return frozenset(origin_of(page.url) for page in self.held.sentinel.pages)

    def load(self, rows: Iterable[CollectedPage]) -> None:
        """Take over what is stored."""
        for row in rows:
            self.put(row)
            self._count_named(row)
            if row.kind == "page" and (row.read_seq or row.reason.startswith("says the same")):
                form = self.form(row.url)
                form.asked += 1
                if row.state != "left":
                    form.new += 1
                    form.sketches[row.url] = row.sketch

    def put(self, row: CollectedPage) -> None:
        """Store an address as it is now."""
        self.rows[row.url] = row
        if row.page_id is not None:
            self.urls[row.page_id] = row.url

    def form(self, url: str) -> FormRecord:
        """Return what is known of the form of an address."""
        return self.forms[form_of(url)]

    def find_new(self, source: CollectedPage, read: ReadLinks) -> list[FoundAddress]:
        """Return the addresses that a page names and that are not known, each with why it is left
        out, if it is.
        """
        found: dict[str, FoundAddress] = {}
        is_news = source.read_seq > 0
        depth = source.depth + 1
        patterns, origins = self.scope.patterns, self.origins
        if depth <= self.scope.depth:
            for link, anchor in read.links:
                url = address_of(link)
                if (
                    not url
                    or url in self.rows
                    or url in found
                    or not is_page(url)
                    or not belongs(url, patterns, origins)
                ):
                    continue
                trap = trap_of(url)
                found[url] = FoundAddress(
                    url, depth, "page", "left" if trap else "found", trap, anchor, source.page_id, is_news and not trap
                )
        maps = sum(row.kind == "map" for row in self.rows.values())
        for link in read.maps[: max(0, MOST_MAPS - maps)]:
            url = address_of(link)
            if url and url not in self.rows and origin_of(url) in origins:
                found[url] = FoundAddress(url, source.depth, "map", found_on=source.page_id)
        return list(found.values())[: max(0, MOST_FOUND - len(self.rows))]

    def take(self, found: Iterable[FoundAddress], at: Instant) -> None:
        """Note addresses that were written, and found at an instant (µs)."""
        for one in found:
            self.put(
                CollectedPage(
                    one.url, None, one.depth, one.kind, one.state, one.reason, one.anchor, "", "", one.found_on, at,
                    one.is_news, False, 0, 0,
                )
            )  # fmt: skip
            self._count_named(self.rows[one.url])

    def find_trapped(self) -> list[str]:
        """Return the waiting addresses whose form has no new text."""
        traps = {form for form, record in self.forms.items() if record.is_trap}
        if not traps:
            return []
        return [row.url for row in self.rows.values() if row.state == "found" and form_of(row.url) in traps]

    def rank_waiting(self, sought: Mapping[str, float]) -> list[tuple[float, CollectedPage]]:
        """Return the addresses that wait for their first fetch with what that is worth, the best
        first; sitemaps before all.
        """
        under_way = Counter(
            form_of(row.url) for row in self.rows.values() if row.state == "watched" and not row.read_seq
        )
        ranked: list[tuple[float, CollectedPage]] = []
        for row in self.rows.values():
            if row.state != "found":
                continue
            form = self.form(row.url)
            worth = worth_unseen(
                form.share_new,
                depth=row.depth,
                terms=terms_of_link(row.anchor, row.url) if sought else (),
                sought=sought,
                is_news=row.is_news,
            )
            ranked.append((worth + (100.0 if row.kind == "map" else 0.0), row))
        ranked.sort(key=lambda each: (-each[0], each[1].found_at, each[1].url))
        kept: list[tuple[float, CollectedPage]] = []
        for worth, row in ranked:
            name = form_of(row.url)
            if under_way[name] < self.form(row.url).most_waiting():
                under_way[name] += 1
                kept.append((worth, row))
        return kept

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
        own = form_of(row.url)
        is_hub = any(
            one.state == "found" and form_of(one.url) != own and not self.form(one.url).is_trap for one in found
        )
        twin = self.form(row.url).note(row.url, row.sketch, is_new=is_hub)
        return twin if twin and self.rows[twin].state == "watched" else ""

    def note_useless(self, url: str) -> None:
        """Note that an address led to nothing: its form is worth less."""
        self.form(url).asked += 1

    def _count_named(self, row: CollectedPage) -> None:
        if row.found_on is not None and row.state != "left":
            self.named[row.found_on] += 1

    def revise(self, url: str, **fields: object) -> CollectedPage:
        """Change some fields of an address; return its row."""
        row = replace(self.rows[url], **fields)  # type: ignore[arg-type]
        self.put(row)
        return row
