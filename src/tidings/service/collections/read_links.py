"""The addresses that a version names, read in the process where pages are read: named here, done
there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tidings.record import dataclass

if TYPE_CHECKING:
    from tidings.detection.job.contract import Body
    from tidings.document.document import Document

MOST_LINKS: Final = 5_000
"""Links of a page that are followed."""
MOST_ENTRIES: Final = 50_000
"""Entries of a sitemap that are followed, as many as it may have."""
_HEAD: Final = 100_000
_TAG = re.compile(rb"<(?:link|meta)\b[^>]{0,2000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(rb"""([a-z\-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_NO_FOLLOW: Final = frozenset({"nofollow", "none"})
_FEEDS: Final = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})


@dataclass(frozen=True, slots=True)
class ReadLinks:
    """What a version names: `links` with the text of each, and `maps`, further sitemaps and feeds.

    `kind` is `page`, or `map` for a sitemap or feed. `sketch` is what near-equal pages have alike.
    """

    kind: str
    title: str
    sketch: str
    links: tuple[tuple[str, str], ...]
    maps: tuple[str, ...] = ()


def read_links(bodies: Sequence[Body]) -> ReadLinks:
    """Return what a page, with its frames, names; of one that says that its links are not to be
    followed, none.
    """
    from tidings.detection.job.examiner import parse_body
    from tidings.document.text.packed import PackedError, unpack
    from tidings.document.text.words import show
    from tidings.search.sites import sketch_of

    first = bodies[0]
    try:
        data = unpack(first.data, most=50_000_000)
    except PackedError:
        data = b""
    if b"<urlset" in data[:4_000] or b"<sitemapindex" in data[:4_000]:
        return _read_sitemap(data)
    documents = [parse_body(body) for body in bodies]
    page = documents[0]
    if page.problem:
        return ReadLinks("page", "", "", ())
    title = show(" ".join(page.title.split()))[:300]
    if page.media == "feed":
        return ReadLinks("map", title, "", tuple(_list_entries(page, first.url)))
    tags = [_attributes(tag) for tag in _TAG.findall(first.data[:_HEAD])]
    robots = [tag.get("content", "") for tag in tags if tag.get("name", "").strip().lower() == "robots"]
    words = {word.strip().lower() for content in robots for word in content.split(",")}
    may_follow = words.isdisjoint(_NO_FOLLOW)
    links = [link for one in documents for link in _list_links(one)][:MOST_LINKS] if may_follow else []
    feeds = [tag["href"] for tag in tags if tag.get("type", "").lower() in _FEEDS and "href" in tag]
    maps = _resolve(feeds, page.base or first.url) if may_follow else ()
    text = "\n".join(one.text for one in documents if not one.problem)
    return ReadLinks("page", title, sketch_of(text), tuple(links), maps)


def _read_sitemap(data: bytes) -> ReadLinks:
    from lxml import etree

    from tidings.document.feeds.sitemaps import list_entries

    links: list[tuple[str, str]] = []
    maps: list[str] = []
    try:
        for kind, loc, _ in list_entries(data):
            if len(links) + len(maps) >= MOST_ENTRIES:
                break
            if kind == "sitemap":
                maps.append(loc)
            else:
                links.append((loc, ""))
    except (etree.XMLSyntaxError, ValueError):
        pass  # what came before it holds
    return ReadLinks("map", "", "", tuple(links), tuple(maps))


def _list_entries(page: Document, url: str) -> Iterator[tuple[str, str]]:
    from tidings.document.html.links import Resolver
    from tidings.document.structures.entries import entries_of

    entries = [entry for entry in entries_of(page) if entry.link]
    addresses = Resolver(page.base or url).each_link([entry.link for entry in entries])
    for entry, address in zip(entries, addresses, strict=True):
        if address is not None:
            yield address, entry.title[:300]


def _list_links(page: Document) -> Iterator[tuple[str, str]]:
    from tidings.document.html.links import Resolver
    from tidings.document.text.words import show

    places = page.link_places if len(page.link_places) == len(page.links) else ((0, 0),) * len(page.links)
    for address, (begin, end) in zip(Resolver(page.base).each_link(page.links), places, strict=True):
        if address is not None:
            yield address, show(" ".join("".join(page.pieces[begin:end]).split()))[:300]


def _resolve(addresses: Sequence[str], base: str) -> tuple[str, ...]:
    from tidings.document.html.links import Resolver

    return tuple(Resolver(base).links(addresses))


def _attributes(tag: bytes) -> dict[str, str]:
    from html import unescape

    return {
        name.decode("latin-1").lower(): unescape((a or b or c).decode("utf-8", "replace"))
        for name, a, b, c in _ATTRIBUTE.findall(tag)
    }
