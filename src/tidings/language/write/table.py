"""The clauses as a table that needs no parser: their order, the fields of `Sentinel` that they fill, what they can take away."""

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
"""Clauses that together are a sentinel's `asking`."""

ORDER: tuple[str, ...] = (
    *("monitor", "then", "select", "exclude", "transform"),
    *("fetch", "during", "from", "to", "for", "zone"),
    *("notify", "errors", "compare", "history", "presentation"),
    *ASKING,
    *("importance", "urgency", "life", "class", "tags"),
)
"""The order in which clauses are printed; Watch is printed as Life and Urgency, which it sets."""

GATHERED = frozenset({"then", "exclude", "header", "notify"})
"""Clauses that may stand more than once; together they are a list."""
JOINED = frozenset({"transform", "errors"})
"""Clauses that may stand more than once and are lists already."""

FIELDS: Mapping[str, str] = {
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
"""Clauses and the fields of `Sentinel` that hold them; Monitor fills two, those of how a page is asked for are in `asking`."""

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
"""Clauses that can be taken away (`Exclude none`), and what that means."""

REACH: Mapping[str, Reach] = {
    **dict.fromkeys(
        ("notify", "errors", "presentation", "history", "importance", "urgency", "life", "class", "tags"), "A"
    ),
    **dict.fromkeys(("timeout", "trust", "proxy", "robots"), "B"),
    **dict.fromkeys(("fetch", "during", "zone", "from", "to", "for", "then"), "B"),
    **dict.fromkeys(("monitor", "select", "exclude", "transform", "compare"), "C"),
    **dict.fromkeys(("method", "header", "body", "login", "frames", "render"), "C"),
}
"""The class of a change by the user (sentinels §2.2): A at once, B new ticks, C another comparison."""
