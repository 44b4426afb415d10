"""Feeds of changes by sentinel, by tag and of all, as Atom (RFC 4287) and as JSON Feed 1.1, with or
without a Notify clause.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from starlette.responses import Response

from tidings import __version__
from tidings.errors import UnknownNameError
from tidings.notification.payload import ATOM_TYPE
from tidings.presentation.atom import MOST_ENTRIES, FeedHead, entry, feed, identity
from tidings.presentation.edits import summary
from tidings.presentation.presenters import presenter
from tidings.presentation.writing import one_line, subject_line
from tidings.service.show.records import change_record, rfc3339
from tidings.service.watch import by_name
from tidings.storage.db import instance
from tidings.storage.watches import inbox, sentinels
from tidings.web.resources.operation import etag_of

if TYPE_CHECKING:
    from tidings.storage.db.connection import Connection
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
