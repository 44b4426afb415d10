"""Create a sentinel: an address, the parts of its page, the text of the language with its errors,
and a preview before it is saved.
"""

from __future__ import annotations

import re
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from tidings.errors import SentinelError, TidingsError
from tidings.language import expressions
from tidings.model.url import split_url
from tidings.presentation.safe.markup import HEADERS
from tidings.presentation.safe.picker import SANDBOX
from tidings.record import dataclass
from tidings.service.on_demand.choices import Choices
from tidings.service.on_demand.seen_now import lines_of
from tidings.service.sentinels import register
from tidings.storage.watches import sentinels, subscriptions
from tidings.web import request_body
from tidings.web.access import check_objects
from tidings.web.markup import formats
from tidings.web.markup.translations import draw, say
from tidings.web.problems import ProblemError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request

    from tidings.model.interval import Instant
    from tidings.model.observed.version import Reading
    from tidings.presentation.safe.picker import PickedPart
    from tidings.service.on_demand.trial import Tried
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.web.access import Asker
    from tidings.web.screens.desk import Desk

_ACTS: Final = re.compile(r"\b(?:secret|command)\b", re.IGNORECASE)
"""Occurs in statements that send a secret or run a program: the link of another site may show them,
but only the button of the form tries them.
"""
MOST_ADDRESSES: Final = 20
LONGEST_SELECTOR: Final = 500
MOST_RECEIVERS: Final = 5
MOST_COLUMNS: Final = 4
"""Most column names of a table that are shown."""


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """What can be watched: its Monitor clause, its name, and what the page has of it now. `link` is
    the address of a feed.
    """

    monitor: str
    name: str
    now: Markup
    link: str = ""


async def show(request: Request, desk: Desk) -> Response:
    """Return the form, with the parts of a page if an address is given."""
    given = request.query_params
    text = given.get("text", "")[:20_000]
    url = given.get("url", "").strip()[:4_000]
    select = given.get("select", "").strip()[:LONGEST_SELECTOR]
    parts = await _parts(request, desk)
    if parts and not select:
        select = parts[0].selector
    if text and not text.lstrip().lower().startswith(("create", "defaults")):
        text = await desk.store.read(_statements, text)
    elif url:
        chosen = given.get("monitor", "any change")
        chosen = _with_words(chosen, given.get("selection", "").strip()[:200])
        text = await desk.store.read(_statement, _complete_address(url), chosen, select)
    return await _screen(request, desk, text=text, url=url, select=select, parts=parts, tries=not _ACTS.search(text))


async def act(request: Request, desk: Desk) -> Response:
    """Preview a text, or save it."""
    form = await request_body.read_form(request)
    text = form.one("text").strip()[:200_000]
    receivers = form.one("notify").replace(",", " ").split()
    if problems := _list_refused(receivers):
        return await _screen(request, desk, text=text, url="", problems=problems)
    text = _with_receivers(text, receivers)
    if form.one("act") != "save":
        return await _screen(request, desk, text=text, url="", tries=True)
    try:
        names = await desk.store.write(_save, text, desk.statement_settings, desk.clock.wall(), request.state.asker)
    except TidingsError as error:
        return await _screen(request, desk, text=text, url="", problems=_spell(error))
    desk.forget_health()
    where = f"/sentinels/{quote(names[0])}" if len(names) == 1 else "/sentinels"
    return RedirectResponse(where, HTTPStatus.SEE_OTHER)


async def pick(request: Request, desk: Desk) -> Response:
    """Return a page from a trial, each of its texts a link that picks it, for a frame of
    the form.
    """
    given = request.query_params
    body = desk.copies.get(given.get("copy", ""), request.state.asker.owner_id)
    if body is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, say("this page is no longer stored; show it again"))
    link = f"/new?{urlencode([*_repeat_request(request), ('at', '')])}"
    html = await desk.comparisons.page_to_pick(body, link)
    policy = HEADERS["content-security-policy"].removesuffix("sandbox") + f"sandbox {SANDBOX}"
    headers = {**HEADERS, "content-security-policy": policy, "x-frame-options": "SAMEORIGIN"}
    return Response(
        html or Markup("<!doctype html><p>{}</p>").format(say("This is not a web page with words.")), headers=headers
    )


