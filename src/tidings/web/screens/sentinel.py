"""One sentinel: its text, the state of its pages, the next check with its reason; versions, masks,
and an editor for its text.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from starlette.responses import RedirectResponse

from tidings.clock import DAY
from tidings.errors import SentinelError, TidingsError, UnknownNameError, UsageError
from tidings.model.watch.sentinel import Sentinel
from tidings.record import dataclass
from tidings.service.explain.explain_sentinel import list_polls
from tidings.service.explain.page_report import PageReport, reports
from tidings.service.explain.plan_summary import ComingPoll
from tidings.service.sentinels import apply, register
from tidings.service.show.records import change_record
from tidings.service.watch import by_name, noise
from tidings.service.watch.watchlist import list_channels, meaning
from tidings.storage.observed import estimates, pages, versions
from tidings.storage.watches import changes, sentinels, subscriptions
from tidings.web import request_body
from tidings.web.markup import charts, lines
from tidings.web.markup.translations import say
from tidings.web.screens.sentinels import carry_out, state_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.model.interval import Instant
    from tidings.service.notify.rehearse import Rehearsed
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.request_body import SentForm
    from tidings.web.screens.desk import Desk

CHANGES: Final = 15
VERSIONS: Final = 20
PAGES: Final = 20
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
    now = desk.clock.wall()
    try:
        match form.one("act"):
            case "text":
                await desk.store.write(_alter, name, form.one("text"), desk.statement_settings, now)
            case "mask":
                await desk.store.write(_mask, name, form, now)
            case "undo":
                await desk.store.write(_undo, name, form.one("revision"), desk.statement_settings, now)
            case "test":
                return await _screen(
                    request, desk, tested=await desk.send_test(await desk.store.read(by_name.find, name))
                )
            case "return":
                await desk.store.write(register.take_back, name, now=now)
            case what:
                await desk.store.write(carry_out, name, what, form.one("tags"), desk.statement_settings, now)
    except UnknownNameError:
        raise
    except TidingsError as error:
        problems = [str(one) for one in error.problems] if isinstance(error, SentinelError) else [str(error)]
        return await _screen(request, desk, text=form.one("text"), problems=problems)
    desk.forget_health()
    return RedirectResponse(f"/sentinels/{quote(name)}", HTTPStatus.SEE_OTHER)


async def _screen(
    request: Request,
    desk: Desk,
    *,
    text: str = "",
    problems: Sequence[str] = (),
    tested: Sequence[Rehearsed] | None = None,
) -> Response:
    name = str(request.path_params["name"])
    health = await desk.health()
    found = await desk.store.read(_read, name, desk.settings, desk.clock.wall())
    own = health.of(name)
    icon, tone, says = state_of(found["row"], own, is_new=not any(page.checked for page in found["pages"]))
    return await desk.page(
        request,
        "sentinel.html",
        title=name,
        here="sentinels",
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problems else HTTPStatus.OK,
        icon_name=icon,
        tone=tone,
        says=says,
        troubles=own.own,
        text=text or found["row"].text,
        problems_found=problems,
        tested=tested,
        budget=desk.settings.budget.polls_per_day,
        unknown=UNKNOWN,
        week=charts.draw_week,
        undo=_revision(request.query_params.get("undo", ""), found["row"]),
        can_return=register.can_be_taken_back(found["row"], desk.clock.wall()),
        **found,
    )


def _alter(c: Connection, name: str, text: str, settings: Settings, now: Instant) -> None:
    """Replace a sentinel's text: its whole statement, under its own name."""
    row = by_name.find(c, name)
    named = [one.name for one in register.read_statements("", text, settings) if isinstance(one, Sentinel)]
    if named and named != [row.name]:
        raise UsageError(
            say("this is the text of {name}, and it must stay one statement under that name", name=row.name)
        )
    apply.apply(c, {"": text}, settings=settings, now=now)


def _revision(given: str, row: SentinelRow) -> int:
    """Return the revision to go back to, 0 for none."""
    number = int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 0
    return number if 0 < number < row.revision and row.state != "ended" else 0


def _undo(c: Connection, name: str, given: str, settings: Settings, now: Instant) -> None:
    """Restore a sentinel's text of an earlier revision."""
    row = by_name.find(c, name)
    text = sentinels.text_of(c, row.id, _revision(given, row))
    if text:
        apply.apply(c, {"": text}, settings=settings, now=now)


def _mask(c: Connection, name: str, form: SentForm, now: Instant) -> None:
    """Switch a mask of a page off or on."""
    row = by_name.find(c, name)
    held = {str(sub.page_id): sub.page_id for sub in subscriptions.listing(c, sentinel_id=row.id)}
    if (page_id := held.get(form.one("page"))) is None:
        raise UnknownNameError(say("{name} does not watch this page", name=name))
    mask, is_on = form.one("mask"), form.one("is_on") == "1"
    noise.switch_masks(c, [page_id], off=() if is_on else (mask,), on=(mask,) if is_on else (), at=now)


def _read(c: Connection, name: str, settings: Settings, now: Instant) -> dict[str, Any]:
    row = by_name.find_past(c, name)
    held = subscriptions.listing(c, sentinel_id=row.id)[:PAGES]
    known = estimates.load(c, settings.schedule.policy, [sub.page_id for sub in held])
    coming = {
        one.page_id: one
        for one in list_polls(c, row, find=by_name.lives(c, dropped=True), settings=settings, now=now, learned=known)
    }
    beats = charts.read_beats(c, [sub.page_id for sub in held], now)
    shown = []
    for sub in held:
        identity, state = pages.get(c, sub.page_id)
        look = coming.get(sub.page_id)
        rate = None if look is None else ComingPoll(name, sub.page_id, look, known.get(sub.page_id, {})).changes_a_day
        shown.append(
            WatchedPageRow(
                sub.page_id,
                identity.given,
                state.title,
                state.health,
                state.reason,
                state.checked_at,
                None if look is None else look.at,
                "" if look is None else look.why,
                DAY / look.every if look is not None and look.every else None,
                rate,
                versions.newest_of(c, sub.page_id, VERSIONS),
                charts.draw_beats(beats.get(sub.page_id, charts.NONE)),
            )
        )
    found = changes.listing(c, sentinel=name, limit=CHANGES)
    records = [change_record(one.row, sentinel=one.sentinel, url=one.url) for one in found]
    return {
        "row": row,
        "has_receivers": bool(list_channels(meaning(row.text))),
        "name": row.name,
        "page_title": shown[0].title if shown else "",
        "pages": shown,
        "changes": [
            (record["id"], lines.line(record), one.row.detected_at) for record, one in zip(records, found, strict=True)
        ],
        "reports": {one.page_id: one for one in reports(c, row, settings, now, most=PAGES)},
        "courses": charts.courses(c, row.id, now),
        "masks": [
            (mask.page_id, thing, noise.where(thing), noise.why(thing), thing.id in mask.kept, thing in mask.offers)
            for mask in (noise.masks(c, sub.page_id) for sub in held)
            for thing in (*mask.things, *mask.offers)
        ],
    }
