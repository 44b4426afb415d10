"""Watched pages: their state, versions with texts and bodies, polls, masks, and comparisons of two
versions.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from tidings.errors import UnknownNameError, UsageError
from tidings.service.search import asking
from tidings.service.show.records import poll_record, rfc3339, version_record
from tidings.service.watch import noise
from tidings.storage.observed import pages, polls, versions
from tidings.storage.watches import sentinels, subscriptions
from tidings.web.access import check_masks
from tidings.web.problems import ProblemError
from tidings.web.resources.operation import after_number, moment, page

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tidings.model.observed.version import Version
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.resources.operation import Call

SANDBOX = {
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
    "content-disposition": 'attachment; filename="version"',
    "cache-control": "private, no-cache",
}
"""Headers of a stored body, which never renders as a page of this service (R-11)."""


async def listing(call: Call) -> Any:
    """Return the pages that the asker's sentinels watch."""
    after = after_number(call.query.cursor, first=0)

    def read(c: Connection) -> dict[str, Any]:
        names = _watchers(c, call.asker.viewer)
        ids = [page_id for page_id in sorted(names) if page_id > after][: call.query.limit + 1]
        found = [(page_id, _record(c, page_id, names[page_id])) for page_id in ids]
        return page(found, call.query.limit, lambda one: one[1], lambda one: one[0])

    return await call.read(read)


async def of_sentinel(call: Call) -> Any:
    """Return the pages of a sentinel."""

    def read(c: Connection, name: str) -> dict[str, Any]:
        row = sentinels.last_of(c, name) or sentinels.find(c, name)
        ids = dict.fromkeys(sub.page_id for sub in subscriptions.listing(c, sentinel_id=row.id))
        return {"items": [_record(c, page_id, [row.name]) for page_id in ids], "next": None}

    return await call.read(read, call.get_parameter("name"))


async def get(call: Call) -> Any:
    """Return a page."""

    def read(c: Connection, page_id: int) -> dict[str, Any]:
        names = _watchers(c, call.asker.viewer)
        return _record(c, page_id, names.get(page_id, []))

    return await call.read(read, call.number("page"))


def _watchers(c: Connection, viewer: int | None) -> dict[int, list[str]]:
    """Return the names of the sentinels that watch each page."""
    names = {row.id: row.name for row in sentinels.listing(c, viewer=viewer)}
    found: dict[int, list[str]] = {}
    for sub in subscriptions.listing(c):
        if sub.sentinel_id in names:
            found.setdefault(sub.page_id, []).append(names[sub.sentinel_id])
    return found


def _record(c: Connection, page_id: int, names: list[str]) -> dict[str, Any]:
    identity, state = pages.get(c, page_id)
    return {
        "record": "page",
        "id": str(page_id),
        "url": identity.given,
        "title": state.title,
        "health": state.health,
        "reason": state.reason,
        "sentinels": list(dict.fromkeys(names)),
        "versions": state.last_seq,
        "polls": state.polls,
        "checked_at": rfc3339(state.checked_at),
        "changed_at": rfc3339(state.changed_at),
    }


def _url(c: Connection, page_id: int) -> str:
    return pages.identity(c, page_id).given


async def list_versions(call: Call) -> Any:
    """Return the stored versions of a page, the newest first."""
    before = after_number(call.query.cursor, first=2**62)

    def read(c: Connection, page_id: int) -> dict[str, Any]:
        url = _url(c, page_id)
        found = [one for one in reversed(versions.listing(c, page_id)) if one.seq < before]
        return page(found, call.query.limit, lambda one: version_record(one, url=url), lambda one: one.seq)

    return await call.read(read, call.number("page"))


def _version(c: Connection, page_id: int, seq: int) -> Version:
    found = versions.get(c, page_id, seq)
    if found is None:
        raise UnknownNameError(f"there is no stored version {seq} of this page")
    return found


async def get_version(call: Call) -> Any:
    """Return a version without its body."""

    def read(c: Connection, page_id: int, seq: int) -> dict[str, Any]:
        return version_record(_version(c, page_id, seq), url=_url(c, page_id))

    return await call.read(read, call.number("page"), call.number("number"))