def _repeat_request(request: Request) -> list[tuple[str, str]]:
    """Return the query of the address, to repeat it with changes."""
    return [(name, request.query_params.get(name, "")) for name in ("url", "monitor", "copy")]


async def _parts(request: Request, desk: Desk) -> list[PickedPart]:
    """Return the parts around the picked text, the smallest first."""
    given = request.query_params
    body, at = desk.copies.get(given.get("copy", ""), request.state.asker.owner_id), given.get("at", "")
    if body is None or not (at.isascii() and at.isdecimal() and len(at) < 10):
        return []
    return await desk.comparisons.parts_at(body, int(at))


async def _screen(
    request: Request,
    desk: Desk,
    *,
    text: str,
    url: str,
    select: str = "",
    parts: Sequence[PickedPart] = (),
    tries: bool = False,
    problems: Sequence[str] = (),
) -> Response:
    found: Sequence[Tried] = ()
    warnings: Sequence[Any] = ()
    if tries and text:
        try:
            found, warnings = await desk.try_out(text)
        except TidingsError as error:
            problems = _spell(error)
    body = found[0].body if url and len(found) == 1 else None
    copy = desk.copies.keep(body, request.state.asker.owner_id) if body is not None else ""
    monitor = request.query_params.get("monitor", "any change")
    asked = [("url", url), ("monitor", monitor), ("copy", copy)]
    choices = await desk.comparisons.choices(body) if body is not None else Choices()
    return await desk.page(
        request,
        "make.html",
        title=say("New sentinel"),
        status=HTTPStatus.UNPROCESSABLE_ENTITY if problems and request.method == "POST" else HTTPStatus.OK,
        url=url,
        text=text,
        found=found,
        readings=lines_of,
        warnings=[str(one) for one in warnings],
        problems_found=problems,
        rows=_rows(found[0], choices, monitor) if body is not None else [],
        monitor=monitor,
        bookmarklet=_bookmarklet(request),
        is_tried=tries and bool(text),
        select=select,
        parts=[
            (
                part.selector,
                part.text,
                f"/new?{urlencode([*asked, ('at', request.query_params['at']), ('select', part.selector)])}",
            )
            for part in parts
        ],
        whole=f"/new?{urlencode(asked[:2])}",
        picking=f"/new/page?{urlencode(asked)}" if copy else "",
        sandbox=SANDBOX,
    )


def _rows(tried: Tried, choices: Choices, monitor: str) -> list[ChoiceRow]:
    """Return what can be watched on a page; the chosen clause is always among it."""
    counts = [formats.count(tried.words, "word")]
    counts += [formats.count(tried.links, "link")] if tried.links else []
    counts += [formats.count(tried.images, "image")] if tried.images else []
    size = ", ".join(counts)
    rows = [
        ChoiceRow("any change", say("Everything"), formats.plain(size)),
        *(ChoiceRow(one.label, _name(one), _now(one)) for one in choices.readings),
        ChoiceRow(
            "all words",
            say("All words"),
            draw("{words}, without links and images", words=formats.count(tried.words, "word")),
        ),
        *([ChoiceRow("links", say("Links"), formats.plain(formats.count(tried.links, "link")))] if tried.links else []),
        *(
            ChoiceRow("items", say("Feed"), draw("{title}, linked by the page", title=formats.text(title or url)), url)
            for url, title in choices.feeds
        ),
    ]
    if all(one.link or one.monitor != monitor for one in rows):
        rows.append(ChoiceRow(monitor, monitor, Markup()))
    return rows


def _name(reading: Reading) -> str:
    number = reading.label.rpartition(" ")[2]
    match reading.kind:
        case "price":
            return say("Price")
        case "availability":
            return say("Availability")
        case "table":
            return say("Table {number}", number=number)
        case "list":
            return say("List {number}", number=number)
        case _:
            return say("Entries")


