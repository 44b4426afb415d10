"""One change: its edits, their context, and who was notified; comparison of any two versions of its
page.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from markupsafe import Markup, escape
from starlette.responses import Response

from tidings.errors import TidingsError
from tidings.presentation.edits import edits_of, host_of
from tidings.presentation.presenters import presenter
from tidings.presentation.safe.markup import HEADERS, frame
from tidings.record import dataclass, replace
from tidings.service.explain.fewer import find_usual
from tidings.service.show.records import change_record
from tidings.storage.observed import pages, versions
from tidings.storage.watches import changes, deliveries, inbox, sentinels
from tidings.web import request_body
from tidings.web.markup import card, formats, lines
from tidings.web.markup.localize import localize_drawn
from tidings.web.markup.render import environment
from tidings.web.markup.translations import sentence, translate
from tidings.web.problems import ProblemError
from tidings.web.screens.desk import back, reader_zone

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request

    from tidings.model.observed.version import Version
    from tidings.service.show.records import Record
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.changes import StoredChange
    from tidings.storage.watches.deliveries import DeliveryRow
    from tidings.storage.watches.inbox import InboxItem
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.access import Asker
    from tidings.web.screens.desk import Desk

PICTURES: Final = "screenshots"
"""The view that compares pictures instead of texts."""
_LABELS: Final[Mapping[str, str]] = {
    "only": sentence("Changes only"),
    "page": sentence("One page"),
    "two": sentence("Two pages"),
    "table": sentence("Table"),
    "rendered": sentence("Rendered"),
}
RECENT: Final = 40
"""Number of newest changes of a sentinel by which the usual size is known."""
VERSIONS: Final = 60
"""Number of newest versions offered for comparison."""


@dataclass(frozen=True, slots=True)
class _FoundChange:
    item: InboxItem
    owner: SentinelRow
    title: str
    newer: str | None
    older: str | None
    sent: list[DeliveryRow]
    versions: list[Version]
    usual: int


async def show(request: Request, desk: Desk) -> Response:
    """Return the comparison of a change, in one of its views; the screen's script marks it
    as read.
    """
    found, record = await _read_record(request, desk)
    change = found.item.change
    old, new = _choose(request, change.row.from_seq, "from"), _choose(request, change.row.to_seq, "to")
    zone = reader_zone(request)
    whens = {one.seq: formats.short(one.fetched_at, desk.clock.wall(), zone) for one in found.versions}
    shown = await _draw(desk, found, record, (old, new), whens, request.query_params.get("view", ""))
    drawn = Markup(localize_drawn(shown.body, desk.clock.wall(), zone))  # noqa: S704 - captions are escaped anew
    shown = replace(shown, body=drawn)
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
        usual=found.usual,
        newer=found.newer,
        older=found.older,
        shown=shown,
        versions=[(seq, whens[seq]) for seq in sorted(whens, reverse=True)],
        old=old,
        new=new,
        is_kept=found.item.kept_at is not None,
        is_read=found.item.read_at is not None,
        is_quiet=change.row.quiet,
        masked=change.row.found.masked,
        sent=found.sent,
    )


async def act(request: Request, desk: Desk) -> Response:
    """Mark a change as kept, read or unread."""
    change_id = str(request.path_params["id"])
    form = await request_body.read_form(request)
    reader = request.state.asker.owner_id
    now = desk.clock.wall()
    match form.one("act"):
        case "keep":
            await desk.store.write(inbox.mark, [change_id], at=now, is_kept=True, reader=reader)
        case "let go":
            await desk.store.write(inbox.mark, [change_id], at=now, is_kept=False, reader=reader)
        case "read":
            await desk.store.write(inbox.mark, [change_id], at=now, is_read=True, reader=reader)
        case "unread":
            await desk.store.write(inbox.mark, [change_id], at=now, is_read=False, reader=reader)
            return back(request, "/")
        case _:
            pass
    return back(request, f"/changes/{change_id}")


def _choose(request: Request, usual: int, name: str) -> int:
    given = request.query_params.get(name, "")
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else usual


async def render(request: Request, desk: Desk) -> Response:
    """Return the rendered page of a change, with marks, for the frame of its screen, without
    anything active.
    """
    found = await desk.store.read(_read, str(request.path_params["id"]), request.state.asker)
    if found is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, translate("there is no such change"))
    row = found.item.change.row
    old, new = _choose(request, row.from_seq, "from"), _choose(request, row.to_seq, "to")
    by_seq = {one.seq: one for one in found.versions}
    if old not in by_seq or new not in by_seq:
        raise ProblemError(HTTPStatus.GONE, translate("these versions are no longer stored"))
    merged = await desk.comparisons.render(page_id=row.page_id, old=by_seq[old], new=by_seq[new])
    headers = {**HEADERS, "x-frame-options": "SAMEORIGIN"}
    return Response(merged.html or f"<!doctype html><p>{escape(merged.why_not)}</p>", headers=headers)


async def share(request: Request, desk: Desk) -> Response:
    """Return a change as a picture to share."""
    found, record = await _read_record(request, desk)
    edits, rest = edits_of(record, most=lines.SHOWN)
    row, zone = found.item.change.row, reader_zone(request)
    when = formats.short(row.detected_at, desk.clock.wall(), zone)
    host = host_of(found.item.change.url)
    drawn = card.picture(found.title or found.item.change.sentinel, host, edits, rest, when)
    headers = {**_PICTURE, "cache-control": "no-store"}
    return Response(drawn, headers=headers, media_type="image/svg+xml")


async def show_as_text(request: Request, desk: Desk) -> Response:
    """Return a change as a text to share, as messages have it."""
    _, record = await _read_record(request, desk)
    text = presenter("changes", "text").present([record])
    return Response(text, headers={"cache-control": "no-store"}, media_type="text/plain; charset=utf-8")


async def _read_record(request: Request, desk: Desk) -> tuple[_FoundChange, Record]:
    found = await desk.store.read(_read, str(request.path_params["id"]), request.state.asker)
    if found is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, translate("there is no such change"))
    change = found.item.change
    return found, change_record(change.row, sentinel=change.sentinel, url=change.url)


_PICTURE: Final = {
    "content-security-policy": "default-src 'none'; sandbox",
    "cache-control": "private, max-age=86400, immutable",
    "cross-origin-resource-policy": "same-origin",
}


async def screenshot(request: Request, desk: Desk) -> Response:
    """Return the picture of a version of the page, as taken."""
    old, _ = await _read_pictured(request, desk)
    return Response(await desk.comparisons.screenshot(old), headers=_PICTURE, media_type="image/webp")


async def differing(request: Request, desk: Desk) -> Response:
    """Return a picture of the differences between two of them."""
    found = await desk.comparisons.screenshots(*await _read_pictured(request, desk))
    if found.problem:
        raise ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, found.problem)
    return Response(found.picture, headers=_PICTURE, media_type="image/png")


async def _read_pictured(request: Request, desk: Desk) -> tuple[Version, Version]:
    """Return the versions named in the address, both of which have a picture."""
    found = await desk.store.read(_read, str(request.path_params["id"]), request.state.asker)
    if found is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, translate("there is no such change"))
    row = found.item.change.row
    old, new = _choose(request, row.from_seq, "from"), _choose(request, row.to_seq, "to")
    by_seq = {one.seq: one for one in found.versions if one.screenshot}
    if old not in by_seq or new not in by_seq:
        raise ProblemError(HTTPStatus.GONE, translate("there are no such pictures"))
    return by_seq[old], by_seq[new]


@dataclass(frozen=True, slots=True)
class _Shown:
    """A comparison as displayed; `views` are (name, label, whether it is selected)."""

    view: str
    body: Markup
    views: Sequence[tuple[str, str, bool]] = ()
    problem: str = ""


async def _draw(
    desk: Desk, found: _FoundChange, record: Record, pair: tuple[int, int], whens: Mapping[int, str], wanted: str
) -> _Shown:
    """Return the two versions in the requested view, or what is known where they cannot be drawn.

    Args:
        desk: The shared objects of the screens.
        found: The change.
        record: Its record.
        pair: The versions to compare.
        whens: When each stored version was fetched, in the reader's format.
        wanted: The view; an unknown one selects the best.
    """
    row = found.item.change.row
    by_seq = {one.seq: one for one in found.versions}
    is_own = pair == (row.from_seq, row.to_seq)
    if record.get("parts"):
        return _Shown("", _fragment(record))
    pictured = [by_seq[seq] for seq in pair if seq in by_seq and by_seq[seq].screenshot]
    if wanted == PICTURES and len(pictured) == 2:
        address = f"/changes/{row.id}/screenshot"
        sides = [
            (
                f"{address}?from={one.seq}&to={other.seq}",
                translate("Version {seq}, {when}", seq=one.seq, when=whens[one.seq]),
            )
            for one, other in (pictured, reversed(pictured))
        ]
        body = (
            environment()
            .get_template("slider.html")
            .render(sides=sides, difference=f"{address}s?from={pair[0]}&to={pair[1]}")
        )
        views = [("", translate("Comparison"), False), (PICTURES, translate("Screenshots"), True)]
        return _Shown(PICTURES, Markup(body), views)  # noqa: S704 - a template escapes what it is given
    if pair[0] not in by_seq or pair[1] not in by_seq:
        return _Shown(
            "",
            _fragment(record),
            problem=translate("These versions are no longer stored. This is what was found while they were."),
        )
    old, new = by_seq[pair[0]], by_seq[pair[1]]
    address = f"/changes/{row.id}/rendered?from={pair[0]}&to={pair[1]}"
    old_caption, new_caption = (
        translate("Version {seq}, {when}", seq=one.seq, when=whens[one.seq]) for one in (old, new)
    )
    try:
        view = await desk.comparisons.view(
            found.owner,
            page_id=row.page_id,
            old=old,
            new=new,
            view=wanted if wanted in _LABELS else "",
            captions=(old_caption, new_caption),
            rendered=frame(
                address, translate("{page}, with what changed", page=found.title or found.item.change.sentinel)
            ),
            found=row.found if is_own else None,
        )
        if view is None:
            record = (
                record
                if is_own
                else await desk.comparisons.two_versions(found.owner, page_id=row.page_id, old=old, new=new)
            )
            views = (
                [("", translate("Comparison"), True), (PICTURES, translate("Screenshots"), False)]
                if len(pictured) == 2
                else []
            )
            return _Shown("", _fragment(record), views)
    except TidingsError as error:
        return _Shown("", _fragment(record) if is_own else Markup(""), problem=str(error))
    views = [(one.view, translate(_LABELS[one.view]), one.view == view.view) for one in view.choices if not one.why_not]
    views += [(PICTURES, translate("Screenshots"), False)] if len(pictured) == 2 else []
    return _Shown(view.view, Markup(view.whole), views, view.notice)  # noqa: S704 - the view escapes all texts of pages


def _fragment(record: Record) -> Markup:
    return Markup(presenter("changes", "html").fragment(record))  # noqa: S704 - the presenter escapes all texts of pages


def _read(c: Connection, change_id: str, asker: Asker) -> _FoundChange | None:
    item = inbox.get(c, change_id, reader=asker.owner_id)
    if item is None:
        return None
    row = item.change.row
    newer, older = inbox.neighbours(c, change_id, viewer=asker.viewer)
    sent = [] if item.change.event_seq is None else deliveries.of_event(c, row.sentinel_id, item.change.event_seq)
    recent = versions.newest_of(c, row.page_id, VERSIONS)
    wanted = {row.from_seq, row.to_seq} - {one.seq for one in recent}
    recent += [one for seq in wanted if (one := versions.get(c, row.page_id, seq)) is not None]
    return _FoundChange(
        item,
        sentinels.get(c, row.sentinel_id),
        pages.state(c, row.page_id).title,
        newer,
        older,
        sent,
        sorted(recent, key=lambda one: one.seq),
        find_usual([_count_words(one) for one in changes.listing(c, sentinel_id=row.sentinel_id, limit=RECENT)]),
    )


def _count_words(change: StoredChange) -> int:
    return lines.words(change_record(change.row, sentinel=change.sentinel, url=change.url))
