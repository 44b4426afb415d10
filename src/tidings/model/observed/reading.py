"""Reading: the value that something watched has in one version of a page: its price, its first number, what stands in a cell."""

from __future__ import annotations

from typing import Literal

from tidings.model.interval import Instant
from tidings.record import dataclass

ReadingKind = Literal[
    "price", "availability", "number", "regex", "table", "list", "items", "links", "images", "terms", "text", "cell"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one change type sees of a page as it is.

    `label` names it in words of the language (`price`, `number in css ".total"`); `texts` are the first things that it sees, as people read them,
    of `count` in all. `amount` is the decimal number of the first one, empty if it is none, `unit` its currency. `head` are the names of a table's
    columns. With a `problem` it could not be read.
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
    """A value that a sentinel sees in version `seq` of a page, at `at` (µs); `amount` and `unit` as in a reading."""

    sentinel_id: int
    page_id: int
    label: str
    at: Instant
    seq: int
    text: str
    amount: str = ""
    unit: str = ""
