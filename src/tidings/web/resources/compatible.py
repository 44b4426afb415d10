"""changedetection.io's API over the stored data, so that dashboards and home automation made for it
can read this service at once.

Its paths are below their own prefix, `PREFIX`, which a client uses as the service's address. A
*watch* is a page of a sentinel, its snapshots are the stored versions. Read-only: what its clients
would change by a GET (`recheck`, `paused`, `muted`) is refused, like all other methods. It never
contains addresses of receivers, headers, cookies, proxies or bodies.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from uuid import NAMESPACE_URL, UUID, uuid5

from msgspec import Struct
from starlette.responses import Response

from tidings import __version__
from tidings.clock import SECOND
from tidings.presentation.presenters import presenter
from tidings.storage.observed import pages, versions
from tidings.storage.watches import inbox, listed, sentinels, subscriptions
from tidings.storage.watches.listed import TableRequest
from tidings.web.access import COMPATIBLE, page_of_watch, watch_of
from tidings.web.problems import ProblemError
from tidings.web.resources.operation import Operation
from tidings.web.resources.pages import SANDBOX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tidings.model.interval import Instant
    from tidings.model.observed.page import PageState
    from tidings.model.observed.version import Version
    from tidings.storage.db.connection import Connection
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.resources.operation import Call

CHANGING: Final = ("recheck", "recheck_all", "paused", "muted")
FORMS: Final = {"text": "text", "markdown": "text", "html": "html", "htmlcolor": "html"}


class CompatibleQuery(Struct, kw_only=True):
    """The query parameters of its clients; all others are ignored."""

    tag: str = ""
    q: str = ""
    partial: str = ""
    html: str = ""
    format: str = "text"
    recheck: str = ""
    recheck_all: str = ""
    paused: str = ""
    muted: str = ""


def _check_reads(query: CompatibleQuery) -> None:
    if any(getattr(query, name) for name in CHANGING):
        hint = "use the screens, or `POST /api/v1/sentinels/NAME/check`"
        raise ProblemError(HTTPStatus.FORBIDDEN, "these addresses only read", hint=hint)


async def watches(call: Call) -> Any:
    """Return every watch by its id."""
    _check_reads(call.query)
    return await call.read(_listing, call, "")


async def search(call: Call) -> Any:
    """Return the watches whose address or title equals or, with `partial`, contains a text."""
    query: CompatibleQuery = call.query
    wanted, found = query.q.strip().lower(), await call.read(_listing, call, "")

    def fits(text: str) -> bool:
        return wanted in text.lower() if query.partial.lower() in {"1", "true", "yes"} else wanted == text.lower()

    return {id_: one for id_, one in found.items() if fits(one["url"]) or fits(one["title"] or "")}


def _listing(c: Connection, call: Call, only: str) -> dict[str, Any]:
    asker = call.asker
    news = inbox.unread_pages(c, inbox.Filter(viewer=asker.viewer, reader=asker.owner_id))
    living = listed.find_sentinels(c, TableRequest(tag=call.query.tag, viewer=asker.viewer))
    found = {}
    for sentinel_id, _ in living:
        row = sentinels.get(c, sentinel_id)
        for page_id in dict.fromkeys(sub.page_id for sub in subscriptions.listing(c, sentinel_id=row.id)):
            found[str(watch_of(row.id, page_id))] = _short(c, row, page_id, is_viewed=(row.id, page_id) not in news)
    return {id_: one for id_, one in found.items() if only in {"", id_}}


def _short(c: Connection, row: SentinelRow, page_id: int, *, is_viewed: bool) -> dict[str, Any]:
    identity, state = pages.get(c, page_id)
    return {
        "last_changed": _find_last_change(state),
        "last_checked": _seconds(state.checked_at),
        "last_error": state.reason if state.health == "error" else False,
        "link": identity.given,
        "page_title": state.title,
        "paused": row.state == "disabled",
        "tags": [_tag_id(name) for name in row.tags],
        "title": state.title or row.name,
        "url": identity.given,
        "uuid": str(watch_of(row.id, page_id)),
        "viewed": is_viewed,
    }


def _find_last_change(state: PageState) -> int:
    return _seconds(state.changed_at) if state.last_seq > 1 else 0


def _seconds(at: Instant | None) -> int:
    return 0 if at is None else at // SECOND


async def watch(call: Call) -> Any:
    """Return one watch, without its history."""
    _check_reads(call.query)
    return await call.read(_watch, call)


def _watch(c: Connection, call: Call) -> dict[str, Any]:
    row, page_id = _find(c, call)
    own = inbox.Filter(viewer=call.asker.viewer, reader=call.asker.owner_id)
    is_viewed = (row.id, page_id) not in inbox.unread_pages(c, own)
    _, state = pages.get(c, page_id)
    return {
        **_short(c, row, page_id, is_viewed=is_viewed),
        "check_count": state.polls,
        "date_created": _seconds(row.created_at),
        "history_n": len(versions.listing(c, page_id)),
        "last_viewed": _find_last_change(state) if is_viewed else 0,
        "method": "GET",
        "notification_muted": False,
        "processor": "text_json_diff",
    }


def _find(c: Connection, call: Call) -> tuple[SentinelRow, int]:
    """Return the sentinel and the page of a watch. Raises `ProblemError` (404) if there is none."""
    sentinel_id, page_id = page_of_watch(call.get_parameter("watch"))
    if any(sub.page_id == page_id for sub in subscriptions.listing(c, sentinel_id=sentinel_id)):
        row = sentinels.get(c, sentinel_id)
        if row.state != "ended":
            return row, page_id
    raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such watch")


def _stamp(stored: list[Version]) -> Iterator[tuple[int, Version]]:
    """Yield each version with the second that its clients name it by, which is unique."""
    last = 0
    for one in stored:
        last = max(last + 1, one.fetched_at // SECOND)
        yield last, one


async def history(call: Call) -> Any:
    """Return the second of each stored version, oldest first, with its number."""

    def read(c: Connection) -> dict[str, str]:
        _, page_id = _find(c, call)
        return {str(at): f"version {one.seq}" for at, one in _stamp(versions.listing(c, page_id))}

    return await call.read(read)


def _at(c: Connection, call: Call, *names: str) -> tuple[SentinelRow, int, list[Version]]:
    """Return a watch and the versions that path parameters name, by their second, as `latest` or as
    `previous`.
    """
    row, page_id = _find(c, call)
    by_stamp = {str(at): one for at, one in _stamp(versions.listing(c, page_id))}
    by_stamp |= {"latest": [*by_stamp.values()][-1], "previous": [*by_stamp.values()][-2:][0]} if by_stamp else {}
    found = [by_stamp.get(call.get_parameter(name)) for name in names]
    if None in found:
        raise ProblemError(HTTPStatus.NOT_FOUND, "there is no version of that time", hint="take a key of /history")
    return row, page_id, [one for one in found if one is not None]


async def snapshot(call: Call) -> Response:
    """Return the text of a version; with `html` its body, as a download."""
    _, page_id, (version,) = await call.read(_at, call, "at")
    if call.query.html:
        content = await call.desk.comparisons.body(page_id=page_id, seq=version.seq)
        return Response(content, headers=SANDBOX, media_type="application/octet-stream")
    text = await call.desk.comparisons.text(page_id=page_id, version=version)
    return _text(text)


async def difference(call: Call) -> Response:
    """Return the difference between two versions, as the sentinel sees it."""
    row, page_id, (old, new) = await call.read(_at, call, "old", "new")
    form = FORMS.get(call.query.format, "text")
    record = await call.desk.comparisons.two_versions(row, page_id=page_id, old=old, new=new)
    return _text(presenter("changes", form).fragment(record))


def _text(text: str) -> Response:
    headers = {**SANDBOX, "content-disposition": "inline"}
    return Response(text.encode(errors="replace"), headers=headers, media_type="text/plain; charset=utf-8")


def _tag_id(name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"tidings:tag:{name}"))


async def tags(call: Call) -> Any:
    """Return the tags by their ids."""
    names = await call.read(sentinels.tags, viewer=call.asker.viewer)
    return {
        _tag_id(name): {"uuid": _tag_id(name), "title": name, "date_created": 0, "notification_muted": False}
        for name in names
    }


async def system(call: Call) -> Any:
    """Return the state of the service."""
    health = await call.desk.health_for(call.asker)
    late = {name for trouble in health.troubles if trouble.brief == "overdue" for name in trouble.sentinels}
    found = await call.read(_listing, call, "")
    ids = await call.read(listed.find_sentinels, TableRequest(viewer=call.asker.viewer))
    overdue = {id_ for id_, name in ids if name in late}
    return {
        "overdue_watches": [one for one in found if UUID(one).int >> 80 in overdue],
        "queue_size": 0,
        "uptime": round(call.desk.uptime, 1),
        "version": f"Tidings {__version__}",
        "watch_count": len(found),
    }


_API: Final = f"{COMPATIBLE}/api/v1"
COMPATIBLE_OPERATIONS: Final = tuple(
    Operation("GET", f"{_API}{path}", "readers", name, summary, answer, dict[str, Any], CompatibleQuery)
    for path, name, summary, answer in (
        ("/watch", "compatible_watches", "Watches", watches),
        ("/watch/{watch}", "compatible_watch", "A watch", watch),
        ("/watch/{watch}/history", "compatible_history", "Its versions", history),
        ("/watch/{watch}/history/{at}", "compatible_snapshot", "A version", snapshot),
        ("/watch/{watch}/difference/{old}/{new}", "compatible_difference", "Two versions compared", difference),
        ("/tags", "compatible_tags", "Tags", tags),
        ("/search", "compatible_search", "Watches by address or title", search),
        ("/systeminfo", "compatible_system", "The service", system),
    )
)
