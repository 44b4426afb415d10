"""Pages in search results: who may see them, and which sentinels watch them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tidings.record import dataclass
from tidings.storage.db.connection import Connection, select
from tidings.storage.db.values import to_json
from tidings.storage.watches.events import OWNER
from tidings.storage.watches.sentinels import restrict_to_viewer

_SELECT = (
    "SELECT u.page_id, p.given, s.name FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id"
    " JOIN page p ON p.id = u.page_id"
)
_LISTED = {
    "sqlite": "u.page_id IN (SELECT value FROM json_each(:pages))",
    "postgresql": "u.page_id IN (SELECT CAST(value AS BIGINT) FROM json_array_elements_text(CAST(:pages AS JSON)))",
}
_TAGGED = "EXISTS (SELECT 1 FROM tag t WHERE t.sentinel_id = s.id AND t.name = :tag)"
_OPEN = "(p.owner_id IS NULL OR p.owner_id IN (:reader, :also))"
"""The condition that a page was fetched without a secret, or with one of the reader's own."""


@dataclass(frozen=True, slots=True)
class FindablePage:
    """A page that a reader may find: its address as given, and the sentinels that show it."""

    id: int
    url: str
    sentinels: tuple[str, ...]


def of(
    c: Connection,
    page_ids: Sequence[int],
    *,
    viewer: int | None,
    reader: int,
    sentinel: str = "",
    tag: str = "",
    ended: bool = False,
) -> dict[int, FindablePage]:
    """Return those of the pages that a reader may find.

    Args:
        page_ids: The pages.
        viewer: The owner who asks, None for one who sees all.
        reader: The owner with whose secrets pages may be shown; one who sees all also sees those of
            the installation.
        sentinel: Only pages of the sentinel of this name; "" for any.
        tag: Only pages of sentinels with this tag; "" for any.
        ended: Whether ended sentinels, and pages that sentinels have left, count.
    """
    conditions = [_LISTED[c.dialect], _OPEN, *restrict_to_viewer(viewer)]
    given: dict[str, Any] = {"pages": to_json(list(page_ids)), "reader": reader}
    given["also"] = OWNER if viewer is None else reader
    if viewer is not None:
        given["viewer"] = viewer
    if not ended:
        conditions += ["u.left_at IS NULL", "s.state <> 'ended'"]
    if sentinel:
        conditions.append("s.name = :sentinel")
        given["sentinel"] = sentinel
    if tag:
        conditions.append(_TAGGED)
        given["tag"] = tag
    urls: dict[int, str] = {}
    names: dict[int, dict[str, None]] = {}
    for page_id, url, name in c.rows(select(_SELECT, conditions, "ORDER BY u.id"), **given):
        urls[page_id] = url
        names.setdefault(page_id, {})[name] = None
    return {page_id: FindablePage(page_id, url, tuple(names[page_id])) for page_id, url in urls.items()}
