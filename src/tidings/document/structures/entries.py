"""Entries: the sequence in a feed, an array of JSON or a list, each with its identity (detection
§5).

A feed is read from its elements, by the same reader for the whole feed and for a selected part. One
that is not well-formed has no elements; feedparser reads what it can of it, from its text only: it
gets no address and opens none. A document type is cut out first, so that no entity can expand
(H-062).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import field
from typing import Any

from lxml import etree

from tidings.document.data.json_tree import JsonTree, in_one_notation, parts_of_json, words_of_json, write_scalar
from tidings.document.data.structured import local_name
from tidings.document.data.xml_tree import XmlTree
from tidings.document.document import Document
from tidings.document.extract import clean, take
from tidings.document.feeds.feeds import (
    FeedEntry,
    entries_in,
    entry_of,
    entry_of_json,
    instant_of,
    is_entry,
    is_json_feed,
    items_of_json_feed,
    words_of,
)
from tidings.document.html.links import Resolver
from tidings.document.parse import text_of_fragment
from tidings.document.select.chosen import RefusedError
from tidings.document.structures.lists import items_of
from tidings.model.interval import Instant
from tidings.model.url import split_url
from tidings.record import dataclass, replace

MOST_ENTRIES = 50_000
"""The most entries of one document: the limit of a sitemap."""

_DOCTYPE = re.compile(rb"<!DOCTYPE[^\[>]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
_IDS = ("id", "guid", "uid", "uuid", "_id", "key", "slug", "sku", "isbn", "@id")
_LINKS = ("url", "link", "href", "html_url", "external_url", "permalink")
_TITLES = ("title", "name", "headline", "subject", "label", "summary")
_EXCLUDED = "{excluded}excluded"
_ENTRY = frozenset({"item", "entry", "url", "sitemap"})
_MOVING = frozenset(
    "published updated date date_published date_modified pubDate modified created updated_at created_at lastmod timestamp".split()
)
"""Date fields: an entry with a new date is the same entry."""
_PUBLISHED = ("published", "date_published", "published_at", "created_at", "created", "date", "timestamp")
"""Fields with the publication date of an object, the best first."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its own id, its link and its title, each empty if it has none; `text` is its whole
    text.

    `enclosures` are the addresses of its enclosures, without host and query. `plain` is the whole
    text of a JSON object with numbers in one notation, for comparison with another that has it.
    `author` and `published` (µs, None if not given) are for people: entries do not differ by them.
    """

    id: str
    link: str
    title: str
    text: str
    enclosures: tuple[str, ...] = ()
    plain: str = ""
    author: str = field(default="", compare=False)
    published: Instant | None = field(default=None, compare=False)

    @property
    def label(self) -> str:
        """Return its displayed name: the title and the link."""
        title = self.title or self.text
        title = title if len(title) <= 200 else f"{title[:199].rstrip()}…"
        link = "" if self.link in title.split() else self.link
        return " ".join(part for part in (title, link) if part) or self.id


def entries_of(document: Document) -> list[Entry]:
    """Return the entries of a document, in order. Raise `RefusedError` if there are too many or
    they cannot be read.
    """
    asked = ("items", None)
    if asked not in document.readings:
        found: list[Entry] = []
        for entry in _entries(document):
            found.append(entry)
            if len(found) > MOST_ENTRIES:
                raise RefusedError(f"it has more than {MOST_ENTRIES:,} entries")
        document.readings[asked] = found
    return [*document.readings[asked]]


def is_window(document: Document) -> bool:
    """Return whether a document shows only the newest entries, so that old ones drop off its
    end.
    """
    return document.media == "feed" or (isinstance(document.tree, JsonTree) and is_json_feed(document.tree.value))


def _entries(document: Document) -> Iterator[Entry]:
    tree = document.tree
    if isinstance(tree, XmlTree):
        yield from _of_elements(tree, document)
    elif document.media == "feed":
        yield from _of_broken_feed(document) if document.missing is None else ()
    elif isinstance(tree, JsonTree):
        read = _of_json_feed if is_json_feed(tree.value) else _of_json
        yield from (read(value, document) for value in _values(document))
    else:
        for item in items_of(document):
            yield Entry(item.id, item.link, "", item.text)


def _of_broken_feed(document: Document) -> Iterator[Entry]:
    import feedparser  # slow to import, and rarely needed

    data = _DOCTYPE.sub(b"", document.text.encode("utf-8", "replace"), count=1)
    parsed = feedparser.parse(
        io.BytesIO(data),
        response_headers={"content-type": "application/xml; charset=utf-8"},
        resolve_relative_uris=False,
        sanitize_html=False,
    )
    for entry in parsed.entries:
        content = next((str(part.get("value", "")) for part in entry.get("content", ())), str(entry.get("summary", "")))
        detail = entry.get("title_detail", {})
        title = str(entry.get("title", ""))
        title = title if detail.get("type") == "text/plain" else text_of_fragment(title)
        enclosures = tuple(str(one.get("href", "")) for one in entry.get("enclosures", ()))
        read = FeedEntry(
            str(entry.get("id", "")),
            str(entry.get("link", "")),
            title,
            text_of_fragment(content),
            enclosures,
            text_of_fragment(str(entry.get("author", ""))),
            str(entry.get("published", "") or entry.get("updated", "")),
        )
        yield _of_feed(read, document)


def _of_elements(tree: XmlTree, document: Document) -> Iterator[Entry]:
    """Yield each selected element as an entry, or the repeated children of the root: XML that is
    not a feed.
    """
    found, excluded = tree.roots(document.extraction)
    roots = list(found)
    is_feed = document.media == "feed"
    if len(roots) == 1 and not (is_entry(roots[0]) if is_feed else local_name(roots[0]) in _ENTRY):
        roots = list(entries_in(roots[0])) if is_feed else _members(roots[0])
    for element in roots:
        if element in excluded:
            continue
        children = [_leave_out(child, excluded) for child in element if child not in excluded and local_name(child)]
        if local_name(element) in {"item", "entry"}:
            read = entry_of(element, children, document.base, text_of_fragment)
            yield _of_feed(read, document)
        else:
            yield _of_element(element, children, document)


def _members(root: Any) -> list[Any]:
    """Return the entries of XML that is not a feed: its items if it has any, else the children of
    its root.
    """
    return list(root.iter("{*}item", "{*}entry")) or list(root)


def _leave_out(element: Any, excluded: frozenset[Any]) -> Any:
    """Return an element without its excluded parts: itself if there are none, else a copy."""
    gone = [place for place, inside in enumerate(element.iter()) if inside in excluded] if excluded else []
    if not gone:
        return element
    copied = deepcopy(element)
    every = list(copied.iter())
    for place in gone:
        every[place].tag = _EXCLUDED
    etree.strip_elements(copied, _EXCLUDED, with_tail=False)
    return copied


def _of_element(element: Any, children: list[Any], document: Document) -> Entry:
    """Return an element of other XML as an entry, by the likely names of its children."""
    fields = {local_name(child): words_of(child, text_of_fragment) for child in children}
    fixed = " ".join(value for name, value in fields.items() if name not in _MOVING) or (element.text or "")
    return _entry(
        element.get("id") or fields.get("id") or "",
        fields.get("link") or fields.get("loc") or "",
        text_of_fragment(fields.get("title", "")),
        text_of_fragment(fixed),
        document,
    )


def _values(document: Document) -> list[Any]:
    """Return the elements of the relevant array: the selected one, all selected values if there are
    several, else the first of objects.
    """
    part = take(document)
    roots = list(part.roots) if part is not None else []
    if len(roots) != 1:
        return roots
    if is_json_feed(roots[0]):
        return items_of_json_feed(roots[0])
    level = [roots[0]]
    while level:
        for value in level:
            if isinstance(value, list) and (len(level) == 1 or any(isinstance(item, dict) for item in value)):
                return value
        level = [member for value in level if isinstance(value, dict) for member in value.values()]
    return roots


def _of_json(value: Any, document: Document) -> Entry:
    if not isinstance(value, dict):
        return _entry("", "", "", " ".join(words_of_json(value)), document)
    fixed = {name: member for name, member in value.items() if name not in _MOVING}
    text, plain = (" ".join(words(fixed)) for words in (words_of_json, in_one_notation))
    title = _first(value, _TITLES) or "".join(parts_of_json(fixed))
    entry = _entry(_first(value, _IDS), _first(value, _LINKS), title, text, document)
    at = instant_of(next((date for name in _PUBLISHED if isinstance(date := value.get(name), str)), None))
    author = " ".join(words_of_json(value.get("author") or ""))
    return replace(entry, plain=clean(plain, document.extraction), author=author, published=at)


def _of_json_feed(value: Any, document: Document) -> Entry:
    if not isinstance(value, dict):
        return _of_json(value, document)
    read = entry_of_json(value, text_of_fragment)
    return _of_feed(read, document)


def _of_feed(read: FeedEntry, document: Document) -> Entry:
    entry = _entry(read.id, read.link, read.title, f"{read.title} {read.body}", document)
    paths = (split_url(one).path for one in Resolver(document.base).links(read.enclosures))
    return replace(
        entry,
        enclosures=tuple(sorted(filter(None, paths))),
        author=clean(read.author, document.extraction),
        published=instant_of(read.published),
    )


def _first(value: Mapping[str, Any], names: tuple[str, ...]) -> str:
    for name in names:
        found = value.get(name)
        if isinstance(found, (str, float)) and (text := write_scalar(found).strip()):
            return text
    return ""


def _entry(id_: str, link: str, title: str, text: str, document: Document) -> Entry:
    def line(text: str) -> str:
        return clean(" ".join(text.split()), document.extraction)

    return Entry(id_.strip(), link.strip(), line(title), line(text))