def _now(reading: Reading) -> Markup:
    """Return the present value: a single one, or the number of things and the first of them."""
    first = formats.text(reading.texts[0], most=80) if reading.texts else Markup()
    match reading.kind:
        case "price" | "availability":
            return Markup("<b>{}</b>").format(first)
        case "table":
            rows = formats.count(reading.count, "row")
            if not any(reading.head):
                return draw("{rows}, the first: {first}", rows=rows, first=first)
            names = ", ".join(one for one in reading.head[:MOST_COLUMNS] if one)
            return draw(
                "{rows}: {columns}",
                rows=rows,
                columns=formats.text(names + (", …" if len(reading.head) > MOST_COLUMNS else ""), most=120),
            )
        case "list":
            return draw("{items}, the first: {first}", items=formats.count(reading.count, "item"), first=first)
        case _:
            return draw(
                "{entries}, the first: {first}", entries=formats.count(reading.count, "entry", "entries"), first=first
            )


def _list_refused(receivers: Sequence[str]) -> list[str]:
    """Return why receivers are refused: each is a mail address or the address of a webhook."""
    if len(receivers) > MOST_RECEIVERS:
        return [say("more than {most} receivers; write the others into the statement", most=MOST_RECEIVERS)]
    return [
        say("{receiver} is neither an e-mail address nor the address of a webhook", receiver=one[:80])
        for one in receivers
        if not (one.startswith(("http://", "https://")) or ("@" in one and "://" not in one))
    ]


def _with_receivers(text: str, receivers: Sequence[str]) -> str:
    """Return a statement that also notifies these receivers."""
    lines = (f"Notify By {register.channel_words(one)} immediate" for one in receivers)
    return "\n".join([text, *(line for line in lines if line.lower() not in text.lower())])


def _spell(error: TidingsError) -> list[str]:
    return [str(one) for one in error.problems] if isinstance(error, SentinelError) else [str(error)]


def _complete_address(url: str) -> str:
    """Return an address with its scheme; what would end it in a statement is encoded, so that no
    further clause follows it.
    """
    encoded = re.sub(r'[\s"<>]', lambda found: quote(found[0]), url)
    return encoded if "://" in encoded else f"https://{encoded}"


def _with_words(monitor: str, selection: str) -> str:
    words = " ".join(selection.replace('"', " ").split())
    return f'phrase "{words}"' if words else monitor


def _statement(c: Connection, url: str, monitor: str, select: str) -> str:
    name = register.automatic_name(url, "", sentinels.names(c))
    clauses = [f"Select css {expressions.quote(select)}"] if select else []
    return register.statement_for(url, name=name, monitor=monitor, every=None, notify=(), clauses=clauses)


def _statements(c: Connection, text: str) -> str:
    """Return a statement for each address of a list, one per line; any other text is unchanged."""
    addresses = [line.strip() for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    if not addresses or not all(_is_address(one) for one in addresses):
        return text
    taken = list(sentinels.names(c))
    made = []
    for one in addresses[:MOST_ADDRESSES]:
        name = register.automatic_name(_complete_address(one), "", taken)
        taken.append(name)
        made.append(
            register.statement_for(_complete_address(one), name=name, monitor="any change", every=None, notify=())
        )
    return "\n\n".join(made)


def _is_address(line: str) -> bool:
    return " " not in line and bool(split_url(_complete_address(line)).hostname) and "." in line


def _save(c: Connection, text: str, settings: Settings, now: Instant, asker: Asker) -> list[str]:
    """Register a text and request the first check of each page; return the names."""
    for name in register.list_altered(text, "", settings):
        check_objects(c, asker, {"name": name}, alters=True)
    done = register.carry_out(c, text, settings, now, "")
    for row in done.made:
        sentinels.give(c, row.id, asker.owner_id)
        subscriptions.request_polls(c, row.id, now)
    return [row.name for row in (*done.made, *done.altered, *done.unaltered)]


def _bookmarklet(request: Request) -> str:
    """Return the script of a bookmark that opens this form with the page's address and the selected
    words.
    """
    base = f"{request.url.scheme}://{request.headers['host']}/new"
    return (
        f"javascript:void(open('{base}?url='+encodeURIComponent(location.href)"
        "+'&selection='+encodeURIComponent(String(getSelection()))))"
    )
