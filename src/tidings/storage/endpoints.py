"""Endpoints: where news go, one row per channel and address, with its health (trust.md F-28)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tidings.errors import UnitError
from tidings.model.interval import Instant
from tidings.model.unit import EndpointMove
from tidings.storage.connection import Connection
from tidings.storage.events import OWNER
from tidings.storage.values import plain


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """`failing_since` is None while its last attempt worked; a switched-off endpoint says why in `reason`.

    Nothing is sent before `held_until` because it asked for that; `noticed`: its owner was notified that it takes nothing.
    """

    id: int
    kind: str
    address: str
    enabled: bool
    failing_since: Instant | None
    reason: str
    held_until: Instant | None = None
    noticed: bool = False


_SELECT = "SELECT id, kind, address, enabled, failing_since, reason, held_until, noticed FROM endpoint"
_ENSURE = (
    "INSERT INTO endpoint (owner_id, kind, address) VALUES (:owner_id, :kind, :address)"
    " ON CONFLICT (owner_id, kind, address) DO NOTHING RETURNING id"
)
_FIND = "SELECT id FROM endpoint WHERE owner_id = :owner_id AND kind = :kind AND address = :address"
_MOVE = (
    "UPDATE endpoint SET failing_since = :failing_since, enabled = :enabled, reason = :reason, tried_at = COALESCE(:tried_at, tried_at),"
    " held_until = :held_until, noticed = :noticed WHERE id = :endpoint_id"
)


def ensure(c: Connection, kind: str, address: str) -> int:
    """Return the id of the endpoint, made if it is new."""
    given = {"owner_id": OWNER, "kind": kind, "address": address}
    found = c.value(_ENSURE, **given)
    return int(c.value(_FIND, **given) if found is None else found)


def get(c: Connection, id: int) -> EndpointRow | None:  # noqa: A002
    """Return endpoint `id`, or None."""
    row = c.one(f"{_SELECT} WHERE id = :id", id=id)
    return None if row is None else _to_row(row)


def ids(c: Connection, channels: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the id of each endpoint (kind, address) that is there; news for one that is switched off wait until it is on again."""
    found = {}
    for kind, address in channels:
        id_ = c.value(_FIND, owner_id=OWNER, kind=kind, address=address)
        if id_ is not None:
            found[kind, address] = int(id_)
    return found


def listing(c: Connection) -> list[EndpointRow]:
    """Return all endpoints in the order of ids."""
    return [_to_row(row) for row in c.rows(f"{_SELECT} ORDER BY id")]


def move(c: Connection, moves: Sequence[EndpointMove]) -> None:
    """Write what attempts say of endpoints; `UnitError` if one is not there."""
    rows = [
        {
            "endpoint_id": m.endpoint_id,
            "failing_since": m.failing_since,
            "enabled": int(m.enabled),
            "reason": plain(m.reason),
            "tried_at": m.tried_at,
            "held_until": m.held_until,
            "noticed": int(m.noticed),
        }
        for m in moves
    ]
    if c.many(_MOVE, rows) != len(rows):
        raise UnitError("an attempt names an endpoint that is not there; nothing of this was written")


def _to_row(row: tuple[Any, ...]) -> EndpointRow:
    id_, kind, address, enabled, failing_since, reason, held_until, noticed = row
    return EndpointRow(id_, kind, address, bool(enabled), failing_since, reason, held_until, bool(noticed))
