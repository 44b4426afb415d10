"""Which database this is."""

from __future__ import annotations

from dataclasses import dataclass

from tidings.errors import StoreDamagedError
from tidings.storage.connection import Connection


@dataclass(frozen=True, slots=True)
class Instance:
    """The name of this database, how often it was restored from a copy (part of every id that leaves it), the seed of gate 0."""

    id: str
    restore_epoch: int
    hash_seed: int


def load(c: Connection) -> Instance:
    """Return the one row."""
    row = c.one("SELECT id, restore_epoch, hash_seed FROM instance")
    if row is None:
        raise StoreDamagedError("the database does not say which one it is; put a copy of tidings.db back")
    return Instance(*row)