async def body(call: Call) -> Response:
    """Return the body of a version as received, as a download."""
    page_id, seq = call.number("page"), call.number("number")
    version = await call.read(_version, page_id, seq)
    content = await call.desk.comparisons.body(page_id=page_id, seq=seq)
    headers = {**SANDBOX, "x-content-type": version.content_type.encode("ascii", "replace").decode()}
    return Response(content, headers=headers, media_type="application/octet-stream")


async def text(call: Call) -> Response:
    """Return the text of a version as a reader sees it."""
    page_id, seq = call.number("page"), call.number("number")
    version = await call.read(_version, page_id, seq)
    content = await call.desk.comparisons.text(page_id=page_id, version=version)
    headers = {**SANDBOX, "content-disposition": "inline"}
    return Response(content.encode(errors="replace"), headers=headers, media_type="text/plain; charset=utf-8")


async def compare(call: Call) -> Any:
    """Return the difference between two versions, as a sentinel that watches the page sees it."""
    page_id, query = call.number("page"), call.query

    def read(c: Connection) -> tuple[SentinelRow, Version, Version]:
        by_name: Mapping[str, SentinelRow] = {
            row.name: row
            for row in sentinels.listing(c, ended=True, viewer=call.asker.viewer)
            if any(sub.page_id == page_id for sub in subscriptions.listing(c, sentinel_id=row.id))
        }
        row = by_name.get(query.sentinel) if query.sentinel else next(iter(by_name.values()), None)
        if row is None:
            raise UnknownNameError(f"{query.sentinel or 'no sentinel of yours'} does not watch this page")
        return row, _version(c, page_id, query.old), _version(c, page_id, query.new)

    row, old, new = await call.read(read)
    record = await call.desk.comparisons.two_versions(row, page_id=page_id, old=old, new=new)
    return {**record, "detected_at": None}


async def list_polls(call: Call) -> Any:
    """Return the polls of a page, the newest first."""
    before = after_number(call.query.cursor, first=2**62)

    def read(c: Connection, page_id: int) -> dict[str, Any]:
        url = _url(c, page_id)
        found = polls.listing(c, page_id=page_id, limit=call.query.limit + 1, before=before)
        return page(found, call.query.limit, lambda one: poll_record(one, url=url), lambda one: one.id)

    return await call.read(read, call.number("page"))


async def list_masks(call: Call) -> Any:
    """Return the noise masks of a page, active and offered."""
    return await call.read(_masks, call.number("page"))


def _masks(c: Connection, page_id: int) -> dict[str, Any]:
    pages.identity(c, page_id)
    return {"items": noise.masks(c, page_id).records("")}


async def switch_mask(call: Call) -> Any:
    """Switch a mask off, so that what it covers is reported, or on."""
    page_id, mask, is_off = call.number("page"), call.get_parameter("mask"), call.body.off

    def write(c: Connection) -> dict[str, Any]:
        pages.identity(c, page_id)
        check_masks(c, call.asker, page_id)
        try:
            off, on = ((mask,), ()) if is_off else ((), (mask,))
            noise.switch_masks(c, [page_id], off=off, on=on, at=call.desk.clock.wall())
        except UsageError as error:
            raise ProblemError(HTTPStatus.NOT_FOUND, str(error)) from error
        return _masks(c, page_id)

    return await call.write(write)


FARTHEST_RESULT = 10_000
"""Most results that can be paged through."""


async def search(call: Call) -> Any:
    """Return the results, the best first, and their counts by facet."""
    query, desk = call.query, call.desk
    offset = min(after_number(query.cursor, first=0), FARTHEST_RESULT)
    wanted = asking.SearchRequest(
        text=query.q,
        site=query.site,
        sentinel=query.sentinel,
        tag=query.tag,
        kind=query.kind,
        at=moment(query.at),
        changed_since=moment(query.changed_since),
        viewer=call.asker.viewer,
        reader=call.asker.owner_id,
        limit=query.limit,
        offset=offset,
    )
    answer = await asking.ask(desk.store, desk.index, wanted, now=desk.clock.wall())
    end = offset + query.limit
    return {
        "items": [asking.record(result) for result in answer.results],
        "next": str(end) if answer.count > end and end <= FARTHEST_RESULT else None,
        "count": answer.count,
        "sites": dict(answer.sites),
        "kinds": dict(answer.kinds),
        "suggested": answer.suggested or None,
        "changed_within": dict(answer.times),
        "behind": await asking.behind(desk.store, desk.index) if call.asker.sees_all else None,
    }
