"""How much of pages is left out as noise, for verbs that list: read without what learns it, which `noise` brings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tidings.storage.observed import estimates

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection

LEARNED: Final = "noise"
"""The name of the rows that hold what was learned."""
KEPT: Final = "noise.kept"
"""The name of the rows that hold which masks people have switched off, and which on that are none by themselves."""


def counts(connection: Connection) -> dict[int, int]:
    """Return how many places of each page are left out as noise, for the pages where any is."""
    kept = estimates.load_all(connection, KEPT)
    found: dict[int, int] = {}
    for page_id, state in estimates.load_all(connection, LEARNED).items():
        said = kept.get(page_id, {})
        wanted = said.get("wanted", ())
        ids = {thing["id"] for thing in state["things"] if thing["since"] or thing["id"] in wanted}
        if number := len(ids.difference(said.get("names", ()))):
            found[page_id] = number
    return found
