"""`tidings list`: the sentinels and their state.

Also the first line of `list` and `show` while polls cannot be stored.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tidings.cli.happenings import write_happenings
from tidings.cli.health import brief, read_health, write_troubles
from tidings.cli.output import add_json, short_time, table, write_json, write_line
from tidings.model.watch.sentinel import WHOLE
from tidings.service.show.finding import spell_count
from tidings.service.show.records import class_of, event_record, problem_record, rfc3339, sentinel_record
from tidings.storage.db.database import open_database
from tidings.storage.db.lock import standstill
from tidings.storage.observed import estimates, members, pages
from tidings.storage.watches import listed, outside, sentinels, subscriptions

if TYPE_CHECKING:
    from tidings.service.health.trouble import Health
    from tidings.settings import Settings
    from tidings.storage.db.connection import Connection
    from tidings.storage.observed.pages import Brief
    from tidings.storage.watches.sentinels import SentinelRow


def configure(parser: argparse.ArgumentParser, verb: str) -> None:  # noqa: ARG001 - one verb
    """Declare the arguments."""
    parser.add_argument("--tag", help="show only sentinels with this tag")
    parser.add_argument("--all", action="store_true", help="show ended sentinels too")
    parser.add_argument("--failing", action="store_true", help="show only sentinels with a problem")
    add_json(parser)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print all sentinels."""
    write_standstill(settings, as_json=arguments.json)
    database = open_database(settings, create=False)
    try:
        found = read_health(database, settings)
        return database.read(_list, arguments, found)
    finally:
        database.close()


def _list(connection: Connection, arguments: argparse.Namespace, health: Health) -> int:
    rows = sentinels.listing(connection, ended=arguments.all, tag=arguments.tag)
    if arguments.failing:
        rows = [row for row in rows if health.of(row.name).own]
    happenings = outside.listing(connection) if arguments.tag is None and not arguments.failing else []
    if arguments.json:
        pages_of = list_pages(connection)
        for row in rows:
            own = health.of(row.name)
            troubles = [trouble.record(sentinel=row.name) for trouble in own.troubles]
            details = {"health": own.status, "pages": pages_of.get(row.id, []), "troubles": troubles}
            write_json(sentinel_record(row, details=details))
        for source in happenings:
            write_json(event_record(source))
        return 0
    if not rows:
        write_line(_none(connection, arguments))
        write_happenings(happenings)
        return 0
    classes = [class_of(row.text) for row in rows]
    is_classed = set(classes) != {WHOLE}
    watched: dict[int, list[Brief]] = {}
    for page in pages.briefs(connection):
        watched.setdefault(page.sentinel_id, []).append(page)
    last = listed.list_last_changes(connection)
    table(
        (
            (
                row.name,
                describe_state(row),
                *((budget,) if is_classed else ()),
                brief(health.of(row.name)) or _well(watched.get(row.id, [])),
                short_time(rfc3339(last.get(row.id))),
                ", ".join(page.given for page in watched.get(row.id, [])[:2]) + (" …" if row.pages > 2 else ""),
            )
            for row, budget in zip(rows, classes, strict=True)
        ),
        ("NAME", "STATE", *(("CLASS",) if is_classed else ()), "HEALTH", "CHANGED (UTC)", "URL"),
    )
    masked = estimates.count_masked(connection)
    for row in rows if masked else ():
        if places := sum(masked.get(page.page_id, 0) for page in watched.get(row.id, [])):
            write_line(f"{row.name}: {spell_count(places, 'place')} ignored as noise; tidings mask {row.name}")
    write_troubles(health if arguments.tag is None else health.of_any([row.name for row in rows]))
    write_happenings(happenings)
    return 0


def describe_state(row: SentinelRow) -> str:
    """Return the state of a sentinel, and until when it is disabled."""
    return row.state if row.resume_at is None else f"{row.state} until {short_time(rfc3339(row.resume_at))[:16]}"


def _none(connection: Connection, arguments: argparse.Namespace) -> str:
    """Return why the list is empty, with advice."""
    if arguments.failing:
        return "no sentinel has a problem; `tidings doctor` examines the installation"
    if arguments.tag is not None:
        return f'no sentinel has the tag "{arguments.tag}"; `tidings list` shows all'
    if not arguments.all and sentinels.listing(connection, ended=True):
        return "nothing is watched now; `tidings list --all` shows ended sentinels"
    return "nothing is watched yet; start with tidings add --url https://example.org/"


def list_pages(
    connection: Connection, *, sentinel_id: int | None = None, most: int | None = None
) -> dict[int, list[dict[str, Any]]]:
    """Return the pages of each sentinel, or of one, `most` of them at most, with their state."""
    subs = subscriptions.listing(connection, sentinel_id=sentinel_id)[:most]
    found = pages.listing(connection) if sentinel_id is None else [pages.get(connection, sub.page_id) for sub in subs]
    known = {state.page_id: (identity, state) for identity, state in found}
    pages_of: dict[int, list[dict[str, Any]]] = {}
    masked = estimates.count_masked(connection)
    frames = {page_id: members.frames(connection, page_id) for page_id in members.list_framed_pages(connection)}
    for sub in subs:
        identity, state = known[sub.page_id]
        pages_of.setdefault(sub.sentinel_id, []).append(
            {
                "page": str(sub.page_id),
                "url": identity.given,
                "title": state.title,
                "health": state.health if state.polls else "new",
                "kind": state.kind,
                "reason": state.reason,
                "versions": state.last_seq,
                "polls": state.polls,
                "checked_at": rfc3339(state.checked_at),
                "changed_at": rfc3339(state.changed_at),
                "text_changed_at": rfc3339(state.text_changed_at),
                "retry_at": rfc3339(state.retry_at),
                "masked_places": masked.get(sub.page_id, 0),
                "restless_since": rfc3339(state.saturation.since),
                "frames": [
                    {"url": f.identity.url, "health": f.state.health, "kind": f.state.kind, "reason": f.state.reason}
                    for f in frames.get(sub.page_id, ())
                ],
            }
        )
    return pages_of


def _well(watched: list[Brief]) -> str:
    """Return the state of a sentinel without trouble: `new` until one of its pages was checked
    successfully.
    """
    return "ok" if any(page.polls and page.is_well for page in watched) else "new"


def write_standstill(settings: Settings, *, as_json: bool) -> None:
    """Print what prevents polls from being stored, if anything."""
    if not (reason := standstill(settings.data)):
        return
    if as_json:
        write_json(problem_record(reason, where=str(settings.data)))
    else:
        write_line(f"STANDSTILL: {reason}")
