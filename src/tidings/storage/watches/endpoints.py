"""Endpoints: one row per channel and address, with its health (F-28)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from tidings.errors import UnitError
from tidings.model.interval import Duration, Instant
from tidings.model.observed.unit import EndpointMove
from tidings.model.watch.notifying import REFERENCE
from tidings.record import dataclass, replace
from tidings.storage.db.connection import Connection, plain
from tidings.storage.watches.events import OWNER
from tidings.storage.watches.sentinels import SEEN


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """`failing_since` is None if its last attempt succeeded; a switched-off endpoint says why in
    `reason`.

    Nothing is sent before `paused_until`, at its request; `noticed`: its owner was notified that it
    accepts nothing. An address that may hold a token is a secret, to which `address` refers;
    `scheme` is that of Apprise, if known.
    """

    id: int
    kind: str
    address: str
    enabled: bool
    failing_since: Instant | None
    reason: str
    paused_until: Instant | None = None
    noticed: bool = False
    scheme: str = ""

    @property
    def is_failing(self) -> bool:
        """Return whether it is switched off, accepted no last message, or could not be sent one."""
        return not self.enabled or self.failing_since is not None or bool(self.reason)


_SELECT = "SELECT id, kind, address, enabled, failing_since, reason, held_until, noticed, scheme FROM endpoint"
_ENSURE = (
    "INSERT INTO endpoint (owner_id, kind, address) VALUES (:owner_id, :kind, :address)"
    " ON CONFLICT (owner_id, kind, address) DO NOTHING RETURNING id"
)
_FIND = "SELECT id FROM endpoint WHERE owner_id = :owner_id AND kind = :kind AND address = :address"
_MOVE = (
    "UPDATE endpoint SET failing_since = :failing_since, enabled = :enabled, reason = :reason, tried_at = COALESCE(:tried_at, tried_at),"
    " held_until = :held_until, noticed = :noticed WHERE id = :endpoint_id"
)


NEWEST: Final = 100
"""How many of the newest messages to an endpoint its usual time is computed from."""
_TALLY: Final = (
    "SELECT t.endpoint_id, t.status, sum(t.many) FROM ("
    "SELECT endpoint_id, sentinel_id, 'finished' AS status, count(*) AS many FROM delivery"
    " WHERE finished_at IS NOT NULL GROUP BY endpoint_id, sentinel_id UNION ALL "
    "SELECT endpoint_id, sentinel_id, 'dead', count(*) FROM delivery WHERE status = 'dead' GROUP BY endpoint_id, sentinel_id UNION ALL "
    "SELECT endpoint_id, sentinel_id, 'waiting', count(*) FROM delivery WHERE status = 'waiting' GROUP BY endpoint_id, sentinel_id"
    ") t JOIN sentinel s ON s.id = t.sentinel_id WHERE {seen} GROUP BY t.endpoint_id, t.status"
)
_NEWEST: Final = (
    "WITH n AS MATERIALIZED (SELECT e.id, COALESCE((SELECT x.finished_at"
    " FROM delivery x JOIN sentinel s ON s.id = x.sentinel_id WHERE x.endpoint_id = e.id AND x.finished_at IS NOT NULL AND {seen}"
    " ORDER BY x.finished_at DESC LIMIT 1 OFFSET :newest - 1), 0) AS since FROM endpoint e) SELECT d.endpoint_id, d.finished_at,"
    " d.finished_at - d.created_at FROM n CROSS JOIN delivery d JOIN sentinel s ON s.id = d.sentinel_id"
    " WHERE d.endpoint_id = n.id AND d.finished_at >= n.since AND d.status = 'delivered' AND {seen}"
    " ORDER BY d.endpoint_id, d.finished_at"
)


@dataclass(frozen=True, slots=True)
class MessageCounts:
    """What became of the messages to an endpoint: how many were delivered, wait and are dead; how
    long the newest took from their creation (µs), the last one at `last_at`.
    """

    delivered: int = 0
    waiting: int = 0
    dead: int = 0
    times: tuple[Duration, ...] = ()
    last_at: Instant | None = None


def ensure(c: Connection, kind: str, address: str) -> int:
    """Return the id of the endpoint, creating it if it is new."""
    given = {"owner_id": OWNER, "kind": kind, "address": address}
    found = c.value(_ENSURE, **given)
    return int(c.value(_FIND, **given) if found is None else found)


def get(c: Connection, id: int) -> EndpointRow | None:
    """Return endpoint `id`, or None."""
    row = c.one(f"{_SELECT} WHERE id = :id", id=id)
    return None if row is None else _to_row(row)


def ids(c: Connection, channels: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """Return the id of each known endpoint (kind, address); messages for a switched-off one wait
    until it is on again.
    """
    found = {}
    for kind, address in channels:
        id_ = c.value(_FIND, owner_id=OWNER, kind=kind, address=address)
        if id_ is not None:
            found[kind, address] = int(id_)
    return found


def listing(c: Connection) -> list[EndpointRow]:
    """Return all endpoints in the order of ids."""
    return [_to_row(row) for row in c.rows(f"{_SELECT} ORDER BY id")]


def count_messages(c: Connection, *, viewer: int | None = None) -> dict[int, MessageCounts]:
    """Return what became of the messages to each endpoint that has any, of the sentinels that
    `viewer` sees (None: all).
    """
    given: dict[str, Any] = {} if viewer is None else {"viewer": viewer}
    seen = "1 = 1" if viewer is None else SEEN
    counts: dict[int, dict[str, int]] = {}
    for id_, status, many in c.rows(_TALLY.format(seen=seen), **given):
        counts.setdefault(id_, {})[status] = int(many)
    found = {
        id_: MessageCounts(of.get("finished", 0) - of.get("dead", 0), of.get("waiting", 0), of.get("dead", 0))
        for id_, of in counts.items()
    }
    newest: dict[int, list[tuple[Instant, Duration]]] = {}
    for id_, at, took in c.rows(_NEWEST.format(seen=seen), newest=NEWEST, **given):
        newest.setdefault(id_, []).append((at, took))
    for id_, of in newest.items():
        found[id_] = replace(found[id_], times=tuple(took for _, took in of), last_at=of[-1][0])
    return found


def schemes(c: Connection) -> dict[int, str]:
    """Return the scheme of each Apprise endpoint, empty if unknown."""
    return dict(c.rows("SELECT id, scheme FROM endpoint WHERE kind = 'apprise' ORDER BY id"))


def without_scheme(c: Connection) -> list[EndpointRow]:
    """Return the Apprise endpoints whose scheme is unknown."""
    return [_to_row(row) for row in c.rows(f"{_SELECT} WHERE kind = 'apprise' AND scheme = '' ORDER BY id")]


def set_scheme(c: Connection, id: int, scheme: str) -> None:
    """Store the scheme of an Apprise endpoint."""
    c.execute("UPDATE endpoint SET scheme = :scheme WHERE id = :id", id=id, scheme=scheme)


def referring(c: Connection, name: str) -> list[EndpointRow]:
    """Return the endpoints whose address is the secret of this name."""
    text = f"{_SELECT} WHERE owner_id = :owner_id AND address = :address ORDER BY id"
    return [_to_row(row) for row in c.rows(text, owner_id=OWNER, address=f"{REFERENCE}{name}")]


def refer(c: Connection, id: int, reference: str) -> None:
    """Replace an endpoint's address by a reference."""
    c.execute("UPDATE endpoint SET address = :address WHERE id = :id", id=id, address=reference)


