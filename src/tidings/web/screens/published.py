"""Public pages: what everybody with the address sees of a tag, and the screen on which owners make
and remove them.

A page links to its feeds by relative addresses: it is compressed with texts of strangers, and its
own address is the secret (BREACH).
"""

from __future__ import annotations

from http import HTTPStatus
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from markupsafe import Markup
from starlette.responses import RedirectResponse

from tidings.model.url import split_url
from tidings.presentation.presenters import presenter
from tidings.record import dataclass
from tidings.service.people import published as service
from tidings.storage.people import published
from tidings.storage.watches import sentinels
from tidings.web import request_body
from tidings.web.markup import formats, lines
from tidings.web.markup.render import POLICY, environment, pack
from tidings.web.markup.translations import translate
from tidings.web.problems import ProblemError
from tidings.web.request_guard import own_address
from tidings.web.screens.desk import reader_zone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import tzinfo

    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.model.interval import Instant
    from tidings.service.people.published import PublishedChange
    from tidings.storage.db.connection import Connection
    from tidings.storage.people.published import PublishedTag
    from tidings.web.access import Asker
    from tidings.web.screens.desk import Desk

PAGE: Final = 50
"""Changes per page."""
_HEADERS: Final = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "x-robots-tag": "noindex, nofollow, noarchive",
}


@dataclass(frozen=True, slots=True)
class PublicLine:
    """A change as a line; `whole` are all its edits, where the line lacks some."""

    title: str
    host: str
    url: str
    line: Markup
    context: Markup
    words: int
    at: Markup
    whole: Markup


async def show(request: Request, desk: Desk) -> Response:
    """Return the public page; one that was removed, and one that never was, are alike."""
    now, zone, token = desk.clock.wall(), reader_zone(request), str(request.path_params["token"])
    before = request.query_params.get("before", "")[:64]
    found = await desk.store.read(_read, token, PAGE + 1, before)
    values: dict[str, Any] = {"is_there": False, "title": translate("There is no such page"), "days": [], "older": ""}
    if found is not None:
        page, changes = found
        shown = changes[:PAGE]
        values = {
            "is_there": True,
            "title": page.tag,
            "days": [(day, list(group)) for day, group in _days(shown, now, zone)],
            "older": shown[-1].id if len(changes) > PAGE else "",
        }
    html = environment().get_template("public.html").render(zone=str(zone), before=before, **values)
    status = HTTPStatus.NOT_FOUND if found is None else HTTPStatus.OK
    return pack(request, html.encode(), status, _HEADERS, "text/html; charset=utf-8")


def _read(c: Connection, token: str, limit: int, before: str) -> tuple[PublishedTag, list[PublishedChange]] | None:
    page = published.find(c, token)
    return None if page is None else (page, service.list_changes(c, page, limit=limit, before=before))


def _days(changes: Sequence[PublishedChange], now: Instant, zone: tzinfo) -> Iterator[tuple[str, Iterator[PublicLine]]]:
    for day, of_day in groupby(changes, lambda one: formats.day(one.at, now, zone)):
        yield day, (_line(one, now, zone) for one in of_day)


def _line(change: PublishedChange, now: Instant, zone: tzinfo) -> PublicLine:
    record, url = change.record, str(change.record["url"])
    fragment = presenter("changes", "html").fragment(record) if lines.is_cut(record) else ""
    return PublicLine(
        change.title,
        split_url(url).hostname or "",
        url,
        lines.line(record),
        lines.context(record),
        lines.words(record),
        formats.stamp(change.at, now, zone, is_day_known=True),
        Markup(fragment),  # noqa: S704 - the presenter escapes all texts of pages
    )


async def manage(request: Request, desk: Desk) -> Response:
    """Return the public pages of a user, all for an admin, and what one of a tag would show."""
    asker, tag = request.state.asker, request.query_params.get("tag", "")[:200]
    found = await desk.store.read(_manage, asker, tag)
    base = own_address(request.headers, desk.settings.serve)
    return await desk.page(
        request, "published.html", title=translate("Public pages"), here="sentinels", base=base, **found
    )


async def act(request: Request, desk: Desk) -> Response:
    """Make a public page of a tag, give it another address, or remove it."""
    asker, form = request.state.asker, await request_body.read_form(request)
    owner = None if asker.sees_all else asker.owner_id
    if token := form.one("token"):
        await desk.store.write(_end, token, owner, desk.clock.wall(), is_renewed=form.one("act") == "renew")
    elif form.one("act") == "publish":
        given = {"owner_id": asker.owner_id, "viewer": asker.viewer, "at": desk.clock.wall()}
        await desk.store.write(service.publish, form.one("tag"), **given)
    return RedirectResponse("/public", HTTPStatus.SEE_OTHER)


def _end(c: Connection, token: str, owner_id: int | None, at: Instant, *, is_renewed: bool) -> None:
    """Remove a public page, and make it again under another address if it `is_renewed`."""
    page = next((one for one in published.listing(c, owner_id=owner_id) if one.token == token), None)
    if page is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, translate("there is no such page"))
    published.revoke(c, token)
    if is_renewed:
        published.publish(c, service.make_token(), owner_id=page.owner_id, tag=page.tag, at=at)


def _manage(c: Connection, asker: Asker, tag: str) -> dict[str, Any]:
    every = published.listing(c, owner_id=None if asker.sees_all else asker.owner_id)
    tags = sentinels.tags(c, viewer=asker.viewer)
    own = {page.tag for page in every if page.owner_id == asker.owner_id}
    chosen = tag if tag in tags and tag not in own else ""
    proposed = service.propose(c, asker.owner_id, chosen) if chosen else None
    return {
        "published": [(page, service.view(c, page)) for page in every],
        "tags": [one for one in tags if one not in own],
        "chosen": chosen,
        "proposed": None if proposed is None else service.view(c, proposed),
    }
