"""Images: which address an `img` shows, whichever attribute carries it (004 §5.3.1, W-97).

A page that loads its images late keeps the address in `data-src` or the like while `src` holds a placeholder, and moves it over once the
place is scrolled to. A responsive image has its sizes in `srcset`, one in a `picture` perhaps only in the `source` elements before it.
All these are one image; which of its sizes a browser would take means nothing.
"""

from __future__ import annotations

from typing import Final

from selectolax.lexbor import LexborNode

LATE: Final = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-srcset", "data-lazy-srcset")
"""Attributes from which scripts take an address; the first that has one decides."""

_PLACEHOLDERS: Final = ("data:", "about:")


def image_of(node: LexborNode) -> str | None:
    """Return the address of an `img` as the page writes it, None if it has none. One written into the page (`data:`) is the last resort."""
    attributes = node.attributes
    for name in LATE:
        if (written := attributes.get(name)) and (address := _address(name, written)):
            return address
    plain = attributes.get("src")
    if plain and not _is_placeholder(plain):
        return plain
    return _address("srcset", attributes.get("srcset") or "") or _source_of(node) or plain


def first_of(candidates: str) -> str:
    """Return the first address of a `srcset`, empty if there is none."""
    words = candidates.split(None, 1)
    return words[0].strip(",") if words else ""


def _address(name: str, written: str) -> str:
    """Return the address in an attribute, empty if it holds a placeholder."""
    address = first_of(written) if name.endswith("srcset") else written.strip()
    return "" if _is_placeholder(address) else address


def _source_of(node: LexborNode) -> str:
    """Return the address of the first `source` in the `picture` of an image, empty if it has none."""
    parent = node.parent
    child = parent.first_child if parent is not None and parent.tag == "picture" else None
    while child is not None:
        if child.tag == "source":
            attributes = child.attributes
            if address := _address("srcset", attributes.get("srcset") or attributes.get("data-srcset") or ""):
                return address
        child = child.next
    return ""


def _is_placeholder(address: str) -> bool:
    return address.lstrip()[:6].lower().startswith(_PLACEHOLDERS)
