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
from tidings.presentation.atom import MOST_ENTRIES, FeedHead, entry, identity
from tidings.presentation.atom import feed as atom_feed
from tidings.presentation.edits import summary
from tidings.presentation.presenters import presenter
from tidings.presentation.writing import one_line, subject_line
from tidings.record import dataclass
from tidings.service.people.published import list_changes
from tidings.service.show.records import change_record, rfc3339
from tidings.service.watch import by_name
from tidings.service.watch.watchlist import list_channels, read_meaning
from tidings.storage.db import instance
from tidings.storage.people import published
from tidings.storage.watches import deliveries, endpoints, inbox, sentinels
from tidings.web.problems import ProblemError
from tidings.web.request_guard import own_address
from tidings.web.resources.operation import etag_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from tidings.model.interval import Instant
    from tidings.settings import ServeSettings
    from tidings.storage.db.connection import Connection
    from tidings.web.inside import Inside
    from tidings.web.resources.operation import Call
    from tidings.web.screens.desk import Desk

JSON_FEED: Final = "application/feed+json"
UNINDEXED: Final = {"x-robots-tag": "noindex, nofollow, noarchive"}
"""Headers that keep a public page out of search engines."""


@dataclass(frozen=True, slots=True)
class Feed:
    """What a feed shows: its id within this installation, its title, and records of changes."""

    id: str
    title: str
    records: Sequence[dict[str, Any]]
    instance: str


async def atom(call: Call) -> Response:
    """Return a feed as Atom."""
    return answer_feed(call.request, await call.read(_read, call), "atom", call.desk.settings.serve)


async def json_feed(call: Call) -> Response:
    """Return a feed as JSON."""
    return answer_feed(call.request, await call.read(_read, call), "json", call.desk.settings.serve)


def answer_feed(request: Request, feed: Feed, kind: str, serve: ServeSettings) -> Response:
    """Return a feed as a response, or 304.

    Args:
        request: The request.
        feed: The feed.
        kind: `atom` or `json`.
        serve: The settings of the server.
    """
    address = own_address(request.headers, serve) + quote(request.url.path)
    if kind == "json":
        return _unless_had(request, write_json_feed(feed, address), JSON_FEED)
    return _unless_had(request, write_atom(feed, address), ATOM_TYPE)


def write_atom(feed: Feed, address: str) -> str:
    """Return a feed at an address as Atom."""
    head = FeedHead(
        id=f"urn:tidings:{feed.instance}:{feed.id}",
        title=feed.title,
        updated=(feed.records[0]["detected_at"] if feed.records else rfc3339(0)) or "",
        address=address,
        generator=f"Tidings {__version__}",
    )
    return atom_feed(head, (entry(one) for one in feed.records))


def write_json_feed(feed: Feed, address: str) -> str:
    """Return a feed at an address as a JSON Feed."""
    whole = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": feed.title,
        "feed_url": address,
        "items": [_item(one) for one in feed.records],
    }
    return json.dumps(whole)


async def publish_atom(request: Request, desk: Desk) -> Response:
    """Return the changes of a public page as Atom."""
    return await _publish(request, desk, "atom")


async def publish_json(request: Request, desk: Desk) -> Response:
    """Return the changes of a public page as JSON."""
    return await _publish(request, desk, "json")


async def _publish(request: Request, desk: Desk, kind: str) -> Response:
    token = str(request.path_params["token"])
    feed = await desk.store.read(_read_published, token)
    if feed is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, "there is no such page", headers=UNINDEXED)
    answer = answer_feed(request, feed, kind, desk.settings.serve)
    answer.headers.update(UNINDEXED)
    return answer


def _read_published(c: Connection, token: str) -> Feed | None:
    if (page := published.find(c, token)) is None:
        return None
    found = list_changes(c, page, limit=MOST_ENTRIES)
    id_ = f"public:{hashlib.sha256(token.encode()).hexdigest()[:16]}"
    return Feed(id_, page.tag, [one.record for one in found], instance.load(c).id)


def _item(record: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": identity(record),
        "url": str(record["url"]),
        "title": subject_line(f"{record['sentinel']}: {summary(record)}"),
        "content_html": presenter("changes", "html").fragment(record),
        "summary": one_line(summary(record)),
        "date_published": record["detected_at"],
        "tags": [one for one in (record["sentinel"], record["kind"]) if one],
    }


def _read(c: Connection, call: Call) -> Feed:
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
    return Feed(quote(title), title, records, instance.load(c).id)


def _unless_had(request: Request, body: str, media: str) -> Response:
    tag = etag_of(body)
    headers = {"etag": tag, "cache-control": "private, no-cache", "vary": "authorization, cookie"}
    given = {one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")}
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
    name = str(request.path_params.get("name", ""))
    if not name and "name" in request.path_params:
        raise ProblemError(HTTPStatus.NOT_FOUND, "there is nothing at this address")
    try:
        shelf = await inside.store.read(shelf_of, name, viewer=request.state.asker.viewer)
    except UnknownNameError as error:
        raise ProblemError(HTTPStatus.NOT_FOUND, str(error)) from error
    address = f"{own_address(request.headers, inside.settings.serve)}/feeds/{quote(name or ALL)}.atom"
    tag = _tag(shelf, address)
    headers = {"etag": tag, "cache-control": "private, no-cache", "vary": "authorization"}
    if inside.clock.wall() // SECOND > shelf.updated // SECOND:  # another entry may still come in this second
        headers["last-modified"] = formatdate(shelf.updated // SECOND, usegmt=True)
    if _is_had(request, tag, shelf.updated):
        return Response(status_code=HTTPStatus.NOT_MODIFIED, headers=headers)
    bodies = await inside.store.read(deliveries.bodies, shelf.deliveries)
    shown = entries([bodies[id_] for id_ in shelf.deliveries if id_ in bodies])
    head = FeedHead(
        id=shelf.id,
        title=shelf.title,
        updated=rfc3339(shelf.updated) or "",
        address=address,
        generator=f"Tidings {__version__}",
    )
    return Response(atom_feed(head, (one.decode() for one in shown)), headers=headers, media_type=ATOM_TYPE)


def shelf_of(c: Connection, name: str, *, viewer: int | None) -> Shelf:
    """Return the content of the feed of a sentinel, or of all that `viewer` sees. Raises
    `UnknownNameError` if there is none.

    Args:
        name: The name of the sentinel, "" for all.
        viewer: The owner who reads; None for one who sees all.
    """
    here = instance.load(c).id
    if not name:
        found = _lay_out(c, None, viewer)
        updated = max((at for _, at in found), default=0)
        return Shelf(f"urn:tidings:feed:{here}", "Tidings", tuple(id_ for id_, _ in found), updated)
    row = sentinels.find(c, name)
    found = _lay_out(c, row.id, viewer)
    if not found and all(channel.kind != "feed" for channel in list_channels(read_meaning(row))):
        message = f"{name} reports nothing by feed; write `Notify by feed` into its statement"
        raise UnknownNameError(message)
    updated = max((at for _, at in found), default=row.created_at)
    return Shelf(f"urn:tidings:feed:{here}:{row.id}", row.name, tuple(id_ for id_, _ in found), updated)


def _lay_out(c: Connection, sentinel_id: int | None, viewer: int | None) -> list[tuple[str, Instant]]:
    endpoint_id = endpoints.ids(c, [("feed", "")]).get(("feed", ""))
    if endpoint_id is None:
        return []
    return deliveries.laid_out(c, endpoint_id, sentinel_id=sentinel_id, viewer=viewer, limit=MOST_ENTRIES)


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
