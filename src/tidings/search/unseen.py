"""What the first fetch of a page is worth: of a page that nobody has read, its site, the words that
lead to it and the query log know something.

The unit is a page's fresh copy, so that a first fetch and a refresh can be compared: a refresh is
worth the chance that the page has changed, plus the new pages that it is likely to name.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import unquote, urlsplit

from tidings.search.query import terms_of

PER_LINK: Final = 0.85
"""What a further link away from the first pages leaves of a page's worth."""
NEWS: Final = 2.0
"""How much more a page is worth that came after its site was known: somebody waits for it."""
SOUGHT: Final = 4.0
"""How much more a page is worth whose words are all that anybody searches for."""


def worth_unseen(
    share_new: float, *, depth: int, terms: Iterable[str], sought: Mapping[str, float], is_news: bool
) -> float:
    """Return what a first fetch is worth.

    Args:
        share_new: Which part of pages of its form said something new, 0 to 1.
        depth: Links from the first pages.
        terms: The words of the link and of the address, as the index has them.
        sought: The share of each term in what is searched for.
        is_news: Whether the page that names it was known before.
    """
    relevance = min(1.0, sum(sought.get(term, 0.0) for term in set(terms)))
    return share_new * PER_LINK**depth * (1.0 + SOUGHT * relevance) * (NEWS if is_news else 1.0)


def terms_of_link(anchor: str, url: str) -> tuple[str, ...]:
    """Return the words of a link's text and of its address."""
    parts = urlsplit(url)
    return tuple(terms_of(f"{anchor} {unquote(parts.path).replace('/', ' ').replace('-', ' ').replace('_', ' ')}"))


def worth_refresh(rate: float, days: float, *, depth: int, importance: float, yields: float) -> float:
    """Return what a refresh is worth.

    Args:
        rate: Changes a day.
        days: How long ago the page was read.
        depth: Links from the first pages.
        importance: What a change of it matters to those who search, 1 for as much as others.
        yields: New pages a day that it names.
    """
    return PER_LINK**depth * importance * -math.expm1(-rate * days) + yields * days


def shares(frequencies: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each term in all that is searched for."""
    whole = sum(frequencies.values())
    return {term: weight / whole for term, weight in frequencies.items()} if whole > 0 else {}
