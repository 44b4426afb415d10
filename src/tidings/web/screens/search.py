"""Search: what pages say now, or said on a past day; only pages that the reader may see."""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from tidings.errors import StoreError, UsageError
from tidings.language.times import read_moment
from tidings.service.search import asking
from tidings.storage.observed import versions
from tidings.storage.watches import listed
from tidings.web.markup import formats
from tidings.web.markup.translations import translate
from tidings.web.problems import ProblemError
from tidings.web.request_guard import OWN_SITE
from tidings.web.screens.desk import reader_zone

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from tidings.model.interval import Instant
    from tidings.service.search.asking import Result, SearchRequest
    from tidings.storage.search.log import SearchLog
    from tidings.storage.watches.listed import FindablePage
    from tidings.web.screens.desk import Desk

logger = logging.getLogger("tidings.web.search")
PAGE: Final = 20
"""Results per screen."""
_KEYS: Final = ("q", "site", "sentinel", "tag", "kind", "time", "at", "p")
_LAST_PAGE: Final = 50


async def show(request: Request, desk: Desk) -> Response:
    """Return the form and the results."""
    given = {key: request.query_params.get(key, "").strip() for key in _KEYS}
    number = int(given["p"]) if given["p"].isdecimal() and len(given["p"]) < 3 else 1
    number = min(max(1, number), _LAST_PAGE)
    now, asker = desk.clock.wall(), request.state.asker
    answer, problem = None, ""
    if given["q"]:
        try:
            wanted = _read_request(given, request, now, number)
            answer = await asking.ask(desk.store, desk.index, wanted, now=now)
            if number == 1:
                query_text = str(answer.query)
                await _count(request, desk, lambda log: log.note_search(query_text, owner_id=asker.owner_id, at=now))
        except UsageError as error:
            problem = str(error)
    behind = await asking.behind(desk.store, desk.index) if asker.sees_all else 0

    def link(**changed: object) -> str:
        query = {key: value for key, value in {**given, "p": "", **changed}.items() if value}
        return f"/search?{urlencode(query)}"

    return await desk.page(
        request,
        "search.html",
        title=translate("{query} · Search", query=given["q"][:60]) if given["q"] else translate("Search"),
        here="search",
        wanted=given,
        answer=answer,
        results=[_show(result) for result in answer.results] if answer else [],
        problem=problem,
        behind=behind,
        times=list(asking.TIMES),
        number=number,
        page_size=PAGE,
        filters=[(key, given[key]) for key in ("site", "sentinel", "tag", "kind", "time", "at") if given[key]],
        has_more=answer is not None and answer.count > number * PAGE and number < _LAST_PAGE,
        link=link,
    )


async def open_page(request: Request, desk: Desk) -> Response:
    """Redirect to a result, without revealing the search to its site."""
    _, page = await _find_page(request, desk)
    url, asker = page.url, request.state.asker
    if not _is_web(url):
        raise ProblemError(HTTPStatus.NOT_FOUND, translate("there is no such page"))
    rank = request.query_params.get("rank", "")
    if rank.isascii() and rank.isdecimal() and len(rank) < 5:
        await _count(request, desk, lambda log: log.note_click(int(rank), owner_id=asker.owner_id))
    return RedirectResponse(url, HTTPStatus.SEE_OTHER, {"referrer-policy": "no-referrer", "cache-control": "no-store"})


async def show_text(request: Request, desk: Desk) -> Response:
    """Return a stored text of a page."""
    page_id, _ = await _find_page(request, desk)
    seq = _number(request.path_params["number"])
    version = None if seq is None else await desk.store.read(versions.get, page_id, seq)
    if version is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, translate("there is no such version"))
    content = await desk.comparisons.text(page_id=page_id, version=version)
    headers = {"content-security-policy": "default-src 'none'; sandbox", "cache-control": "private, no-cache"}
    return Response(content.encode(errors="replace"), headers=headers, media_type="text/plain; charset=utf-8")


async def _find_page(request: Request, desk: Desk) -> tuple[int, FindablePage]:
    """Return the page of a path. Raises `ProblemError` unless a search may show it the asker."""
    page_id, asker = _number(request.path_params["page"]), request.state.asker
    ids = [] if page_id is None else [page_id]
    seen = await desk.store.read(listed.find_pages, ids, viewer=asker.viewer, reader=asker.owner_id, ended=True)
    if page_id is None or page_id not in seen:
        raise ProblemError(HTTPStatus.NOT_FOUND, translate("there is no such page"))
    return page_id, seen[page_id]


def _number(given: str) -> int | None:
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 19 else None


async def _count(request: Request, desk: Desk, note: Callable[[SearchLog], None]) -> None:
    """Log a user's action, unless another site linked to it; errors do not stop the search."""
    if request.method != "GET" or request.headers.get("sec-fetch-site", "none") not in OWN_SITE:
        return
    try:
        if desk.log is not None:
            await asyncio.to_thread(note, desk.log)
    except StoreError as error:
        logger.warning("a search is not counted: %s", error)


def _read_request(given: dict[str, str], request: Request, now: Instant, number: int) -> SearchRequest:
    zone, asker = str(reader_zone(request)), request.state.asker
    age = asking.TIMES.get(given["time"])
    return asking.SearchRequest(
        text=given["q"],
        **{key: given[key] for key in ("site", "sentinel", "tag", "kind")},
        at=read_moment(given["at"], zone, now, is_end=True) if given["at"] else None,
        changed_since=None if age is None else now - age,
        viewer=asker.viewer,
        reader=asker.owner_id,
        limit=PAGE,
        offset=(number - 1) * PAGE,
    )


def _show(result: Result) -> dict[str, Any]:
    """Return a result as displayed; a past text links to itself, a present one to its page."""
    hit = result.hit
    stored = f"/search/{hit.page_id}/{hit.seq}/text"
    opened = f"/search/{hit.page_id}/open?{urlencode({'rank': result.rank})}"
    return {
        "title": formats.stretches(result.title),
        "link": opened if hit.is_newest and _is_web(result.page.url) else stored,
        "url": result.page.url,
        "snippet": formats.stretches(result.snippet),
        "since": hit.since,
        "until": result.text.until,
        "sentinels": result.page.sentinels,
        "stored": stored,
    }


def _is_web(url: str) -> bool:
    return url.lower().startswith(("http://", "https://"))
