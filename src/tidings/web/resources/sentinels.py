"""Sentinels: list, read, create, alter, drop and restore, check now, bulk actions; of a collection
how far it is found, and its pages.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from msgspec import UNSET

from tidings.errors import TidingsError, UsageError
from tidings.model.watch.sentinel import Command
from tidings.service.collections.known import NO_SCOPE, page_record, report
from tidings.service.people import published as publishing
from tidings.service.sentinels import edit, register
from tidings.service.sentinels.author import check_sentinel
from tidings.service.show.records import rfc3339, sentinel_record
from tidings.service.watch import by_name
from tidings.service.watch.watchlist import read_meaning
from tidings.storage.db.connection import UNLIMITED
from tidings.storage.people import accounts, published
from tidings.storage.watches import collections, sentinels, subscriptions
from tidings.web.problems import ProblemError
from tidings.web.resources.operation import Reply, Text, after_number, check_match, etag_of, page
from tidings.web.screens.sentinels import carry_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidings.model.interval import Instant
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.access import Asker
    from tidings.web.resources.operation import Call
    from tidings.web.resources.shapes import Alteration, Bulk, SentinelQuery

_FILES: Final[Mapping[str, str]] = {"application/yaml": "api.yaml", "text/plain": ""}


def record_of(row: SentinelRow, owners: Mapping[int, str]) -> dict[str, Any]:
    """Return a sentinel as the API returns it."""
    return sentinel_record(
        row,
        details={
            "revision": row.revision,
            "pages": row.pages,
            "owner": owners.get(row.owner_id, ""),
            "ended_at": rfc3339(row.ended_at),
        },
    )


async def listing(call: Call) -> Any:
    """Return sentinels in order of creation."""
    query: SentinelQuery = call.query
    after = after_number(query.cursor, first=0)

    def read(c: Connection) -> dict[str, Any]:
        ended = query.state in {"ended", "all"}
        state = "" if query.state in {"living", "all"} else query.state
        most = UNLIMITED if query.q else query.limit + 1
        tag, viewer = query.tag or None, call.asker.viewer
        rows = sentinels.listing(c, ended=ended, tag=tag, viewer=viewer, state=state, after=after, limit=most)
        owners = accounts.names(c)
        found = [row for row in rows if _fits(row, query)]
        return page(found, query.limit, lambda row: record_of(row, owners), lambda row: row.id)

    return await call.read(read)


def _fits(row: SentinelRow, query: SentinelQuery) -> bool:
    return not query.q or query.q.lower() in row.name.lower() or query.q.lower() in row.text.lower()


async def get(call: Call) -> Any:
    """Return a sentinel, including an ended one."""
    return await call.read(_get, call.get_parameter("name"))


def _get(c: Connection, name: str) -> dict[str, Any]:
    return record_of(by_name.find_past(c, name), accounts.names(c))


async def create(call: Call) -> Any:
    """Execute statements, all or none, and request the first check of each new page."""
    text, file = _read_text(call)
    done = await call.write(_create, text, file, call.asker, call.desk.statement_settings, call.desk.clock.wall())
    call.desk.forget_recent()
    made = done["made"] or done["altered"] or done["unaltered"]
    headers = {"location": f"/api/v1/sentinels/{quote(made[0]['name'], safe='')}"} if made else {}
    return Reply(done, HTTPStatus.CREATED if done["made"] else HTTPStatus.OK, headers)


def _read_text(call: Call) -> tuple[str, str]:
    return (call.body.text, _FILES[call.body.media]) if isinstance(call.body, Text) else (call.body.text, "")


def _create(
    c: Connection, text: str, file: str, asker: Asker, settings: Settings, now: Instant
) -> dict[str, list[Any]]:
    """Register a text for the asker, who owns what it creates and must own what it alters."""
    done = register.carry_out(c, text, settings, now, file, asker.author)
    for row in done.made:
        subscriptions.request_polls(c, row.id, now)
    owners = accounts.names(c)

    def list_given(rows: tuple[SentinelRow, ...]) -> list[dict[str, Any]]:
        return [record_of(sentinels.get(c, row.id), owners) for row in rows]

    return {
        "made": list_given(done.made),
        "altered": list_given(done.altered),
        "unaltered": list_given(done.unaltered),
        "warnings": [one.as_dict() for one in done.warnings],
    }


async def alter(call: Call) -> Any:
    """Change a sentinel's text, name or tags, pause or resume it; all or nothing."""
    changed: Alteration = call.body
    name = call.get_parameter("name")
    now, settings = call.desk.clock.wall(), call.desk.statement_settings
    done = await call.write(_alter, call, name, changed, settings, now)
    call.desk.forget_recent()
    return Reply(done, headers={"etag": etag_of(done)})


