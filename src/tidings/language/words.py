"""The words of the language: reserved words and the beginnings of clauses."""

from __future__ import annotations

import re

from tidings.model.url import split_url

STATEMENTS: tuple[str, ...] = ("Create", "Enable", "Disable", "Drop", "Alter", "Confirm", "Defaults")
"""Words that begin a statement."""

CLAUSES: tuple[str, ...] = (
    "Monitor",
    "Then",
    "Select",
    "Exclude",
    "Transform",
    "Fetch",
    "During",
    "From",
    "To",
    "For",
    "Zone",
    "Notify",
    "Errors",
    "Compare",
    "ChangeHistory",
    "Presentation",
    "Method",
    "Header",
    "Body",
    "Frames",
    "Render",
    "Timeout",
    "Trust",
    "Proxy",
    "Robots",
    "Importance",
    "Urgency",
    "Life",
    "Watch",
    "Class",
    "Tags",
)
"""Words that begin a clause; a faulty text is split at them (sentinels §1.7)."""

SYNONYMS: tuple[str, ...] = ("Ignore", "Until", "Login", "Scope", "Depth", "Budget")
"""Synonyms that begin a clause too (Exclude, To, those of collections), and may be names."""

JOINTS: tuple[str, ...] = (
    "Sentinel",
    "Using",
    "As",
    "AND",
    "OR",
    "NOT",
    "of",
    "in",
    "where",
    "but",
    "within",
    "by",
    "none",
)
"""Words that join parts of a statement."""

RESERVED: frozenset[str] = frozenset(word.lower() for word in (*STATEMENTS, *CLAUSES, *JOINTS))
"""No sentinel, page, tag or class may have these names, in any case (E04). Other words of the
language may be names.
"""

TYPES: tuple[str, ...] = (
    "any change",
    "words",
    "links",
    "images",
    "keywords",
    "phrase",
    "table",
    "list",
    "regex",
    "number",
    "items",
    "status",
    "header",
    "price",
    "availability",
    "pages",
)
"""Change types, as suggested for an unknown one (E10)."""

UNITS: tuple[str, ...] = ("s", "sec", "second", "min", "minute", "h", "hour", "d", "day", "w", "week")
"""Units of a duration; each may end in `s`."""


def is_reserved(name: str) -> bool:
    """Return whether a word cannot be a name."""
    return name.lower() in RESERVED


def name_of_host(address: str) -> str:
    """Return a name for a sentinel on an address without one: `shop` for
    https://www.shop.example/.
    """
    parts = [part for part in (split_url(address).hostname or "page").split(".") if part != "www"]
    name = re.sub(r"[^A-Za-z0-9_]+", "-", parts[-2] if len(parts) > 1 else parts[0]).strip("-")
    return name if re.match(r"[A-Za-z_]", name) and not is_reserved(name) else f"page-{name}"
