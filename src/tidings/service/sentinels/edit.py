"""Replace the text of one sentinel, as the screens and the API do: its owner stays, its pause, and
whether it is managed by files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidings.errors import SentinelError, UsageError
from tidings.fetching import address
from tidings.language import parser
from tidings.language.write import printer
from tidings.model.event_type import EventType
from tidings.model.observed.unit import Event, SentinelMove
from tidings.model.watch.sentinel import Sentinel
from tidings.record import replace
from tidings.service.secrets import references
from tidings.service.sentinels import register
from tidings.service.sentinels.author import check_rights
from tidings.service.sentinels.receivers import check_addressees
from tidings.service.watch.watchlist import read_meaning
from tidings.storage.secrets import Vault
from tidings.storage.watches import events, sentinels

if TYPE_CHECKING:
    from tidings.model.interval import Instant
    from tidings.service.sentinels.author import Author
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow

APPLIED = EventType.SENTINEL_APPLIED
"""The event type that marks a sentinel as managed by files."""


def is_of_files(connection: Connection, sentinel_id: int) -> bool:
    """Return whether a sentinel is managed by files."""
    return events.newest(connection, APPLIED, sentinel_id=sentinel_id) is not None


def replace_text(
    connection: Connection, row: SentinelRow, text: str, *, settings: Settings, now: Instant, author: Author
) -> SentinelRow:
    """Replace the text of a sentinel by one whole statement under its name; return its row, a new
    one if its pages differ.

    Raises `SentinelError` with every problem, `UsageError` for any other statement and for what the
    author may not do.

    Args:
        connection: The transaction.
        row: The stored sentinel.
        text: The statement.
        settings: The settings in use.
        now: When it is replaced (µs).
        author: Who replaces it.
    """
    vault = Vault(settings.data)
    references.seal_older(connection, vault, at=now)
    said = register.read_statements("", text, settings)
    if said and [one.name if isinstance(one, Sentinel) else "" for one in said] != [row.name]:
        raise UsageError(f"this is the text of {row.name}, and it must stay one statement under that name")
    register.check_named(connection, "", text, settings, author)
    parsed = register.understand(connection, "", text, settings=settings, now=now, author=author, anew=True)
    if parsed.problems:
        raise SentinelError(parsed.problems)
    check_rights(connection, author, parsed.statements)
    for statement in parsed.statements:
        check_addressees(statement)
    referring = register.refer(connection, vault, parsed.statements, now=now)
    sentinel = referring[0] if len(referring) == 1 else None
    if not isinstance(sentinel, Sentinel):
        raise UsageError(f"this is the text of {row.name}, and it must stay one statement under that name")
    register.check_pages(sentinel, settings)
    row, _ = bring_to(connection, row, sentinel, settings=settings, now=now, author=author)
    references.note_schemes(connection, vault)
    return row


def restore_text(
    connection: Connection, row: SentinelRow, number: int, *, settings: Settings, now: Instant, author: Author
) -> SentinelRow:
    """Restore the text of an earlier revision of a sentinel, under its present name; return its
    row, unchanged if there is no such revision.

    Args:
        connection: The transaction.
        row: The stored sentinel.
        number: The number of the revision.
        settings: The settings in use.
        now: When it is restored (µs).
        author: Who restores it.
    """
    text = sentinels.text_of(connection, row.id, number)
    if not text:
        return row
    before = parser.recall(text)
    named = printer.to_text(replace(before, name=row.name)) if isinstance(before, Sentinel) else text
    return replace_text(connection, row, named, settings=settings, now=now, author=author)


def bring_to(
    connection: Connection, row: SentinelRow, sentinel: Sentinel, *, settings: Settings, now: Instant, author: Author
) -> tuple[SentinelRow, str]:
    """Alter a sentinel, or end it and create another of its name and owner, which is paused as long
    as this one and managed by files like it; return the row, and why it is another one.

    Args:
        connection: The transaction.
        row: The stored sentinel.
        sentinel: The checked statement, with references to secrets.
        settings: The settings in use.
        now: When this is done (µs).
        author: Who does it.
    """
    reason = "the sentinel of that name had ended"
    if row.state != "ended":
        before = read_meaning(row)
        register.check_commands((before,), settings)
        if _pages_of(before) == _pages_of(sentinel):
            return register.alter(connection, row, sentinel, now=now, author=author), ""
        reason = "its pages differ"
    sentinels.drop(connection, row.id, now)
    made = register.create(connection, sentinel, now=now, author=author, owner_id=row.owner_id)
    if is_of_files(connection, row.id):
        events.append(connection, [Event(type=APPLIED, at=now, sentinel_id=made.id)])
    if row.state == "disabled":
        step = SentinelMove(
            sentinel_id=made.id, state="disabled", at=now, reason=row.reason, resume_at=row.resume_at, before=made.state
        )
        sentinels.move(connection, step)
        made, reason = sentinels.get(connection, made.id), f"{reason}; it is still disabled"
    return made, reason


def _pages_of(sentinel: Sentinel) -> list[tuple[str, str]]:
    """Return the pages of a sentinel, regardless of how they are requested."""
    return sorted((address.identify(page.url).key, page.name or "") for page in sentinel.pages)