def renew(c: Connection, id: int) -> None:
    """Reset the failures of an endpoint whose address has changed; its owner is still notified that
    it accepts messages again.
    """
    c.execute(
        "UPDATE endpoint SET enabled = 1, failing_since = NULL, reason = '', held_until = NULL WHERE id = :id", id=id
    )


def forget(c: Connection, address: str, instead: str) -> None:
    """Replace an address by `instead` in the notes on attempts."""
    given = {"address": address, "instead": instead}
    c.execute("UPDATE endpoint SET reason = replace(reason, :address, :instead) WHERE reason <> ''", **given)
    c.execute("UPDATE delivery SET error = replace(error, :address, :instead) WHERE error <> ''", **given)


def forget_in_events(c: Connection, address: str, instead: str) -> None:
    """Replace an address by `instead` in events of deliveries, both in JSON form."""
    c.execute(
        "UPDATE event SET data = replace(data, :address, :instead) WHERE type IN ('delivery.dead', 'endpoint.failing', 'endpoint.off', 'endpoint.ok')",
        address=address,
        instead=instead,
    )


def drop(c: Connection, id: int) -> None:
    """Remove an endpoint to which no message was ever sent, or whose messages are removed; another
    loses its address.
    """
    if c.value("SELECT 1 FROM delivery WHERE endpoint_id = :id LIMIT 1", id=id) is None:
        c.execute("DELETE FROM endpoint WHERE id = :id", id=id)
    else:
        c.execute("UPDATE endpoint SET address = :gone, reason = '' WHERE id = :id", id=id, gone=f"removed-{id}")


def move(c: Connection, moves: Sequence[EndpointMove]) -> None:
    """Store the state of endpoints after attempts. Raise `UnitError` if one does not exist."""
    rows = [
        {
            "endpoint_id": m.endpoint_id,
            "failing_since": m.failing_since,
            "enabled": int(m.enabled),
            "reason": plain(m.reason),
            "tried_at": m.tried_at,
            "held_until": m.paused_until,
            "noticed": int(m.noticed),
        }
        for m in moves
    ]
    if c.many(_MOVE, rows) != len(rows):
        raise UnitError("an attempt names an endpoint that is not there; nothing was written")


def _to_row(row: tuple[Any, ...]) -> EndpointRow:
    id_, kind, address, enabled, failing_since, reason, paused_until, noticed, scheme = row
    return EndpointRow(id_, kind, address, bool(enabled), failing_since, reason, paused_until, bool(noticed), scheme)
