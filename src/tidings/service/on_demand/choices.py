"""What can be watched on a page: its price, tables, lists, entries and feeds, each with its present
value.

Runs in the process that parses pages (`draw`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from tidings.detection.ask.readings import readings
from tidings.document.document import Document
from tidings.document.html.links import Resolver
from tidings.document.select.extraction import WHOLE
from tidings.document.select.trees import HtmlTree
from tidings.document.structures.lists import has_list, items_of
from tidings.document.structures.tables import has_table
from tidings.model.observed.version import Reading
from tidings.model.watch.interest import Interest
from tidings.record import dataclass

MOST_TABLES: Final = 3
MOST_LISTS: Final = 3
LISTS_READ: Final = 20
"""The number of first lists of a page that are considered."""
FEWEST_ITEMS: Final = 3
"""Fewest items of a list that is offered."""
LEAST_TEXT: Final = 12
"""Least characters of an average item of a list that is offered; menus have less."""
MOST_FEEDS: Final = 3
LONGEST_TITLE: Final = 120
_FEEDS: Final = frozenset({"application/rss+xml", "application/atom+xml", "application/feed+json"})


@dataclass(frozen=True, slots=True)
class Choices:
    """What can be watched on a page. `readings` have the Monitor clause as their label; `feeds` are
    the address and the title of each feed that the page links.
    """

    readings: tuple[Reading, ...] = ()
    feeds: tuple[tuple[str, str], ...] = ()


def choices_of(document: Document) -> Choices:
    """Return what can be watched on a page that was parsed with its tree; nothing for one that
    cannot be read.
    """
    if document.problem:
        return Choices()
    is_page = isinstance(document.tree, HtmlTree)
    kinds = ("price", "availability") if is_page else ("items",)
    wanted = [*map(Interest, kinds), *_list_tables(document), *(_list_lists(document) if is_page else ())]
    found = (reading for one in wanted for reading in readings(one, WHOLE, [document]))
    return Choices(tuple(one for one in found if one.count and not one.problem), tuple(_list_feeds(document)))


def _list_tables(document: Document) -> list[Interest]:
    return [Interest("table", ordinal=n) for n in range(1, MOST_TABLES + 1) if has_table(document, n)]


def _list_lists(document: Document) -> list[Interest]:
    """Return the lists with the most text, in the order of the page."""
    sizes: dict[int, int] = {}
    for number in range(1, LISTS_READ + 1):
        if not has_list(document, number):
            break
        texts = [item.text for item in items_of(document, number)]
        size = sum(map(len, texts))
        if len(texts) >= FEWEST_ITEMS and size >= LEAST_TEXT * len(texts):
            sizes[number] = size
    largest = sorted(sizes, key=lambda number: -sizes[number])[:MOST_LISTS]
    return [Interest("list", ordinal=number) for number in sorted(largest)]


def _list_feeds(document: Document) -> Iterator[tuple[str, str]]:
    """Yield the feeds that the head of a page links."""
    if not isinstance(document.tree, HtmlTree) or (root := document.tree.root) is None:
        return
    found: dict[str, str] = {}
    resolver = Resolver(document.base, "resolved")
    for node in root.css('link[rel~="alternate"][href]'):
        attributes = node.attributes
        if (attributes.get("type") or "").strip().lower() in _FEEDS:
            (address,) = resolver.each_link([attributes.get("href") or ""])
            if address is not None and address.startswith(("http://", "https://")):
                found.setdefault(address, " ".join((attributes.get("title") or "").split())[:LONGEST_TITLE])
    yield from list(found.items())[:MOST_FEEDS]
