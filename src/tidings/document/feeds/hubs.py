"""Hubs: who pushes a feed's news, and the topic address (W3C WebSub §4, discovery)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from tidings.document.data.structured import local_name
from tidings.model.observed.hub import LONGEST, Hub

_MOST_LINKS: Final = 200
_FEEDS: Final = frozenset({"feed", "rss", "RDF"})


def hub_of(root: Any) -> Hub:
    """Return the first hub of a feed itself, not of its entries."""
    found: dict[str, str] = {}
    for number, link in enumerate(_links(root)):
        if number >= _MOST_LINKS:
            break
        for relation in (link.get("rel") or "").lower().split():
            href = (link.get("href") or "").strip()
            if 0 < len(href) <= LONGEST:
                found.setdefault(relation, href)
    return Hub(found["hub"], found.get("self", "")) if "hub" in found else Hub()


def _links(root: Any) -> Iterator[Any]:
    if local_name(root) not in _FEEDS:
        return
    for child in root:
        if local_name(child) == "link":
            yield child
        elif local_name(child) == "channel":
            yield from (inner for inner in child if local_name(inner) == "link")
