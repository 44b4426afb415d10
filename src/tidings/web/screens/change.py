"""One change: what exactly was edited, where, and who was notified; any two versions of its page."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup

from tidings.errors import TidingsError
from tidings.presentation.presenters import presenter
from tidings.service.show.records import change_record
from tidings.storage.observed import pages, versions
from tidings.storage.watches import deliveries, inbox, sentinels
from tidings.web.problems import ProblemError
from tidings.web.screens import forms, lines, spell
from tidings.web.screens.desk import ZONE_COOKIE, back

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.model.observed.version import Version
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.watches.inbox import Item
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.screens.desk import Desk

VIEWS: Final = {"changes": "Changes only", "single": "One page", "dual": "Two pages", "table": "Table"}
VERSIONS: Final = 60
"""Versions that can be chosen for a comparison, the newest ones."""


@dataclass(frozen=True, slots=True)
class _Found:
    item: Item
    owner: SentinelRow
    title: str
    newer: str | None
    older: str | None
    sent: list[DeliveryRow]
    versions: list[Version]


async def show(request: Request, desk: Desk) -> Response:
    """Return the comparison of a change, in one of its views; which marks it as read."""
    found = await desk.store.read(_read, str(request.path_params["id"]))
    if found is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such change")
    change = found.item.change
    record = change_record(change.row, sentinel=change.sentinel, url=change.url)
    if found.item.read_at is None:
        await desk.store.write(inbox.mark, [change.row.id], at=desk.clock.wall(), is_read=True)
    view = request.query_params.get("view", "")
    old, new = _chosen(request, change.row.from_seq, "from"), _chosen(request, change.row.to_seq, "to")
    view = view if view in VIEWS else "changes" if record.get("parts") or record.get("counts") else "single"
    record, problem = await _compared(desk, found, record, old, new, view)
    zone = spell.zone_of(request.cookies.get(ZONE_COOKIE, ""))
    return await desk.page(
        request,
        "change.html",
        title=lines.plain(record),
        here="inbox",
        id=change.row.id,
        line=lines.line(record),
        context=lines.context(record),
        sentinel=change.sentinel,
        page_title=found.title or change.sentinel,
        url=change.url,
        detected=change.row.detected_at,
        modified=change.row.modified_at,
        kind=record["kind"],
        words=lines.words(record),
        newer=found.newer,
        older=found.older,
        views=VIEWS,
        view=view,
        body=Markup(presenter(view, "html").fragment(record)),  # noqa: S704 - the presenter escapes all texts of pages
        problem=problem,
        versions=[(one.seq, spell.short(one.fetched_at, desk.clock.wall(), zone)) for one in reversed(found.versions)],
        old=old,
        new=new,
        is_kept=found.item.kept_at is not None,
        is_quiet=change.row.quiet,
        masked=change.row.found.masked,
        sent=found.sent,
    )


async def act(request: Request, desk: Desk) -> Response:
    """Keep a change, or mark it as unread."""
    change_id = str(request.path_params["id"])
    form = await forms.sent(request)
    now = desk.clock.wall()
    match form.one("act"):
        case "keep":
            await desk.store.write(inbox.mark, [change_id], at=now, is_kept=True)
        case "let go":
            await desk.store.write(inbox.mark, [change_id], at=now, is_kept=False)
        case "unread":
            await desk.store.write(inbox.mark, [change_id], at=now, is_read=False)
            return back(request, "/")
        case _:
            pass
    return back(request, f"/changes/{change_id}")


def _chosen(request: Request, usual: int, name: str) -> int:
    given = request.query_params.get(name, "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else usual


async def _compared(
    desk: Desk, found: _Found, record: dict[str, Any], old: int, new: int, view: str
) -> tuple[dict[str, Any], str]:
    """Return the record of the two versions that are asked for, with what stands around its edits where the view shows that; and what hindered."""
    row = found.item.change.row
    by_seq = {one.seq: one for one in found.versions}
    first, second = by_seq.get(old), by_seq.get(new)
    is_own = (old, new) == (row.from_seq, row.to_seq)
    if first is None or second is None:
        is_enough = is_own and view in {"changes", "table"}
        return (
            record,
            "" if is_enough else "These versions are no longer stored. This is what was found while they were.",
        )
    try:
        if not is_own:
            record = dict(await desk.comparisons.two_versions(found.owner, page_id=row.page_id, old=first, new=second))
        if view in {"single", "dual"}:
            record["merged"] = await desk.comparisons.in_place(found.owner, page_id=row.page_id, old=first, new=second)
    except TidingsError as error:
        return record, str(error)
    return record, ""


def _read(c: Connection, change_id: str) -> _Found | None:
    item = inbox.get(c, change_id)
    if item is None:
        return None
    row = item.change.row
    newer, older = inbox.neighbours(c, change_id)
    sent = [] if item.change.event_seq is None else deliveries.of_event(c, row.sentinel_id, item.change.event_seq)
    kept = versions.newest_of(c, row.page_id, VERSIONS)
    wanted = {row.from_seq, row.to_seq} - {one.seq for one in kept}
    kept += [one for seq in wanted if (one := versions.get(c, row.page_id, seq)) is not None]
    return _Found(
        item,
        sentinels.get(c, row.sentinel_id),
        pages.state(c, row.page_id).title,
        newer,
        older,
        sent,
        sorted(kept, key=lambda one: one.seq),
    )
