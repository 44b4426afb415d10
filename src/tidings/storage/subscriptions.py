"""Subscriptions: a sentinel on a page, with a cursor of its own (sentinels_and_events.md §4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidings.errors import UnitError
from tidings.model.interval import Instant
from tidings.model.unit import CursorMove, Missing
from tidings.storage.connection import Connection, select
from tidings.storage.values import from_json, to_json


@dataclass(frozen=True, slots=True)
class SubscriptionRow:
    """`base` is the version it began with (0 before), `taken` the numbers of the versions it may still need, `missing` what it looks at and its
    page did not have.
    """

    id: int
    sentinel_id: int
    page_id: int
    label: str
    revision: int
    base: int
    taken: tuple[int, ...]
    next_tick: Instant | None
    ticked_at: Instant | None
    active: bool
    missing: Missing | None = None


_SELECT = "SELECT id, sentinel_id, page_id, label, revision, base, taken, next_tick, ticked_at, active, missing FROM subscription"
_INSERT = (
    "INSERT INTO subscription (sentinel_id, page_id, label, revision, next_tick, active)"
    " VALUES (:sentinel_id, :page_id, :label, 1, :next_tick, :active) ON CONFLICT (sentinel_id, page_id, label) DO NOTHING"
)
# A sentinel that was altered while its page was looked at ticks as it says now; what was taken is taken.
_MOVE = (
    "UPDATE subscription SET next_tick = CASE WHEN revision = :revision THEN :next_tick ELSE next_tick END, base = :base,"
    " taken = :taken, ticked_at = :ticked_at, missing = :missing WHERE id = :subscription_id"
)


def listing(
    c: Connection, *, active: bool | None = None, sentinel_id: int | None = None, page_id: int | None = None
) -> list[SubscriptionRow]:
    """Return subscriptions in the order of ids, narrowed by what is given."""
    wanted = {"active": None if active is None else int(active), "sentinel_id": sentinel_id, "page_id": page_id}
    given = {name: value for name, value in wanted.items() if value is not None}
    rows = c.rows(select(_SELECT, (f"{name} = :{name}" for name in given), "ORDER BY id"), **given)
    return [_to_row(row) for row in rows]


def add(c: Connection, *, sentinel_id: int, page_id: int, label: str, next_tick: Instant | None, active: bool) -> None:
    """Subscribe a sentinel to a page; a second time under the same label is the same subscription."""
    c.execute(_INSERT, sentinel_id=sentinel_id, page_id=page_id, label=label, next_tick=next_tick, active=int(active))


def activate(c: Connection, sentinel_id: int, *, active: bool) -> None:
    """Switch all subscriptions of a sentinel on or off; their cursors stay."""
    c.execute("UPDATE subscription SET active = :active WHERE sentinel_id = :id", active=int(active), id=sentinel_id)


def move(c: Connection, moves: Sequence[CursorMove]) -> None:
    """Write cursors, with the next tick only if the sentinel has not been altered since; `UnitError` if a subscription is not there."""
    rows = [
        (
            m.revision,
            m.next_tick,
            m.base,
            f"[{','.join(map(str, m.taken))}]",
            m.ticked_at,
            "" if m.missing is None else to_json([m.missing.seq, m.missing.revision, m.missing.names, m.missing.never]),
            m.subscription_id,
        )
        for m in moves
    ]
    if c.batch(_MOVE, rows) != len(rows):
        raise UnitError("a cursor names a subscription that is not there; nothing of this was written")


def _to_row(row: tuple[Any, ...]) -> SubscriptionRow:
    id_, sentinel_id, page_id, label, revision, base, taken, next_tick, ticked_at, active, missing = row
    numbers = () if taken == "[]" else tuple(from_json(taken))
    return SubscriptionRow(
        id_, sentinel_id, page_id, label, revision, base, numbers, next_tick, ticked_at, bool(active), _missing(missing)
    )


def _missing(text: str) -> Missing | None:
    if not text:
        return None
    seq, revision, names, never = from_json(text)
    return Missing(seq=seq, revision=revision, names=tuple(names), never=tuple(never))
