"""What a collection is made of follows from its text: when it begins, and whenever it was altered.

All in one transaction, with the revision for which its addresses stand; so it is done once, by
whichever process comes first. Nothing of it is reported: what an altered scope takes out or brings
in is the wish of its owner, and no change of the site.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from tidings.errors import AddressError, UsageError
from tidings.fetching import address
from tidings.record import replace
from tidings.search.sites import belongs, origin_of
from tidings.service.watch.watchlist import list_first_pages, read_meaning
from tidings.storage.observed import pages
from tidings.storage.watches import collections, sentinels, subscriptions
from tidings.storage.watches.collections import CollectedPage, FoundAddress
from tidings.storage.watches.sentinels import first_tick

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.model.watch.sentinel import Scope, Sentinel
    from tidings.service.watch.watchlist import WatchedSentinel
    from tidings.storage.db.connection import Connection

OUTSIDE: Final = "outside of the scope"
UNUSABLE: Final = "no request can be made for it"


def reconcile(c: Connection, watched: WatchedSentinel, origins: Collection[str], now: Instant) -> set[int]:
    """Let the addresses of a collection be as its text says; return the pages that it came to or
    left. `origins` are the sites that its patterns of paths are about.
    """
    id_, stand = watched.row.id, collections.stand(c, watched.row.id)
    rows = {row.url: row for row in collections.listing(c, id_)}
    if rows and stand.revision == watched.row.revision:
        return set()
    before = read_meaning(sentinels.get_revised(c, id_, stand.revision))
    collections.note_revision(c, id_, watched.row.revision)
    if rows and _list_parts(before) == _list_parts(watched.sentinel):
        return set()
    first = {pages.identity(c, page_id).url: page_id for page_id in list_first_pages(c, watched)}
    listing_url = next((url for url in first if url.startswith("collection:")), "")
    listing_id = first.pop(listing_url, None)
    touched = _settle(c, watched, [row for row in rows.values() if row.url not in first], origins, now)
    _name_first(c, watched, first, rows, now)
    if rows and listing_id is not None:
        collections.read_again(c, id_)
        collections.unlist(c, id_, OUTSIDE, at=max(now, (pages.state(c, listing_id).polled_at or 0) + 1))
        for sub in subscriptions.listing(c, sentinel_id=id_, page_id=listing_id):
            subscriptions.begin_anew(c, sub.id, now)
        touched.add(listing_id)
    return touched


def _list_parts(sentinel: Sentinel) -> tuple[object, ...]:
    scope = sentinel.scope
    return (scope and (scope.patterns, scope.depth), [page.url for page in sentinel.pages], sentinel.asking)


def _name_first(
    c: Connection, watched: WatchedSentinel, first: dict[str, int], known: Collection[str], now: Instant
) -> None:
    """Begin with the pages that the text names, and the usual sitemap of their sites."""
    id_ = watched.row.id
    origins = dict.fromkeys(address.parse(url).origin for url in first if url.startswith("http"))
    maps = [FoundAddress(f"{origin}/sitemap.xml", 0, "map") for origin in origins]
    collections.add(c, id_, [*(FoundAddress(url, 0) for url in first), *maps], at=now)
    collections.draw_nearer(c, id_, [url for url in first if url in known], 0)
    for url, page_id in first.items():
        collections.watch(c, id_, url, page_id, at=now)


def _settle(
    c: Connection, watched: WatchedSentinel, rows: Iterable[CollectedPage], origins: Collection[str], now: Instant
) -> set[int]:
    """Leave what is not in the scope any more, bring back what is again, and request pages as the
    text says now; return the pages concerned.
    """
    id_, scope = watched.row.id, watched.sentinel.scope
    assert scope is not None  # noqa: S101 - it is a collection
    touched: set[int] = set()
    again: list[str] = []
    for row in rows:
        if not _is_in(row, scope, origins):
            if row.state != "left" or row.retry_at is not None:
                left = replace(row, state="left", reason=OUTSIDE, since=now, retry_at=None, tries=0)
                collections.leave(c, id_, left)
                touched |= unsubscribe(c, id_, row, now)
        elif row.state == "left" and row.reason == OUTSIDE:
            again.append(row.url)
        elif row.state == "watched" and not row.depth and row.kind == "page":  # it was a first page
            touched |= unsubscribe(c, id_, row, now)
            collections.draw_nearer(c, id_, [row.url], 1)
            again.append(row.url)
        elif row.state == "watched" and row.page_id is not None:
            page_id = subscribe(c, watched, [row.url], now, kept=row).get(row.url, row.page_id)
            touched |= {row.page_id, page_id} if page_id != row.page_id else set()
    collections.bring_back(c, id_, again, at=now)
    return touched


def _is_in(row: CollectedPage, scope: Scope, origins: Collection[str]) -> bool:
    if row.depth > scope.depth:
        return False
    return belongs(row.url, scope.patterns, origins) or (row.kind == "map" and origin_of(row.url) in origins)


def unsubscribe(c: Connection, sentinel_id: int, row: CollectedPage, now: Instant) -> set[int]:
    """Leave the page of an address; return it."""
    if row.page_id is None:
        return set()
    for sub in subscriptions.listing(c, sentinel_id=sentinel_id, page_id=row.page_id):
        subscriptions.leave(c, sub.id, now)
    return {row.page_id}


def subscribe(
    c: Connection, watched: WatchedSentinel, urls: Iterable[str], now: Instant, *, kept: CollectedPage | None = None
) -> dict[str, int]:
    """Make addresses pages of a collection; return the page of each for which a request can be
    made.

    Args:
        watched: The collection.
        urls: The addresses.
        now: When (µs).
        kept: The one address as it is a page already, which is left if it is requested otherwise.
    """
    made: dict[str, int] = {}
    owner_id = pages.find_requester(c, watched.row.id) or watched.row.owner_id
    for url in urls:
        try:
            identity = address.identify(url, watched.sentinel.asking, owner_id=owner_id)
        except (AddressError, UsageError):
            continue
        made[url] = pages.ensure(c, identity)
        if kept is not None and kept.page_id == made[url]:
            continue
        if kept is not None:
            unsubscribe(c, watched.row.id, kept, now)
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
        collections.watch(c, watched.row.id, url, made[url], at=now)
    return made
