"""Count the masked places of pages, for listings, without importing `noise`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.storage.observed import estimates

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection

LEARNED: Final = "noise"
"""The name of the rows with what was learned."""
KEPT: Final = "noise.kept"
"""The name of the rows with the masks that users have switched off, and on."""


def counts(connection: Connection) -> dict[int, int]:
    """Return how many places of each page are masked, for the pages with any."""
    kept = estimates.load_all(connection, KEPT)
    found: dict[int, int] = {}
    for page_id, state in estimates.load_all(connection, LEARNED).items():
        said = kept.get(page_id, {})
        wanted = said.get("wanted", ())
        ids = {thing["id"] for thing in state["things"] if thing["since"] or thing["id"] in wanted}
        if number := len(ids.difference(said.get("names", ()))):
            found[page_id] = number
    return found
