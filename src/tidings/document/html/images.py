"""Images: the address that an `img` shows, whichever attribute holds it (004 §5.3.1, W-97).

A lazily loaded image has its address in `data-src` or the like while `src` holds a placeholder, and
moves it when scrolled into view. A responsive image has its sizes in `srcset`, in a `picture`
perhaps only in the `source` elements before it. All these are one image; which size a browser would
choose is irrelevant, so an image is the same as long as it shares a size with the old one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from selectolax.lexbor import LexborNode

LATE: Final = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-srcset", "data-lazy-srcset")
"""Attributes of lazy loaders; the first with an address wins."""

_PLACEHOLDERS: Final = ("data:", "about:")
_CANDIDATE: Final = re.compile(r"[\s,]*(?P<address>\S*[^\s,])(?:,|\s[^,]*|$)")
_SETS: Final = frozenset(("srcset", "data-srcset", "data-lazy-srcset"))


class Image(str):
    """The address of an image with several sizes, as the page writes it."""

    __slots__ = ("sizes",)

    sizes: tuple[str, ...]
    """the addresses in its `srcset`, and in those of its `source` elements"""


def image_of(node: LexborNode, *, in_picture: bool | None = None) -> str | None:
    """Return the address of an `img` as the page writes it, None if it has none. An inline image
    (`data:`) is the last resort.

    `in_picture`: whether its parent is a `picture`, if known.
    """
    attributes = node.attributes
    if in_picture is False and _SETS.isdisjoint(attributes):  # nearly all images
        return _choose(attributes, ())
    sources = () if in_picture is False else tuple(_sources_of(node))
    address = _choose(attributes, sources)
    if address is None:
        return None
    sets = [written for each in (attributes, *sources) for name in sorted(_SETS) if (written := each.get(name))]
    if not sets:
        return address
    image = Image(address)
    image.sizes = tuple(one for written in sets for one in all_of(written) if not _is_placeholder(one))
    return image


def _choose(attributes: Mapping[str, str | None], sources: Iterable[Mapping[str, str | None]]) -> str | None:
    for name in LATE:
        if (written := attributes.get(name)) and (address := _address(name, written)):
            return address
    plain = attributes.get("src")
    if plain and not _is_placeholder(plain):
        return plain
    return _address("srcset", attributes.get("srcset") or "") or _of_sources(sources) or plain


def all_of(candidates: str) -> list[str]:
    """Return the addresses of a `srcset`, in order."""
    return [found["address"] for found in _CANDIDATE.finditer(candidates)]


def first_of(candidates: str) -> str:
    """Return the first address of a `srcset`, empty if there is none."""
    words = candidates.split(None, 1)
    return words[0].strip(",") if words else ""


def _address(name: str, written: str) -> str:
    """Return the address in an attribute, empty if it holds a placeholder."""
    address = first_of(written) if name.endswith("srcset") else written.strip()
    return "" if _is_placeholder(address) else address


def _of_sources(sources: Iterable[Mapping[str, str | None]]) -> str:
    """Return the address of the first `source` with one, empty if there is none."""
    written = (source.get("srcset") or source.get("data-srcset") or "" for source in sources)
    return next(filter(None, (_address("srcset", one) for one in written)), "")


def _sources_of(node: LexborNode) -> Iterator[Mapping[str, str | None]]:
    """Yield the attributes of each `source` in the `picture` of an image."""
    parent = node.parent
    child = parent.first_child if parent is not None and parent.tag == "picture" else None
    while child is not None:
        if child.tag == "source":
            yield child.attributes
        child = child.next


def _is_placeholder(address: str) -> bool:
    return address.lstrip()[:6].lower().startswith(_PLACEHOLDERS)