def _alter(
    c: Connection, call: Call, name: str, changed: Alteration, settings: Settings, now: Instant
) -> dict[str, Any]:
    check_match(call.request, record_of(by_name.find(c, name), accounts.names(c)))
    if changed.text is not UNSET:
        row, author = by_name.find(c, name), call.asker.author
        edit.replace_text(c, row, changed.text, settings=settings, now=now, author=author)
    if changed.tags is not UNSET:
        carry_out(c, name, "tags", ", ".join(changed.tags), settings, now, call.asker)
    if changed.enabled is not UNSET:
        pause = register.pause(name, changed.until, settings.serve.zone, now)
        register.command(c, Command("enable", name) if changed.enabled else pause, now=now)
    if changed.name is not UNSET and changed.name != name:
        register.rename(c, name, changed.name, now=now)
        name = changed.name
    return record_of(by_name.find(c, name), accounts.names(c))


async def drop(call: Call) -> Any:
    """Drop a sentinel; this can be undone for a day."""

    def write(c: Connection, name: str, now: Instant) -> dict[str, Any]:
        row = by_name.find(c, name)
        owners = accounts.names(c)
        check_match(call.request, record_of(row, owners))
        sentinels.drop(c, row.id, now)
        return {"sentinel": record_of(sentinels.get(c, row.id), owners), "undo_until": rfc3339(now + register.UNDO)}

    done = await call.write(write, call.get_parameter("name"), call.desk.clock.wall())
    call.desk.forget_recent()
    return done


async def restore(call: Call) -> Any:
    """Undo a drop of less than a day ago."""
    try:
        done = await call.write(undo, call.get_parameter("name"), call.desk.clock.wall())
    except UsageError as error:
        raise ProblemError(HTTPStatus.CONFLICT, str(error)) from error
    call.desk.forget_recent()
    return done


def undo(c: Connection, name: str, now: Instant) -> dict[str, Any]:
    """Undo the drop of a sentinel. Raises `UsageError` after a day, or if there is no drop
    to undo.
    """
    return record_of(register.take_back(c, name, now=now), accounts.names(c))


async def check(call: Call) -> Any:
    """Request a check of each page of a sentinel now, within the limits of its hosts."""

    def write(c: Connection, name: str, now: Instant) -> int:
        return subscriptions.request_polls(c, by_name.find(c, name).id, now)

    asked = await call.write(write, call.get_parameter("name"), call.desk.clock.wall())
    return Reply({"requests": asked}, HTTPStatus.ACCEPTED)


async def bulk(call: Call) -> Any:
    """Apply one action to many sentinels independently, and return each result."""
    wanted: Bulk = call.body
    now, settings = call.desk.clock.wall(), call.desk.statement_settings

    def write(c: Connection, name: str) -> None:
        check_sentinel(c, call.asker.author, name)
        by_name.find(c, name, viewer=call.asker.viewer)
        carry_out(c, name, wanted.act, ", ".join(wanted.tags), settings, now, call.asker)

    done: list[dict[str, Any]] = []
    for name in dict.fromkeys(wanted.names):
        try:
            await call.write(write, name)
            done.append({"name": name, "done": True, "problem": ""})
        except TidingsError as error:
            done.append({"name": name, "done": False, "problem": str(error)})
    call.desk.forget_recent()
    return {"items": done}


async def preview(call: Call) -> Any:
    """Return what statements would watch: each page is fetched once, and only the cost is
    stored.
    """
    text, file = _read_text(call)
    if file:
        raise ProblemError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a preview is of statements in the sentence form")
    found, warnings = await call.desk.try_out(text, call.asker)
    return {"items": [one.record() for one in found], "warnings": [one.as_dict() for one in warnings]}


async def tags(call: Call) -> Any:
    """Return the tags that sentinels have."""
    return {"items": await call.read(sentinels.tags, viewer=call.asker.viewer)}


async def list_public_pages(call: Call) -> Any:
    """Return the public pages of the asker, all for who sees all."""
    found = await call.read(published.listing, owner_id=None if call.asker.sees_all else call.asker.owner_id)
    return {"items": [publishing.record(one) for one in found]}


async def publish_tag(call: Call) -> Any:
    """Make a public page of the asker's sentinels with a tag."""
    given = {"owner_id": call.asker.owner_id, "viewer": call.asker.viewer, "at": call.desk.clock.wall()}
    return publishing.record(await call.write(publishing.publish, call.get_parameter("tag"), **given))


async def remove_public_page(call: Call) -> Any:
    """Remove a public page of the asker."""
    token = call.get_parameter("token")
    if not await call.write(published.revoke, token, owner_id=None if call.asker.sees_all else call.asker.owner_id):
        raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such page")
    return {"revoked": token}


async def get_collection(call: Call) -> Any:
    """Return a collection as it stands, with its pages, those that changed last first; a sentinel
    that is none has an empty scope and no pages.
    """
    offset = after_number(call.query.cursor, first=0)
    return await call.read(_read_collection, call.get_parameter("name"), call.query.q, call.query.limit, offset)


def _read_collection(c: Connection, name: str, text: str, limit: int, offset: int) -> dict[str, Any]:
    row = by_name.find_past(c, name)
    scope = read_meaning(row).scope or NO_SCOPE
    pages = collections.list_watched(c, row.id, text=text, limit=limit + 1, offset=offset)
    return {
        "name": row.name,
        **report(c, row.id, scope).record(),
        "items": [page_record(page) for page in pages[:limit]],
        "next": str(offset + limit) if len(pages) > limit else None,
    }
