"""Erase an account's data: rows keep their numbers and lose their content."""

from __future__ import annotations

import json
from typing import Final

from tidings.storage.db.connection import Connection

_OF_SENTINEL: Final = ("delivery", "change", "watched_value", "rule_state", "tag", "request", "collection_page")
"""Tables whose rows are deleted with their sentinel."""
_WATCHED: Final = (
    "SELECT 1 FROM subscription u JOIN sentinel s ON s.id = u.sentinel_id"
    " WHERE u.page_id = :id AND s.owner_id <> :owner_id LIMIT 1"
)
_OF_PAGE: Final = ("estimate", "hint", "quarantine", "comparison", "page_member", "websub")
_OF_VERSION: Final = ("digest", "version_member")
_REMOVED: Final = "https://removed.invalid/"


def is_of_others(c: Connection, page_id: int, owner_id: int) -> bool:
    """Return whether a sentinel of another owner watches, or watched, a page."""
    return c.value(_WATCHED, id=page_id, owner_id=owner_id) is not None


def marks(c: Connection, owner_id: int) -> list[tuple[str, bool, bool]]:
    """Return the changes that an owner has marked: (id, is read, is kept)."""
    text = "SELECT change_id, read_at, kept_at FROM inbox_mark WHERE owner_id = :id ORDER BY change_id"
    return [(id_, read is not None, kept is not None) for id_, read, kept in c.rows(text, id=owner_id)]


def empty_account(c: Connection, owner_id: int) -> None:
    """Empty an account's row except for its number."""
    for table in ("session", "token", "shared_tag", "inbox_mark"):
        c.execute(f"DELETE FROM {table} WHERE owner_id = :id", id=owner_id)
    gone = f"removed-{owner_id}"
    c.execute(
        "UPDATE owner SET name = :gone, role = '', password = '', zone = '' WHERE id = :id", gone=gone, id=owner_id
    )


def empty_sentinel(c: Connection, id_: int) -> None:
    """Empty a sentinel's row except for its number, so that the log of events stays without a
    gap.
    """
    name = f"removed-{id_}"
    for table in _OF_SENTINEL:
        c.execute(f"DELETE FROM {table} WHERE sentinel_id = :id", id=id_)
    text = f"Create Sentinel {name} Using {_REMOVED}\n  Monitor any change"
    c.execute("UPDATE sentinel_revision SET text = :text WHERE sentinel_id = :id", text=text, id=id_)
    c.execute("UPDATE subscription SET label = '', remembered = '', learned = '' WHERE sentinel_id = :id", id=id_)
    c.execute("UPDATE sentinel SET name = :name WHERE id = :id", name=name, id=id_)
    c.execute("UPDATE event SET data = '{}', change_id = NULL WHERE sentinel_id = :id AND type LIKE 'change.%'", id=id_)
    data = json.dumps({"name": name, "before": "enabled", "reason": "dropped"})
    c.execute("UPDATE event SET data = :data WHERE sentinel_id = :id AND type LIKE 'sentinel.%'", data=data, id=id_)


def empty_page(c: Connection, page_id: int) -> None:
    """Empty a page's row except for its number."""
    for table in _OF_VERSION:
        where = "version_id IN (SELECT id FROM version WHERE page_id = :id)"
        c.execute(f"DELETE FROM {table} WHERE {where}", id=page_id)
    for table in _OF_PAGE:
        c.execute(f"DELETE FROM {table} WHERE page_id = :id", id=page_id)
    counted = c.execute("DELETE FROM version WHERE page_id = :id", id=page_id)
    address = f"{_REMOVED}{page_id}"
    c.execute(
        "UPDATE page SET collected = collected + :counted, key = :address, url = :address, given = :address,"
        " host = 'removed.invalid', headers = '[]', body = '', title = '', reason = '', final_url = '', moved_to = '',"
        " body_size = -1, body_xxh3 = '', text_digest = '', etag = NULL, last_modified = NULL WHERE id = :id",
        counted=counted,
        address=address,
        id=page_id,
    )
    c.execute("UPDATE poll SET note = '' WHERE page_id = :id", id=page_id)
    c.execute("UPDATE event SET data = '{}' WHERE page_id = :id AND type LIKE 'page.%'", id=page_id)
