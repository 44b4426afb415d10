"""Public pages: the changes of an owner's sentinels with a tag, for everybody who has the address.

The last part of the address is stored as it is, so that its owner sees it again: what it opens
stands in the same database.
"""

from __future__ import annotations

from typing import Any, Final

from tidings.model.interval import Instant
from tidings.record import dataclass
from tidings.storage.db.connection import Connection, select

_SELECT: Final = "SELECT p.token, p.owner_id, p.tag, p.created_at, o.name, o.role FROM published_tag p JOIN owner o ON o.id = p.owner_id"
_PUBLISH: Final = (
    "INSERT INTO published_tag (token, owner_id, tag, created_at) VALUES (:token, :owner_id, :tag, :at)"
    " ON CONFLICT (owner_id, tag) DO NOTHING"
)
_TAGGED: Final = (
    "s.state <> 'ended'",
    "(s.owner_id = :owner_id OR (s.owner_id = 1 AND :is_admin = 1))",
    "EXISTS (SELECT 1 FROM tag t WHERE t.sentinel_id = s.id AND t.name = :tag)",
)
_PRIVATE: Final = (
    "SELECT 1 FROM subscription u JOIN page p ON p.id = u.page_id WHERE u.sentinel_id = s.id AND (p.headers <> '[]' OR p.body <> ''"
    " OR p.login <> '' OR p.steps <> '' OR p.proxy <> '' OR p.trust <> '' OR p.owner_id IS NOT NULL"
    " OR p.method <> 'GET' OR NOT (p.url LIKE 'http://%' OR p.url LIKE 'https://%'))"
)
"""Pages that a sentinel asks for, or did, as not everybody could: with headers, a body, a login,
steps, a proxy or a certificate of its own, with a secret, or as the output of a command.
"""
_PUBLIC: Final = (
    *_TAGGED,
    "EXISTS (SELECT 1 FROM subscription u WHERE u.sentinel_id = s.id)",
    f"NOT EXISTS ({_PRIVATE})",
)


@dataclass(frozen=True, slots=True)
class PublishedTag:
    """A public page: the last part of its address, and whose sentinels with which tag it shows.

    `name` and `role` are those of the owner's account, empty for the installation itself.
    """

    token: str
    owner_id: int
    tag: str
    created_at: Instant
    name: str
    role: str

    @property
    def is_open(self) -> bool:
        """Return whether its owner may publish now: a reader may not."""
        return self.role != "reader"


def publish(c: Connection, token: str, *, owner_id: int, tag: str, at: Instant) -> PublishedTag:
    """Store a public page, and return it; the one that is there already stays.

    Args:
        token: The last part of its address, unguessable.
        owner_id: Whose sentinels it shows.
        tag: Which of them.
        at: When it is made (µs).
    """
    c.execute(_PUBLISH, token=token, owner_id=owner_id, tag=tag, at=at)
    row = c.one(f"{_SELECT} WHERE p.owner_id = :owner_id AND p.tag = :tag", owner_id=owner_id, tag=tag)
    assert row is not None  # noqa: S101 - it was just stored
    return PublishedTag(*row)


def find(c: Connection, token: str) -> PublishedTag | None:
    """Return the public page at an address, None if there is none or its owner may not publish."""
    row = c.one(f"{_SELECT} WHERE p.token = :token", token=token)
    found = None if row is None else PublishedTag(*row)
    return found if found is not None and found.is_open else None


def listing(c: Connection, *, owner_id: int | None = None) -> list[PublishedTag]:
    """Return the public pages of an owner, None for all, by tag."""
    given: dict[str, Any] = {} if owner_id is None else {"owner_id": owner_id}
    text = select(_SELECT, [f"p.{name} = :{name}" for name in given], "ORDER BY p.tag, o.name")
    return [PublishedTag(*row) for row in c.rows(text, **given)]


def revoke(c: Connection, token: str, *, owner_id: int | None = None) -> bool:
    """Remove a public page, of this owner (None: of any); return whether there was one."""
    text, given = "DELETE FROM published_tag WHERE token = :token", {"token": token}
    if owner_id is not None:
        return bool(c.execute(f"{text} AND owner_id = :owner_id", owner_id=owner_id, **given))
    return bool(c.execute(text, **given))


def list_sentinels(c: Connection, page: PublishedTag, *, is_private: bool = False) -> list[int]:
    """Return the sentinels that a public page shows; with `is_private` those that it leaves out."""
    conditions = (
        [*_TAGGED, f"s.id NOT IN ({select('SELECT s.id FROM sentinel s', _PUBLIC)})"] if is_private else _PUBLIC
    )
    rows = c.rows(select("SELECT s.id FROM sentinel s", conditions, "ORDER BY s.name"), **_parameters_of(page))
    return [row[0] for row in rows]


def list_changes(c: Connection, page: PublishedTag, *, limit: int, before: str = "") -> list[str]:
    """Return the ids of the changes that a public page shows, newest first.

    Args:
        page: The page.
        limit: How many at most.
        before: The change after which the list begins, empty for the newest.
    """
    conditions, given = ["ch.quiet = 0", *_PUBLIC], _parameters_of(page)
    if before:
        conditions.append("(ch.detected_at, ch.id) < (SELECT b.detected_at, b.id FROM change b WHERE b.id = :before)")
        given["before"] = before
    base, tail = "SELECT ch.id FROM change ch JOIN sentinel s ON s.id = ch.sentinel_id", "LIMIT :limit"
    text = select(base, conditions, f"ORDER BY ch.detected_at DESC, ch.id DESC {tail}")
    return [row[0] for row in c.rows(text, limit=limit, **given)]


def _parameters_of(page: PublishedTag) -> dict[str, Any]:
    return {"owner_id": page.owner_id, "is_admin": int(page.role == "admin"), "tag": page.tag}
