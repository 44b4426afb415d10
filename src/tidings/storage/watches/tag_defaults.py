"""Defaults of tags: `Defaults For Tags …`, as the language prints it, per tag."""

from __future__ import annotations

from tidings.storage.db.connection import Connection
from tidings.storage.watches.events import OWNER

_GET = "SELECT text FROM tag_default WHERE owner_id = :owner_id AND tag = :tag"
_PUT = (
    "INSERT INTO tag_default (owner_id, tag, text) VALUES (:owner_id, :tag, :text)"
    " ON CONFLICT (owner_id, tag) DO UPDATE SET text = excluded.text"
)
_DELETE = "DELETE FROM tag_default WHERE owner_id = :owner_id AND tag = :tag"
_LIST = "SELECT tag, text FROM tag_default WHERE owner_id = :owner_id ORDER BY tag"


def get(c: Connection, tag: str) -> str | None:
    """Return the statement of a tag, or None."""
    text: str | None = c.value(_GET, owner_id=OWNER, tag=tag)
    return text


def put(c: Connection, tag: str, text: str | None) -> None:
    """Store the statement of a tag; None deletes it."""
    if text is None:
        c.execute(_DELETE, owner_id=OWNER, tag=tag)
    else:
        c.execute(_PUT, owner_id=OWNER, tag=tag, text=text)


def listing(c: Connection) -> dict[str, str]:
    """Return the statement of each tag that has one, in alphabetical order."""
    return dict(c.rows(_LIST, owner_id=OWNER))
