"""Find sentinels by name, for commands that take one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from tidings.errors import UnknownNameError
from tidings.service.watch.lifespan import Life
from tidings.service.watch.watchlist import read_meaning
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from tidings.service.watch import lifespan
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow


def find(connection: Connection, name: str, *, viewer: int | None = None) -> SentinelRow:
    """Return the sentinel of that name. Raises `UnknownNameError` with the nearest name that
    `viewer` sees (None: of all) if there is none.
    """
    try:
        return sentinels.find(connection, name)
    except UnknownNameError:
        raise unknown(connection, name, viewer=viewer) from None


def unknown(connection: Connection, name: str, *, viewer: int | None = None) -> UnknownNameError:
    """Return the error for a name that no sentinel has, with the nearest name that `viewer` sees
    (None: of all).
    """
    near = difflib.get_close_matches(name, sentinels.names(connection, viewer=viewer), n=1)
    return UnknownNameError(
        f'there is no sentinel "{name}"' + (f"; did you mean {near[0]}?" if near else "; `tidings list` shows all")
    )


def find_past(connection: Connection, name: str) -> SentinelRow:
    """Return the sentinel of that name, else the last dropped one that had it, whose findings still
    exist. Raises what `find` raises.
    """
    return sentinels.last_of(connection, name) or find(connection, name)


def lives(connection: Connection, *, dropped: bool = False) -> lifespan.Find:
    """Return a function that finds a sentinel's life by name; with `dropped` also that of the last
    dropped one, as in the service.
    """

    def find_life(name: str) -> Life | None:
        try:
            row: SentinelRow | None = sentinels.find(connection, name)
        except UnknownNameError:
            row = sentinels.last_holder(connection, name) if dropped else None
        return None if row is None else Life.of(row, read_meaning(row))

    return find_life
