"""Frames: the other pages that a page consists of (sentinels §5.4).

A frameset is nothing without its frames, so they are always followed; an `iframe` is mostly an
advertisement and followed only on request. Inline documents (`srcdoc`) belong to the page; `data:`,
`javascript:` and `about:` name no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tidings.record import dataclass

ALONE: Final = 1
"""The depth of a page without its frames."""
ALL: Final = 2
"""The depth that includes iframes."""

MOST_NAMED: Final = 64
"""The most frames of a page that are returned; the caller limits how many are followed."""


@dataclass(frozen=True, slots=True)
class FrameElement:
    """A `frame` of a frameset or, with `is_inline`, an `iframe`: its address as written, "" if it
    has none.

    `source` is an inline document in place of an address; it precedes `pieces[place]` of the walk.
    """

    address: str
    is_inline: bool
    source: str | None = None
    place: int = 0


def addresses_of(frames: Sequence[FrameElement], base: str, *, depth: int) -> tuple[str, ...]:
    """Return the absolute addresses of the frames followed at a depth, in the order of the page,
    without duplicates.

    `depth`: 0 follows framesets, `ALONE` nothing, `ALL` iframes too. Addresses that name no web
    page are left out.
    """
    if not frames or depth == ALONE:
        return ()
    raw = [f.address for f in frames if f.address.strip() and f.source is None and (depth == ALL or not f.is_inline)]
    from tidings.document.html.links import Resolver

    resolved = Resolver(base).links(raw)
    return tuple(dict.fromkeys(a for a in resolved if a.startswith(("http://", "https://"))))[:MOST_NAMED]
