"""The list of a collection's pages, as a page that can be watched: each page is a link with its
title.

It is asked for at an address `collection:`, by nobody but the service, when the list was published
anew; so that many pages that come at once are one change.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

from tidings.model.observed.outcome import Failed, Fetched
from tidings.model.watch.collection import id_of, is_listing

if TYPE_CHECKING:
    from tidings.fetching.fetcher import Fetcher, Permit
    from tidings.model.observed.outcome import FetchRequest, Outcome

ReadListing = Callable[[int], Awaitable[Sequence[tuple[str, str]] | None]]
"""Gives the pages of a collection as they were published, address and title; None if all was read
and nothing but its first pages was found.
"""


class ListingFetcher:
    """Answers for `collection:` addresses (`fetcher.Fetcher`); `others` asks for all other pages,
    and is closed with it.
    """

    def __init__(self, read: ReadListing, others: Fetcher) -> None:
        self._read = read
        self._others = others

    async def fetch(self, request: FetchRequest, permit: Permit) -> Outcome:
        """Return a list of pages, or let others ask; see `fetcher.Fetcher.fetch`."""
        if not is_listing(request.url):
            return await self._others.fetch(request, permit)
        try:
            pages = await self._read(id_of(request.url))
        except ValueError:
            return Failed(kind="address", reason="this is no collection", requests=0)
        if pages is None:
            reason = "no page that was read names an address in its scope"
            return Failed(kind="scope", reason=reason, requests=0)
        body = write_listing(pages).encode()
        return Fetched(
            body=body,
            final_url=request.url,
            status=200,
            headers={},
            content_type="text/html; charset=utf-8",
            requests=0,
            wire_bytes=len(body),
        )

    async def close(self) -> None:
        """Close what asks for other pages."""
        await self._others.close()


def write_listing(pages: Sequence[tuple[str, str]]) -> str:
    """Return a list of pages, address and title of each, as HTML."""
    lines = [f'<li><a href="{escape(url)}">{escape(title or url)}</a></li>' for url, title in pages]
    return "\n".join(["<!doctype html><title>Pages of the collection</title>", "<ul>", *lines, "</ul>"])
