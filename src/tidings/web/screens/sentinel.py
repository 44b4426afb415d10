"""One sentinel: its text, the state of its pages, the next check with its reason; versions, masks,
and an editor for its text.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import quote

from starlette.responses import RedirectResponse

from tidings.clock import DAY
from tidings.errors import SentinelError, TidingsError, UnknownNameError, UsageError
from tidings.record import dataclass
from tidings.service.explain.explain_sentinel import list_polls
from tidings.service.explain.page_report import PageReport, reports
from tidings.service.explain.plan_summary import ComingPoll
from tidings.service.sentinels import edit, register
from tidings.service.show.records import change_record
from tidings.service.watch import by_name, noise
from tidings.service.watch.watchlist import list_channels, read_meaning
from tidings.storage.observed import estimates, pages, polls, versions
from tidings.storage.watches import inbox, subscriptions
from tidings.web import request_body
from tidings.web.access import check_masks
from tidings.web.markup import charts, lines
from tidings.web.markup.translations import translate
from tidings.web.screens.sentinels import carry_out, read_given, state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.model.interval import Instant
    from tidings.service.notify.rehearse import Rehearsed
    from tidings.service.show.records import Record
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.inbox import InboxItem
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.storage.watches.subscriptions import SubscriptionRow
    from tidings.web.access import Asker
    from tidings.web.request_body import SentForm
    from tidings.web.screens.desk import Desk

CHANGES: Final = 15
VERSIONS: Final = 20
PAGES: Final = 20
Awaited = Literal["", "first", "asked", "second"]
"""A check that is made soon: the first one, a requested one, or one that confirms a change."""
UNKNOWN: Final = PageReport(0, "", "", None, 0.0, 0.0, (), {}, "", ())
"""For a page that is not polled by itself at present."""


@dataclass(frozen=True, slots=True)
class WatchedPageRow:
    """A page of the sentinel as displayed."""

    page_id: int
    url: str
    title: str
    health: str
    reason: str
    checked: Instant | None
    next_at: Instant | None
    why: str
    a_day: float | None
    rate: float | None
    versions: Sequence[Any]
    beat: Any


async def show(request: Request, desk: Desk) -> Response:
    """Return the screen of a sentinel, including an ended one."""
    return await _screen(request, desk)


async def act(request: Request, desk: Desk) -> Response:
    """Check now, pause, resume, drop, alter the text, or switch a mask."""
    name = str(request.path_params["name"])
    form = await request_body.read_form(request)
    now, asker = desk.clock.wall(), request.state.asker
    try:
        match form.one("act"):
            case "text":
                await desk.store.write(_save, name, form, desk.statement_settings, now, asker)
            case "mask":
                await desk.store.write(_mask, name, form, now, asker)
            case "undo":
                await desk.store.write(_undo, name, form.one("revision"), desk.statement_settings, now, asker)
            case "test":
                return await _screen(
                    request, desk, tested=await desk.send_test(await desk.store.read(by_name.find, name), asker)
                )
            case "return":
                await desk.store.write(register.take_back, name, now=now)
            case what:
                await desk.store.write(
                    carry_out, name, what, read_given(request, what, form), desk.statement_settings, now, asker
                )
    except UnknownNameError:
        raise
    except NewerTextError as error:
        return await _screen(request, desk, text=form.one("text"), problems=[str(error)], is_newer=True)
    except TidingsError as error:
        problems = [str(one) for one in error.problems] if isinstance(error, SentinelError) else [str(error)]
        return await _screen(request, desk, text=form.one("text"), problems=problems)
    desk.forget_recent()
    return RedirectResponse(f"/sentinels/{quote(name)}", HTTPStatus.SEE_OTHER)


async def _screen(
    request: Request,
    desk: Desk,
    *,
    text: str = "",
    problems: Sequence[str] = (),
    tested: Sequence[Rehearsed] | None = None,
    is_newer: bool = False,
) -> Response:
    name = str(request.path_params["name"])
    health = await desk.health_for(request.state.asker)
    found = await desk.store.read(_read, name, desk.settings, desk.clock.wall(), request.state.asker)
    own = health.of(name)
    icon, tone, state_text = state_of(found["row"], own, is_new=not any(page.checked for page in found["pages"]))
    return await desk.page(
        request,
        "sentinel.html",
        title=name,
        here="sentinels",
        status=HTTPStatus.CONFLICT if is_newer else HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
        icon_name=icon,
        tone=tone,
        state_text=state_text,
        troubles=own.own,
        text=text or found["row"].text,
        edited=_identify_text(found["row"]),
        newer=found["row"].text if is_newer else "",
        is_sent=request.method == "POST",
        problems_found=problems,
        tested=tested,
        budget=desk.settings.budget.polls_per_day,
        unknown=UNKNOWN,
        week=charts.draw_week,
        undo=_revision(request.query_params.get("undo", ""), found["row"]),
        can_return=register.can_be_taken_back(found["row"], desk.clock.wall()),
        **found,
    )


def alter(c: Connection, name: str, text: str, settings: Settings, now: Instant, asker: Asker) -> None:
    """Replace a sentinel's text.

    Args:
        c: The transaction.
        name: The name of the sentinel.
        text: Its whole statement.
        settings: The settings by which statements are checked.
        now: When it is altered (µs).
        asker: Who alters it.
    """
    edit.replace_text(c, by_name.find(c, name), text, settings=settings, now=now, author=asker.author)


class NewerTextError(UsageError):
    """The text of a sentinel was altered after the form that alters it was shown."""


def _identify_text(row: SentinelRow) -> str:
    """Return an id of a text, which also differs for another sentinel of the same name."""
    return f"{row.id}.{row.revision}"


def _save(c: Connection, name: str, form: SentForm, settings: Settings, now: Instant, asker: Asker) -> None:
    """Replace a sentinel's text by that of a form, unless the form shows an older text."""
    if form.one("edited") not in {"", _identify_text(by_name.find(c, name))}:
        raise NewerTextError(
            translate(
                "This text was changed while you were editing it. Both texts are shown; save again to replace the stored one."
            )
        )
    alter(c, name, form.one("text"), settings, now, asker)


