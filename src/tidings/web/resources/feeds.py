"""Feeds of changes by sentinel, by tag and of all, as Atom (RFC 4287) and as JSON Feed 1.1, with or
without a Notify clause.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from email.utils import formatdate
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from starlette.responses import Response

from tidings import __version__
from tidings.clock import SECOND
from tidings.errors import UnknownNameError
from tidings.fetching.http.answers import read_date
from tidings.notification.payload import ATOM_TYPE
from tidings.presentation.atom import MOST_ENTRIES, FeedHead, entry, feed, identity
from tidings.presentation.edits import summary
from tidings.presentation.presenters import presenter
from tidings.presentation.writing import one_line, subject_line
from tidings.record import dataclass
from tidings.service.show.records import change_record, rfc3339
from tidings.service.watch import by_name
from tidings.service.watch.watchlist import list_channels, meaning
from tidings.storage.db import instance
from tidings.storage.watches import deliveries, endpoints, inbox, sentinels
from tidings.web.problems import ProblemError
from tidings.web.resources.operation import etag_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.model.interval import Instant
    from tidings.storage.db.connection import Connection
    from tidings.web.inside import Inside
    from tidings.web.resources.operation import Call

JSON_FEED: Final = "application/feed+json"


async def atom(call: Call) -> Response:
    """Return a feed as Atom."""
    title, records, here = await call.read(_read, call)
    address = _address(call)
    updated = records[0]["detected_at"] if records else rfc3339(0)
    head = FeedHead(
        id=f"urn:tidings:{here}:{quote(title)}",
        title=title,
        updated=updated or "",
        address=address,
        generator=f"Tidings {__version__}",
    )
    return _unless_had(call, feed(head, (entry(one) for one in records)), ATOM_TYPE)


async def json_feed(call: Call) -> Response:
    """Return a feed as JSON."""
    title, records, _ = await call.read(_read, call)
    whole = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": title,
        "feed_url": _address(call),
        "items": [_item(one) for one in records],
    }
    return _unless_had(call, json.dumps(whole), JSON_FEED)


def _item(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": identity(record),
        "url": str(record["url"]),
        "title": subject_line(f"{record['sentinel']}: {summary(record)}"),
        "content_html": presenter("changes", "html").fragment(record),
        "summary": one_line(summary(record)),
        "date_published": record["detected_at"],
        "tags": [record["sentinel"], record["kind"]],
    }


def _read(c: Connection, call: Call) -> tuple[str, list[dict[str, Any]], str]:
    named = {key: str(value) for key, value in call.request.path_params.items()}
    viewer = call.asker.viewer
    title, narrowed = "Tidings", inbox.Filter(shown="all", viewer=viewer)
    if "name" in named:
        title = by_name.find_past(c, named["name"]).name
        narrowed = inbox.Filter(shown="all", viewer=viewer, sentinel=title)
    elif "tag" in named:
        title = named["tag"]
        if title not in sentinels.tags(c, viewer=viewer):
            raise UnknownNameError(f"no sentinel has the tag {title[:100]}")
        narrowed = inbox.Filter(shown="all", viewer=viewer, tag=title)
    found = inbox.listing(c, narrowed, limit=MOST_ENTRIES)
    records = [change_record(one.change.row, sentinel=one.change.sentinel, url=one.change.url) for one in found]
    return title, records, instance.load(c).id


def _address(call: Call) -> str:
    return f"http://{call.request.headers['host']}{quote(call.request.url.path)}"


def _unless_had(call: Call, body: str, media: str) -> Response:
    tag = etag_of(body)
    headers = {"etag": tag, "cache-control": "private, no-cache", "vary": "authorization, cookie"}
    given = {one.strip().removeprefix("W/") for one in call.request.headers.get("if-none-match", "").split(",")}
    if given & {tag, "*"}:
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    return Response(body.encode(errors="replace"), headers=headers, media_type=media)


ALL: Final = "all"
"""The feed of all sentinels; a sentinel of that name has no feed of its own."""
MOST_BYTES: Final = 2_000_000
_END: Final = b"</entry>\n"
_ID: Final = re.compile(rb"<id>([^<]*)</id>")


@dataclass(frozen=True, slots=True)
class Shelf:
    """The content of a feed: its `id` and `title`, its deliveries newest first, when it last
    changed.
    """

    id: str
    title: str
    deliveries: tuple[str, ...]
    updated: Instant


async def answer_channel_feed(request: Request, inside: Inside) -> Response:
    """Return the requested feed, or 304."""
    name = str(request.path_params["name"])
    try:
        shelf = await inside.store.read(shelf_of, name)
    except UnknownNameError as error:
        raise ProblemError(HTTPStatus.NOT_FOUND, str(error)) from error
    address = f"http://{request.headers['host']}/feeds/{quote(name)}.atom"
    tag = _tag(shelf, address)
    headers = {"etag": tag, "cache-control": "private, no-cache", "vary": "authorization"}
    if inside.clock.wall() // SECOND > shelf.updated // SECOND:  # another entry may still come in this second
        headers["last-modified"] = formatdate(shelf.updated // SECOND, usegmt=True)
    if _is_had(request, tag, shelf.updated):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    bodies = await inside.store.read(deliveries.bodies, shelf.deliveries)
    kept = entries([bodies[id_] for id_ in shelf.deliveries if id_ in bodies])
    head = FeedHead(
        id=shelf.id,
        title=shelf.title,
        updated=rfc3339(shelf.updated) or "",
        address=address,
        generator=f"Tidings {__version__}",
    )
    return Response(feed(head, (one.decode() for one in kept)), headers=headers, media_type=ATOM_TYPE)


def shelf_of(c: Connection, name: str) -> Shelf:
    """Return the content of the feed of a sentinel or, for `all`, of all. Raises `UnknownNameError`
    if there is none.
    """
    here = instance.load(c)
    endpoint_id = endpoints.ids(c, [("feed", "")]).get(("feed", ""))
    if name == ALL:
        found = _laid_out(c, endpoint_id, None)
        updated = max((at for _, at in found), default=0)
        return Shelf(f"urn:tidings:feed:{here.id}", "Tidings", tuple(id_ for id_, _ in found), updated)
    row = sentinels.find(c, name)
    found = _laid_out(c, endpoint_id, row.id)
    if not found and all(channel.kind != "feed" for channel in list_channels(meaning(row.text))):
        message = f"{name} reports nothing by feed; write `Notify by feed` into its statement"
        raise UnknownNameError(message)
    updated = max((at for _, at in found), default=row.created_at)
    return Shelf(f"urn:tidings:feed:{here.id}:{row.id}", row.name, tuple(id_ for id_, _ in found), updated)


def _laid_out(c: Connection, endpoint_id: int | None, sentinel_id: int | None) -> list[tuple[str, Instant]]:
    if endpoint_id is None:
        return []
    return deliveries.laid_out(c, endpoint_id, sentinel_id=sentinel_id, limit=MOST_ENTRIES)


def entries(bodies: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the first distinct entries of deliveries, up to the length of a feed."""
    seen: set[bytes] = set()
    size = 0
    for body in bodies:
        for one in body.split(_END)[:-1]:
            whole = one + _END
            found = _ID.search(whole)
            size += len(whole)
            if len(seen) == MOST_ENTRIES or (seen and size > MOST_BYTES):
                return
            if found is not None and found[1] not in seen:
                seen.add(found[1])
                yield whole


def _tag(shelf: Shelf, address: str) -> str:
    parts = (__version__, shelf.id, shelf.title, address, str(shelf.updated), *shelf.deliveries)
    return f'"{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:32]}"'


def _is_had(request: Request, tag: str, updated: Instant) -> bool:
    """Return whether the client has the present feed: by its tag or, without one, by its date."""
    given = request.headers.get("if-none-match")
    if given is not None:
        return given.strip() == "*" or tag in {one.strip().removeprefix("W/") for one in given.split(",")}
    since = read_date(request.headers.get("if-modified-since", ""))
    return since is not None and since >= updated // SECOND * SECOND
