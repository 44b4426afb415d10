"""Export an account's data, and remove an account completely."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

from tidings.service.people import accounts as accounts_of
from tidings.service.people import tokens as tokens_of
from tidings.service.show.records import change_record, sentinel_record
from tidings.storage.people import accounts, erase, tokens
from tidings.storage.search.log import SearchLog, has_log
from tidings.storage.watches import changes, sentinels, subscriptions

if TYPE_CHECKING:
    from pathlib import Path

    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection
    from tidings.storage.people.accounts import AccountRow
    from tidings.storage.search.log import LoggedQuery
    from tidings.storage.watches.sentinels import SentinelRow


def export(c: Connection, name: str, *, data: Path, now: Instant) -> dict[str, Any]:
    """Return all that is stored of an account. Raises `UnknownNameError`.

    Args:
        name: The name of the account.
        data: The data directory, with the log of searches.
        now: The time of the export (µs).
    """
    row = accounts.get_by_name(c, name)
    own = _own(c, row)
    found = [one for sentinel in own for one in changes.listing(c, sentinel=sentinel.name, quiet=True)]
    return {
        **accounts_of.record(row),
        "zone": row.zone,
        "shared_tags": accounts.list_shared_tags(c, row.id),
        "tokens": [tokens_of.record(one, user=row.name) for one in tokens.listing(c, owner_id=row.id)],
        "sentinels": [sentinel_record(one) for one in own],
        "changes": [change_record(one.row, sentinel=one.sentinel, url=one.url) for one in found],
        "searches": [{"query": one.text, "searches": one.searches} for one in _searches(data, row.id, now)],
        "marks": [{"change": id_, "read": read, "kept": kept} for id_, read, kept in erase.marks(c, row.id)],
    }


def remove(c: Connection, name: str, now: Instant) -> int:
    """Remove an account and what is only its own; return the number of sentinels removed.

    Pages that are no longer watched lose their versions and their addresses; bodies are deleted by
    the next collection. Raises `UsageError` for the last admin.
    """
    row = accounts.get_by_name(c, name)
    accounts_of.check_not_last(c, row)
    own = _own(c, row)
    for sentinel in own:
        sentinels.drop(c, sentinel.id, now)
    pages = {sub.page_id for one in own for sub in subscriptions.listing(c, sentinel_id=one.id)}
    for page_id in sorted(pages):
        if not erase.is_of_others(c, page_id, row.id):
            erase.empty_page(c, page_id)
    for sentinel in own:
        erase.empty_sentinel(c, sentinel.id)
    erase.empty_account(c, row.id)
    return len(own)


def forget_searches(data: Path, owner_id: int) -> None:
    """Remove an account's searches from the log of a data directory."""
    if has_log(data):
        with contextlib.closing(SearchLog(data)) as log:
            log.erase(owner_id=owner_id)


def _searches(data: Path, owner_id: int, now: Instant) -> list[LoggedQuery]:
    if not has_log(data):
        return []
    with contextlib.closing(SearchLog(data)) as log:
        return log.queries(at=now, owner_id=owner_id)


def _own(c: Connection, row: AccountRow) -> list[SentinelRow]:
    return [one for one in sentinels.listing(c, ended=True) if one.owner_id == row.id]
