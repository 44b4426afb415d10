"""Saturated: what is told, once, of a page that looks different each time: what differs, and how it can be left out (`estimation.saturation`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.presentation.writing import cut
from tidings.storage.watches import changes

if TYPE_CHECKING:
    from tidings.detection.noise.memory import Memory
    from tidings.storage.db.connection import Connection

LONGEST: Final = 160
"""So much is kept of what a page showed."""


def evidence(connection: Connection, page_id: int, memory: Memory | None) -> dict[str, str]:
    """Return what a page showed before and shows now, and the mask that would leave it out, "" if none would.

    Best is what is known to differ at nearly every look and may be masked; else what was new in the newest change that was found.
    """
    if memory is not None and memory.offers:
        thing = max(memory.offers, key=lambda one: one.changed)
        return {"showed": thing.examples[0], "shows": thing.examples[1], "mask": thing.id}
    old = new = ""
    for stored in changes.listing(connection, page_id=page_id, limit=1):
        found = stored.row.found
        old, new = (*found.updated, (next(iter(found.deleted), ""), next(iter(found.inserted), "")))[0]
    return {"showed": cut(old, LONGEST), "shows": cut(new, LONGEST), "mask": ""}
