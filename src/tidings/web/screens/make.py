"""Create a sentinel: an address, the parts of its page, the text of the language with its errors,
and a preview before it is saved.

A link can fill in the form, also one on a page of another site. Only a form of this service
requests a page.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote, urlencode

from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from tidings.errors import SentinelError, TidingsError
from tidings.language import expressions
from tidings.model.url import split_url
from tidings.presentation.safe.markup import HEADERS
from tidings.presentation.safe.picker import SANDBOX
from tidings.record import dataclass, replace
from tidings.service.on_demand.choices import Choices
from tidings.service.on_demand.seen_now import lines_of
from tidings.service.sentinels import fields as fields_of_form
from tidings.service.sentinels import register
from tidings.service.sentinels.fields import FIELDS
from tidings.storage.watches import sentinels, subscriptions
from tidings.web import request_body
from tidings.web.markup import formats
from tidings.web.markup.translations import draw, translate
from tidings.web.problems import ProblemError
from tidings.web.request_guard import own_address

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request

    from tidings.detection.job.contract import Body
    from tidings.language.problems import Problem
    from tidings.model.interval import Instant
    from tidings.model.observed.version import Reading
    from tidings.presentation.safe.picker import PickedPart
    from tidings.service.on_demand.trial import Tried
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.web.access import Asker
    from tidings.web.screens.desk import Desk

LARGEST_COPY: Final = 2_000_000
"""Largest page, in bytes, offered for picking parts."""
MOST_ADDRESSES: Final = 20
LONGEST_SELECTOR: Final = 500
NO_FIELDS: Final[Mapping[str, str]] = {}
LONGEST_FIELD: Final = 2_000
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_UNREACHED: Final = frozenset({"net"})
"""How a check ends if no server of the scheme answers."""
MOST_COLUMNS: Final = 4
"""Most column names of a table that are shown."""
EVERYTHING: Final = "any change"


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """What can be watched: its Monitor clause, its name, and what the page has of it now. `link` is
    the address of a feed.
    """

    monitor: str
    name: str
    now: Markup
    link: str = ""


@dataclass(frozen=True, slots=True)
class FormChoice:
    """What the fields of the form say: an address, what to monitor, the part, and the name of the
    page that was received before.
    """

    url: str = ""
    monitor: str = EVERYTHING
    select: str = ""
    copy: str = ""

    @classmethod
    def read(cls, given: Callable[[str], str]) -> FormChoice:
        """Read the fields of a query or of a form."""
        monitor = _with_words(given("monitor").strip() or EVERYTHING, given("selection").strip()[:200])
        return cls(given("url").strip()[:4_000], monitor, given("select").strip()[:LONGEST_SELECTOR], given("copy"))

    def statement(self, c: Connection) -> str:
        """Return the statement that the fields stand for."""
        return _statement(c, _complete_address(self.url), self.monitor, self.select)


async def show(request: Request, desk: Desk) -> Response:
    """Return the form as a link fills it in; no page is requested and nothing is stored."""
    given, asker = request.query_params, request.state.asker
    text = given.get("text", "")[:20_000]
    chosen = FormChoice.read(lambda name: given.get(name, ""))
    known = desk.copies.get(chosen.copy, asker.owner_id)
    parts = [] if known is None or known.body is None else await _parts(desk, known.body, given.get("at", ""))
    if parts and not chosen.select:
        chosen = replace(chosen, select=parts[0].selector)
    if text and not text.lstrip().lower().startswith(("create", "defaults")):
        text = await desk.store.read(_statements, text)
    elif chosen.url:
        text = await desk.store.read(chosen.statement)
    problems: Sequence[str] = ()
    try:
        await desk.store.read(_check, text, desk.statement_settings, desk.clock.wall(), asker)
    except TidingsError as error:
        problems = _spell(error)
    return await _screen(request, desk, text=text, chosen=chosen, known=known, parts=parts, problems=problems)


def _check(c: Connection, text: str, settings: Settings, now: Instant, asker: Asker) -> None:
    """Raise `SentinelError` with the problems of a text, if there is one."""
    parsed = register.understand(c, "", text, settings=settings, now=now, author=asker.author, anew=True)
    if text and parsed.problems:
        raise SentinelError(parsed.problems)


class FormTrial(NamedTuple):
    """What came of trying a text: what its pages show, and warnings or problems."""

    found: Sequence[Tried] = ()
    warnings: Sequence[Problem] = ()
    problems: Sequence[str] = ()

    @property
    def is_unreached(self) -> bool:
        """Return whether no server answered."""
        return bool(self.found) and all(one.outcome in _UNREACHED for one in self.found)


async def _try_out(desk: Desk, text: str, asker: Asker) -> FormTrial:
    """Request the pages of a text."""
    try:
        return FormTrial(*await desk.try_out(text, asker))
    except TidingsError as error:
        return FormTrial(problems=_spell(error))


async def act(request: Request, desk: Desk) -> Response:
    """Request a page and show what can be watched on it, preview a text, or save it."""
    form = await request_body.read_form(request)
    chosen, asker = FormChoice.read(form.one), request.state.asker
    if form.one("act") == "page" and chosen.url:
        text = await desk.store.read(chosen.statement)
        trial = await _try_out(desk, text, asker)
        if trial.is_unreached and not _SCHEME.match(chosen.url):
            chosen = replace(chosen, url=_complete_address(chosen.url, "http"))
            text = await desk.store.read(chosen.statement)
            trial = await _try_out(desk, text, asker)
        return await _screen(request, desk, text=text, chosen=chosen, trial=trial)
    text = form.one("text").strip()[:200_000]
    fields = {name: " ".join(form.one(name).split())[:LONGEST_FIELD] for name in FIELDS}
    whole, refused = await desk.store.read(
        fields_of_form.complete, text, fields, desk.statement_settings, desk.clock.wall(), asker.author
    )
    if refused:
        return await _screen(request, desk, text=text, chosen=chosen, fields=fields, refused=refused)
    if form.one("act") != "save":
        return await _screen(request, desk, text=whole, trial=await _try_out(desk, whole, asker) if whole else None)
    try:
        names = await desk.store.write(_save, whole, desk.statement_settings, desk.clock.wall(), asker)
    except TidingsError as error:
        return await _screen(request, desk, text=text, chosen=chosen, fields=fields, problems=_spell(error))
    desk.forget_recent()
    where = f"/sentinels/{quote(names[0])}" if len(names) == 1 else "/sentinels"
    return RedirectResponse(where, HTTPStatus.SEE_OTHER)


async def pick(request: Request, desk: Desk) -> Response:
    """Return a page from a trial, each of its texts a link that picks it, for a frame of
    the form.
    """
    given = request.query_params
    known = desk.copies.get(given.get("copy", ""), request.state.asker.owner_id)
    if known is None or known.body is None:
        raise ProblemError(HTTPStatus.NOT_FOUND, translate("this page is no longer stored; show it again"))
    link = f"/new?{urlencode([*_repeat_request(request), ('at', '')])}"
    html = await desk.comparisons.page_to_pick(known.body, link)
    policy = HEADERS["content-security-policy"].removesuffix("sandbox") + f"sandbox {SANDBOX}"
    headers = {**HEADERS, "content-security-policy": policy, "x-frame-options": "SAMEORIGIN"}
    return Response(
        html or Markup("<!doctype html><p>{}</p>").format(translate("This is not a web page with words.")),
        headers=headers,
    )


def _repeat_request(request: Request) -> list[tuple[str, str]]:
    """Return the query of the address, to repeat it with changes."""
    return [(name, request.query_params.get(name, "")) for name in ("url", "monitor", "copy")]


async def _parts(desk: Desk, body: Body, at: str) -> list[PickedPart]:
    """Return the parts around the picked text, the smallest first."""
    if not (at.isascii() and at.isdecimal() and len(at) < 10):
        return []
    return await desk.comparisons.parts_at(body, int(at))


async def _screen(
    request: Request,
    desk: Desk,
    *,
    text: str,
    chosen: FormChoice = FormChoice(),  # noqa: B008 - it is frozen
    known: Tried | None = None,
    parts: Sequence[PickedPart] = (),
    trial: FormTrial | None = None,
    problems: Sequence[str] = (),
    fields: Mapping[str, str] = NO_FIELDS,
    refused: Mapping[str, str] = NO_FIELDS,
) -> Response:
    found, warnings, refusals = trial or FormTrial()
    problems = refusals or problems
    is_address = bool(chosen.url and problems and not fields)
    copy, monitor = chosen.copy if known is not None else "", chosen.monitor
    if chosen.url and len(found) == 1:
        known, body = found[0], found[0].body
        is_small = body is not None and len(body.data) <= LARGEST_COPY
        copy = desk.copies.keep(known, request.state.asker.owner_id) if is_small else ""
    body = None if known is None else known.body
    asked = [("url", chosen.url), ("monitor", monitor), ("copy", copy)]
    choices = Choices() if body is None else await desk.comparisons.choices(body)
    return await desk.page(
        request,
        "make.html",
        title=translate("New sentinel"),
        status=HTTPStatus.UNPROCESSABLE_ENTITY if (problems or refused) and request.method == "POST" else HTTPStatus.OK,
        fields={name: fields.get(name, "") for name in FIELDS},
        refused={name: refused.get(name, "") for name in FIELDS},
        is_filled=bool(fields),
        url=chosen.url or (found[0].url if len(found) == 1 else ""),
        text=text,
        found=found,
        readings=lines_of,
        warnings=[str(one) for one in warnings],
        problems_found=() if is_address else problems,
        address_refused=" ".join(problems) if is_address else "",
        rows=[] if known is None or body is None else _rows(known, choices, monitor),
        monitor=monitor,
        bookmarklet=_bookmarklet(own_address(request.headers, desk.settings.serve)),
        is_tried=trial is not None,
        select=chosen.select,
        parts=[
            (
                part.selector,
                part.text,
                f"/new?{urlencode([*asked, ('at', request.query_params['at']), ('select', part.selector)])}",
            )
            for part in parts
        ],
        whole=f"/new?{urlencode(asked)}",
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
        ChoiceRow(EVERYTHING, translate("Everything"), formats.plain(size)),
        *(ChoiceRow(one.label, _name(one), _now(one)) for one in choices.readings),
        ChoiceRow(
            "all words",
            translate("All words"),
            draw("{words}, without links and images", words=formats.count(tried.words, "word")),
        ),
        *(
            [ChoiceRow("links", translate("Links"), formats.plain(formats.count(tried.links, "link")))]
            if tried.links
            else []
        ),
        *(
            ChoiceRow(
                "items", translate("Feed"), draw("{title}, linked by the page", title=formats.text(title or url)), url
            )
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
            return translate("Price")
        case "availability":
            return translate("Availability")
        case "table":
            return translate("Table {number}", number=number)
        case "list":
            return translate("List {number}", number=number)
        case _:
            return translate("Items")


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
        case _:
            return draw("{items}, the first: {first}", items=formats.count(reading.count, "item"), first=first)


def _spell(error: TidingsError) -> list[str]:
    return [str(one) for one in error.problems] if isinstance(error, SentinelError) else [str(error)]


def _complete_address(url: str, scheme: str = "https") -> str:
    """Return an address with its scheme, by default https; what would end it in a statement is
    encoded, so that no further clause follows it.
    """
    encoded = re.sub(r'[\s"<>]', lambda found: quote(found[0]), url)
    return encoded if _SCHEME.match(encoded) else f"{scheme}://{encoded}"


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
            register.statement_for(_complete_address(one), name=name, monitor=EVERYTHING, every=None, notify=())
        )
    return "\n\n".join(made)


def _is_address(line: str) -> bool:
    return " " not in line and bool(split_url(_complete_address(line)).hostname) and "." in line


def _save(c: Connection, text: str, settings: Settings, now: Instant, asker: Asker) -> list[str]:
    """Register a text and request the first check of each page; return the names."""
    done = register.carry_out(c, text, settings, now, "", asker.author)
    for row in done.made:
        subscriptions.request_polls(c, row.id, now)
    return [row.name for row in (*done.made, *done.altered, *done.unaltered)]


def _bookmarklet(own: str) -> str:
    """Return the script of a bookmark that opens this form with the page's address and the selected
    words, given the address of this service.
    """
    return (
        f"javascript:void(open('{own}/new?url='+encodeURIComponent(location.href)"
        "+'&selection='+encodeURIComponent(String(getSelection()))))"
    )
