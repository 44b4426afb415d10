"""Collections: whole sites, how far they are found, and their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from tidings.language.write.printer import COLLECTION
from tidings.service.collections.known import NO_SCOPE, report
from tidings.service.watch import by_name
from tidings.service.watch.watchlist import read_meaning
from tidings.storage.watches import collections, sentinels
from tidings.web.markup.translations import translate

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.storage.db.connection import Connection
    from tidings.web.screens.desk import Desk

PAGE: Final = 50
"""Pages on one screen."""


async def show(request: Request, desk: Desk) -> Response:
    """Return the collections that the reader sees."""
    rows = await desk.store.read(_list, request.state.asker.viewer)
    return await desk.page(request, "collections.html", title=translate("Collections"), here="collections", rows=rows)


async def show_one(request: Request, desk: Desk) -> Response:
    """Return a collection with its pages; a sentinel that is none has no scope and no pages."""
    name = request.path_params["name"]
    text = request.query_params.get("q", "").strip()[:200]
    given = request.query_params.get("p", "")
    number = max(1, int(given)) if given.isdecimal() and len(given) < 6 else 1
    found = await desk.store.read(_read, name, text, number)
    row, stands, pages = found

    def link(p: int) -> str:
        return f"/collections/{quote(name, safe='')}?{urlencode({'q': text, 'p': p})}"

    return await desk.page(
        request,
        "collection.html",
        title=f"{name} · {translate('Collections')}",
        here="collections",
        row=row,
        stands=stands,
        pages=pages[:PAGE],
        q=text,
        number=number,
        has_more=len(pages) > PAGE,
        link=link,
    )


def _list(c: Connection, viewer: int | None) -> list[dict[str, Any]]:
    found = []
    for row in sentinels.list_with_text(c, COLLECTION):
        sentinel = read_meaning(row)
        if sentinel.scope is not None and sentinels.is_seen(c, row.id, viewer):
            stands = report(c, row.id, sentinel.scope)
            found.append({"name": row.name, "state": row.state, "url": sentinel.pages[0].url, "stands": stands})
    return found


def _read(c: Connection, name: str, text: str, number: int) -> Any:
    row = by_name.find_past(c, name)
    scope = read_meaning(row).scope or NO_SCOPE
    pages = collections.list_watched(c, row.id, text=text, limit=PAGE + 1, offset=(number - 1) * PAGE)
    return row, report(c, row.id, scope), pages
