"""The states of rules of sentinels, plain JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidings.model.unit import RuleState
from tidings.storage.connection import Connection
from tidings.storage.values import from_json, to_json

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


def put(c: Connection, states: Sequence[RuleState]) -> None:
    """Write states; None takes one away."""
    for rule in states:
        key = {"sentinel_id": rule.sentinel_id, "name": rule.name}
        if rule.state is None:
            c.execute(_DELETE, **key)
        else:
            c.execute(_PUT, **key, state=to_json(dict(rule.state)))
