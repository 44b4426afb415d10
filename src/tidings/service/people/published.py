"""Public pages: everybody who has the address sees what changed on the pages of a tag.

Pages that are asked for with headers, a body, a login, a proxy or steps of their own are never
shown, nor is what sentinels say or whom they notify.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any, Final

from tidings.errors import UnknownNameError
from tidings.record import dataclass
from tidings.service.show.records import change_record, rfc3339
from tidings.storage.observed import pages
from tidings.storage.people import accounts, published
from tidings.storage.people.published import PublishedTag
from tidings.storage.watches import changes, sentinels, subscriptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tidings.model.interval import Instant
    from tidings.service.show.records import Record
    from tidings.storage.db.connection import Connection

BYTES: Final = 18
"""Random bytes of an address."""


@dataclass(frozen=True, slots=True)
class PublishedChange:
    """A change as everybody may see it; its record is named by the title of the page."""

    id: str
    title: str
    at: Instant
    record: Record


@dataclass(frozen=True, slots=True)
class PublishedView:
    """What a public page shows: (sentinel, address) of each page, and the sentinels left out."""

    watched: Sequence[tuple[str, str]]
    left_out: Sequence[str]


def publish(c: Connection, tag: str, *, owner_id: int, viewer: int | None, at: Instant) -> PublishedTag:
    """Make a public page, and return it; the one that is there already stays.

    Raises `UnknownNameError` if no sentinel that its owner sees has the tag.

    Args:
        tag: The tag.
        owner_id: Whose sentinels it shows.
        viewer: Whose sentinels its owner sees, None for all.
        at: When it is made (µs).
    """
    check_tag(c, tag, viewer)
    return published.publish(c, make_token(), owner_id=owner_id, tag=tag, at=at)


def make_token() -> str:
    """Return the last part of a new address."""
    return secrets.token_urlsafe(BYTES)


def propose(c: Connection, owner_id: int, tag: str) -> PublishedTag:
    """Return the public page that an owner would make of a tag; nothing is stored."""
    row = accounts.get(c, owner_id)
    return PublishedTag("", owner_id, tag, 0, row.name if row else "", row.role if row else "")


def check_tag(c: Connection, tag: str, viewer: int | None) -> None:
    """Raise `UnknownNameError` if no sentinel that `viewer` sees has a tag."""
    if tag not in sentinels.tags(c, viewer=viewer):
        raise UnknownNameError(f"no sentinel has the tag {tag[:100]}")


def view(c: Connection, page: PublishedTag) -> PublishedView:
    """Return what a public page shows, and what it leaves out."""
    watched = [
        (sentinels.get(c, id_).name, pages.identity(c, sub.page_id).given)
        for id_ in published.list_sentinels(c, page)
        for sub in subscriptions.listing(c, sentinel_id=id_)
    ]
    left_out = [sentinels.get(c, id_).name for id_ in published.list_sentinels(c, page, is_private=True)]
    return PublishedView(watched, left_out)


def list_changes(c: Connection, page: PublishedTag, *, limit: int, before: str = "") -> list[PublishedChange]:
    """Return the changes that a public page shows, newest first.

    Args:
        page: The page.
        limit: How many at most.
        before: The change after which the list begins, empty for the newest.
    """
    found = changes.of(c, published.list_changes(c, page, limit=limit, before=before))
    shown = []
    for id_, one in found.items():
        title = pages.state(c, one.row.page_id).title or pages.identity(c, one.row.page_id).host
        record = _hide_statement(change_record(one.row, sentinel=title, url=one.url))
        shown.append(PublishedChange(id_, title, one.row.detected_at, record))
    return shown


PLAIN_KINDS: Final = frozenset({"any change", "all words", "all links", "all images", "status", "body", "price"})
"""Monitor clauses without words of their author."""


def _hide_statement(record: Record) -> Record:
    """Return the record of a change without what its sentinel says: what it asks for, and what it
    ignores.
    """
    kind = record["kind"] if record["kind"] in PLAIN_KINDS else ""
    return {name: value for name, value in record.items() if name not in {"monitor", "masked"}} | {"kind": kind}


def record(page: PublishedTag) -> dict[str, Any]:
    """Return a public page as a record."""
    return {
        "record": "published_tag",
        "tag": page.tag,
        "token": page.token,
        "path": f"/public/{page.token}/changes",
        "owner": page.name or None,
        "created_at": rfc3339(page.created_at),
    }
