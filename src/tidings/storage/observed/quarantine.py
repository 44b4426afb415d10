"""Bodies that were withheld, and why (contracts §4); `commit` writes them with their poll."""

from __future__ import annotations

from tidings.model.unit import Quarantined
from tidings.storage.db.connection import Connection


def listing(c: Connection, page_id: int) -> list[Quarantined]:
    """Return what was withheld of a page, oldest first."""
    rows = c.rows(
        "SELECT page_id, at, kind, sha256, reason FROM quarantine WHERE page_id = :page_id ORDER BY at, id",
        page_id=page_id,
    )
    return [Quarantined(page_id=p, at=at, kind=kind, sha256=sha, reason=reason) for p, at, kind, sha, reason in rows]
