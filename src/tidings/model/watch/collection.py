"""Collections: a site that is discovered page by page, and kept within a budget of its own."""

from __future__ import annotations

from typing import Final

from tidings.record import dataclass

LISTING: Final = "pages"
"""What the list of a collection's pages is called in its sentinel: `Monitor new pages` is about it.
"""
SCHEME: Final = "collection:"
HOST: Final = "collection"
"""What stands for the host of all lists: it has no gap, since nobody is asked."""
DEEPEST: Final = 20
MOST_A_DAY: Final = 100_000.0


@dataclass(frozen=True, slots=True)
class Scope:
    """Which pages belong to a collection.

    `patterns` are paths with `*` for any letters, or whole addresses; one that begins with `!`
    leaves pages out. `depth` is how many links away from its first pages a page may be. `budget`
    is how many requests its pages may cost a day.
    """

    patterns: tuple[str, ...]
    depth: int = 3
    budget: float = 500.0


def is_listing(url: str) -> bool:
    """Return whether an address is that of a collection's list of pages."""
    return url[: len(SCHEME)].lower() == SCHEME


def listing_url(sentinel_id: int) -> str:
    """Return the address of the list of pages of a collection."""
    return f"{SCHEME}{sentinel_id}"


def id_of(url: str) -> int:
    """Return whose list an address is; raises `ValueError` for one that is none."""
    return int(url.removeprefix(SCHEME))


def budget_name(name: str) -> str:
    """Return the name of the budget of a collection; no class of the settings can have it."""
    return f"{SCHEME}{name}"
