"""All sentinels: which need attention, which are quiet or busy, what each costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode, urlsplit

from tidings.clock import DAY
from tidings.errors import SentinelError, TidingsError
from tidings.language import expressions
from tidings.model.watch.sentinel import Command
from tidings.service.explain.explain_sentinel import outlook
from tidings.service.sentinels import register
from tidings.service.watch import by_name
from tidings.service.watch.watchlist import meaning
from tidings.storage.observed import estimates, pages
from tidings.storage.watches import requests, sentinels, subscriptions
from tidings.web.access import check_objects
from tidings.web.markup import beat, forms
from tidings.web.problems import ProblemError
from tidings.web.screens.desk import back

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
    from tidings.storage.watches.sentinels import SentinelRow
    from tidings.web.screens.desk import Desk

PAGE: Final = 50
SORTS: Final = ("name", "last")
STATES: Final = {"all": "All", "need": "Need attention", "paused": "Paused", "ended": "Ended"}
ACTS: Final = {"pause": "disable", "enable": "enable"}


@dataclass(frozen=True, slots=True)
class Shown:
    """A sentinel as the table shows it; `icon` and `says` are its state."""

    name: str
    title: str
    host: str
    watches: str
    icon: str
    tone: str
    says: str
    beat: Markup
    last: Instant | None
    next: Instant | None
    next_says: str
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
        title="Sentinels",
        here="sentinels",
        wanted=wanted,
        states=STATES,
        number=max(1, number),
        link=link,
        here_url=request.url.path + (f"?{request.url.query}" if request.url.query else ""),
        **found,
    )


async def act(request: Request, desk: Desk) -> Response:
    """Do something with all that are selected: check now, pause, go on, tag."""
    form = await forms.sent(request)
    names, what = form.every("s"), form.one("act")
    now = desk.clock.wall()
    refused: list[str] = []
    for name in names:
        try:
            await desk.store.read(check_objects, request.state.asker, {"name": name}, alters=True)
            await desk.store.write(carry_out, name, what, form.one("tags"), desk.statement_settings, now)
        except SentinelError as error:
            refused += [f"{name}: {problem}" for problem in error.problems]
        except TidingsError as error:
            refused.append(f"{name}: {error}")
    desk.forget_health()
    if refused:
        raise ProblemError(
            HTTPStatus.UNPROCESSABLE_ENTITY,
            f"{len(refused)} of {len(names)} could not be done",
            hint="; ".join(refused[:5]),
        )
    return back(request, "/sentinels")


def carry_out(c: Connection, name: str, what: str, tags: str, settings: Settings, now: Instant) -> None:
    """Do one act for one sentinel. Raises `TidingsError` where it cannot be done.

    Args:
        c: The transaction.
        name: The name of the sentinel.
        what: `check`, `pause`, `enable`, `drop` or `tags`; anything else does nothing.
        tags: For `tags`, the names, separated by commas.
        settings: The settings in use.
        now: When it is done (µs).
    """
    match what:
        case "check":
            row = by_name.find(c, name)
            held = [sub.page_id for sub in subscriptions.listing(c, sentinel_id=row.id)]
            requests.ask(c, held, now, sentinel_id=row.id)
        case "pause" | "enable":
            register.command(c, Command(ACTS[what], name), now=now)  # type: ignore[arg-type]
        case "drop":
            register.command(c, Command("drop", name), now=now)
        case "tags":
            words = ", ".join(f'"{tag.strip()}"' for tag in tags.replace('"', "").split(",") if tag.strip()) or "none"
            register.carry_out(c, f"Alter {name} Tags {words}", settings, now, "")
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
    every = sentinels.listing(c, ended=True, viewer=viewer)
    living = [row for row in every if row.state != "ended"]
    watched: dict[int, list[Brief]] = {}
    for page in pages.briefs(c):
        watched.setdefault(page.sentinel_id, []).append(page)
    need = {name for trouble in health.troubles if trouble.severity != "note" for name in trouble.sentinels}
    by_state = {
        "all": living,
        "need": [row for row in living if row.name in need],
        "paused": [row for row in living if row.state == "disabled"],
        "ended": [row for row in every if row.state == "ended"],
    }
    tags: dict[str, list[str]] = {}
    for row in living:
        for tag in row.tags:
            tags.setdefault(tag, []).append(row.name)
    rows = [row for row in by_state[wanted["s"]] if _matches(row, wanted, watched.get(row.id, ()))]
    if wanted["sort"] == "name":
        rows.sort(key=lambda row: row.name.lower())
    else:
        rows.sort(key=lambda row: -max((_changed(page) for page in watched.get(row.id, ())), default=0))
    shown = rows[(number - 1) * PAGE : number * PAGE]
    page_ids = {page.page_id for row in shown for page in watched.get(row.id, ())[:5]}
    beats = beat.read(c, page_ids, now)
    every_page = [page.page_id for row in shown for page in watched.get(row.id, ())]
    learned = estimates.load(c, settings.schedule.policy, every_page)
    find = by_name.lives(c)
    titles = {page_id: pages.state(c, page_id).title for page_id in page_ids}
    return {
        "rows": [
            _shown(
                row,
                watched.get(row.id, []),
                health.of(row.name),
                beats,
                titles,
                outlook(c, row, find=find, settings=settings, now=now, learned=learned),
            )
            for row in shown
        ],
        "first": (number - 1) * PAGE + 1,
        "matching": len(rows),
        "page_size": PAGE,
        "state_counts": {name: len(of_state) for name, of_state in by_state.items()},
        "tags": sorted(
            ((tag, len(names), bool(need.intersection(names))) for tag, names in tags.items()),
            key=lambda one: (not one[2], -one[1], one[0]),
        )[:12],
        "pages": sum(len(of_one) for of_one in watched.values()),
    }


def _matches(row: SentinelRow, wanted: Mapping[str, str], watched: Sequence[Brief]) -> bool:
    if wanted["tag"] and wanted["tag"] not in row.tags:
        return False
    text = wanted["q"].lower()
    return not text or text in row.name.lower() or any(text in page.given.lower() for page in watched)


def _changed(page: Brief) -> Instant:
    return (page.changed_at or 0) if page.versions > 1 else 0


def _shown(
    row: SentinelRow,
    watched: Sequence[Brief],
    health: Health,
    beats: Mapping[int, Beats],
    titles: Mapping[int, str],
    coming: Sequence[Any],
) -> Shown:
    icon, tone, says = state_of(row, health, is_new=not any(page.polls for page in watched))
    looks = [one for one in coming if one.what == "look"]
    next_at = min((one.at for one in looks if one.at is not None), default=None)
    paces = {one.page_id: DAY / one.every for one in looks if one.every}
    own = [beats[page.page_id] for page in watched if page.page_id in beats]
    first = watched[0] if watched else None
    hosts = dict.fromkeys(urlsplit(page.given).hostname or page.given for page in watched[:5])
    return Shown(
        row.name,
        titles.get(first.page_id, "") if first else "",
        ", ".join(hosts) + (f" and {len(watched) - 5} more" if len(watched) > 5 else ""),
        expressions.to_text(meaning(row.text).monitor),
        icon,
        tone,
        says,
        beat.picture(beat.merged(own)),
        max((_changed(page) for page in watched), default=0) or None,
        next_at,
        "paused" if row.state == "disabled" else "ended" if row.state == "ended" else "" if next_at else "no time set",
        sum(paces.values()) if paces else None,
        row.tags,
    )


def state_of(row: SentinelRow, health: Health, *, is_new: bool) -> tuple[str, str, str]:
    """Return how a sentinel does: an icon, `ok`, `warn`, `bad` or `soft`, and a word."""
    if row.state in {"disabled", "ended"}:
        return "pause", "soft", "paused" if row.state == "disabled" else "ended"
    own = [one for one in health.own if one.severity != "note"]
    if own:
        return (
            ("wall" if "block" in own[0].brief else "alert"),
            "bad" if own[0].severity == "fail" else "warn",
            own[0].brief,
        )
    if health.own:
        return "wave", "warn", health.own[0].brief
    if is_new:
        return "wait", "soft", "first check due"
    return "check", "ok", "fine"
