"""Readings: the value of a watched thing in one version of a page: a price, a number, the content
of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tidings.model.interval import Instant

ReadingKind = Literal[
    "price", "availability", "number", "regex", "table", "list", "items", "links", "images", "terms", "text", "cell"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one change type reads from a page.

    `label` names it in the words of the language (`price`, `number in css ".total"`). `texts` are
    the first of `count` values, as people read them. `amount` is the first one as a decimal number,
    empty if it is none, `unit` its currency. `head` are the column names of a table. `problem` says
    why it could not be read.
    """

    label: str
    kind: ReadingKind
    texts: tuple[str, ...] = ()
    count: int = 0
    amount: str = ""
    unit: str = ""
    head: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueRow:
    """A value that a sentinel reads in version `seq` of a page, at `at` (µs); `amount` and `unit`
    as in `Reading`.
    """

    sentinel_id: int
    page_id: int
    label: str
    at: Instant
    seq: int
    text: str
    amount: str = ""
    unit: str = ""