def _revision(given: str, row: SentinelRow) -> int:
    """Return the revision to go back to, 0 for none."""
    number = int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 0
    return number if 0 < number < row.revision and row.state != "ended" else 0


def _undo(c: Connection, name: str, given: str, settings: Settings, now: Instant, asker: Asker) -> None:
    """Restore a sentinel's text of an earlier revision."""
    row = by_name.find(c, name)
    edit.restore_text(c, row, _revision(given, row), settings=settings, now=now, author=asker.author)


def _mask(c: Connection, name: str, form: SentForm, now: Instant, asker: Asker) -> None:
    """Switch a mask of a page off or on."""
    row = by_name.find(c, name)
    page_ids = {str(sub.page_id): sub.page_id for sub in subscriptions.listing(c, sentinel_id=row.id)}
    if (page_id := page_ids.get(form.one("page"))) is None:
        raise UnknownNameError(translate("{name} does not watch this page", name=name))
    check_masks(c, asker, page_id)
    mask, is_on = form.one("mask"), form.one("is_on") == "1"
    noise.switch_masks(c, [page_id], off=() if is_on else (mask,), on=(mask,) if is_on else (), at=now)


def _read(c: Connection, name: str, settings: Settings, now: Instant, asker: Asker) -> dict[str, Any]:
    row = by_name.find_past(c, name)
    watched = subscriptions.listing(c, sentinel_id=row.id)
    shown_subscriptions = watched[:PAGES]
    known = estimates.load(c, settings.schedule.policy, [sub.page_id for sub in shown_subscriptions])
    coming = {
        one.page_id: one
        for one in list_polls(c, row, find=by_name.lives(c, dropped=True), settings=settings, now=now, learned=known)
    }
    beats = charts.read_beats(c, [sub.page_id for sub in shown_subscriptions], now)
    shown = []
    for sub in shown_subscriptions:
        identity, state = pages.get(c, sub.page_id)
        poll = coming.get(sub.page_id)
        rate = None if poll is None else ComingPoll(name, sub.page_id, poll, known).changes_a_day
        shown.append(
            WatchedPageRow(
                sub.page_id,
                identity.given,
                state.title,
                state.health,
                state.reason,
                state.checked_at,
                None if poll is None else poll.at,
                "" if poll is None else poll.why,
                DAY / poll.every if poll is not None and poll.every else None,
                rate,
                versions.newest_of(c, sub.page_id, VERSIONS),
                charts.draw_beats(beats.get(sub.page_id, charts.NONE)),
            )
        )
    asked = inbox.Filter(shown="all", sentinel=name, viewer=asker.viewer, reader=asker.owner_id)
    found = inbox.listing(c, asked, limit=CHANGES)
    return {
        "row": row,
        "awaits": _find_awaited(c, row, watched, any(page.checked is None and page.health == "ok" for page in shown)),
        "has_receivers": bool(list_channels(read_meaning(row))),
        "name": row.name,
        "page_title": shown[0].title if shown else "",
        "pages": shown,
        "changes": [
            (one.change.row.id, lines.line(_record(one)), one.change.row.detected_at, one.read_at is None)
            for one in found
        ],
        "reports": {one.page_id: one for one in reports(c, row, settings, now, most=PAGES)},
        "courses": charts.courses(c, row.id, now),
        "masks": [
            (
                mask.page_id,
                thing,
                noise.where(thing),
                noise.why(thing),
                thing.id in mask.switched_off,
                thing in mask.offers,
            )
            for mask in (noise.masks(c, sub.page_id) for sub in shown_subscriptions)
            for thing in (*mask.things, *mask.offers)
        ],
    }


def _record(item: InboxItem) -> Record:
    return change_record(item.change.row, sentinel=item.change.sentinel, url=item.change.url)


def _find_awaited(
    c: Connection, row: SentinelRow, subscriptions_of: Sequence[SubscriptionRow], is_new: bool
) -> Awaited:
    """Return which check of a sentinel's pages is made soon."""
    if row.state in {"disabled", "ended"}:
        return ""
    watched = {sub.page_id for sub in subscriptions_of}
    if any(one.page_id in watched for one in polls.list_requests(c)):
        return "first" if is_new else "asked"
    if any(sub.missing is not None and sub.missing.is_unconfirmed for sub in subscriptions_of):
        return "second"
    return "first" if is_new else ""
