"""Headers: what a page is answered with, compared from look to look for those who monitor it (sentinels §5.3)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import TYPE_CHECKING

from tidings.detection.ask.headers import evaluate_headers, header_names, kept_of
from tidings.model.outcome import SECRET_HEADERS, Fetched
from tidings.service.examine.status_changes import answered, with_rows
from tidings.service.watch.cursors import standing_still, takes
from tidings.service.watch.subscription_memory import Remembered

if TYPE_CHECKING:
    from tidings.model.outcome import Unchanged
    from tidings.model.unit import Unit
    from tidings.service.watch.watchlist import WatchedPage
    from tidings.storage.db.instance import Instance

HEADERS = "headers"
"""What stands for the extraction in a change of headers: no text is counted in it."""


def watches_headers(page: WatchedPage) -> bool:
    """Say whether somebody monitors a header of a page: then it is asked for whole, since a 304 need not repeat its headers."""
    return any(header_names(sub.owner.sentinel.monitor) for sub in page.subscriptions.values())


def with_headers(
    unit: Unit, page: WatchedPage, answer: Unchanged | Fetched, instance: Instance, *, eager: Collection[int] = ()
) -> Unit:
    """Return a unit with the changes of headers that a good answer brings, and with what is remembered of it.

    The first answer that a subscription takes is a baseline. A change of headers is between no two versions: both numbers are the newest one's.
    """
    watching = [
        (sub, names)
        for sub in page.subscriptions.values()
        if (names := header_names(sub.owner.sentinel.monitor)) and takes(sub, unit.at, frozenset(eager))
    ]
    rows, moves = [], []
    for sub, names in watching:
        known = Remembered.of(sub.row.remembered)
        wanted = [name for name in names if name not in SECRET_HEADERS]
        new = kept_of(wanted, answer.headers, known.headers, whole=isinstance(answer, Fetched))
        if new == dict(known.headers):
            continue
        moves.append(replace(standing_still(sub), remembered=replace(known, headers=new).text))
        for asked in sub.asked:
            if found := evaluate_headers(asked.expression, known.headers, new):
                rows.append(answered(page, sub, found, unit, instance, asked=asked, of=HEADERS))
    told = with_rows(unit, tuple(rows))
    return replace(told, cursors=(*told.cursors, *moves))
