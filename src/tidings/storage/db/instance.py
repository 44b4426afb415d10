"""The identity of this database."""

from __future__ import annotations

from tidings.errors import StoreDamagedError
from tidings.record import dataclass
from tidings.storage.db.connection import Connection


@dataclass(frozen=True, slots=True)
class DatabaseInstance:
    """The name of this database, its epoch (raised at each restore, part of every exported id), and
    the seed of gate 0.
    """

    id: str
    restore_epoch: int
    hash_seed: int


def load(c: Connection) -> DatabaseInstance:
    """Return the one row."""
    row = c.one("SELECT id, restore_epoch, hash_seed FROM instance")
    if row is None:
        raise StoreDamagedError("the database has no identity; put a copy of tidings.db back")
    return DatabaseInstance(*row)


def raise_epoch(c: Connection, by: int) -> None:
    """Raise the epoch, so that ids start anew. `by` is random: a copy that is restored twice must
    not assign the same ids twice.
    """
    c.execute("UPDATE instance SET restore_epoch = restore_epoch + :by", by=by)


def place(c: Connection) -> str:
    """Return the mark that distinguishes the directory of this database from its copies, "" before
    it was first stored.
    """
    return str(c.value("SELECT place FROM instance"))


def set_place(c: Connection, place: str) -> None:
    """Store the mark that distinguishes the directory of this database from its copies."""
    c.execute("UPDATE instance SET place = :place", place=place)
