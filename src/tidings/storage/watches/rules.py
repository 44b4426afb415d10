"""The states of sentinels' rules, plain JSON, and how far they have followed the log of events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.model.observed.unit import RuleState
from tidings.storage.db.connection import Connection
from tidings.storage.db.values import from_json, to_json
from tidings.storage.watches.events import OWNER

_GET = "SELECT state FROM rule_state WHERE sentinel_id = :sentinel_id AND name = :name"
_PUT = (
    "INSERT INTO rule_state (sentinel_id, name, state) VALUES (:sentinel_id, :name, :state)"
    " ON CONFLICT (sentinel_id, name) DO UPDATE SET state = excluded.state"
)
_DELETE = "DELETE FROM rule_state WHERE sentinel_id = :sentinel_id AND name = :name"


def get(c: Connection, sentinel_id: int, name: str) -> Mapping[str, Any] | None:
    """Return the state of a rule, or None."""
    state = c.value(_GET, sentinel_id=sentinel_id, name=name)
    if state is None:
        return None
    found: Mapping[str, Any] = from_json(state)
    return found


def listing(c: Connection, name: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Return (sentinel, state) of all rules of that name, in the order of the sentinels."""
    text = "SELECT sentinel_id, state FROM rule_state WHERE name = :name ORDER BY sentinel_id"
    return [(sentinel_id, from_json(state)) for sentinel_id, state in c.rows(text, name=name)]


def get_followed(c: Connection) -> int:
    """Return the number of the last event that all rules have processed."""
    return int(c.value("SELECT rules_seq FROM owner WHERE id = :owner_id", owner_id=OWNER) or 0)


def follow(c: Connection, seq: int, *, forget: str) -> None:
    """Store how far all rules have followed the log, and delete the states of name `forget`, which
    were needed until then.
    """
    c.execute("UPDATE owner SET rules_seq = :seq WHERE id = :owner_id", seq=seq, owner_id=OWNER)
    c.execute("DELETE FROM rule_state WHERE name = :name", name=forget)


def put(c: Connection, states: Sequence[RuleState]) -> None:
    """Store states; None deletes one."""
    for rule in states:
        key = {"sentinel_id": rule.sentinel_id, "name": rule.name}
        if rule.state is None:
            c.execute(_DELETE, **key)
        else:
            c.execute(_PUT, **key, state=to_json(dict(rule.state)))
