"""Sentinels for tables: which match, in which order, and the counts by state and by tag, without
reading their texts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from tidings.record import dataclass
from tidings.storage.db.connection import select
from tidings.storage.watches.sentinels import restrict_to_viewer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tidings.storage.db.connection import Connection

Lives = Literal["living", "paused", "ended", "all"]
Order = Literal["made", "name", "last"]
_STATES: Final = {
    "living": ("s.state <> 'ended'",),
    "paused": ("s.state = 'disabled'",),
    "ended": ("s.state = 'ended'",),
    "all": (),
}
_LAST: Final = (
    "(SELECT max(p.changed_at) FROM subscription u JOIN page p ON p.id = u.page_id"
    " WHERE u.sentinel_id = s.id AND u.left_at IS NULL AND p.last_seq > 1)"
)
_ORDERS: Final = {
    "made": "ORDER BY s.id",
    "name": "ORDER BY lower(s.name), s.id",
    "last": f"ORDER BY COALESCE({_LAST}, 0) DESC, s.id",
}
_TAGGED: Final = "EXISTS (SELECT 1 FROM tag t WHERE t.sentinel_id = s.id AND t.name = :tag)"
_NAMED: Final = (
    "(lower(s.name) LIKE :text ESCAPE '!' OR EXISTS (SELECT 1 FROM subscription u JOIN page p ON p.id = u.page_id"
    " WHERE u.sentinel_id = s.id AND u.left_at IS NULL AND lower(p.given) LIKE :text ESCAPE '!'))"
)


@dataclass(frozen=True, slots=True)
class TableRequest:
    """Which sentinels are asked for: their `tag`, a `text` in their name or an address, and what
    `viewer` sees (None: all).
    """

    lives: Lives = "living"
    tag: str = ""
    text: str = ""
    order: Order = "made"
    viewer: int | None = None


def keys(c: Connection, wanted: TableRequest) -> list[tuple[int, str]]:
    """Return the id and name of each match, in the requested order."""
    conditions = [*_STATES[wanted.lives], *restrict_to_viewer(wanted.viewer)]
    given: dict[str, Any] = {} if wanted.viewer is None else {"viewer": wanted.viewer}
    if wanted.tag:
        conditions.append(_TAGGED)
        given["tag"] = wanted.tag
    if wanted.text:
        conditions.append(_NAMED)
        escaped = wanted.text.lower().replace("!", "!!").replace("%", "!%").replace("_", "!_")
        given["text"] = f"%{escaped}%"
    text = select("SELECT s.id, s.name FROM sentinel s", conditions, _ORDERS[wanted.order])
    return [(row[0], row[1]) for row in c.rows(text, **given)]


def states(c: Connection, *, viewer: int | None) -> dict[str, int]:
    """Return how many sentinels that `viewer` sees are in each state."""
    text = select("SELECT s.state, count(*) FROM sentinel s", restrict_to_viewer(viewer), "GROUP BY s.state")
    return {row[0]: row[1] for row in c.rows(text, **({} if viewer is None else {"viewer": viewer}))}


def tags(c: Connection, *, viewer: int | None) -> dict[str, int]:
    """Return how many living sentinels that `viewer` sees have each tag, the most frequent first."""
    base = "SELECT t.name, count(*) FROM tag t JOIN sentinel s ON s.id = t.sentinel_id"
    conditions = ["s.state <> 'ended'", *restrict_to_viewer(viewer)]
    text = select(base, conditions, "GROUP BY t.name ORDER BY count(*) DESC, t.name")
    return {row[0]: row[1] for row in c.rows(text, **({} if viewer is None else {"viewer": viewer}))}


def tags_of(c: Connection, names: Iterable[str]) -> set[str]:
    """Return the tags of living sentinels by their names."""
    text = (
        "SELECT t.name FROM tag t JOIN sentinel s ON s.id = t.sentinel_id WHERE s.name = :name AND s.state <> 'ended'"
    )
    return {row[0] for name in names for row in c.rows(text, name=name)}


def pages(c: Connection, *, viewer: int | None) -> int:
    """Return how many pages the living sentinels that `viewer` sees watch, counted once per
    sentinel.
    """
    base = "SELECT count(*) FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id"
    conditions = ["u.left_at IS NULL", "s.state <> 'ended'", *restrict_to_viewer(viewer)]
    return int(c.value(select(base, conditions), **({} if viewer is None else {"viewer": viewer})))
