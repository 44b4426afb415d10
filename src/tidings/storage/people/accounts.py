"""Accounts: owners with a role. Owner 1 is the installation itself, whose sentinels belong to
everybody; it is no account.

At its end an account's data are erased: rows keep their numbers and lose their content.
"""

from __future__ import annotations

import json
import unicodedata
from typing import Final, Literal

from tidings.errors import UnknownNameError, UsageError
from tidings.model.interval import Instant
from tidings.model.watch.sentinel import share_of
from tidings.record import dataclass, replace
from tidings.settings import Settings
from tidings.storage.db.connection import Connection

Role = Literal["reader", "editor", "admin"]
LONGEST_NAME: Final = 64
ROLES: tuple[Role, ...] = ("reader", "editor", "admin")


@dataclass(frozen=True, slots=True)
class AccountRow:
    """An account; `password` is its argon2id hash, empty if no password opens it, `zone` the time
    zone of displayed times, empty for that of the browser, `checks_per_day` the share of the budget
    of its sentinels, 0 for none.
    """

    id: int
    name: str
    role: Role
    password: str
    created_at: Instant
    zone: str = ""
    checks_per_day: float = 0.0


_SELECT = "SELECT id, name, role, password, created_at, zone, checks_per_day FROM owner WHERE role <> ''"
_INSERT = (  # the first owner was stored with an explicit number, unknown to the sequence
    "INSERT INTO owner (id, name, role, password, created_at)"
    " VALUES ((SELECT max(id) + 1 FROM owner), :name, :role, :password, :at) RETURNING id"
)


def add(c: Connection, name: str, role: Role, password: str, *, at: Instant) -> AccountRow:
    """Create an account and return its row. Raise `UsageError` if its name is taken.

    Args:
        name: The name to sign in with.
        role: What its owner may do.
        password: Its argon2id hash, empty for none.
        at: When it is made (µs).
    """
    if fold(name) in {fold(row[0]) for row in c.rows("SELECT name FROM owner")}:
        raise UsageError(f"the user {name} already exists; `tidings user list` shows all")
    id_ = int(c.value(_INSERT, name=name, role=role, password=password, at=at))
    return AccountRow(id_, name, role, password, at)


def find(c: Connection, name: str) -> AccountRow | None:
    """Return the account of a name, ignoring case, or None."""
    return next((row for row in listing(c) if fold(row.name) == fold(name)), None)


def get(c: Connection, id: int) -> AccountRow | None:
    """Return account `id`, or None."""
    row = c.one(f"{_SELECT} AND id = :id", id=id)
    return None if row is None else AccountRow(*row)


def get_by_name(c: Connection, name: str) -> AccountRow:
    """Return the account of a name. Raise `UnknownNameError` if there is none."""
    if (row := find(c, name)) is None:
        raise UnknownNameError(f"there is no user {name}; `tidings user list` shows all")
    return row


def listing(c: Connection) -> list[AccountRow]:
    """Return all accounts by name."""
    return [AccountRow(*row) for row in c.rows(f"{_SELECT} ORDER BY lower(name)")]


def exist(c: Connection) -> bool:
    """Return whether there is an account."""
    return c.value("SELECT 1 FROM owner WHERE role <> '' LIMIT 1") is not None


def fold(name: str) -> str:
    """Return a name folded for comparison: SQLite's `lower` knows ASCII only. What is after the
    longest name does not count.
    """
    name = name[:LONGEST_NAME]
    return unicodedata.normalize("NFKC", name).casefold()


def names(c: Connection) -> dict[int, str]:
    """Return the name of each account by its number."""
    return {row[0]: row[1] for row in c.rows("SELECT id, name FROM owner WHERE role <> ''")}


def alter(
    c: Connection,
    id: int,
    *,
    role: Role | None = None,
    password: str | None = None,
    zone: str | None = None,
    checks_per_day: float | None = None,
) -> None:
    """Change an account; what is None stays.

    Args:
        id: The number of the account.
        role: Its role.
        password: The argon2id hash of its password.
        zone: The time zone of displayed times, empty for that of the browser.
        checks_per_day: What its sentinels may spend together, 0 for as much as the budget allows.
    """
    if checks_per_day is not None:
        text = "UPDATE owner SET checks_per_day = :checks WHERE id = :id"
        c.execute(text, checks=float(checks_per_day), id=id)
    if zone is not None:
        c.execute("UPDATE owner SET zone = :zone WHERE id = :id", zone=zone, id=id)
    if role is not None:
        c.execute("UPDATE owner SET role = :role WHERE id = :id", role=role, id=id)
    if password is not None:
        c.execute("UPDATE owner SET password = :password WHERE id = :id", password=password, id=id)


def add_shares(c: Connection, settings: Settings) -> Settings:
    """Return the settings with the share of each account as a class of the budget."""
    shares = {share_of(row.id): row.checks_per_day for row in listing(c) if row.checks_per_day}
    return replace(settings, budget=settings.budget.add_classes(shares)) if shares else settings


# -- shared tags -----------------------------------------------------------------------------------


def share(c: Connection, owner_id: int, tag: str) -> None:
    """Share an owner's sentinels of a tag with all accounts."""
    c.execute(
        "INSERT INTO shared_tag (owner_id, tag) VALUES (:owner_id, :tag) ON CONFLICT (owner_id, tag) DO NOTHING",
        owner_id=owner_id,
        tag=tag,
    )


def unshare(c: Connection, owner_id: int, tag: str) -> None:
    """Stop sharing a tag."""
    c.execute("DELETE FROM shared_tag WHERE owner_id = :owner_id AND tag = :tag", owner_id=owner_id, tag=tag)


def list_shared_tags(c: Connection, owner_id: int) -> list[str]:
    """Return the tags that an owner shares."""
    text = "SELECT tag FROM shared_tag WHERE owner_id = :owner_id ORDER BY tag"
    return [row[0] for row in c.rows(text, owner_id=owner_id)]


_OF_SENTINEL: Final = (
    "delivery",
    "change",
    "watched_value",
    "rule_state",
    "tag",
    "request",
    "collection_page",
    "collection",
)
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
    for table in ("session", "token", "shared_tag", "published_tag", "inbox_mark", "secret", "tag_default"):
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
