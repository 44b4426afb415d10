"""The table of clauses, usable without the parser: their order, their fields in `Sentinel`, and
their empty values.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

Reach = Literal["A", "B", "C"]

ASKING: tuple[str, ...] = (
    "method",
    "header",
    "body",
    "login",
    "frames",
    "render",
    "timeout",
    "trust",
    "proxy",
    "robots",
)
"""Clauses that form a sentinel's `asking`."""

ORDER: tuple[str, ...] = (
    *("scope", "monitor", "then", "select", "exclude", "transform"),
    *("fetch", "during", "from", "to", "for", "zone"),
    *("notify", "errors", "compare", "history", "presentation"),
    *ASKING,
    *("importance", "urgency", "life", "class", "tags"),
)
"""The order in which clauses are printed; Watch is printed as Life and Urgency, which it sets."""

GATHERED = frozenset({"then", "exclude", "header", "notify"})
"""Repeatable clauses that are collected into a list."""
JOINED = frozenset({"transform", "errors"})
"""Repeatable clauses that are lists already."""

FIELDS: Mapping[str, str] = {
    "scope": "scope",
    "then": "then",
    "select": "select",
    "exclude": "exclude",
    "transform": "transform",
    "fetch": "fetch",
    "during": "during",
    "from": "start",
    "to": "end",
    "for": "span",
    "zone": "zone",
    "notify": "notify",
    "errors": "errors",
    "compare": "compare",
    "history": "history",
    "presentation": "presentation",
    "importance": "importance",
    "urgency": "urgency",
    "life": "life",
    "class": "budget_class",
    "tags": "tags",
}
"""Clauses and their fields in `Sentinel`; Monitor sets two, those of the request are in
`asking`.
"""

NOTHING: Mapping[str, Any] = {
    "then": (),
    "select": None,
    "exclude": (),
    "transform": (),
    "during": (),
    "to": None,
    "zone": None,
    "errors": (),
    "history": None,
    "header": (),
    "body": None,
    "login": None,
    "frames": 0,
    "render": ("", False, ()),
    "timeout": None,
    "trust": "",
    "proxy": None,
    "robots": "",
    "tags": (),
}
"""Clauses that can be removed (`Exclude none`), and their empty values."""

REACH: Mapping[str, Reach] = {
    **dict.fromkeys(
        ("notify", "errors", "presentation", "history", "importance", "urgency", "life", "class", "tags", "scope"), "A"
    ),
    **dict.fromkeys(("timeout", "trust", "proxy", "robots"), "B"),
    **dict.fromkeys(("fetch", "during", "zone", "from", "to", "for", "then"), "B"),
    **dict.fromkeys(("monitor", "select", "exclude", "transform", "compare"), "C"),
    **dict.fromkeys(("method", "header", "body", "login", "frames", "render"), "C"),
}
"""The class of an alteration (sentinels §2.2): A at once, B new ticks, C another comparison."""
