"""All sentinels: which need attention, which are quiet or busy, what each costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from tidings.clock import DAY
from tidings.errors import SentinelError, TidingsError
from tidings.language import expressions
from tidings.model.url import split_url
from tidings.model.watch.sentinel import SCHEME, Command
from tidings.record import dataclass
from tidings.service.explain.explain_sentinel import list_prospects
from tidings.service.sentinels import register
from tidings.service.watch import by_name
from tidings.service.watch.watchlist import read_meaning
from tidings.storage.observed import estimates, pages
from tidings.storage.watches import listed, sentinels, subscriptions
from tidings.storage.watches.listed import TableRequest
from tidings.web import request_body
from tidings.web.access import check_objects
from tidings.web.markup import charts, formats
from tidings.web.markup.translations import sentence, translate
from tidings.web.problems import ProblemError
from tidings.web.screens.desk import back, reader_zone, report_refused

if TYPE_CHECKING:
    from markupsafe import Markup
    from starlette.requests import Request
    from starlette.responses import Response

    from tidings.model.interval import Instant
    from tidings.service.health.trouble import Health
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.observed.pages import Brief
    from tidings.storage.observed.polls import Beats
    from tidings.storage.watches.listed import LifeFilter
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.access import Asker
    from tidings.web.request_body import SentForm
    from tidings.web.screens.desk import Desk

PAGE: Final = 50
SORTS: Final = ("name", "last")
STATES: Final = {
    "all": sentence("All"),
    "need": sentence("Need attention"),
    "paused": sentence("Paused"),
    "ended": sentence("Ended"),
}
LIVES: Final[Mapping[str, LifeFilter]] = {"all": "living", "need": "living", "paused": "paused", "ended": "ended"}
MOST_NEEDY: Final = 200
"""Most sentinels with trouble whose tags are coloured."""
_STANDS: Final = {"disabled": sentence("paused"), "ended": sentence("ended")}


@dataclass(frozen=True, slots=True)
class Shown:
    """A sentinel as a row of the table; `icon` and `state_text` are its state."""

    name: str
    title: str
    host: str
    watches: str
    icon: str
    tone: str
    state_text: str
    beat: Markup
    last: Instant | None
    next: Instant | None
    next_text: str
    a_day: float | None
    tags: Sequence[str]


async def show(request: Request, desk: Desk) -> Response:
    """Return a page of the table."""
    asker = request.state.asker
    health = await desk.health_for(asker)
    given = request.query_params
    wanted = {
        "q": given.get("q", "").strip()[:200],
        "tag": given.get("tag", "")[:200],
        "s": given.get("s", "all") if given.get("s") in STATES else "all",
        "sort": given.get("sort", "last") if given.get("sort") in SORTS else "last",
    }
    number = int(given["p"]) if given.get("p", "").isdecimal() and len(given["p"]) < 6 else 1
    found = await desk.store.read(_read, wanted, max(1, number), desk.settings, desk.clock.wall(), health, asker.viewer)

    def link(**changed: object) -> str:
        query = {key: value for key, value in {**wanted, **changed}.items() if value and value not in {"all", 1}}
        return f"/sentinels?{urlencode(query)}" if query else "/sentinels"

    return await desk.page(
        request,
        "sentinels.html",
        title=translate("Sentinels"),
        here="sentinels",
        wanted=wanted,
        states=STATES,
        number=max(1, number),
        link=link,
        here_url=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        **found,
    )


async def act(request: Request, desk: Desk) -> Response:
    """Apply an action to all selected ones: check now, pause, resume, tag."""
    form = await request_body.read_form(request)
    names, what, asker = form.every("s"), form.one("act"), request.state.asker
    now, settings = desk.clock.wall(), desk.statement_settings
    refused: list[str] = []
    for name in names:
        try:
            await desk.store.read(check_objects, asker, {"name": name}, alters=True)
            await desk.store.write(carry_out, name, what, read_given(request, what, form), settings, now, asker)
        except SentinelError as error:
            refused += [f"{name}: {problem}" for problem in error.problems]
        except (TidingsError, ProblemError) as error:
            refused.append(f"{name}: {error}")
    desk.forget_recent()
    report_refused(refused, len(names))
    return back(request, "/sentinels")


def read_given(request: Request, what: str, form: SentForm) -> str:
    """Return what an action takes of a form; a time is in the zone in which times are shown."""
    given = form.one({"tags": "tags", "pause": "until"}.get(what, "act"))
    if what != "pause":
        return given
    try:
        return datetime.fromisoformat(given).replace(tzinfo=reader_zone(request)).isoformat()
    except ValueError:
        return given


def carry_out(c: Connection, name: str, what: str, given: str, settings: Settings, now: Instant, asker: Asker) -> None:
    """Apply one action to one sentinel. Raises `TidingsError` where it is not possible.

    Args:
        c: The transaction.
        name: The name of the sentinel.
        what: `check`, `pause`, `enable`, `drop` or `tags`; anything else does nothing.
        given: For `tags`, the names, separated by commas; for `pause`, its end, "" for none.
        settings: The settings in use.
        now: When it is done (µs).
        asker: Who does it.
    """
    match what:
        case "check":
            subscriptions.request_polls(c, by_name.find(c, name).id, now)
        case "pause":
            register.command(c, register.pause(name, given, settings.serve.zone, now), now=now)
        case "enable":
            register.command(c, Command("enable", name), now=now)
        case "drop":
            register.command(c, Command("drop", name), now=now)
        case "tags":
            words = ", ".join(expressions.quote(tag.strip()) for tag in given.split(",") if tag.strip()) or "none"
            register.carry_out(c, f"Alter {name} Tags {words}", settings, now, "", asker.author)
        case _:
            pass


def _read(
    c: Connection,
    wanted: Mapping[str, str],
    number: int,
    settings: Settings,
    now: Instant,
    health: Health,
    viewer: int | None,
) -> dict[str, Any]:
    need = {name for trouble in health.troubles if trouble.severity != "note" for name in trouble.sentinels}
    matching = listed.find_sentinels(
        c,
        TableRequest(
            LIVES[wanted["s"]], wanted["tag"], wanted["q"], "name" if wanted["sort"] == "name" else "last", viewer
        ),
    )
    if wanted["s"] == "need":
        matching = [(id_, name) for id_, name in matching if name in need]
    shown = [sentinels.get(c, id_) for id_, _ in matching[(number - 1) * PAGE : number * PAGE]]
    watched = {row.id: pages.briefs(c, sentinel_id=row.id) for row in shown}
    page_ids = {page.page_id for row in shown for page in watched[row.id][:5]}
    states = listed.count_states(c, viewer=viewer)
    tags = listed.count_tags(c, viewer=viewer)
    bad = listed.tags_of(c, sorted(need)[:MOST_NEEDY])
    beats = charts.read_beats(c, page_ids, now)
    every_page = [page.page_id for row in shown for page in watched.get(row.id, ())]
    learned = estimates.load(c, settings.schedule.policy, every_page)
    find = by_name.lives(c)
    titles = pages.titles(c, page_ids)
    return {
        "rows": [
            _show(
                row,
                watched.get(row.id, []),
                health.of(row.name),
                beats,
                titles,
                list_prospects(c, row, find=find, settings=settings, now=now, learned=learned),
                listed.find_last_change(c, row.id),
            )
            for row in shown
        ],
        "first": (number - 1) * PAGE + 1,
        "matching": len(matching),
        "page_size": PAGE,
        "state_counts": {
            "all": sum(many for state, many in states.items() if state != "ended"),
            "need": len(need),
            "paused": states.get("disabled", 0),
            "ended": states.get("ended", 0),
        },
        "tags": sorted(((tag, many, tag in bad) for tag, many in tags.items()), key=lambda one: not one[2]),
        "pages": listed.count_pages(c, viewer=viewer),
    }


def _show(
    row: SentinelRow,
    watched: Sequence[Brief],
    health: Health,
    beats: Mapping[int, Beats],
    titles: Mapping[int, str],
    coming: Sequence[Any],
    last_change: Instant | None,
) -> Shown:
    icon, tone, state_text = state_of(row, health, is_new=not any(page.polls for page in watched))
    polls = [one for one in coming if one.what == "check"]
    next_at = min((one.at for one in polls if one.at is not None), default=None)
    paces = {one.page_id: DAY / one.every for one in polls if one.every}
    own = [beats[page.page_id] for page in watched if page.page_id in beats]
    first = watched[0] if watched else None
    hosts = dict.fromkeys(
        split_url(page.given).hostname or page.given for page in watched[:5] if not page.given.startswith(SCHEME)
    )
    return Shown(
        row.name,
        titles.get(first.page_id, "") if first else "",
        ", ".join(hosts) + (translate(" and {hosts} more", hosts=len(watched) - 5) if len(watched) > 5 else ""),
        expressions.to_text(read_meaning(row).monitor),
        icon,
        tone,
        state_text,
        charts.draw_beats(charts.merge_beats(own)),
        last_change,
        next_at,
        translate(_STANDS[row.state]) if row.state in _STANDS else "" if next_at else translate("no time set"),
        sum(paces.values()) if paces else None,
        row.tags,
    )


def state_of(row: SentinelRow, health: Health, *, is_new: bool) -> tuple[str, str, str]:
    """Return the state of a sentinel: an icon, `ok`, `warn`, `bad` or `soft`, and a word."""
    if row.state in {"disabled", "ended"}:
        return "pause", "soft", translate(_STANDS[row.state])
    own = [one for one in health.own if one.severity != "note"]
    if own:
        return (
            ("wall" if "block" in own[0].brief else "alert"),
            "bad" if own[0].severity == "fail" else "warn",
            formats.brief(own[0].brief),
        )
    if health.own:
        return "wave", "warn", formats.brief(health.own[0].brief)
    if is_new:
        return "wait", "soft", translate("first check due")
    return "check", "ok", translate("fine")
