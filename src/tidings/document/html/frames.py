"""Frames: which other pages a page is made of (sentinels §5.4).

A frameset is nothing without its frames, so they are always followed; an `iframe` is mostly an advertisement and followed only where
somebody asks for it. Text that is written into the page (`srcdoc`) is the page's own; `data:`, `javascript:` and `about:` name no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tidings.document.html.links import Resolver

ALONE: Final = 1
"""The depth at which a page is watched alone."""
ALL: Final = 2
"""The depth at which iframes are followed too."""

MOST_NAMED: Final = 64
"""Most frames of a page that are told of; how many of them are followed is for others to say."""


@dataclass(frozen=True, slots=True)
class FrameElement:
    """A `frame` of a frameset or, with `is_inline`, an `iframe`: its address as written, "" if it has none.

    `source` is a text that is written into the page in place of an address; it stands before `pieces[place]` of the walk.
    """

    address: str
    is_inline: bool
    source: str | None = None
    place: int = 0


def addresses_of(frames: Sequence[FrameElement], base: str, *, depth: int) -> tuple[str, ...]:
    """Return the absolute addresses of the frames that are followed at a depth, in the order of the page, each once.

    `depth`: 0 follows framesets, `ALONE` nothing, `ALL` iframes too. An address that names no page of the web is none.
    """
    if not frames or depth == ALONE:
        return ()
    raw = [f.address for f in frames if f.address.strip() and f.source is None and (depth == ALL or not f.is_inline)]
    resolved = Resolver(base).links(raw)
    return tuple(dict.fromkeys(a for a in resolved if a.startswith(("http://", "https://"))))[:MOST_NAMED]
