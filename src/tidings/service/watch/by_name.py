"""Sentinels by their names, for verbs that ask about one."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from tidings.errors import UnknownNameError
from tidings.service.watch.lifespan import Life
from tidings.service.watch.watchlist import meaning
from tidings.storage.watches import sentinels

if TYPE_CHECKING:
    from tidings.service.watch import lifespan
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow


def find(connection: Connection, name: str) -> SentinelRow:
    """Return the sentinel of that name; `UnknownNameError` with the nearest names if there is none."""
    try:
        return sentinels.find(connection, name)
    except UnknownNameError:  # only now all names are read: a check may name every sentinel there is
        near = difflib.get_close_matches(name, sentinels.names(connection), n=1)
    message = f'there is no sentinel "{name}"' + (
        f"; did you mean {near[0]}?" if near else "; `tidings list` shows all"
    )
    raise UnknownNameError(message)


def find_past(connection: Connection, name: str) -> SentinelRow:
    """Return the sentinel of that name, else the one that had it last and was dropped: what it found is still there. Raises what `find` does."""
    return sentinels.last_of(connection, name) or find(connection, name)


def lives(connection: Connection, *, dropped: bool = False) -> lifespan.Find:
    """Return what finds the life of the sentinel of a name; with `dropped` also that of the last one that was dropped, as the service does."""

    def find_life(name: str) -> Life | None:
        try:
            row: SentinelRow | None = sentinels.find(connection, name)
        except UnknownNameError:
            row = sentinels.last_holder(connection, name) if dropped else None
        return None if row is None else Life.of(row, meaning(row.text))

    return find_life
