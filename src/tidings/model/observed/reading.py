"""Reading: the value that something watched has in one version of a page: its price, its first number, what stands in a cell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
