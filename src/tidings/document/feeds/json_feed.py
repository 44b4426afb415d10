"""JSON Feed 1 and 1.1 (jsonfeed.org)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tidings.document.data.json_tree import write_scalar
from tidings.document.feeds.feeds import MOST_DATED, FeedEntry, instant_of
from tidings.model.interval import Instant
from tidings.model.observed.version import LONGEST_HUB, Hub

VERSION = "jsonfeed.org"
"""A part of the version of every JSON Feed."""


def is_json_feed(value: Any) -> bool:
    """Return whether a JSON value declares itself as a JSON Feed, and has items."""
    return isinstance(value, dict) and VERSION in str(value.get("version", "")) and isinstance(value.get("items"), list)


def items_of_json_feed(value: Mapping[str, Any]) -> list[Any]:
    """Return the items of a feed."""
    return list(value["items"])


def entry_of_json(item: Mapping[str, Any], shown: Callable[[str], str]) -> FeedEntry:
    """Return an item as an entry: its text is the content, HTML before plain, else the summary.
    `shown` returns the text of HTML.
    """
    html = _get_text(item, "content_html")
    body = shown(html) if html else _get_text(item, "content_text") or _get_text(item, "summary")
    published = _get_text(item, "date_published") or _get_text(item, "date_modified")
    named = (item.get("authors"), [item.get("author")])
    authors = [
        _get_text(one, "name") for many in named if isinstance(many, list) for one in many if isinstance(one, dict)
    ]
    author = next(filter(None, authors), "")
    return FeedEntry(
        _get_text(item, "id"), _link_of(item), _get_text(item, "title"), body, _enclosures(item), author, published
    )


def links_of_json_feed(value: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the links of a feed and its items, and their enclosures."""
    items = [item for item in value["items"] if isinstance(item, dict)]
    links = [
        _get_text(value, "home_page_url"),
        *(one for item in items for one in (_link_of(item), *_enclosures(item))),
    ]
    return tuple(link for link in links if link)


def head_of_json_feed(value: Mapping[str, Any]) -> tuple[str, Hub, Instant | None]:
    """Return the title of a feed, its hub, and the newest date of its items."""
    hubs = value.get("hubs")
    asked = [
        _get_text(hub, "url")
        for hub in (hubs if isinstance(hubs, list) else ())
        if isinstance(hub, dict) and _get_text(hub, "type").lower() == "websub"
    ]
    hub = next((url for url in asked if 0 < len(url) <= LONGEST_HUB), "")
    own = _get_text(value, "feed_url")
    dates = [
        instant_of(_get_text(item, name))
        for item in value["items"][:MOST_DATED]
        if isinstance(item, dict)
        for name in ("date_published", "date_modified")
    ]
    newest = max((at for at in dates if at is not None), default=None)
    return _get_text(value, "title"), Hub(hub, own if len(own) <= LONGEST_HUB else "") if hub else Hub(), newest


def _link_of(item: Mapping[str, Any]) -> str:
    return _get_text(item, "url") or _get_text(item, "external_url")


def _enclosures(item: Mapping[str, Any]) -> tuple[str, ...]:
    attached = item.get("attachments")
    found = (_get_text(one, "url") for one in (attached if isinstance(attached, list) else ()) if isinstance(one, dict))
    return tuple(dict.fromkeys(filter(None, found)))


def _get_text(item: Mapping[str, Any], name: str) -> str:
    """Return a text, or a number as one (ids are numbers in many feeds)."""
    value = item.get(name)
    return write_scalar(value).strip() if isinstance(value, (str, float)) else ""
